"""Executing one attempt at a query or mutation: what is checked before, the run, and the calls it makes in turn."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from convex_evals.backend.errors import DeveloperError, Interrupted, WorkerCrashed
from convex_evals.backend.functions.arguments import Arguments, check_arguments, check_returned
from convex_evals.backend.functions.calls import Finished, uncaught, warning
from convex_evals.backend.functions.host import Attempt, TransactionKind
from convex_evals.backend.functions.syscalls import SyscallArgs, reply_of
from convex_evals.backend.functions.targets import AddressBook, Target, check_type, find_for_caller, find_target
from convex_evals.backend.functions.transaction_syscalls import TransactionSyscalls
from convex_evals.backend.limits import (
    MAX_CALL_DEPTH,
    OUT_OF_MEMORY,
    TIMED_OUT,
    TRANSACTION_SECONDS,
    TRANSACTION_USER_SECONDS,
    arguments_warning,
    calls_too_deep,
    duration_warning,
    return_warning,
    usage_warnings,
)
from convex_evals.backend.runtime import Execution, SyscallReply

CalledKind = Literal["Query", "Mutation", "SnapshotQuery"]
CALLED_KINDS: dict[str, CalledKind] = {"query": "Query", "mutation": "Mutation", "snapshotQuery": "SnapshotQuery"}


async def run_attempt(attempt: Attempt, *, suspect: bool = False) -> Finished:
    """Raises WorkerLost, unless the call is a `suspect`: it has lost its worker before. Suspects have a worker to
    themselves, so one that loses it again is the one that kills it."""
    if not suspect:
        return await _run(attempt)
    attempt.is_suspect = True
    async with attempt.host.runtime.quarantine():
        try:
            return await _run(attempt)
        except Interrupted:
            return Finished.failed(TIMED_OUT)
        except WorkerCrashed:
            return Finished.failed(OUT_OF_MEMORY)


async def _run(attempt: Attempt) -> Finished:
    """Checks, runs the function, and adds warnings."""
    try:
        checked = _check(attempt)
    except DeveloperError as error:
        return Finished.failed(error)
    finished = await run_function(attempt, checked.target, checked.arguments, attempt.kind)
    _warn(attempt, checked, finished)
    return finished


@dataclass(frozen=True, slots=True)
class _Checked:
    target: Target
    arguments: Arguments


def _check(attempt: Attempt) -> _Checked:
    call = attempt.call
    attempt.state.check_running()
    target = find_for_caller(attempt.application, call)
    check_type(target, attempt.kind)
    namespace = target.instance.id
    tables = attempt.transaction.catalog(namespace).table_names
    try:
        return _Checked(target, check_arguments(target, call.args, tables))
    except DeveloperError:
        attempt.transaction.depend_on_tables(namespace)  # an id may become valid when its table appears
        raise


def _warn(attempt: Attempt, checked: _Checked, finished: Finished) -> None:
    transaction = attempt.transaction
    lines = finished.log_lines
    lines.extend(map(warning, arguments_warning(checked.arguments.size)))
    lines.extend(attempt.warnings)
    lines.extend(map(warning, usage_warnings(transaction.usage, transaction.limits)))
    if finished.returned is not None:
        lines.extend(map(warning, return_warning(finished.returned.size)))
    lines.extend(map(warning, duration_warning(attempt.user_ms)))


async def run_function(
    attempt: Attempt, target: Target, arguments: Arguments, kind: TransactionKind, depth: int = 0
) -> Finished:
    calls = NestedCalls(attempt, target, kind, depth)
    bridge = TransactionSyscalls(attempt, target, kind, depth, calls.call)
    execution = _execution(attempt, target, arguments, kind)
    outcome = await attempt.host.runtime.run(execution, bridge, quarantined=attempt.is_suspect)
    attempt.user_ms += outcome.user_ms
    attempt.clock_read = attempt.clock_read or outcome.clock_read
    if outcome.failure is not None:
        return Finished(
            None, uncaught(outcome.failure), outcome.log_lines, outcome.user_ms, catchable=outcome.failure.catchable
        )
    tables = attempt.transaction.catalog(target.instance.id).table_names
    try:
        is_top_query = kind == "Query" and depth == 0
        returned = check_returned(target, outcome.result or "null", tables, pending=not is_top_query)
    except DeveloperError as error:
        return Finished.failed(error, outcome.log_lines, outcome.user_ms)
    return Finished(returned, None, outcome.log_lines, outcome.user_ms)


def _execution(attempt: Attempt, target: Target, arguments: Arguments, kind: TransactionKind) -> Execution:
    return Execution(
        kind="query" if kind == "Query" else "mutation",
        application_version=target.application.version,
        definition_path=target.instance.definition_path,
        path=target.path,
        environment=target.environment,
        args=arguments.text,
        now_ms=attempt.now_ms,
        seed=os.urandom(32),
        env=attempt.state.variables_of(target.instance),
        request_id=attempt.call.request_id,
        user_seconds=TRANSACTION_USER_SECONDS,
        total_seconds=TRANSACTION_SECONDS,
    )


class NestedCalls:
    """The calls that one execution makes with `ctx.runQuery` and `ctx.runMutation`: same transaction, fresh context."""

    def __init__(self, attempt: Attempt, caller: Target, kind: TransactionKind, depth: int) -> None:
        self._attempt = attempt
        self._caller = caller
        self._kind = kind
        self._depth = depth

    async def call(self, json: Mapping[str, object]) -> SyscallReply:
        """`1.0/runUdf`"""
        args = SyscallArgs(json, "runUdf")
        called = self._check_kind(args)
        if self._depth >= MAX_CALL_DEPTH:
            raise calls_too_deep()
        target = self._find(args)
        given = args.mapping("args")
        attempt = self._attempt
        if called == "SnapshotQuery":  # sees the state before the transaction, and its reads cause no conflicts
            attempt = replace(attempt, transaction=attempt.transaction.snapshot_view())
        try:
            check_type(target, "Mutation" if called == "Mutation" else "Query")
            tables = attempt.transaction.catalog(target.instance.id).table_names
            arguments = check_arguments(target, [given], tables, pending=True)
        except DeveloperError as error:
            return reply_of(Finished.failed(error), target.path)
        limits = args.json.get("transactionLimits")
        finished = await self._within(attempt, target, arguments, limits if isinstance(limits, dict) else {})
        return reply_of(finished, target.path)

    def _check_kind(self, args: SyscallArgs) -> CalledKind:
        name = args.text("udfType")
        called = CALLED_KINDS.get(name)
        if called is None:
            raise args.invalid_argument("udfType", f"Invalid UDF type: {name}")
        if self._kind == "Query" and called != "Query":
            raise DeveloperError(f"Cannot call a {called} function from a Query function")
        return called

    def _find(self, args: SyscallArgs) -> Target:
        application = self._caller.application
        book = AddressBook(application, self._attempt.host.handles, self._caller.path.component)
        path = book.resolve(args.json, args.method)
        target = find_target(application, path)
        if target is None:
            raise DeveloperError(f"Could not find public function for '{path.stripped}'{path.in_component}.")
        return target

    async def _within(
        self, attempt: Attempt, target: Target, arguments: Arguments, budgets: Mapping[str, float]
    ) -> Finished:
        transaction = attempt.transaction
        limits, transaction.limits = transaction.limits, transaction.limits.tightened(transaction.usage, budgets)
        savepoint = transaction.savepoint()
        kind: TransactionKind = "Mutation" if target.function.udf_type == "Mutation" else "Query"
        try:
            finished = await run_function(attempt, target, arguments, kind, self._depth + 1)
        finally:
            transaction.limits = limits
        if finished.failure is not None and kind == "Mutation":
            transaction.rollback(savepoint)
        else:
            transaction.release(savepoint)
        return finished
