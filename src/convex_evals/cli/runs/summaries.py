"""What is said when a run is over."""

from collections.abc import Iterator

from convex_evals.cli.output import visible
from convex_evals.cli.progress.board import clock_time
from convex_evals.cli.runs.looking import can_resume, result_details
from convex_evals.cli.runs.spending import spending_line
from convex_evals.core.ids import prefix
from convex_evals.runner import Spending, Standing
from convex_evals.scores import AttemptDetails, Counts, RunRecord, ScoresStore

LONGEST_REASON = 120


def summary_lines(store: ScoresStore, run: RunRecord) -> Iterator[str]:
    """The counts, what asking took, what did not pass and why, and what to do next."""
    yield headline(run)
    spent = spending_line(Spending.of(store.generations(run.id)))
    if spent is not None:
        yield spent
    if run.reason is not None and run.reason != "interrupted":
        yield f"It ended early. {visible(run.reason)}"
    missed = [details for details in result_details(store, run.id) if details.attempt.status != "passed"]
    width = max((len(_name(details, run)) for details in missed), default=0)
    for details in missed:
        yield f"  {_name(details, run):<{width}}  {reason(details)}".rstrip()
    if missed:
        yield f"`convex-evals show {prefix(run.id)} {missed[0].attempt.eval}` shows everything about the first of them."
    if can_resume(store, run):
        yield f"`convex-evals run --resume {prefix(run.id)}` takes up what has no verdict."


def headline(run: RunRecord) -> str:
    parts = [f"run {prefix(run.id)}", run.model, *([] if run.experiment == "default" else [run.experiment])]
    parts.append(counted(run.counts))
    if run.finished_at is not None:
        parts.append(clock_time((run.finished_at - run.started_at).total_seconds()))
    return " · ".join(parts)


def counted(counts: Counts) -> str:
    text = f"{counts.passed} of {counts.total} passed, {counts.failed} failed"
    if counts.infrastructure:
        text += f", {counts.infrastructure} without verdict"
    return f"{text}, {counts.remaining} not done" if counts.remaining else text


def reason(details: AttemptDetails) -> str:
    """Why an attempt did not pass, in one line: the step, the tests, the beginning of the excerpt."""
    attempt = details.attempt
    decisive = next((step for step in details.steps if step.status == attempt.status), None)
    said = attempt.broken or (decisive.excerpt if decisive else "") or "; ".join(attempt.notes) or attempt.failure or ""
    first = " · ".join([line.strip() for line in said.splitlines() if line.strip()][:2])
    tests = f" {attempt.tests.passed}/{attempt.tests.total}" if attempt.failed_step == "tests" and attempt.tests else ""
    where = "broken" if attempt.broken else decisive.name if decisive else attempt.status
    short = first if len(first) <= LONGEST_REASON else f"{first[: LONGEST_REASON - 1]}…"
    return visible(f"{where}{tests}: {short}" if short else f"{where}{tests}")


def _name(details: AttemptDetails, run: RunRecord) -> str:
    attempt = details.attempt
    return f"{attempt.eval} #{attempt.trial}" if run.trials > 1 else attempt.eval


def standing(found: Standing | None) -> str:
    if found is None:
        return "not run"
    if found.verdicts > 1:
        return f"{found.passed}/{found.verdicts} passed"
    if not found.verdicts:
        return "no verdict"
    return "passed" if found.passed else f"failed at {found.failed_step}"
