"""What changed between two runs: eval by eval, and whether the difference means anything."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, Self

from convex_evals.runner.results import Standing, standings, tallies
from convex_evals.scores import AttemptRecord, PlannedEval, Result, RunRecord
from convex_evals.statistics import SIGNIFICANT, Comparison, Score, Tallies, Tally, Verdict, holm, score
from convex_evals.statistics import compare as compare_tallies

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

Change = Literal["better", "worse", "other step", "same", "no verdict", "only before", "only after"]


@dataclass(frozen=True, slots=True)
class ComparedEval:
    """None stands for an eval that the run did not have."""

    eval: str
    before: Standing | None
    after: Standing | None

    @property
    def change(self) -> Change:
        if self.before is None or self.after is None:
            return "only after" if self.before is None else "only before"
        if self.before.rate is None or self.after.rate is None:
            return "no verdict"
        if self.before.rate != self.after.rate:
            return "better" if self.after.rate > self.before.rate else "worse"
        return "same" if self.before.failed_step == self.after.failed_step else "other step"


@dataclass(frozen=True, slots=True)
class RunResults:
    """A run and the results that are compared."""

    run: RunRecord
    results: tuple[AttemptRecord | Result, ...]
    planned: tuple[PlannedEval, ...]

    @classmethod
    def of(cls, run: RunRecord, store: "ScoresStore") -> Self:
        return cls(run, store.results(run.id), store.planned(run.id))

    @property
    def scored(self) -> tuple[AttemptRecord | Result, ...]:
        """Those of the trials that every eval has, as in the score."""
        return tuple(each for each in self.results if each.trial <= self.run.trials)

    @property
    def tallies(self) -> Tallies:
        return tallies(self.scored)


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """`statistics` is None when no eval has a verdict in both. `p` is corrected for how many pairs were compared.

    `changed` are evals whose task or grader is not the same in both: they are no part of the statistics.
    """

    before: RunRecord
    after: RunRecord
    evals: tuple[ComparedEval, ...]
    changed: tuple[str, ...]
    statistics: Comparison | None
    p: float | None
    scores: tuple[Score | None, Score | None] = (None, None)

    @property
    def verdict(self) -> Verdict:
        """Of the second run, among all pairs that were compared."""
        if self.statistics is None or self.p is None or self.p >= SIGNIFICANT:
            return "cannot tell"
        return self.statistics.verdict

    @property
    def same_grading(self) -> bool:
        """Whether both were graded with the same options, version and tools."""
        return self.before.fingerprints.graded_like(self.after.fingerprints)

    @property
    def shared(self) -> tuple[ComparedEval, ...]:
        """Changed evals first."""
        order: dict[Change, int] = {"worse": 0, "better": 1, "other step": 2, "no verdict": 3, "same": 4}
        shared = [each for each in self.evals if each.change in order]
        return tuple(sorted(shared, key=lambda each: (order[each.change], each.eval)))

    @property
    def tallies(self) -> dict[str, tuple[Tally, Tally]]:
        """Both sides of the evals that the statistics are of."""
        return {
            each.eval: (Tally(each.before.passed, each.before.verdicts), Tally(each.after.passed, each.after.verdicts))
            for each in self.evals
            if each.eval not in self.changed and each.before and each.after
            if each.before.verdicts and each.after.verdicts
        }

    def only(self, change: Change) -> tuple[str, ...]:
        return tuple(each.eval for each in self.evals if each.change == change)


def compare_runs(runs: Sequence[RunResults]) -> tuple[ComparedRuns, ...]:
    """Every pair, in the order given."""
    pairs = [_compared(before, after) for before, after in combinations(runs, 2)]
    with_statistics = [each for each in pairs if each.statistics is not None]
    corrected = holm([each.p for each in with_statistics if each.p is not None])
    by_pair = {(each.before.id, each.after.id): p for each, p in zip(with_statistics, corrected, strict=True)}
    return tuple(replace(each, p=by_pair.get((each.before.id, each.after.id))) for each in pairs)


def _compared(before: RunResults, after: RunResults) -> ComparedRuns:
    changed = _changed(before.planned, after.planned)
    first, second = (
        {name: tally for name, tally in each.tallies.items() if name not in changed} for each in (before, after)
    )
    statistics = compare_tallies(first, second)
    return ComparedRuns(
        before.run,
        after.run,
        compare(before.scored, after.scored),
        changed,
        statistics,
        statistics.p if statistics else None,
        (score(before.tallies), score(after.tallies)),
    )


def _changed(before: Iterable[PlannedEval], after: Iterable[PlannedEval]) -> tuple[str, ...]:
    first, second = ({each.eval: each for each in planned} for planned in (before, after))
    return tuple(sorted(name for name in first.keys() & second.keys() if first[name] != second[name]))


def compare(
    before: Iterable[AttemptRecord | Result], after: Iterable[AttemptRecord | Result]
) -> tuple[ComparedEval, ...]:
    """Compares results (see `ScoresStore.results`), in the order of the evals' names."""
    first, second = standings(before), standings(after)
    return tuple(ComparedEval(name, first.get(name), second.get(name)) for name in sorted(first.keys() | second.keys()))


def comparison_json(found: Comparison) -> dict[str, Any]:
    """The shape is promised: fields are added and never renamed."""
    needed = found.needed
    return {
        "evals": found.evals,
        "trials": list(found.trials),
        "difference": found.difference,
        "interval": [found.interval.low, found.interval.high],
        "p": found.p,
        "test": found.test,
        "verdict": found.verdict,
        "gained": list(found.gained),
        "lost": list(found.lost),
        "needed": {"trials": needed.trials, "evals": needed.evals} if needed else None,
    }
