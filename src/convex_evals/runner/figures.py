"""What runs came to, read for many of them at once: verdicts by eval, and what answers took."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from convex_evals.runner.budget import Sum
from convex_evals.runner.plans import is_filtered
from convex_evals.runner.results import NOT_SCORES, Standing, standings, tallies
from convex_evals.scores import Answer, Benchmark, PlannedEval, Result, RunRecord
from convex_evals.statistics import Score, Tallies, Tally, score

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore


UNMINTED: Final = "current"
"""Stands for a version as long as none is minted."""


@dataclass(frozen=True)
class RunFigures:
    """One run. It does not change any more once the run is over, so what is computed of it is kept."""

    run: RunRecord
    planned: frozenset[PlannedEval]
    results: tuple[Result, ...]
    answers: tuple[Answer, ...]

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
            yield RunFigures(records[run_id], planned[run_id], results[run_id], answers[run_id])


def category_scores(tallies: Tallies) -> dict[str, Score]:
    return group_scores(by_category(tallies))


def group_scores(groups: Mapping[str, Tallies]) -> dict[str, Score]:
    return {name: found for name, group in groups.items() if (found := score(group)) is not None}


def by_category(tallies: Tallies) -> dict[str, Tallies]:
    groups: dict[str, dict[str, Tally]] = {}
    for name in sorted(tallies):
        groups.setdefault(name.partition("/")[0], {})[name] = tallies[name]
    return dict(groups)


def by_tag(tallies: Tallies, tags: Mapping[str, Sequence[str]]) -> dict[str, Tallies]:
    """An eval is in the group of each of its tags."""
    groups: dict[str, dict[str, Tally]] = {}
    for name in sorted(tallies):
        for tag in tags.get(name, ()):
            groups.setdefault(tag, {})[name] = tallies[name]
    return dict(sorted(groups.items()))


def unminted_benchmark(figures: Sequence[RunFigures]) -> Benchmark | None:
    """What the newest complete run of a whole suite was asked and graded with, for scores without any version.

    `figures` come newest first. None when there is no such run.
    """
    newest = next((each for each in figures if each.is_whole), None)
    if newest is None:
        return None
    alike = [each for each in reversed(figures) if each.planned == newest.planned]
    prints = newest.run.fingerprints
    return Benchmark(
        UNMINTED,
        tuple(sorted(newest.planned, key=lambda each: each.eval)),
        {each.run.experiment: each.run.fingerprints.prompt for each in alike if each.run.fingerprints.prompt},
        prints.pipeline or "",
        prints.toolchain or "",
        newest.run.started_at,
    )
