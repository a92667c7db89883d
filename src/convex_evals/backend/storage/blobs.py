"""The bytes of files, by UUID, in a folder."""

import asyncio
import contextlib
import hashlib
import logging
import uuid
from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import BinaryIO, Final

logger = logging.getLogger(__name__)

BUFFERED_BYTES: Final = 1024 * 1024
UNFINISHED: Final = ".part"


@dataclass(frozen=True, slots=True)
class Blob:
    uuid: str
    size: int
    sha256: bytes


class BlobStore:
    """In `folder`, which belongs to this store alone, or in a temporary folder that is removed with the store."""

    def __init__(self, folder: Path | None = None) -> None:
        self._files = None if folder is None else folder / "files"
        self._temporary: TemporaryDirectory[str] | None = None
        if self._files is not None:
            for abandoned in self._files.glob(f"*{UNFINISHED}"):
                abandoned.unlink(missing_ok=True)

    def receive(self) -> "IncomingBlob":
        """To be used with `async with`. Raises OSError when the disk is full."""
        return IncomingBlob(self._path(str(uuid.uuid4())))

    def keep(self, content: bytes) -> Blob:
        """All at once. Raises OSError when the disk is full, and leaves nothing behind."""
        path = self._path(str(uuid.uuid4()))
        part = path.with_name(path.name + UNFINISHED)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_bytes(content)
            part.rename(path)
        except OSError:
            part.unlink(missing_ok=True)
            raise
        return Blob(path.name, len(content), hashlib.sha256(content).digest())

    def open(self, uuid: str) -> BinaryIO | None:
        """Stays readable if the blob is removed."""
        try:
            return self._path(uuid).open("rb")
        except FileNotFoundError:
            return None

    def remove(self, uuid: str) -> None:
        try:
            self._path(uuid).unlink(missing_ok=True)
        except OSError as error:  # these bytes are unreachable now: they only take up space
            logger.warning("cannot remove the stored file %s: %s", uuid, error)

    def close(self) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def _path(self, uuid: str) -> Path:
        if self._files is not None:
            return self._files / uuid
        if self._temporary is None:
            self._temporary = TemporaryDirectory(prefix="convex-storage-")
        return Path(self._temporary.name) / uuid


class IncomingBlob:
    """Bytes on their way into a store. Nothing is left of them when the block ends with an error."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(path.name + UNFINISHED)
        self._file: BinaryIO | None = None
        self._buffer = bytearray()
        self._hash = hashlib.sha256()
        self._size = 0

    async def __aenter__(self) -> "IncomingBlob":
        return self

    async def write(self, chunk: bytes) -> None:
        self._buffer += chunk
        if len(self._buffer) >= BUFFERED_BYTES:
            await _in_thread(self._flush)

    async def write_all(self, chunks: AsyncIterable[bytes]) -> None:
        async for chunk in chunks:
            await self.write(chunk)

    async def finish(self) -> Blob:
        """From now on the store has the blob."""
        await _in_thread(self._complete)
        return Blob(self._path.name, self._size, self._hash.digest())

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # a full disk makes the last flush fail again
                self._file.close()
        if kind is not None:
            for path in (self._part, self._path):
                with contextlib.suppress(OSError):
                    path.unlink()

    def _flush(self) -> None:
        if self._file is None:
            self._part.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._part.open("xb")
        self._hash.update(self._buffer)
        self._size += len(self._buffer)
        self._file.write(self._buffer)
        self._buffer.clear()

    def _complete(self) -> None:
        self._flush()
        assert self._file is not None
        self._file.close()
        self._part.rename(self._path)


async def _in_thread(work: Callable[[], None]) -> None:
    """Even if cancelled, returns only when the work is done, so that it can be undone."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.gather(running, return_exceptions=True)
        raise
