"""What a program printed: complete in a file, its beginning and end in memory."""

import os
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Final

EXCERPT_BYTES: Final = 16_384


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Output:
    """`path` holds every byte. A file that we made ourselves lives as long as this object."""

    path: Path
    size: int
    head: bytes
    tail: bytes

    @property
    def omitted(self) -> int:
        """Bytes between head and tail that only the file has."""
        return self.size - len(self.head) - len(self.tail)

    @property
    def text(self) -> str:
        """Head and tail for people; bytes that are not UTF-8 are shown as replacement characters."""
        if not self.omitted:
            return (self.head + self.tail).decode(errors="replace")
        gap = f"\n… {self.omitted} bytes left out, complete in {self.path} …\n"
        return self.head.decode(errors="replace") + gap + self.tail.decode(errors="replace")

    def read(self) -> bytes:
        """Everything, from the file when memory has not kept it all."""
        return self.path.read_bytes() if self.omitted else self.head + self.tail


class Log:
    """A file that takes a program's output while it runs."""

    def __init__(self, path: Path | None) -> None:
        self.temporary = path is None
        # Append mode: two streams of one program, and its children, share the file without overwriting each other.
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
        if path is None:
            self.descriptor, name = tempfile.mkstemp(prefix="convex-evals-", suffix=".log")
            os.close(self.descriptor)
            path, flags = Path(name), flags & ~os.O_CREAT
        self.path = path
        self.descriptor = os.open(path, flags, 0o644)

    def close(self) -> None:
        os.close(self.descriptor)

    def discard(self) -> None:
        if self.temporary:
            self.path.unlink(missing_ok=True)

    def output(self, excerpt_bytes: int) -> Output:
        size = os.fstat(self.descriptor).st_size
        half = max(excerpt_bytes // 2, 1)
        head = os.pread(self.descriptor, half, 0)
        tail_start = max(size - half, len(head))
        output = Output(self.path, size, head, os.pread(self.descriptor, size - tail_start, tail_start))
        if self.temporary:
            weakref.finalize(output, self.path.unlink, missing_ok=True)
        return output
