"""The calls that everything else makes: sockets, the HTTP API, the scheduler, and actions."""

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.functions.actions import ActionRunner
from convex_evals.backend.functions.calls import (
    Call,
    CallOutcome,
    MutationOutcome,
    QueryOutcome,
    SessionRequest,
    failure_of,
)
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.mutations import MAX_RETRIES, Idempotency, MutationHook, MutationRunner
from convex_evals.backend.functions.queries import QueryRunner
from convex_evals.backend.functions.system_calls import SystemCalls
from convex_evals.backend.functions.targets import find_by_registration, is_system
from convex_evals.backend.identity import may_call_internal

if TYPE_CHECKING:
    from convex_evals.backend.database import Transaction

T = TypeVar("T")
Outcome = TypeVar("Outcome", bound=CallOutcome)


class FunctionRunner:
    """A function's own failure is an outcome. RequestError and SystemFailure are raised."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._queries = QueryRunner(host)
        self._mutations = MutationRunner(host)
        self._actions = ActionRunner(host, self)
        self._system = SystemCalls(host)

    def forget_results(self) -> None:
        """From now on no query is answered without being run."""
        self._queries.forget_results()

    async def query(self, call: Call, *, at: int | None = None, journal: str | None = None) -> QueryOutcome:
        """At the latest snapshot, or at `at`. `journal` is that of the previous run of the same query."""
        call = _identified(call)
        if at is None:
            await self._await_due_work(call)
        if is_system(call.path):
            return await self._system.query(call, at, journal)
        return self._shown(call, await self._queries.run(call, at, journal))

    async def mutation(
        self,
        call: Call,
        *,
        session_request: SessionRequest | None = None,
        hook: MutationHook | None = None,
        max_retries: int | None = MAX_RETRIES,
    ) -> MutationOutcome:
        """With a `session_request` at most once; a `hook` takes part in its transaction."""
        call = _identified(call)
        await self._await_due_work(call)
        if session_request is not None:
            hook = Idempotency(session_request)
        if is_system(call.path):
            return await self._system.mutation(call, hook)
        return self._shown(call, await self._mutations.run(call, hook, max_retries=max_retries))

    async def action(self, call: Call) -> CallOutcome:
        call = _identified(call)
        await self._await_due_work(call)
        if is_system(call.path):
            self._system.refuse_action(call)
        return self._shown(call, await self._actions.run(call))

    async def run_any(self, call: Call) -> CallOutcome:
        """By the type the function was registered with. System functions are out of reach."""
        call = _identified(call)
        try:
            target = find_by_registration(self.host.application, call)
        except DeveloperError as error:
            return self._shown(call, CallOutcome(None, failure_of(error), call.request_id))
        match target.function.udf_type:
            case "Query":
                return await self.query(call)
            case "Mutation":
                return await self.mutation(call)
            case _:
                return await self.action(call)

    # ------------------------------------------------------------------ what actions call

    async def run_query(self, call: Call) -> CallOutcome:
        return await self._queries.run(call)

    async def run_mutation(self, call: Call) -> CallOutcome:
        return await self._mutations.run(call)

    async def run_action(self, call: Call) -> CallOutcome:
        return await self._actions.run(call)

    async def write(self, source: str, work: "Callable[[Transaction], T]") -> T:
        """Commits what `work` does to a transaction, on behalf of `source`."""
        return await self._mutations.write(source, work)

    async def _await_due_work(self, call: Call) -> None:
        """Administrators come after the scheduled mutations that were due before they called: a grader that clears all
        tables between two tests does not do so while something of the first is about to write."""
        if self.host.settle is not None and may_call_internal(call.identity):
            await self.host.settle()

    def _shown(self, call: Call, outcome: Outcome) -> Outcome:
        """A deployment that redacts tells ordinary callers that something went wrong, not what."""
        if not self.host.redact or call.allow_internal or may_call_internal(call.identity):
            return outcome
        failure = outcome.failure and replace(outcome.failure, redacted=True)
        return replace(outcome, failure=failure, log_lines=[])


def _identified(call: Call) -> Call:
    return call if call.request_id else replace(call, request_id=secrets.token_hex(8))
