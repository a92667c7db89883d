"""The commands `run` and `validate` from beginning to end: carry out, print, exit code."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from convex_evals.cli.main import INTERRUPTED
from convex_evals.cli.output import count, print_lines, print_table, remark, table, write_json, write_text
from convex_evals.cli.runs.comparison import changed_lines, until_sure_json, until_sure_lines
from convex_evals.cli.runs.exports import runs_json, runs_junit
from convex_evals.cli.runs.options import RunOptions
from convex_evals.cli.runs.plans import Prepared, prepare
from convex_evals.cli.runs.session import Session, carry_out
from convex_evals.cli.runs.summaries import estimate_json, estimate_lines, summary_lines
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.ids import prefix
from convex_evals.core.settings import read_settings
from convex_evals.runner import LOOKS, Estimate, RunScore, compare, source_of, suite_of, tallies
from convex_evals.scores import RunRecord, ScoresStore, database_status
from convex_evals.statistics import flakiness
from convex_evals.suite import find_suite, read_tags

FAILED = 1


def perform(asked: RunOptions) -> int:
    """Does what was asked for and returns the exit code."""
    settings = read_settings()
    asked = asked.completed(settings)
    asked.check()
    with open_scores(asked) as store:
        if asked.dry_run:
            print_plans(prepare(asked, store, settings), asked, store)
            if asked.until_sure:
                remark(f"That is the first of at most {asked.trials or LOOKS} trials; only undecided ones follow.")
            return 0
        session = carry_out(asked, settings, store)
        _print_results(session, asked, store)
        return _exit_code(session, asked, store)


@contextmanager
def open_scores(asked: RunOptions) -> Iterator[ScoresStore]:
    """A dry run leaves no file behind: it looks into empty scores when there are none."""
    with ExitStack() as stack:
        where: str | Path | None = asked.scores
        if asked.dry_run and database_status(where).condition == "missing":
            where = Path(stack.enter_context(TemporaryDirectory())) / "scores.db"
        yield stack.enter_context(ScoresStore.open(where))


def print_plans(prepared: Prepared, asked: RunOptions, store: ScoresStore) -> None:
    estimates = [each for plan in prepared.plans if (each := Estimate.of(plan, store)) is not None]
    if asked.json is not None:
        write_json({"estimates": [estimate_json(each) for each in estimates]}, asked.json)
    if asked.json == "-":
        return
    rows = table(
        ["model", "eval", "trial", "pipeline", "what would be done"], drop=("pipeline", "trial", "what would be done")
    )
    for plan in prepared.plans:
        for work in plan.work:
            what = "ask and grade" if work.stored is None else "grade the stored answer"
            rows.add_row(plan.model.name, work.eval.id, str(work.trial), work.eval.pipeline, what)
    print_table(rows)
    for estimate in estimates:
        print_lines(["", *estimate_lines(estimate)])


def _print_results(session: Session, asked: RunOptions, store: ScoresStore) -> None:
    # With JSON or events on standard output, words for people go to standard error.
    out = sys.stderr if "-" in (asked.json, asked.events) else sys.stdout
    for run in session.runs:
        tags = read_tags(find_suite(asked.evals or suite_of(run)))
        lines = [*summary_lines(store, run, tags), *_flaky_graders(run, asked, store), *_changes(run, store)]
        print_lines(lines, out)
    sure = session.until_sure
    if sure is not None:
        print_lines(until_sure_lines(sure, store), out)
    if asked.json is not None:
        more: dict[str, object] = {"untilSure": until_sure_json(sure)} if sure is not None else {}
        more |= {"flakyGraders": _flaky_json(session.runs, store)} if asked.purpose == "validate" else {}
        write_json({**runs_json(store, session.runs), **more}, asked.json)
    if asked.junit is not None:
        write_text(runs_junit(store, session.runs), asked.junit)


def _flaky_graders(run: RunRecord, asked: RunOptions, store: ScoresStore) -> list[str]:
    """The reference answers are always the same, so trials that disagree are the grader's doing."""
    if asked.purpose != "validate" or run.trials < 2:
        return []
    found = tallies(store.results(run.id))
    flaky, trials = flakiness(found), count(run.trials, "trial")
    if not flaky.flaky:
        agreed = f"{flaky.repeated} of {flaky.repeated} agreed in {trials}"
        return [f"no grader is flaky: {agreed} (at most {flaky.interval.high:.1%} flaky, 95%)"]
    each = (f"{name} passed in {found[name].passed} of {found[name].trials} trials" for name in flaky.flaky)
    verb = "is" if len(flaky.flaky) == 1 else "are"
    return [f"{len(flaky.flaky)} of {count(flaky.repeated, 'grader')} {verb} flaky: {'; '.join(each)}"]


def _flaky_json(runs: Sequence[RunRecord], store: ScoresStore) -> list[dict[str, object]]:
    return [
        {"eval": name, "passed": tally.passed, "trials": tally.trials}
        for run in runs
        for name, tally in sorted(tallies(store.results(run.id)).items())
        if tally.is_flaky
    ]


def _changes(run: RunRecord, store: ScoresStore) -> list[str]:
    source = source_of(run)
    if source is None:
        return []
    compared = compare(store.results(source), store.results(run.id))
    return ["What grading again changed:", *changed_lines(tuple(each for each in compared if each.after))]


def _exit_code(session: Session, asked: RunOptions, store: ScoresStore) -> int:
    if not session.complete:
        return INTERRUPTED
    if asked.purpose == "validate" and (session.problems or _is_wrong(session, store)):
        return FAILED
    if asked.fail_under is not None and _is_below(session, asked.fail_under, store):
        return FAILED
    without = any(run.counts.infrastructure or run.counts.remaining for run in session.runs)
    return InfrastructureError.exit_code if without else 0


def _is_below(session: Session, least: float, store: ScoresStore) -> bool:
    """Whether the score of a run is less than was asked for. Says of which.

    What has no verdict says nothing about the model, so a run that is not complete is not below: it may still pass.
    """
    below = False
    for run in (each for each in session.runs if each.is_complete):
        found = RunScore.of(run, store.results(run.id)).score
        if found is not None and found.value < least:
            rate = f"{found.value:.1%} of what has a verdict passed"
            remark(f"Run {prefix(run.id)} of {run.model}: {rate}, less than --fail-under {least:g}.")
            below = True
    return below


def _is_wrong(session: Session, store: ScoresStore) -> bool:
    """Whether a reference answer failed, or cannot be graded because its eval is broken."""
    results = (result for run in session.runs for result in store.results(run.id))
    return any(result.status == "failed" or result.broken for result in results)
