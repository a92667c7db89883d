"""One attempt at a query or mutation: what is checked before, in the order in which it is refused, and the run."""

from dataclasses import dataclass

from convex_evals.backend.errors import DeveloperError, Interrupted, WorkerCrashed
from convex_evals.backend.functions.arguments import Arguments, check_arguments
from convex_evals.backend.functions.attempt import Attempt
from convex_evals.backend.functions.in_transaction import run_function
from convex_evals.backend.functions.outcomes import OUT_OF_MEMORY, TIMED_OUT, Finished
from convex_evals.backend.functions.targets import Target, check_type, find_for_caller
from convex_evals.backend.functions.warnings import (
    arguments_warning,
    duration_warning,
    return_warning,
    usage_warnings,
)


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
    """Preflight, the function itself, and the warnings it has earned."""
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
    attempt.check_running()
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
    lines.extend(arguments_warning(checked.arguments.size))
    lines.extend(attempt.warnings)
    lines.extend(usage_warnings(transaction.usage, transaction.limits))
    if finished.returned is not None:
        lines.extend(return_warning(finished.returned.size))
    lines.extend(duration_warning(attempt.user_ms))
