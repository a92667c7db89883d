"""Races on purpose: actions that run at the same time take their steps together."""

import asyncio
import contextlib
from typing import Final

PATIENCE_SECONDS: Final = 2.0


class Lockstep:
    """After each call that an action makes, it waits until as many actions have come as far, so that all of them have
    read before any of them writes. Whoever has waited long enough lets all go on: some may have ended by then."""

    def __init__(self) -> None:
        self._size = 0
        self._waiting = 0
        self._step = asyncio.Event()

    def set_size(self, size: int) -> None:
        """How many actions wait for one another; 0 or 1: none."""
        self._size = size
        self._go_on()

    async def wait(self) -> None:
        if self._size < 2:
            return
        self._waiting += 1
        if self._waiting >= self._size:
            self._go_on()
            return
        step = self._step
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await step.wait()
        if step is self._step:
            self._go_on()

    def _go_on(self) -> None:
        self._waiting = 0
        self._step.set()
        self._step = asyncio.Event()
