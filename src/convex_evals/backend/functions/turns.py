"""The order of commits. First attempts run optimistically; an attempt that has lost a conflict runs alone.

A retry holds the turn from its snapshot to its commit. No other mutation commits in that time, so it cannot lose again.
A function that has lost a conflict is "hot" for a while: its calls, first attempts and retries alike, queue before they
take their snapshot, instead of running twice each. A retry of a hot function waits in that queue, then for the turn.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from convex_evals.backend.deployed import FunctionPath

HOT_SECONDS = 1.0


@dataclass(slots=True)
class _Line:
    until: float
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Turns:
    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._hot: dict[FunctionPath, _Line] = {}

    @contextlib.asynccontextmanager
    async def attempt(self, path: FunctionPath, *, alone: bool) -> AsyncIterator[None]:
        """Held from before the snapshot is taken until after the commit."""
        async with contextlib.AsyncExitStack() as held:
            line = self._line_of(path)
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
