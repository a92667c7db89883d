"""One process at a time. The lock goes with its holder, however that one ends."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

_RETRY_SECONDS: Final = 0.1


@asynccontextmanager
async def file_lock(path: Path, on_wait: Callable[[], None] | None = None) -> AsyncIterator[None]:
    """Holds an exclusive lock on `path`, a file that stays. `on_wait` is called once if another process holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        # Asking again and again instead of sleeping in flock: that would hold a thread which nothing can cancel.
        while not _try_lock(descriptor):
            if on_wait is not None:
                on_wait()
                on_wait = None
            await asyncio.sleep(_RETRY_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
