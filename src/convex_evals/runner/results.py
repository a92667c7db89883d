"""What runs say about a model: verdicts by eval, the score of a run, which runs count, and what failed last."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from convex_evals.core.verdicts import StepName
from convex_evals.runner.budget import Sum
from convex_evals.runner.plans import ABLATION, BLIND, CHECK, VALIDATE, as_with_browser, is_filtered
from convex_evals.scores import Answer, AttemptRecord, Benchmark, PlannedEval, Result, RunFilter, RunRecord
from convex_evals.statistics import Repeats, Score, Tallies, Tally, flakiness, repeats, score
from convex_evals.suite import Difficulty, Suite

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

Value = TypeVar("Value")
NOT_SCORES: Final = frozenset({VALIDATE, CHECK, ABLATION})
"""Labels of runs that say nothing about a model."""
NO_DIFFICULTY: Final = "no difficulty"
LEVELS: Final = (*(each.value for each in Difficulty), NO_DIFFICULTY)
TagsOfEvals = Mapping[str, Sequence[str]]
NO_TAGS: Final[TagsOfEvals] = {}


@dataclass(frozen=True, slots=True)
class Standing:
    """How one eval did in one run, over all its trials. `failed_step` is that of the first trial that failed."""

    passed: int
    failed: int
    failed_step: StepName | None = None

    @property
    def verdicts(self) -> int:
        return self.passed + self.failed

    @property
    def rate(self) -> float | None:
        """None: there is no verdict, only infrastructure trouble."""
        return self.passed / self.verdicts if self.verdicts else None


def standings(results: Iterable[AttemptRecord | Result]) -> dict[str, Standing]:
    """By eval, from results (see `ScoresStore.results`)."""
    by_eval: dict[str, list[AttemptRecord | Result]] = {}
    for result in results:
        by_eval.setdefault(result.eval, []).append(result)
    return {name: _standing(trials) for name, trials in by_eval.items()}


def _standing(trials: list[AttemptRecord | Result]) -> Standing:
    failed = [trial for trial in trials if trial.status == "failed"]
    passed = sum(trial.status == "passed" for trial in trials)
    return Standing(passed, len(failed), failed[0].failed_step if failed else None)


def tallies(results: Iterable[AttemptRecord | Result], trials: int | None = None) -> Tallies:
    """The verdicts by eval, of the first `trials` or of all; evals without any are left out."""
    found = standings(each for each in results if trials is None or each.trial <= trials)
    return {name: Tally(each.passed, each.verdicts) for name, each in found.items() if each.verdicts}


@dataclass(frozen=True, slots=True)
class RunScore:
    """`score` is None without any verdict, `repeats` when there is one trial of each eval.

    Both are of the trials that every eval has. Trials that were added where a comparison needed them are not in it:
    they were given to evals because of how these did, which would bend the score. `flaky` are evals whose trials
    disagree, these among them.
    """

    score: Score | None
    repeats: Repeats | None
    flaky: tuple[str, ...]

    @classmethod
    def of(cls, run: RunRecord, results: Iterable[AttemptRecord | Result]) -> Self:
        results = tuple(results)
        found = tallies(results, run.trials)
        return cls(score(found), repeats(found, run.trials), flakiness(tallies(results)).flaky)


def why_no_score(run: RunRecord, planned: Iterable[PlannedEval], suite: Suite) -> str | None:
    """Why a run says nothing about how its model does on this suite; None when it does."""
    label = next((label for label in run.labels if label in NOT_SCORES), None)
    if label is not None:
        return f"labelled {label}, so it says nothing about the model"
    if not run.is_complete:
        return missing_text(run)
    today = {PlannedEval(each.id, each.fingerprints.content, each.fingerprints.grader) for each in suite.evals}
    same = len(today & set(planned))
    if same < len(today) or run.evals != len(today):
        return f"other evals: {same_text(same, len(today))} as in the suite"
    return None


def missing_text(run: RunRecord) -> str:
    missing = run.counts.total - run.counts.passed - run.counts.failed
    return f"incomplete: {missing} of {run.counts.total} {'has' if missing == 1 else 'have'} no verdict"


def same_text(same: int, total: int) -> str:
    """`1 of 66 is the same`: evals, with their tasks and graders."""
    return f"{same} of {total} {'is' if same == 1 else 'are'} the same"


def scored_runs(store: "ScoresStore", suite: Suite) -> dict[str, RunRecord]:
    """By model, its newest complete run of this suite."""
    newest: dict[str, RunRecord] = {}
    for run in store.runs():
        if run.model not in newest and why_no_score(run, store.planned(run.id), suite) is None:
            newest[run.model] = run
    return newest


@dataclass(frozen=True, slots=True)
class LastVerdicts:
    """The evals of a run that have no verdict in a later one."""

    run: RunRecord
    evals: Mapping[str, Standing]

    @property
    def failed(self) -> frozenset[str]:
        return frozenset(name for name, each in self.evals.items() if each.failed)


def last_verdicts(store: "ScoresStore", model: str, experiment: str) -> tuple[LastVerdicts, ...]:
    """The last run of all evals and what was run since, newest first; if nobody ran all evals, every run."""
    found: list[LastVerdicts] = []
    later: set[str] = set()
    for run in _runs_with_results(store, model, experiment):
        known = {name: each for name, each in standings(store.results(run.id)).items() if each.verdicts}
        found.append(LastVerdicts(run, {name: each for name, each in known.items() if name not in later}))
        later |= known.keys()
        if not is_filtered(run):
            break
    return tuple(found)


def last_failures(store: "ScoresStore", model: str, experiment: str) -> frozenset[str] | None:
    """Evals that failed when they were last run; None when there is no run."""
    found = last_verdicts(store, model, experiment)
    return frozenset().union(*(each.failed for each in found)) if found else None


def _runs_with_results(store: "ScoresStore", model: str, experiment: str) -> list[RunRecord]:
    """Newest first, without those that say nothing about the model."""
    runs = store.runs(RunFilter(model=model, experiment=experiment))
    return [run for run in runs if run.counts.remaining < run.counts.total and not NOT_SCORES & set(run.labels)]


SAMPLE: Final = "sample/"
UNMINTED: Final = "current"
"""Stands for a version as long as none is minted."""


@dataclass(frozen=True)
class RunFigures:
    """One run. It does not change any more once the run is over, so what is computed of it is kept."""

    run: RunRecord
    planned: frozenset[PlannedEval]
    results: tuple[Result, ...]
    answers: tuple[Answer, ...]
    unseen: bool = False  # whether an eval passed although nobody looked at its pages

    @property
    def toolchain(self) -> str:
        """A machine without a browser judges as one with it what has no pages, and what fails anyway."""
        recorded = self.run.fingerprints.toolchain or ""
        return recorded if self.unseen else as_with_browser(recorded)

    @cached_property
    def tallies(self) -> Tallies:
        """Of the trials that every eval has."""
        return tallies(self.results, self.run.trials)

    @cached_property
    def standings(self) -> Mapping[str, Standing]:
        """By eval, of all trials."""
        return standings(self.results)

    @cached_property
    def score(self) -> Score | None:
        return score(self.tallies)

    @cached_property
    def categories(self) -> Mapping[str, Score]:
        return category_scores(self.tallies)

    @property
    def is_whole(self) -> bool:
        """Whether it says how its model does on a whole suite."""
        return self.run.is_complete and not is_filtered(self.run) and not NOT_SCORES & set(self.run.labels)

    @cached_property
    def cost(self) -> Sum:
        return Sum.of(answer.cost_usd for answer in self.answers)

    @cached_property
    def tokens(self) -> Sum:
        """Of prompts and answers together."""
        return Sum.of(
            None
            if answer.input_tokens is None or answer.output_tokens is None
            else answer.input_tokens + answer.output_tokens
            for answer in self.answers
        )


def read_figures(store: "ScoresStore", ids: Sequence[str]) -> Iterator[RunFigures]:
    """In the order of the ids; runs that are not there any more are left out."""
    history = store.history
    planned, results, answers = history.planned(ids), history.results(ids), history.answers(ids)
    records = {run.id: run for run in history.runs(ids)}
    for run_id in ids:
        if run_id in records:
            yield RunFigures(
                records[run_id], planned[run_id], results[run_id], answers[run_id], _has_unseen(store, records[run_id])
            )


def _has_unseen(store: "ScoresStore", run: RunRecord) -> bool:
    blind = (run.fingerprints.toolchain or "").endswith(BLIND)
    return blind and bool(store.passed_unseen(run.id))


def category_scores(tallies: Tallies) -> dict[str, Score]:
    return group_scores(by_category(tallies))


def group_scores(groups: Mapping[str, Tallies]) -> dict[str, Score]:
    return {name: found for name, group in groups.items() if (found := score(group)) is not None}


def by_category(tallies: Tallies) -> dict[str, Tallies]:
    groups: dict[str, dict[str, Tally]] = {}
    for name in sorted(tallies):
        groups.setdefault(name.partition("/")[0], {})[name] = tallies[name]
    return dict(groups)


def by_tag(values: Mapping[str, Value], tags: TagsOfEvals) -> dict[str, dict[str, Value]]:
    """What is known of evals; one is in the group of each of its tags."""
    groups: dict[str, dict[str, Value]] = {}
    for name in sorted(values):
        for tag in tags.get(name, ()):
            groups.setdefault(tag, {})[name] = values[name]
    return dict(sorted(groups.items()))


def by_difficulty(values: Mapping[str, Value], tags: TagsOfEvals) -> dict[str, dict[str, Value]]:
    """What is known of evals, the easy ones first, those without a difficulty last. Nothing where none has one."""
    found = {name: [each for each in Difficulty if each in tags.get(name, ())] for name in values}
    groups = by_tag(values, {name: each[:1] or [NO_DIFFICULTY] for name, each in found.items()})
    return {name: groups[name] for name in LEVELS if name in groups} if any(found.values()) else {}


def is_sample(model: str) -> bool:
    """Whether a model is a recording of ours."""
    return model.startswith(SAMPLE)


def _longest_sample(figures: Sequence[RunFigures]) -> RunFigures | None:
    samples = [
        each
        for each in figures
        if is_sample(each.run.model) and each.run.is_complete and not NOT_SCORES & set(each.run.labels)
    ]
    return max(samples, key=lambda each: len(each.planned), default=None)


def unminted_benchmark(figures: Sequence[RunFigures]) -> Benchmark | None:
    """What the newest complete run of a whole suite was asked and graded with, for scores without any version.

    Where there is none, as after a demo, the longest run of a sample stands for it: samples answer what they have
    recorded, be it the whole suite or not. `figures` come newest first. None when there is no such run, either.
    """
    newest = next((each for each in figures if each.is_whole), None) or _longest_sample(figures)
    if newest is None:
        return None
    alike = [each for each in reversed(figures) if each.planned == newest.planned]
    prints = newest.run.fingerprints
    return Benchmark(
        UNMINTED,
        tuple(sorted(newest.planned, key=lambda each: each.eval)),
        {each.run.experiment: each.run.fingerprints.prompt for each in alike if each.run.fingerprints.prompt},
        prints.pipeline or "",
        newest.toolchain,
        newest.run.started_at,
    )


def score_json(found: Score) -> dict[str, Any]:
    """The shape is promised: fields are added and never renamed."""
    return {
        "value": found.value,
        "interval": [found.interval.low, found.interval.high],
        "method": found.method,
        "evals": found.evals,
        "trials": found.trials,
    }
