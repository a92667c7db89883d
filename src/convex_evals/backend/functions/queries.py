"""Running queries: from the cache of results that still hold, or at a snapshot."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import orjson

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.errors import WorkerLost
from convex_evals.backend.functions.calls import Call, Finished, QueryOutcome
from convex_evals.backend.functions.execution import run_attempt
from convex_evals.backend.functions.host import Attempt, Host
from convex_evals.backend.functions.records import record_attempt, record_cached
from convex_evals.backend.identity import cache_key, may_call_internal

if TYPE_CHECKING:
    from convex_evals.backend.database import ReadSet

MAX_ENTRIES = 4096
MAX_CHARACTERS = 64 * 1024 * 1024
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
        while len(self._entries) > MAX_ENTRIES or self._characters > MAX_CHARACTERS:
            self._forget(next(iter(self._entries)))

    def clear(self) -> None:
        self._entries.clear()
        self._characters = 0

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


class _Slot(NamedTuple):
    query: QueryKey
    identity: str
    ts: int


class _Executed(NamedTuple):
    """`reusable`: the same query would end the same way; not so when it ran out of time or memory."""

    outcome: QueryOutcome
    reusable: bool
    clock_read: bool


class QueryRunner:
    """Equal queries at the same snapshot run once, however many sockets ask."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._cache = QueryCache(host.database.changed_since, host.clock.monotonic)
        self._running: dict[_Slot, asyncio.Task[QueryOutcome]] = {}

    def forget_results(self) -> None:
        self._cache.clear()

    async def run(self, call: Call, at: int | None = None, journal: str | None = None) -> QueryOutcome:
        ts = self._host.database.latest if at is None else at
        key = self._key(call, journal)
        if key is None:
            return (await self._execute(call, ts, journal)).outcome
        slot = _Slot(key, cache_key(call.identity), ts)
        shared = self._cache.get(slot.query, slot.identity, ts)
        if shared is None and slot in self._running:
            shared = await asyncio.shield(self._running[slot])
        if shared is not None:
            record_cached(self._host.log, call, shared)
            return replace(shared, ts=ts, request_id=call.request_id)
        return await self._start(slot, call, journal)

    async def _start(self, slot: _Slot, call: Call, journal: str | None) -> QueryOutcome:
        task = asyncio.create_task(self._compute(slot, call, journal))
        self._running[slot] = task
        task.add_done_callback(lambda done: self._ended(slot, done))
        return await asyncio.shield(task)

    def _ended(self, slot: _Slot, task: asyncio.Task[QueryOutcome]) -> None:
        del self._running[slot]
        if not task.cancelled():
            task.exception()  # marks it as retrieved: callers that still wait get it too

    async def _compute(self, slot: _Slot, call: Call, journal: str | None) -> QueryOutcome:
        executed = await self._execute(call, slot.ts, journal)
        if executed.reusable:
            self._cache.put(slot.query, slot.identity, executed.outcome, clock_read=executed.clock_read)
        return executed.outcome

    async def _execute(self, call: Call, ts: int, journal: str | None) -> _Executed:
        try:
            attempt = Attempt.begin(self._host, call, "Query", at=ts, journal=journal)
            finished = await run_attempt(attempt)
        except WorkerLost:
            attempt = Attempt.begin(self._host, call, "Query", at=ts, journal=journal)
            finished = await run_attempt(attempt, suspect=True)
        record_attempt(attempt, finished)
        return _Executed(_outcome(attempt, finished), finished.catchable, attempt.clock_read)

    def _key(self, call: Call, journal: str | None) -> QueryKey | None:
        """Callers who may see different functions, and different versions of the code, share nothing.

        None for arguments that are nested too deeply to be written down; they will be refused."""
        try:
            args = orjson.dumps(call.args if isinstance(call.args, list) else [call.args], option=orjson.OPT_SORT_KEYS)
        except orjson.JSONEncodeError:
            return None
        application = self._host.application
        return QueryKey(
            call.path,
            args.decode(),
            journal,
            trusted=call.allow_internal or may_call_internal(call.identity),
            version=application.version if application else 0,
        )


def _outcome(attempt: Attempt, finished: Finished) -> QueryOutcome:
    return QueryOutcome(
        value=finished.returned.text if finished.returned else None,
        failure=finished.failure,
        request_id=attempt.call.request_id,
        log_lines=finished.log_lines,
        ts=attempt.transaction.ts,
        read_set=attempt.transaction.read_set,
        journal=attempt.next_journal,
        identity_read=attempt.identity_read,
    )
