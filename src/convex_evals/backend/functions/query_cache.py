"""Results of queries, kept until something they read has changed."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.functions.types import QueryOutcome

if TYPE_CHECKING:
    from convex_evals.backend.database import ReadSet

MOST_ENTRIES = 4096
MOST_CHARACTERS = 64 * 1024 * 1024
CLOCK_SECONDS = 17.0  # how long a result that looked at the clock is good: 1 s + 15 s + 1 s


@dataclass(frozen=True, slots=True)
class QueryKey:
    path: FunctionPath
    args: str  # canonical JSON text
    journal: str | None
    trusted: bool = False
    version: int = 0


@dataclass(slots=True)
class _Entry:
    outcome: QueryOutcome
    unchanged_until: int  # a snapshot up to which the result is known to hold
    expires_at: float | None

    @property
    def size(self) -> int:
        return len(self.outcome.value or "")


class QueryCache:
    def __init__(
        self, changed_since: "Callable[[ReadSet, int], bool]", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._changed_since = changed_since
        self._clock = clock
        self._entries: OrderedDict[tuple[QueryKey, str | None], _Entry] = OrderedDict()
        self._characters = 0

    def get(self, key: QueryKey, identity: str, at: int) -> QueryOutcome | None:
        """The result at snapshot `at` for a caller with this identity key, if it is known without running anything."""
        return self._lookup((key, None), at) or self._lookup((key, identity), at)

    def put(self, key: QueryKey, identity: str, outcome: QueryOutcome, *, clock_read: bool) -> None:
        if outcome.read_set is None:
            return
        slot = (key, identity if outcome.identity_read else None)
        self._forget(slot)
        expires_at = self._clock() + CLOCK_SECONDS if clock_read else None
        entry = self._entries[slot] = _Entry(outcome, outcome.ts, expires_at)
        self._characters += entry.size
        while len(self._entries) > MOST_ENTRIES or self._characters > MOST_CHARACTERS:
            self._forget(next(iter(self._entries)))

    def _lookup(self, slot: tuple[QueryKey, str | None], at: int) -> QueryOutcome | None:
        entry = self._entries.get(slot)
        if entry is None or entry.outcome.ts > at:
            return None
        if self._is_stale(entry):
            self._forget(slot)
            return None
        entry.unchanged_until = max(entry.unchanged_until, at)
        self._entries.move_to_end(slot)
        return entry.outcome

    def _is_stale(self, entry: _Entry) -> bool:
        if entry.expires_at is not None and entry.expires_at < self._clock():
            return True
        read_set = entry.outcome.read_set
        return read_set is None or self._changed_since(read_set, entry.unchanged_until)

    def _forget(self, slot: tuple[QueryKey, str | None]) -> None:
        entry = self._entries.pop(slot, None)
        if entry is not None:
            self._characters -= entry.size
