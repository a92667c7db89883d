"""Ctrl-C: once means finish what is in flight and start nothing more; twice means stop now."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

POLITE: Final = (signal.SIGINT,)
FIRM: Final = (signal.SIGTERM, signal.SIGHUP)


class Stop:
    """What the user asked for so far. `requested` stops new work, `now` interrupts work in flight."""

    def __init__(self, on_request: Callable[[], None] = lambda: None) -> None:
        self.requested = False
        self.now = asyncio.Event()
        self._on_request = on_request

    def ask(self) -> None:
        if self.requested:
            self.now.set()
        else:
            self.requested = True
            self._on_request()

    def insist(self) -> None:
        self.requested = True
        self.now.set()


@contextmanager
def heeding_signals(stop: Stop) -> Iterator[None]:
    """While this lasts, signals speak to `stop` instead of ending the process."""
    loop = asyncio.get_running_loop()
    for number in POLITE:
        loop.add_signal_handler(number, stop.ask)
    for number in FIRM:
        loop.add_signal_handler(number, stop.insist)
    try:
        yield
    finally:
        for number in (*POLITE, *FIRM):
            loop.remove_signal_handler(number)
