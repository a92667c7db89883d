"""Ends user code that has no time left, from outside.

The engine could do that alone, but only with a new thread for every entry of user code, and that takes longer than most
functions do. So the worker is looked at while functions run in it: one that gives no sign of life while it uses up all
the time a function may have left gets a signal, which ends the function that runs. What it was is then for the worker
to say: the interrupted function has really used up its time, or another one had, and this one is to be run again.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

INTERVAL_SECONDS: Final = 0.05
SLACK: Final = 1.3  # user code is not all that a worker does for a call,
SLACK_SECONDS: Final = 0.2  # and not all that it does
DEAF_SECONDS: Final = 2.0  # a worker that has not listened for so long is killed


class Watched(Protocol):
    @property
    def signs_of_life(self) -> int: ...

    def main_thread_seconds(self) -> float: ...

    def interrupt(self) -> None: ...

    def kill(self) -> None: ...


class Watch:
    """`seconds_left` tells how long user code may still run at most, None when there is nothing to watch."""

    def __init__(self, seconds_left: Callable[[], float | None]) -> None:
        self._seconds_left = seconds_left
        self._worker: Watched | None = None
        self._next: asyncio.TimerHandle | None = None
        self._signs = 0
        self._since = 0.0  # processor time of the worker at its last sign of life, or when it was interrupted
        self._is_interrupted = False

    def begin(self, worker: Watched) -> None:
        """Watches until nothing runs any more."""
        if self._worker is worker and self._next is not None:
            return
        self.end()
        self._worker = worker
        self._look_again()
        self._remember(worker)

    def end(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def _look_again(self) -> None:
        self._next = asyncio.get_running_loop().call_later(INTERVAL_SECONDS, self._look)

    def _look(self) -> None:
        self._next = None
        worker, left = self._worker, self._seconds_left()
        if worker is None or left is None:
            return
        if worker.signs_of_life != self._signs:
            self._remember(worker)
        else:
            self._judge(worker, left)
        self._look_again()

    def _judge(self, worker: Watched, left: float) -> None:
        now = worker.main_thread_seconds()
        if self._is_interrupted:
            if now - self._since > DEAF_SECONDS:
                worker.kill()
        elif now - self._since > left * SLACK + SLACK_SECONDS:
            worker.interrupt()
            self._since, self._is_interrupted = now, True

    def _remember(self, worker: Watched) -> None:
        self._signs = worker.signs_of_life
        self._since, self._is_interrupted = worker.main_thread_seconds(), False
