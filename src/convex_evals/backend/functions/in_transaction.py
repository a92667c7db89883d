"""Running one function inside a transaction, at any depth."""

import os

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.functions.arguments import Arguments, check_returned
from convex_evals.backend.functions.attempt import SYSTEM_SECONDS, USER_SECONDS, Attempt, TransactionKind
from convex_evals.backend.functions.nested import NestedCalls
from convex_evals.backend.functions.outcomes import Finished, uncaught
from convex_evals.backend.functions.targets import Target
from convex_evals.backend.functions.transaction_syscalls import TransactionSyscalls
from convex_evals.backend.functions.variables import visible_variables
from convex_evals.backend.runtime.types import Execution


async def run_function(
    attempt: Attempt, target: Target, arguments: Arguments, kind: TransactionKind, depth: int = 0
) -> Finished:
    calls = NestedCalls(attempt, target, kind, depth, run_function)
    bridge = TransactionSyscalls(attempt, target, kind, depth, calls)
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
        env=visible_variables(target.instance, attempt.state),
        request_id=attempt.call.request_id,
        user_seconds=USER_SECONDS,
        total_seconds=SYSTEM_SECONDS,
    )
