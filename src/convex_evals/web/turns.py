"""Who waits for whom: pages for each other, records for each other, and neither for the other kind.

Threads of one process take turns on one processor, so with many of them at work nothing is done sooner, and what asks
the database a dozen times loses its turn as often. So few work at once, and the others wait where that costs nothing.
"""

from collections.abc import Callable
from typing import Annotated, Final, TypeVar, TypeVarTuple

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
PAGES: Final = 6
RECORDS: Final = 6
CHECKS: Final = 4


class Turns:
    """One for each application."""

    def __init__(self) -> None:
        self._records, self._checks = CapacityLimiter(RECORDS), CapacityLimiter(CHECKS)

    async def record(self, work: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
        """What runners send, in a thread."""
        return await to_thread.run_sync(work, *arguments, limiter=self._records)

    async def check(self, work: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
        """Checks of who is asking, in a thread."""
        return await to_thread.run_sync(work, *arguments, limiter=self._checks)


def limit_pages() -> None:
    """For the event loop that this is called in; everything else that works in threads counts as a page."""
    to_thread.current_default_thread_limiter().total_tokens = PAGES


async def turns_of(request: Request) -> Turns:
    turns: Turns = request.app.state.turns
    return turns


InTurn = Annotated[Turns, Depends(turns_of)]
