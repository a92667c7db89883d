"""Calls of `_system/*` functions, which are written in Python and run inside ordinary transactions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from convex_evals.backend.deployed import Application, FunctionPath
from convex_evals.backend.errors import Conflict, DeveloperError, RequestError
from convex_evals.backend.functions.calls import Call, Finished, MutationOutcome, QueryOutcome, Returned
from convex_evals.backend.functions.host import Attempt, Host
from convex_evals.backend.functions.mutations import MutationHook
from convex_evals.backend.functions.records import record_attempt
from convex_evals.backend.identity import may_call_system
from convex_evals.backend.values import Value, decode, dumps, size_of

if TYPE_CHECKING:
    from convex_evals.backend.database import Transaction

MAX_ATTEMPTS = 5


@dataclass(slots=True)
class SystemCall:
    """What a system function is given. `journal` is the pagination journal: read it, and set what comes out."""

    path: FunctionPath
    args: "dict[str, Value]"
    transaction: "Transaction"
    application: Application | None
    journal: str | None = None


class SystemFunction(Protocol):
    @property
    def kind(self) -> Literal["query", "mutation"]: ...

    async def run(self, call: SystemCall) -> "Value":
        """Raises DeveloperError (its text reaches the client as it is) or ConvexError."""
        ...


class SystemFunctions(Protocol):
    def find(self, path: FunctionPath) -> SystemFunction | None:
        """`path.module` starts with `_system/`."""
        ...


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

    async def mutation(self, call: Call, hook: MutationHook | None = None) -> MutationOutcome:
        for _ in range(MAX_ATTEMPTS):
            attempt = Attempt.begin(self._host, call, "Mutation")
            known = hook.begin(attempt.transaction, call.request_id) if hook else None
            if known is not None:
                return known
            finished = await _finish(attempt)
            if finished.returned is None:
                record_attempt(attempt, finished)
                return MutationOutcome(None, finished.failure, call.request_id)
            if hook is not None:
                hook.finish(attempt.transaction, finished)
            try:
                async with self._host.turns.commit(alone=False):
                    ts = self._host.database.commit(attempt.transaction, call.path.stripped).ts
            except Conflict:
                continue
            record_attempt(attempt, finished)
            return MutationOutcome(finished.returned.text, None, call.request_id, ts=ts)
        raise RequestError(503, "OptimisticConcurrencyControlFailure", f"{call.path.stripped} met too many conflicts")

    def refuse_action(self, call: Call) -> None:
        """There are no system actions, but only administrators are told so."""
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
