"""Opening scores to look at them, and finding what a user means."""

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.scores import AttemptDetails, RunRecord, ScoresStore, database_status


@contextmanager
def existing_scores(where: str | None) -> Iterator[ScoresStore]:
    """Scores that are there: looking never makes a file."""
    status = database_status(where)
    if status.condition == "missing":
        raise UsageError(f"There are no scores in {status.location} yet; `convex-evals run` makes them.")
    with ScoresStore.open(where) as store:
        yield store


def result_details(store: ScoresStore, run_id: str, eval: str | None = None) -> tuple[AttemptDetails, ...]:
    """Of each eval and trial the latest attempt that has a result."""
    results = {attempt.id for attempt in store.results(run_id)}
    return tuple(details for details in store.details(run_id, eval) if details.attempt.id in results)


def find_eval(store: ScoresStore, run: RunRecord, wanted: str) -> str:
    """`category/name` of the planned eval that is called so, or whose name is so."""
    planned = [each.eval for each in store.export_run(run.id).evals]
    found = [each for each in planned if wanted in (each, each.partition("/")[2])]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{wanted!r} may be {' or '.join(found)}; write the one you mean.")
    close = get_close_matches(wanted, [*planned, *(each.partition("/")[2] for each in planned)], n=1)
    advice = f"did you mean {close[0]}?" if close else f"`convex-evals show {prefix(run.id)}` lists them."
    raise UsageError(f"Run {prefix(run.id)} has no eval {wanted!r}; {advice}")


def condition(store: ScoresStore, run: RunRecord) -> str:
    """The run's status; a running one that no process works on was interrupted."""
    if run.status == "running" and not store.is_run_held(run.id):
        return "interrupted"
    return "interrupted" if run.status == "stopped" else run.status


def can_resume(store: ScoresStore, run: RunRecord) -> bool:
    """Whether something is left to do that no process is doing."""
    unfinished = run.counts.remaining or run.counts.infrastructure
    return bool(unfinished) and condition(store, run) != "running"


def find_attempt(store: ScoresStore, run: RunRecord, wanted: str, trial: int) -> AttemptDetails:
    """The result of an eval and trial, or what there is of it while there is none."""
    name = find_eval(store, run, wanted)
    tried = [details for details in store.details(run.id, name) if details.attempt.trial == trial]
    if not tried:
        raise UsageError(f"{name} has not been tried in trial {trial} of run {prefix(run.id)} yet.")
    results = [details for details in result_details(store, run.id, name) if details.attempt.trial == trial]
    return results[-1] if results else tried[-1]
