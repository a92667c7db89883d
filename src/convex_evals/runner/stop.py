"""Ctrl-C: once means finish what is in flight and start nothing more; twice means stop now."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

GRACEFUL: Final = (signal.SIGINT,)
IMMEDIATE: Final = (signal.SIGTERM, signal.SIGHUP)


class Stop:
    """What the user asked for so far. `requested` stops new work, `now` interrupts work in flight."""

    def __init__(self, on_request: Callable[[], None] = lambda: None) -> None:
        self.requested = False
        self.now = asyncio.Event()
        self._on_request = on_request

    def request(self) -> None:
        if self.requested:
            self.now.set()
        else:
            self.requested = True
            self._on_request()

    def stop_now(self) -> None:
        self.requested = True
        self.now.set()


@contextmanager
def signal_handlers(stop: Stop) -> Iterator[None]:
    """Until it ends, signals are requests to `stop` and do not end the process."""
    loop = asyncio.get_running_loop()
    for number in GRACEFUL:
        loop.add_signal_handler(number, stop.request)
    for number in IMMEDIATE:
        loop.add_signal_handler(number, stop.stop_now)
    try:
        yield
    finally:
        for number in (*GRACEFUL, *IMMEDIATE):
            loop.remove_signal_handler(number)
