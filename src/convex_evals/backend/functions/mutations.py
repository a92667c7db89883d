"""Running mutations: an attempt, a commit, and again when somebody else was faster."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from convex_evals.backend.errors import Conflict, RequestError, WorkerLost
from convex_evals.backend.functions import session_requests
from convex_evals.backend.functions.arguments import resolve_commit_ts
from convex_evals.backend.functions.attempt import Attempt
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.outcomes import Finished
from convex_evals.backend.functions.records import occ_info, record_attempt
from convex_evals.backend.functions.running import run_attempt
from convex_evals.backend.functions.types import Call, MutationOutcome, SessionRequest

if TYPE_CHECKING:
    from convex_evals.backend.database import Transaction

MOST_RETRIES = 4
FIRST_BACKOFF_SECONDS = 0.1
LONGEST_BACKOFF_SECONDS = 2.0

T = TypeVar("T")


class Companion(Protocol):
    """Rows that live and die with a mutation: read and written in its own transaction."""

    def begin(self, transaction: "Transaction", request_id: str) -> MutationOutcome | None:
        """Before the function runs. An outcome answers the call without running it."""
        ...

    def finish(self, transaction: "Transaction", finished: Finished) -> None:
        """After the function succeeded, before the commit."""
        ...


@dataclass(frozen=True, slots=True)
class Idempotency:
    """The companion of a mutation sent over a socket: the record of its result."""

    request: SessionRequest

    def begin(self, transaction: "Transaction", request_id: str) -> MutationOutcome | None:
        return session_requests.find(transaction, self.request, request_id)

    def finish(self, transaction: "Transaction", finished: Finished) -> None:
        if finished.returned is not None:
            session_requests.record(transaction, self.request, finished.returned.text, finished.log_lines)


class MutationRunner:
    def __init__(self, host: Host) -> None:
        self._host = host

    async def run(
        self, call: Call, companion: Companion | None = None, *, most_retries: int | None = MOST_RETRIES
    ) -> MutationOutcome:
        """`most_retries` None: as often as it takes."""
        retry, suspect = 0, False
        while True:
            try:
                return await self._attempt(call, companion, retry, suspect)
            except WorkerLost:
                suspect = True
                continue
            except Conflict as conflict:
                self._host.turns.lost(call.path)
                if most_retries is not None and retry >= most_retries:
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

    async def _attempt(self, call: Call, companion: Companion | None, retry: int, suspect: bool) -> MutationOutcome:
        alone = retry > 0
        async with self._host.turns.attempt(call.path, alone=alone):
            attempt = Attempt.begin(self._host, call, "Mutation")
            known = companion.begin(attempt.transaction, call.request_id) if companion else None
            if known is not None:
                return known
            try:
                finished = await run_attempt(attempt, suspect=suspect)
                if finished.returned is None:
                    record_attempt(attempt, finished)
                    return MutationOutcome(None, finished.failure, call.request_id, finished.log_lines)
                if companion is not None:
                    companion.finish(attempt.transaction, finished)
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
    longest = min(FIRST_BACKOFF_SECONDS * 2**retry, LONGEST_BACKOFF_SECONDS)
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
