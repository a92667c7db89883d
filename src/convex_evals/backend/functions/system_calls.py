"""Calls of `_system/*` functions: permissions, transactions and errors around what the system functions do."""

from convex_evals.backend.errors import Conflict, DeveloperError, RequestError
from convex_evals.backend.functions.arguments import Returned
from convex_evals.backend.functions.attempt import Attempt
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.mutations import Companion
from convex_evals.backend.functions.outcomes import Finished
from convex_evals.backend.functions.records import record_attempt
from convex_evals.backend.functions.system import SystemCall, SystemFunction
from convex_evals.backend.functions.types import Call, MutationOutcome, QueryOutcome
from convex_evals.backend.identity import may_call_system
from convex_evals.backend.values import Value, decode, dumps, size_of

MOST_ATTEMPTS = 5


class SystemCalls:
    def __init__(self, host: Host) -> None:
        self._host = host

    async def query(self, call: Call, at: int | None, journal: str | None) -> QueryOutcome:
        attempt = Attempt.begin(self._host, call, "Query", at=at, journal=journal)
        finished = await _finish(attempt)
        record_attempt(attempt, finished)
        transaction = attempt.transaction
        return QueryOutcome(
            finished.returned.text if finished.returned else None,
            finished.failure,
            call.request_id,
            ts=transaction.ts,
            read_set=transaction.read_set,
            journal=attempt.next_journal,
        )

    async def mutation(self, call: Call, companion: Companion | None = None) -> MutationOutcome:
        for _ in range(MOST_ATTEMPTS):
            attempt = Attempt.begin(self._host, call, "Mutation")
            known = companion.begin(attempt.transaction, call.request_id) if companion else None
            if known is not None:
                return known
            finished = await _finish(attempt)
            if finished.returned is None:
                record_attempt(attempt, finished)
                return MutationOutcome(None, finished.failure, call.request_id)
            if companion is not None:
                companion.finish(attempt.transaction, finished)
            try:
                async with self._host.turns.commit(alone=False):
                    ts = self._host.database.commit(attempt.transaction, call.path.stripped).ts
            except Conflict:
                continue
            record_attempt(attempt, finished)
            return MutationOutcome(finished.returned.text, None, call.request_id, ts=ts)
        raise RequestError(503, "OptimisticConcurrencyControlFailure", f"{call.path.stripped} met too many conflicts")

    def refuse_action(self, call: Call) -> None:
        """There are no system actions; only administrators get to know."""
        if not may_call_system(call.identity):
            raise RequestError(403, "SystemIdentityRequired", "Operation action not permitted")


async def _finish(attempt: Attempt) -> Finished:
    try:
        function = _find(attempt)
        call = SystemCall(
            attempt.call.path, _arguments(attempt.call), attempt.transaction, attempt.application, attempt.journal
        )
        value = await function.run(call)
        attempt.next_journal = call.journal
        return Finished(Returned(dumps(value), size_of(value)), None)
    except DeveloperError as error:
        return Finished.failed(error)


def _find(attempt: Attempt) -> SystemFunction:
    path, kind = attempt.call.path, attempt.kind.lower()
    if not may_call_system(attempt.call.identity):
        raise DeveloperError(f"Operation {kind} not permitted")
    functions = attempt.host.system_functions
    function = functions.find(path) if functions is not None else None
    if function is None:
        raise DeveloperError(f"Couldn't find system module '\"{path.module}\"'.")
    if function.kind != kind:
        raise DeveloperError(
            f"Function {path.canonical} is registered as a {function.kind} but is being run as a {kind}."
        )
    return function


def _arguments(call: Call) -> dict[str, Value]:
    given = call.args if isinstance(call.args, list) else [call.args]
    arguments = decode(given[0]) if len(given) == 1 else None
    if not isinstance(arguments, dict):
        raise DeveloperError("Expected to receive an object as the function's argument.")
    return arguments
