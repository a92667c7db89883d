"""Which runs `status` lists, and how it prints them and their failures: text, JSON, CSV and Markdown."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Self

from convex_evals.cli.options import Shape
from convex_evals.cli.output import csv_text, markdown_table, print_json, print_lines, print_table, table, write_text
from convex_evals.cli.runs.exports import eval_json, run_score_json, run_summary_json
from convex_evals.cli.runs.lookup import can_resume, condition, is_of, model_advice
from convex_evals.cli.runs.summaries import (
    cost_text,
    headline,
    labels_text,
    reason,
    short_interval_text,
    spending_json,
)
from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.settings import Destination, read_settings
from convex_evals.runner import VALIDATE, RunScore, Spending, last_verdicts, why_no_score
from convex_evals.scores import AttemptDetails, RunFilter, RunRecord, ScoresStore
from convex_evals.statistics import Score
from convex_evals.suite import find_suite, load_suite

HEADINGS: Final = (
    *("run", "model", "experiment", "status", "passed", "failed", "no verdict", "evals", "score", "cost"),
    "started (UTC)",
)
LABELS: Final = "labels"
NARROW: Final = ("cost", "started (UTC)", "no verdict", "experiment", "evals", LABELS, "score", "failed")
"""Columns that are left out where the terminal is narrow, the first of them first."""
COLUMNS: Final = (
    *("run", "model", "experiment", "status", "evals", "trials", "passed", "failed", "no_verdict"),
    *("score", "low", "high", "cost_usd", "started_at", LABELS),
)
NO_RUN: Final = "No such run was found; `convex-evals status --all --hidden` lists every run."
ONLY_VALIDATIONS: Final = "There are no runs but those of `validate`; `convex-evals status --all` lists them."
FAILURES: Final = ("run", "model", "experiment", "eval", "trial", "why")


def print_runs(store: ScoresStore, runs: Sequence[RunRecord], evals: Path | None, shape: Shape) -> None:
    scores = _scores(store, runs, evals)
    match shape:
        case "json":
            print_json(_runs_json(store, runs, scores))
        case "csv":
            write_text(csv_text(COLUMNS, (_csv_row(store, run, scores.get(run.id)) for run in runs)), "-")
        case "markdown":
            rows = ((*_row(store, run, scores.get(run.id)), labels_text(run)) for run in runs)
            write_text(markdown_table((*HEADINGS, LABELS), rows), "-")
        case "text":
            _print_runs(store, runs, scores)


@dataclass(frozen=True, slots=True)
class Failures:
    """Trials that failed in a run. `repeated` evals failed in it, too, but have been run again since."""

    run: RunRecord
    trials: tuple[AttemptDetails, ...]
    repeated: int = 0

    @classmethod
    def of(cls, store: ScoresStore, run: RunRecord, last: Collection[str] | None = None) -> Self:
        """All, or of those evals that were last run in it."""
        trials = store.result_details(run.id, statuses=("failed",))
        if last is None:
            return cls(run, trials)
        kept = tuple(each for each in trials if each.attempt.eval in last)
        return cls(run, kept, len({each.attempt.eval for each in trials} - set(last)))


def print_failures(store: ScoresStore, failures: Sequence[Failures], shape: Shape, nothing: str) -> None:
    """What failed in each run, and why; `nothing` is said to people if nothing did."""
    rows = [_failure_row(each.run, details) for each in failures for details in each.trials]
    match shape:
        case "json":
            found = ((each.run, [eval_json(store, details) for details in each.trials]) for each in failures)
            print_json({"runs": [{"run": run_summary_json(run), "evals": evals} for run, evals in found]})
        case "csv":
            write_text(csv_text(FAILURES, rows), "-")
        case "markdown":
            write_text(markdown_table(FAILURES, rows), "-")
        case "text":
            _print_failures(failures, nothing)


def _print_runs(store: ScoresStore, runs: Sequence[RunRecord], scores: dict[str, Score]) -> None:
    marked = any(map(labels_text, runs))
    headings = (*HEADINGS, LABELS) if marked else HEADINGS
    rows = table(headings, drop=[name for name in NARROW if name in headings])
    for run in runs:
        rows.add_row(*_row(store, run, scores.get(run.id)), *([labels_text(run)] if marked else []))
    print_table(rows)
    if any(run.counts.total > run.evals for run in runs):
        print_lines(["", "With several trials, what passed and failed is counted in trials."])
    resumable = [run for run in runs if can_resume(store, run)]
    if resumable:
        print_lines(["", "These continue what has no verdict:"])
        print_lines(f"  convex-evals run --resume {prefix(run.id)}" for run in resumable)
    if unsent := _unsent_lines(store):
        print_lines(["", *unsent])


def _row(store: ScoresStore, run: RunRecord, score: Score | None) -> Iterator[str]:
    counts = run.counts
    yield from (prefix(run.id), run.model, run.experiment, condition(store, run))
    yield from map(str, (counts.passed, counts.failed, counts.infrastructure))
    yield _evals(run)
    yield "" if score is None else short_interval_text(score)
    yield cost_text(Spending.of_run(store, run.id))
    yield f"{run.started_at:%Y-%m-%d %H:%M}"


def _csv_row(store: ScoresStore, run: RunRecord, score: Score | None) -> Iterator[object]:
    counts, interval = run.counts, score.interval if score else None
    yield from (prefix(run.id), run.model, run.experiment, condition(store, run), run.evals, counts.total)
    yield from (counts.passed, counts.failed, counts.infrastructure)
    yield score.value if score else None
    yield from (interval.low, interval.high) if interval else (None, None)
    yield Spending.of_run(store, run.id).cost.value
    yield run.started_at.isoformat(timespec="seconds")
    yield labels_text(run)


def _evals(run: RunRecord) -> str:
    total = run.counts.total
    if total == run.evals:
        return str(run.evals)
    return f"{run.evals} × {run.trials}" if total == run.evals * run.trials else f"{run.evals}, {total} trials"


def _scores(store: ScoresStore, runs: Sequence[RunRecord], evals: Path | None) -> dict[str, Score]:
    """Of the complete runs of the suite, by id."""
    if not runs:
        return {}
    suite = load_suite(find_suite(evals))
    complete = [run for run in runs if why_no_score(run, store.planned(run.id), suite) is None]
    found = ((run.id, RunScore.of(run, store.results(run.id)).score) for run in complete)
    return {run: score for run, score in found if score is not None}


def _failure_row(run: RunRecord, details: AttemptDetails) -> tuple[str, ...]:
    attempt = details.attempt
    return (prefix(run.id), run.model, run.experiment, attempt.eval, str(attempt.trial), reason(details))


def _print_failures(failures: Sequence[Failures], nothing: str) -> None:
    """Run by run: its headline, and a table."""
    told = [each for each in failures if each.trials]
    for number, each in enumerate(told):
        print_lines([*([""] if number else []), headline(each.run)])
        _print_table(each)
        if each.repeated:
            print_lines([f"Not listed: {each.repeated} that a later run has a verdict on."])
    if not told:
        print_lines([nothing])


def _print_table(failures: Failures) -> None:
    several = failures.run.counts.total > failures.run.evals
    rows = table(["eval", *(["trial"] if several else []), "why"], fold="why")
    for details in failures.trials:
        rows.add_row(details.attempt.eval, *([str(details.attempt.trial)] if several else []), reason(details))
    print_table(rows)


def _runs_json(store: ScoresStore, runs: Sequence[RunRecord], scores: dict[str, Score]) -> dict[str, Any]:
    return {
        "runs": [
            {
                **run_summary_json(run),
                **run_score_json(RunScore.of(run, store.results(run.id))),
                "isScored": run.id in scores,
                **spending_json(Spending.of_run(store, run.id)),
                "condition": condition(store, run),
                "canResume": can_resume(store, run),
            }
            for run in runs
        ],
        "unsent": _unsent_json(store),
    }


BATCH: Final = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which runs are asked for; None is any."""

    model: str | None
    experiment: str | None
    status: str | None
    since: str | None
    validations: bool
    hidden: bool

    def runs(self, store: ScoresStore) -> Iterator[RunRecord]:
        """Newest first, read as far as they are taken."""
        chosen = RunFilter(experiment=self.experiment, since=self._moment(), limit=BATCH, hidden=self.hidden)
        while batch := store.runs(chosen):
            yield from (run for run in batch if self._has(run, store))
            chosen = replace(chosen, older_than=batch[-1])

    def last_failures(self, store: ScoresStore) -> Iterator[Failures]:
        """Of each model, what failed when it was last run; its newest run is among them even if nothing failed."""
        for model, experiment in dict.fromkeys((run.model, run.experiment) for run in self.runs(store)):
            for number, last in enumerate(last_verdicts(store, model, experiment)):
                if last.failed or not number:
                    yield Failures.of(store, last.run, last.evals)

    def nothing_found(self, store: ScoresStore) -> str:
        """What is said to people when there are no such runs."""
        runs = store.runs(RunFilter(hidden=True))
        if self.model is not None and not any(is_of(run, self.model) for run in runs):
            return f"No run of {self.model} was found; {model_advice(self.model, runs)}"
        if not runs:
            return "There are no runs yet; `convex-evals run` makes one."
        if any((self.model, self.experiment, self.status, self.since)):
            return NO_RUN
        shown = store.runs()
        return ONLY_VALIDATIONS if shown and all(VALIDATE in run.labels for run in shown) else NO_RUN

    def _has(self, run: RunRecord, store: ScoresStore) -> bool:
        return (
            is_of(run, self.model)
            and (self.validations or VALIDATE not in run.labels)
            and (self.status is None or condition(store, run) == self.status)
        )

    def _moment(self) -> datetime | None:
        if self.since is None:
            return None
        try:
            return datetime.combine(date.fromisoformat(self.since), time(), UTC)
        except ValueError as error:
            raise UsageError(f"--since must be a day like 2026-11-01, but it is {self.since!r}.") from error


def _unsent_lines(store: ScoresStore) -> list[str]:
    """One per service that lacks something."""
    from convex_evals.runner import outcome

    settings, found = read_settings(), sorted(store.outbox.unsent(), key=lambda each: each.destination)
    return [
        outcome(settings.destination(url) or Destination(url), tuple(unsent))
        for url, unsent in groupby(found, key=lambda each: each.destination)
    ]


def _unsent_json(store: ScoresStore) -> list[dict[str, object]]:
    return [
        {"url": each.destination, "run": each.run_id, "records": each.entries, "refused": each.refused}
        for each in store.outbox.unsent()
    ]
