"""The temporary folder of one command: every grading has a folder in it, and nothing is left of it afterwards."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from convex_evals.core.files import remove_folder, try_lock

PREFIX: Final = "convex-evals-run-"
_LOCK: Final = ".lock"


@contextmanager
def open_workspace(parent: Path | None, *, keep: bool = False) -> Iterator[Path]:
    """A folder below `parent` (or the system's temporary folder), removed at the end unless it is to be kept.

    Folders of commands that were killed are removed as well: nobody holds their lock any more.
    """
    parent = parent or Path(tempfile.gettempdir())
    parent.mkdir(parents=True, exist_ok=True)
    _sweep(parent)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    lock = _lock(folder)
    try:
        yield folder
    finally:
        if keep:
            (folder / _LOCK).unlink(missing_ok=True)
        else:
            with suppress(OSError):
                remove_folder(folder)
        os.close(lock)


def _sweep(parent: Path) -> None:
    for lock in parent.glob(f"{PREFIX}*/{_LOCK}"):
        with suppress(OSError):  # another user's, or another command was faster
            descriptor = try_lock(lock)
            if descriptor is not None:
                remove_folder(lock.parent)
                os.close(descriptor)


def _lock(folder: Path) -> int:
    """Locked before it has its name, so that no other command ever sees it free."""
    unnamed = folder / f"{_LOCK}-{os.getpid()}"
    descriptor = try_lock(unnamed)
    assert descriptor is not None, "the folder is new and ours"
    unnamed.rename(folder / _LOCK)
    return descriptor
