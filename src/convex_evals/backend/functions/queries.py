"""Running queries: from the cache, or at a snapshot."""

import asyncio
from dataclasses import replace
from typing import NamedTuple

import orjson

from convex_evals.backend.errors import WorkerLost
from convex_evals.backend.functions.attempt import Attempt
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.outcomes import Finished
from convex_evals.backend.functions.query_cache import QueryCache, QueryKey
from convex_evals.backend.functions.records import record_attempt, record_cached
from convex_evals.backend.functions.running import run_attempt
from convex_evals.backend.functions.types import Call, QueryOutcome
from convex_evals.backend.identity import cache_key, may_call_internal


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
        self._cache = QueryCache(host.database.changed_since)
        self._running: dict[_Slot, asyncio.Task[QueryOutcome]] = {}

    async def run(self, call: Call, at: int | None = None, journal: str | None = None) -> QueryOutcome:
        ts = self._host.database.latest if at is None else at
        key = self._key(call, journal)
        if key is None or call.tracer is not None:
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
            task.exception()  # whoever still waits gets it; if nobody does, nobody misses it

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
