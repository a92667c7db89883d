"""Where a run is that the user names by its id or by the address of its page."""

from convex_evals.analysis import run_reference, run_service
from convex_evals.cli.runs.lookup import existing_scores
from convex_evals.core.errors import UsageError


def scores_of(run: str, scores: str | None) -> str | None:
    """Scores that the user names; else those of this machine if they have the run; else the service of its page."""
    service = run_service(run)
    if scores is not None or service is None or _is_here(run_reference(run)):
        return scores
    return service


def _is_here(run: str) -> bool:
    try:
        with existing_scores(None) as store:
            store.find_run(run)
    except UsageError:
        return False
    return True
