"""The order of commits. First attempts run optimistically; an attempt that has lost a conflict runs alone.

A retry holds the turn from its snapshot to its commit. No other mutation commits in that time, so it can only lose to
what the deployment itself writes: files that are uploaded, variables, pushes.
A function that has lost a conflict is "hot" for a while: its calls, first attempts and retries alike, queue before they
take their snapshot, instead of running twice each. A retry of a hot function waits in that queue, then for the turn.

Graders can cause races on purpose. In lockstep, actions that run at the same time wait for one another after each
call, so that all of them have read before any of them writes. Mutations overlap: none commits until all have run. Or
one that has run is held back while others begin and commit.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

from convex_evals.backend.deployed import FunctionPath

HOT_SECONDS = 1.0
PATIENCE_SECONDS: Final = 2.0


@dataclass(slots=True)
class _Line:
    until: float
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Rendezvous:
    """A barrier: callers wait until the expected number has arrived, then all continue in the order of their arrival,
    each time or `once`. A caller that has waited long enough releases all, because fewer may arrive."""

    def __init__(self, *, once: bool = False) -> None:
        self._once = once
        self._size = 0
        self._seconds = PATIENCE_SECONDS
        self._waiting = 0
        self._step = asyncio.Event()

    def expect(self, size: int, seconds: float | None = None) -> None:
        """Sets how many wait for one another, and how long. 0 or 1: nobody waits, and whoever does is released."""
        self._go_on()
        self._size = size
        self._seconds = seconds or PATIENCE_SECONDS

    @property
    def is_expected(self) -> bool:
        return self._size > 1

    async def wait(self) -> None:
        if not self.is_expected:
            return
        self._waiting += 1
        step = self._step
        if self._waiting < self._size:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await step.wait()
        if step is self._step:
            self._go_on()
            await asyncio.sleep(0)  # the others came first

    def _go_on(self) -> None:
        self._waiting = 0
        if self._once:
            self._size = 0
        self._step.set()
        self._step = asyncio.Event()


class Gate:
    """Once closed, it holds back the first that comes, until it opens or has been closed long enough. Others pass."""

    def __init__(self) -> None:
        self._opening: asyncio.Event | None = None
        self._seconds = PATIENCE_SECONDS
        self.is_holding = False

    def close(self, seconds: float | None = None) -> None:
        self.open()
        self._opening = asyncio.Event()
        self._seconds = seconds or PATIENCE_SECONDS

    def open(self) -> None:
        if self._opening is not None:
            self._opening.set()
        self._opening, self.is_holding = None, False

    @property
    def is_closed(self) -> bool:
        return self._opening is not None

    async def wait(self) -> None:
        if self._opening is None or self.is_holding:
            return
        self.is_holding, opening = True, self._opening
        try:
            async with asyncio.timeout(self._seconds):
                await opening.wait()
        except TimeoutError:
            if opening is self._opening:
                self.open()


class Turns:
    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._hot: dict[FunctionPath, _Line] = {}
        self.overlap = Rendezvous(once=True)
        self.gate = Gate()

    @contextlib.asynccontextmanager
    async def attempt(self, path: FunctionPath, *, alone: bool) -> AsyncIterator[None]:
        """Held from before the snapshot is taken until after the commit."""
        async with contextlib.AsyncExitStack() as held:
            line = None if self.overlap.is_expected or self.gate.is_closed else self._line_of(path)
            if line is not None:
                await held.enter_async_context(line)
            if alone:
                await held.enter_async_context(self._turn)
            yield

    @contextlib.asynccontextmanager
    async def commit(self, *, alone: bool) -> AsyncIterator[None]:
        """Held around a commit: waits for an attempt that runs alone."""
        if alone:
            yield
        else:
            async with self._turn:
                yield

    def lost(self, path: FunctionPath) -> None:
        """An attempt of this function met a conflict."""
        until = asyncio.get_running_loop().time() + HOT_SECONDS
        line = self._hot.get(path)
        if line is None:
            self._hot[path] = _Line(until)
        else:
            line.until = until

    def _line_of(self, path: FunctionPath) -> asyncio.Lock | None:
        line = self._hot.get(path)
        if line is None:
            return None
        now = asyncio.get_running_loop().time()
        if line.lock.locked():
            line.until = now + HOT_SECONDS
        elif line.until < now:
            del self._hot[path]
            return None
        return line.lock
