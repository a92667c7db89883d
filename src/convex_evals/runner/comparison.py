"""What changed between two runs: eval by eval, and whether the difference means anything."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from convex_evals.core.verdicts import StepName
from convex_evals.scores import AttemptRecord, RunRecord
from convex_evals.statistics import Comparison, Tallies, Tally
from convex_evals.statistics import compare as compare_tallies

Change = Literal["better", "worse", "other step", "same", "no verdict", "only before", "only after"]


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
class ComparedRuns:
    """`statistics` is None when no eval has a verdict in both."""

    before: RunRecord
    after: RunRecord
    evals: tuple[ComparedEval, ...]
    statistics: Comparison | None

    @property
    def shared(self) -> tuple[ComparedEval, ...]:
        """What changed first."""
        order: dict[Change, int] = {"worse": 0, "better": 1, "other step": 2, "no verdict": 3, "same": 4}
        shared = [each for each in self.evals if each.change in order]
        return tuple(sorted(shared, key=lambda each: (order[each.change], each.eval)))

    def only(self, change: Change) -> tuple[str, ...]:
        return tuple(each.eval for each in self.evals if each.change == change)


def compare_runs(
    before: RunRecord, after: RunRecord, first: Iterable[AttemptRecord], second: Iterable[AttemptRecord]
) -> ComparedRuns:
    """`first` and `second` are their results (see `ScoresStore.results`)."""
    first, second = tuple(first), tuple(second)
    return ComparedRuns(before, after, compare(first, second), compare_tallies(tallies(first), tallies(second)))


def tallies(results: Iterable[AttemptRecord]) -> Tallies:
    """The verdicts by eval; evals without any are left out."""
    found = standings(results)
    return {name: Tally(each.passed, each.verdicts) for name, each in found.items() if each.verdicts}


def compare(before: Iterable[AttemptRecord], after: Iterable[AttemptRecord]) -> tuple[ComparedEval, ...]:
    """Compares results (see `ScoresStore.results`), in the order of the evals' names."""
    first, second = standings(before), standings(after)
    return tuple(ComparedEval(name, first.get(name), second.get(name)) for name in sorted(first.keys() | second.keys()))


def standings(results: Iterable[AttemptRecord]) -> dict[str, Standing]:
    by_eval: dict[str, list[AttemptRecord]] = {}
    for result in results:
        by_eval.setdefault(result.eval, []).append(result)
    return {name: _standing(trials) for name, trials in by_eval.items()}


def _standing(trials: list[AttemptRecord]) -> Standing:
    failed = [trial for trial in trials if trial.status == "failed"]
    passed = sum(trial.status == "passed" for trial in trials)
    return Standing(passed, len(failed), failed[0].failed_step if failed else None)
