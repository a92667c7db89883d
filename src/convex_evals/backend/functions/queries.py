"""Running queries: from the cache, or at a snapshot."""

from dataclasses import replace

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


class QueryRunner:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._cache = QueryCache(host.database.changed_since)

    async def run(self, call: Call, at: int | None = None, journal: str | None = None) -> QueryOutcome:
        ts = self._host.database.latest if at is None else at
        key = self._key(call, journal)
        identity = cache_key(call.identity)
        cached = None if call.tracer is not None else self._cache.get(key, identity, ts)
        if cached is not None:
            record_cached(self._host.log, call, cached)
            return replace(cached, ts=ts, request_id=call.request_id)
        try:
            attempt = Attempt.begin(self._host, call, "Query", at=ts, journal=journal)
            finished = await run_attempt(attempt)
        except WorkerLost:
            attempt = Attempt.begin(self._host, call, "Query", at=ts, journal=journal)
            finished = await run_attempt(attempt, suspect=True)
        record_attempt(attempt, finished)
        outcome = _outcome(attempt, finished)
        if finished.catchable:
            self._cache.put(key, identity, outcome, clock_read=attempt.clock_read)
        return outcome

    def _key(self, call: Call, journal: str | None) -> QueryKey:
        """Callers who may see different functions, and different versions of the code, share nothing."""
        args = call.args if isinstance(call.args, list) else [call.args]
        application = self._host.application
        return QueryKey(
            call.path,
            orjson.dumps(args, option=orjson.OPT_SORT_KEYS).decode(),
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
