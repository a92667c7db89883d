"""A worker for calls that have lost theirs. They are in there one at a time: who loses it again has killed it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from convex_evals.backend.runtime.code import CodeStore
from convex_evals.backend.runtime.functions_worker import FunctionsWorker
from convex_evals.backend.runtime.sandbox import Sandbox


class Quarantine:
    """The worker runs only while somebody is inside or waits."""

    def __init__(self, sandbox: Sandbox, code: CodeStore) -> None:
        self.worker = FunctionsWorker(sandbox, code)
        self._turn = asyncio.Lock()
        self._here = 0

    @contextlib.asynccontextmanager
    async def enter(self) -> AsyncIterator[None]:
        self._here += 1
        try:
            async with self._turn:
                try:
                    yield
                finally:
                    if self._here == 1:
                        await self.worker.stop()
        finally:
            self._here -= 1

    async def stop(self) -> None:
        await self.worker.stop()
