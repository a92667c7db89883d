"""What one more idle deployment takes, its function worker included."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

import psutil

from convex_evals.backend.deployment import Deployment

DEPLOYMENTS: Final = 4
SETTLED_SECONDS: Final = 0.5  # workers make their spare contexts ready after they start


@dataclass(frozen=True, slots=True)
class IdleMemory:
    """Megabytes per deployment. `resident` counts pages that processes share once for each, `proportional` once."""

    resident: float
    proportional: float

    def __sub__(self, other: "IdleMemory") -> "IdleMemory":
        return IdleMemory(self.resident - other.resident, self.proportional - other.proportional)


async def idle_memory() -> IdleMemory:
    """The difference that more deployments make, so that what all of them share is left out."""
    async with _deployments(1):
        before = _taken()
        async with _deployments(DEPLOYMENTS):
            more = _taken() - before
    return IdleMemory(more.resident / DEPLOYMENTS, more.proportional / DEPLOYMENTS)


@asynccontextmanager
async def _deployments(count: int) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for _ in range(count):
            await stack.enter_async_context(Deployment.start())
        await asyncio.sleep(SETTLED_SECONDS)
        yield


def _taken() -> IdleMemory:
    own, memory = psutil.Process(), []
    for process in (own, *own.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            memory.append(process.memory_full_info())
    # Only Linux divides shared pages among those who map them.
    proportional = sum(getattr(each, "pss", each.rss) for each in memory)
    return IdleMemory(sum(each.rss for each in memory) / 1e6, proportional / 1e6)
