"""Hearing of the death of child processes while waiting for something else."""

import os
import signal
import sys
from contextlib import suppress
from typing import Final

# ru_maxrss is in bytes on macOS and in kilobytes elsewhere.
MEMORY_UNIT: Final = 1 if sys.platform == "darwin" else 1024


def wake_on_death() -> int:
    """A descriptor that can be read when a child has died; see `drain`."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reader


def drain(descriptor: int) -> None:
    with suppress(BlockingIOError):
        while os.read(descriptor, 4096):
            pass
