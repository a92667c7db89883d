"""Running mutations: an attempt, a commit, and a retry when another commit came first."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import orjson

from convex_evals.backend.errors import Conflict, RequestError, WorkerLost
from convex_evals.backend.functions.arguments import resolve_commit_ts
from convex_evals.backend.functions.calls import Call, Finished, MutationOutcome, SessionRequest
from convex_evals.backend.functions.execution import run_attempt
from convex_evals.backend.functions.host import Attempt, Host
from convex_evals.backend.functions.records import occ_info, record_attempt
from convex_evals.backend.runtime import LogLine
from convex_evals.backend.values import COMMIT_TS, Value, decode_pending, dumps

if TYPE_CHECKING:
    from convex_evals.backend.database import Transaction

SESSION_REQUESTS = "_session_requests"

MAX_RETRIES = 4
FIRST_BACKOFF_SECONDS = 0.1
MAX_BACKOFF_SECONDS = 2.0

T = TypeVar("T")


class MutationHook(Protocol):
    """Rows that live and die with a mutation: read and written in its own transaction."""

    def begin(self, transaction: "Transaction", request_id: str) -> MutationOutcome | None:
        """Before the function runs. An outcome answers the call without running it."""
        ...

    def finish(self, transaction: "Transaction", finished: Finished) -> None:
        """After the function succeeded, before the commit."""
        ...


@dataclass(frozen=True, slots=True)
class Idempotency:
    """The hook of a mutation sent over a socket: its result is kept under the session and request that asked for it."""

    request: SessionRequest

    def begin(self, transaction: "Transaction", request_id: str) -> MutationOutcome | None:
        """The outcome of this request, if it was committed before."""
        key: list[Value] = [self.request.session_id, self.request.request_id]
        row = transaction.system.first("", SESSION_REQUESTS, "by_session", key)
        if row is None:
            return None
        lines, ts = row.value["logLines"], row.value["ts"]
        assert isinstance(lines, list) and isinstance(ts, int)
        return MutationOutcome(dumps(row.value["result"]), None, request_id, list(map(_log_line, lines)), ts)

    def finish(self, transaction: "Transaction", finished: Finished) -> None:
        """The timestamp is filled in by the commit."""
        if finished.returned is None:
            return
        lines: list[Value] = [
            {"level": line.level, "messages": list(line.messages), "timestamp": line.timestamp_ms}
            for line in finished.log_lines
        ]
        row: dict[str, Value] = {
            "sessionId": self.request.session_id,
            "requestId": self.request.request_id,
            "result": decode_pending(orjson.loads(finished.returned.text)),
            "logLines": lines,
            "ts": COMMIT_TS,
        }
        transaction.system.insert("", SESSION_REQUESTS, row)


def _log_line(stored: Value) -> LogLine:
    assert isinstance(stored, dict)
    return LogLine(stored["level"], tuple(stored["messages"]), stored["timestamp"])  # type: ignore[arg-type]


class MutationRunner:
    def __init__(self, host: Host) -> None:
        self._host = host

    async def run(
        self, call: Call, hook: MutationHook | None = None, *, max_retries: int | None = MAX_RETRIES
    ) -> MutationOutcome:
        """`max_retries` None: no limit."""
        retry, suspect = 0, False
        while True:
            try:
                return await self._attempt(call, hook, retry, suspect)
            except WorkerLost:
                if suspect:
                    raise
                suspect = True
                continue
            except Conflict as conflict:
                self._host.turns.lost(call.path)
                if max_retries is not None and retry >= max_retries:
                    raise _gave_up(call, conflict) from conflict
            if retry > 0:  # the first retry runs alone, so there is nothing to wait for
                await asyncio.sleep(_backoff(retry))
            retry += 1

    async def write(self, source: str, work: "Callable[[Transaction], T]") -> T:
        """Commits what `work` does. Nothing can come between, because nothing here waits."""
        async with self._host.turns.commit(alone=False):
            transaction = self._host.database.begin()
            result = work(transaction)
            self._host.database.commit(transaction, source)
            return result

    async def _attempt(self, call: Call, hook: MutationHook | None, retry: int, suspect: bool) -> MutationOutcome:
        alone = retry > 0
        async with self._host.turns.attempt(call.path, alone=alone):
            attempt = Attempt.begin(self._host, call, "Mutation")
            known = hook.begin(attempt.transaction, call.request_id) if hook else None
            if known is not None:
                return known
            try:
                finished = await run_attempt(attempt, suspect=suspect)
                if finished.returned is None:
                    record_attempt(attempt, finished)
                    return MutationOutcome(None, finished.failure, call.request_id, finished.log_lines)
                if hook is not None:
                    hook.finish(attempt.transaction, finished)
                if not alone:
                    await self._host.turns.overlap.wait()
                    await self._host.turns.gate.wait()
                async with self._host.turns.commit(alone=alone):
                    ts = self._commit(attempt, finished, retry)
            finally:
                if attempt.stored:
                    self._host.files.discard_unrecorded(attempt.stored)
        record_attempt(attempt, finished)
        value = resolve_commit_ts(finished.returned.text, ts)
        return MutationOutcome(value, None, call.request_id, finished.log_lines, ts)

    def _commit(self, attempt: Attempt, finished: Finished, retry: int) -> int:
        try:
            return self._host.database.commit(attempt.transaction, attempt.call.path.stripped).ts
        except Conflict as conflict:
            record_attempt(attempt, finished, conflict=occ_info(conflict, retry), will_retry=True)
            raise


def _backoff(retry: int) -> float:
    longest = min(FIRST_BACKOFF_SECONDS * 2**retry, MAX_BACKOFF_SECONDS)
    return random.uniform(0, longest)


def _gave_up(call: Call, conflict: Conflict) -> RequestError:
    writer = ""
    if conflict.source is not None and conflict.document_id is not None:
        who = (
            "Another call to this mutation"
            if conflict.source == call.path.stripped
            else f'A call to "{conflict.source}"'
        )
        writer = f' {who} changed the document with ID "{conflict.document_id}".'
    return RequestError(
        503,
        "OptimisticConcurrencyControlFailure",
        f'Documents read from or written to the "{conflict.table}" table changed while this mutation was being run and '
        f"on every subsequent retry.{writer} See https://docs.convex.dev/error#1",
    )
