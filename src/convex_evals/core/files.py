"""Files that several processes share, and folders that hostile programs wrote into."""

import fcntl
import os
import secrets
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

MEBIBYTE: Final = 1024 * 1024
_RETRY_SECONDS: Final = 0.1
_OWN: Final = 0o700
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def write_file(path: Path, content: str | bytes, *, durable: bool = False, mode: int = 0o644) -> None:
    """Atomic: readers see the old file or the new one, even if we are killed; `durable`: on disk when this returns."""
    incoming = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        descriptor = os.open(incoming, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            if durable:
                file.flush()
                os.fsync(descriptor)
        incoming.replace(path)
    except BaseException:
        incoming.unlink(missing_ok=True)
        raise


@asynccontextmanager
async def file_lock(path: Path, on_wait: Callable[[], None] | None = None) -> AsyncIterator[None]:
    """Holds an exclusive lock on `path`, a file that stays. `on_wait` is called once if another process holds it."""
    import asyncio  # slow to import, and most who use this module do not wait

    # Asking again and again instead of sleeping in flock: that would hold a thread which nothing can cancel.
    while (descriptor := try_lock(path)) is None:
        if on_wait is not None:
            on_wait()
            on_wait = None
        await asyncio.sleep(_RETRY_SECONDS)
    try:
        yield
    finally:
        os.close(descriptor)


def try_lock(path: Path, *, shared: bool = False, create: bool = True) -> int | None:
    """A descriptor that holds the lock of the file now at this path until it is closed, however its holder ends.

    None when another one holds it, or when there is no such file and none is to be made.
    """
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0), 0o644)
        except FileNotFoundError:
            if create:
                raise
            return None
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        # The holder before us may have removed the file; a lock on a removed file keeps nobody out.
        if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
        os.close(descriptor)


def remove_folder(folder: Path) -> None:
    """Removes a folder with everything below it, if it exists. Raises OSError."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        _remove_stubborn(folder)


def _remove_stubborn(folder: Path) -> None:
    """Level by level: folders inside folders move up, so that no path gets long and no call goes deep."""
    folder.chmod(_OWN)
    root = os.open(folder, _FOLDER)
    try:
        while entries := list(os.scandir(root)):
            for entry in entries:
                _remove_entry(root, entry)
    finally:
        os.close(root)
    folder.rmdir()


def _remove_entry(root: int, entry: "os.DirEntry[str]") -> None:
    if not entry.is_dir(follow_symlinks=False):
        os.unlink(entry.name, dir_fd=root)
        return
    os.chmod(entry.name, _OWN, dir_fd=root)
    inside = os.open(entry.name, _FOLDER, dir_fd=root)
    try:
        for each in list(os.scandir(inside)):
            if each.is_dir(follow_symlinks=False):
                os.chmod(each.name, _OWN, dir_fd=inside)
                os.rename(each.name, secrets.token_hex(16), src_dir_fd=inside, dst_dir_fd=root)
            else:
                os.unlink(each.name, dir_fd=inside)
    finally:
        os.close(inside)
    os.rmdir(entry.name, dir_fd=root)
