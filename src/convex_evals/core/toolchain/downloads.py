"""npm's download cache, shared by all sets.

Only npm writes to it, confined, and never runs code of a package; tools that read a model's files cannot. npm takes a
tarball from it only if its content has the checksum that the registry gave for that version, so a file that was
damaged or exchanged is fetched anew. What is removed here is fetched anew as well, even in the middle of an
installation.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 3_000_000_000
_ROOM: Final = 0.8


def trim_downloads(cache: Path, most_bytes: int = MOST_BYTES) -> None:
    """Removes the oldest downloads until the rest fits."""
    files = sorted(_files(cache), key=lambda each: each[0])
    taken = sum(size for _, size, _ in files)
    if taken <= most_bytes:
        return
    for _, size, path in files:
        if taken <= most_bytes * _ROOM:
            return
        with suppress(OSError):
            path.unlink()
            taken -= size


def forget_downloads(cache: Path, since: float) -> None:
    """Removes what arrived since then: the tarballs of a set that was too large shall not stay."""
    for modified, _, path in list(_files(cache)):
        if modified >= since:
            with suppress(OSError):
                path.unlink()


def _files(cache: Path) -> Iterator[tuple[float, int, Path]]:
    """Contents and unfinished downloads: time, bytes, path."""
    for part in ("content-v2", "tmp"):
        for folder, _, names in os.walk(cache / "_cacache" / part):
            for name in names:
                path = Path(folder, name)
                with suppress(OSError):
                    status = path.stat(follow_symlinks=False)
                    yield status.st_mtime, status.st_size, path
