"""Which mutants of an answer its grader caught, and which are known to behave like the answer.

`equivalent.txt` beside the controls of an eval lists the latter:

# A comment.
3fa9c1d2 A user has at most one profile, so the order does not matter.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from convex_evals.controls.mutants import Mutant
from convex_evals.core.verdicts import Status, StepName
from convex_evals.pipeline import Grade
from convex_evals.statistics import Interval, Score, Tally, score, wilson_interval
from convex_evals.suite import Problem, read_text

FILE_NAME: Final = "equivalent.txt"
_ENTRY: Final = re.compile(r"([0-9a-f]{8})\s+(\S.*)")
TARGET: Final = 0.9
"""The share of mutants that must be caught, over all that are checked together."""


@dataclass(frozen=True, slots=True)
class Equivalents:
    """The reasons by the ids of mutants."""

    path: Path
    reasons: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def read_equivalents(path: Path) -> Equivalents:
    """What the file says; a missing one says nothing."""
    reasons: dict[str, str] = {}
    problems: list[Problem] = []
    for number, line in enumerate(read_text(path).splitlines() if path.is_file() else [], start=1):
        entry = _ENTRY.fullmatch(line.strip())
        if entry is not None and entry[1] not in reasons:
            reasons[entry[1]] = entry[2]
        elif line.strip() and not line.startswith("#"):
            fix = "write the id of a mutant, once, and one sentence why it is equivalent"
            problems.append(Problem(path, f"line {number} is {line.strip()!r}", fix))
    return Equivalents(path, reasons, tuple(problems))


@dataclass(frozen=True, slots=True)
class JudgedMutant:
    """`equivalent` says why nothing could tell it from the answer, if that is known."""

    mutant: Mutant
    status: Status
    caught_by: StepName | None
    equivalent: str | None = None
    failed_tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Survival:
    """What became of the mutants of one eval; those that are known to be equivalent count for nothing."""

    judged: tuple[JudgedMutant, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def killed(self) -> tuple[JudgedMutant, ...]:
        return self._with("failed")

    @property
    def survivors(self) -> tuple[JudgedMutant, ...]:
        return self._with("passed")

    @property
    def without_verdict(self) -> tuple[JudgedMutant, ...]:
        return self._with("infrastructure")

    @property
    def equivalent(self) -> tuple[JudgedMutant, ...]:
        return tuple(each for each in self.judged if each.equivalent)

    @property
    def total(self) -> int:
        return len(self.killed) + len(self.survivors)

    @property
    def interval(self) -> Interval:
        """Of the share that is caught, over the mutants."""
        return wilson_interval(len(self.killed), self.total)

    def _with(self, status: Status) -> tuple[JudgedMutant, ...]:
        return tuple(each for each in self.judged if each.status == status and not each.equivalent)


def judge_mutants(
    mutants: Sequence[Mutant], grades: Mapping[str, Grade], equivalents: Equivalents, known: Collection[str]
) -> Survival:
    """`grades` by the ids of the mutants; `known` are the ids of all mutants there are, graded or not."""
    judged = tuple(_judged(each, grades[each.id], equivalents.reasons.get(each.id)) for each in mutants)
    caught = (each for each in judged if each.equivalent and each.status == "failed")
    problems = [*equivalents.problems, *(_stale(equivalents, id) for id in equivalents.reasons if id not in known)]
    problems += (_not_equivalent(equivalents, each) for each in caught)
    return Survival(judged, tuple(problems))


def share(survivals: Sequence[Survival]) -> float | None:
    """How much was caught of all mutants together; None when there are none."""
    total = sum(each.total for each in survivals)
    return sum(len(each.killed) for each in survivals) / total if total else None


def catch_rate(survivals: Mapping[str, Survival]) -> Score | None:
    """The mean over evals of the share that is caught, by eval; None when there are no mutants.

    Mutants of one answer are alike, so evals are what is counted. Of a single eval, its mutants are.
    """
    tallies = {name: Tally(len(each.killed), each.total) for name, each in survivals.items() if each.total}
    found = score(tallies)
    if found is None or found.evals > 1:
        return found
    [tally] = tallies.values()
    return replace(found, interval=wilson_interval(tally.passed, tally.trials), method="Wilson")


def _judged(mutant: Mutant, grade: Grade, equivalent: str | None) -> JudgedMutant:
    return JudgedMutant(mutant, grade.status, grade.failed_step, equivalent, grade.failed_tests)


def _stale(equivalents: Equivalents, id: str) -> Problem:
    return Problem(equivalents.path, f"{id} is no mutant of the answer any more", "remove the line")


def _not_equivalent(equivalents: Equivalents, judged: JudgedMutant) -> Problem:
    tests = f" (in {', '.join(judged.failed_tests)})" if judged.failed_tests else ""
    found = f"{judged.mutant.id} is not equivalent: it fails at {judged.caught_by}{tests}"
    return Problem(equivalents.path, found, "remove the line")
