"""Who may commit when. Optimistic first attempts run freely; an attempt that has lost once runs alone.

A retry holds the turn from its snapshot to its commit, and nobody else commits meanwhile: it cannot lose again. A
function that keeps losing is "hot" for a while: its calls line up at the start, instead of being run twice each.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from convex_evals.backend.deployed import FunctionPath

HOT_SECONDS = 1.0


@dataclass(slots=True)
class _Queue:
    until: float
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Turns:
    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._hot: dict[FunctionPath, _Queue] = {}

    @asynccontextmanager
    async def attempt(self, path: FunctionPath, *, alone: bool) -> AsyncIterator[None]:
        """Held from before the snapshot is taken until after the commit."""
        lock = self._turn if alone else self._queue_of(path)
        if lock is None:
            yield
        else:
            async with lock:
                yield

    @asynccontextmanager
    async def commit(self, *, alone: bool) -> AsyncIterator[None]:
        """Held around a commit: waits for whoever runs alone."""
        if alone:
            yield
        else:
            async with self._turn:
                yield

    def lost(self, path: FunctionPath) -> None:
        """An attempt of this function met a conflict."""
        until = asyncio.get_running_loop().time() + HOT_SECONDS
        queue = self._hot.get(path)
        if queue is None:
            self._hot[path] = _Queue(until)
        else:
            queue.until = until

    def _queue_of(self, path: FunctionPath) -> asyncio.Lock | None:
        queue = self._hot.get(path)
        if queue is None:
            return None
        now = asyncio.get_running_loop().time()
        if queue.lock.locked():
            queue.until = now + HOT_SECONDS
        elif queue.until < now:
            del self._hot[path]
            return None
        return queue.lock
