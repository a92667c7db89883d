"""How many questions may be in flight to a provider: adapted to what it accepts."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic

from convex_evals.core.settings import Secret


@dataclass(slots=True)
class Limit:
    """Grows by one after as many successes as it allows at once; halved when the provider is overloaded.

    Complaints about questions that were sent before it was last halved say nothing new, and do not halve it again.
    """

    allowed: int = 4
    most: int = 32
    clock: Callable[[], float] = monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    in_flight: int = 0
    _successes: int = 0
    _halved_at: float = float("-inf")
    _quiet_until: float = float("-inf")
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[float]:
        """Waits for a turn, first come, first served, and holds it until the block ends. Yields when it began."""
        await self._take()
        try:
            while quiet := self.quiet_seconds:
                await self.sleep(quiet)
            yield self.clock()
        finally:
            self._give_back()

    def succeeded(self) -> None:
        self._successes += 1
        if self._successes >= self.allowed:
            self._successes = 0
            self.allowed = min(self.most, self.allowed + 1)
            self._hand_out()

    def complained(self, began: float, retry_after: float | None = None) -> None:
        """The provider was overloaded by a question whose turn began then."""
        now = self.clock()
        self._quiet_until = max(self._quiet_until, now + (retry_after or 0.0))
        if began > self._halved_at:
            self.allowed = max(1, self.allowed // 2)
            self._successes = 0
            self._halved_at = now

    @property
    def quiet_seconds(self) -> float:
        """For how long the provider still asks us to wait."""
        return max(0.0, self._quiet_until - self.clock())

    async def _take(self) -> None:
        if self.in_flight < self.allowed:
            self.in_flight += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._waiting.remove(place)
            else:  # it was handed over at the very moment when nobody wanted it any more
                self._give_back()
            raise

    def _give_back(self) -> None:
        self.in_flight -= 1
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and self.in_flight < self.allowed:
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)


@dataclass(frozen=True, slots=True)
class Limits:
    """One limit per provider and key, shared by all models that are asked with that key."""

    _limits: dict[tuple[str, Secret | None], Limit] = field(default_factory=dict)

    def of(self, provider: str, key: Secret | None) -> Limit:
        return self._limits.setdefault((provider, key), _first_limit(provider))


def _first_limit(provider: str) -> Limit:
    """A local server usually has one GPU, and never says that it is overloaded."""
    return Limit(allowed=1, most=4) if provider == "local" else Limit()
