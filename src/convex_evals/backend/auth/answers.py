"""Answers of auth providers, used again while they are fresh."""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from convex_evals.backend.auth.fetcher import Answer, Answered

MOST_URLS: Final = 64
MOST_RENEWALS: Final = 5
RENEWAL_SECONDS: Final = 60.0


@dataclass(slots=True)
class _Slot:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    answer: Answer | None = None
    fresh_until: float = 0.0
    fetches: int = 0
    renewals: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_RENEWALS))

    def take_renewal(self, now: float) -> bool:
        if len(self.renewals) == MOST_RENEWALS and now - self.renewals[0] < RENEWAL_SECONDS:
            return False
        self.renewals.append(now)
        return True

    def keep(self, answer: Answer, now: float) -> None:
        self.answer = answer
        self.fetches += 1
        self.fresh_until = now + answer.fresh_seconds if isinstance(answer, Answered) and answer.ok else 0.0


class Answers:
    """Everybody who wants the same URL at the same time gets the same answer, also when there is none."""

    def __init__(self, fetch: Callable[[str], Awaitable[Answer]], now: Callable[[], float] = time.time) -> None:
        self._fetch = fetch
        self._now = now
        self._slots: OrderedDict[str, _Slot] = OrderedDict()

    async def get(self, url: str) -> Answer:
        slot = self._slot(url)
        if slot.answer is not None and self._now() < slot.fresh_until:
            return slot.answer
        fetches = slot.fetches
        async with slot.lock:
            if slot.fetches == fetches:
                slot.keep(await self._fetch(url), self._now())
            assert slot.answer is not None
            return slot.answer

    async def newer(self, url: str, than: Answered) -> Answered:
        """A kept answer again, asked for before its time; at most `MOST_RENEWALS` times in `RENEWAL_SECONDS`.

        The old answer when the URL has nothing better: whoever sends tokens must not be able to spoil it."""
        if than.fresh_seconds == 0:
            return than
        slot = self._slot(url)
        async with slot.lock:
            if slot.answer is than and slot.take_renewal(self._now()):
                answer = await self._fetch(url)
                if isinstance(answer, Answered) and answer.ok:
                    slot.keep(answer, self._now())
            return slot.answer if isinstance(slot.answer, Answered) and slot.answer.ok else than

    def _slot(self, url: str) -> _Slot:
        slot = self._slots.setdefault(url, _Slot())
        self._slots.move_to_end(url)
        if len(self._slots) > MOST_URLS:
            self._slots.popitem(last=False)
        return slot
