"""What came out of checking one eval: whether each answer got the expected verdict, in words and as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from convex_evals.controls.control import Control
from convex_evals.controls.survival import JudgedMutant, Survival, catch_rate, share
from convex_evals.core.verdicts import Status, StepName
from convex_evals.pipeline import Grade
from convex_evals.statistics import Score
from convex_evals.suite import Eval, Problem

NO_VERDICT: Final = "infrastructure"


@dataclass(frozen=True, slots=True)
class Judged:
    """One answer and what became of it. `complaint` is half a sentence, and empty when all is as it must be."""

    name: str
    status: Status
    caught_by: StepName | None
    failed_tests: tuple[str, ...]
    excerpt: str
    complaint: str
    broken: bool = False

    @property
    def ok(self) -> bool:
        return not self.complaint

    @property
    def without_verdict(self) -> bool:
        """There is no verdict, for reasons that have nothing to do with the eval."""
        return self.status == NO_VERDICT and not self.broken


def judge_passing(name: str, grade: Grade) -> Judged:
    """For the reference answer and alternatives."""
    complaint = "" if grade.status == "passed" else f"must pass, but {_how(grade)}"
    return _judged(name, grade, complaint)


def judge_empty(name: str, grade: Grade) -> Judged:
    """For a project without any code."""
    complaint = "" if grade.status == "failed" else f"must fail, but {_how(grade)}"
    return _judged(name, grade, complaint)


def judge_wrong(control: Control, grade: Grade) -> Judged:
    """It must fail at the stated step first and, if that is the tests, in the stated one among others."""
    where = f"{control.step} ({control.test})" if control.test else str(control.step)
    complaint = "" if _fails_as_stated(control, grade) else f"must fail at {where}, but {_how(grade)}"
    return _judged(control.name, grade, complaint)


def _fails_as_stated(control: Control, grade: Grade) -> bool:
    if grade.status != "failed" or grade.failed_step != control.step:
        return False
    return control.test is None or control.test.is_among(grade.failed_tests)


def _judged(name: str, grade: Grade, complaint: str) -> Judged:
    return Judged(
        name=name,
        status=grade.status,
        caught_by=grade.failed_step,
        failed_tests=grade.failed_tests,
        excerpt=_excerpt(grade),
        complaint=complaint,
        broken=grade.broken is not None,
    )


def _how(grade: Grade) -> str:
    """`fails at tsc: convex/index.ts(3,4): error …`, in one line."""
    if grade.status == "passed":
        return "passes every step"
    said = " ".join((grade.broken or _excerpt(grade) or "; ".join(grade.notes)).split())
    if grade.status == NO_VERDICT:
        return f"has no verdict: {said}"
    tests = f" (in {', '.join(grade.failed_tests)})" if grade.failed_step == "tests" and grade.failed_tests else ""
    return f"fails at {grade.failed_step}{tests}: {said}"


def _excerpt(grade: Grade) -> str:
    """What the step that decided said: the first that failed, or was hit by an accident."""
    decisive = next((step for step in grade.steps if step.status == grade.status and step.failure), None)
    return decisive.excerpt if decisive else ""


@dataclass(frozen=True, slots=True)
class Findings:
    """`problems` are of control files that cannot be read as controls. `mutants` is None when none were made."""

    eval: Eval
    reference: Judged
    empty: Judged
    wrong: tuple[Judged, ...]
    alternatives: tuple[Judged, ...]
    problems: tuple[Problem, ...] = ()
    mutants: Survival | None = None

    @property
    def judged(self) -> tuple[Judged, ...]:
        """All answers whose verdict was known beforehand."""
        return (self.reference, self.empty, *self.wrong, *self.alternatives)

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        return (*self.problems, *(self.mutants.problems if self.mutants else ()))

    @property
    def ok(self) -> bool:
        """Survivors are not in it: the share of mutants is judged over all evals together."""
        return not self.all_problems and all(each.ok for each in self.judged)

    @property
    def has_mistakes(self) -> bool:
        """Whether something is wrong for certain, and not only without a verdict."""
        return bool(self.all_problems) or any(not each.ok and not each.without_verdict for each in self.judged)

    @property
    def without_verdict(self) -> bool:
        mutants = self.mutants.without_verdict if self.mutants else ()
        return bool(mutants) or any(each.without_verdict for each in self.judged)


def findings_json(findings: Sequence[Findings], problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """`problems` are those of no eval in particular."""
    return {
        "ok": not problems and all(each.ok for each in findings),
        "mutantsCaught": share([each.mutants for each in findings if each.mutants]),
        "catchRate": _catch_rate_json(catch_rate({each.eval.id: each.mutants for each in findings if each.mutants})),
        "evals": [_eval_json(each) for each in findings],
        "problems": [str(problem) for problem in problems],
    }


def _catch_rate_json(found: Score | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "value": found.value,
        "interval": [found.interval.low, found.interval.high],
        "method": found.method,
        "evals": found.evals,
        "mutants": found.trials,
    }


def _eval_json(found: Findings) -> dict[str, Any]:
    return {
        "eval": found.eval.id,
        "ok": found.ok,
        "reference": found.reference.status,
        "empty": found.empty.status,
        "wrong": [_judged_json(each) for each in found.wrong],
        "alternatives": [_judged_json(each) for each in found.alternatives],
        "mutants": _survival_json(found.mutants) if found.mutants else None,
        "problems": [str(problem) for problem in found.all_problems],
        "complaints": [f"{each.name} {each.complaint}" for each in found.judged if each.complaint],
    }


def _judged_json(judged: Judged) -> dict[str, Any]:
    return {
        "name": judged.name,
        "ok": judged.ok,
        "status": judged.status,
        "caughtBy": judged.caught_by,
        "failedTests": list(judged.failed_tests),
        "complaint": judged.complaint or None,
        "excerpt": judged.excerpt,
    }


def _survival_json(survival: Survival) -> dict[str, Any]:
    by_step: dict[str, int] = {}
    for each in survival.killed:
        by_step[str(each.caught_by)] = by_step.get(str(each.caught_by), 0) + 1
    return {
        "killed": len(survival.killed),
        "total": survival.total,
        "interval": [survival.interval.low, survival.interval.high],
        "killedBy": by_step,
        "survivors": [_mutant_json(each) for each in survival.survivors],
        "equivalent": [_mutant_json(each) for each in survival.equivalent],
        "withoutVerdict": [_mutant_json(each) for each in survival.without_verdict],
    }


def _mutant_json(judged: JudgedMutant) -> dict[str, Any]:
    mutant = judged.mutant
    return {
        "id": mutant.id,
        "operator": mutant.operator,
        "file": mutant.path,
        "line": mutant.difference.line,
        "diff": list(mutant.difference.lines),
        "equivalent": judged.equivalent,
    }


FILE: Final = "controls.json"


@dataclass(frozen=True, slots=True)
class Caught:
    """How many of the answers with an expected verdict got it."""

    right: int
    total: int


@dataclass(frozen=True, slots=True)
class RecordedCheck:
    """One eval. `mutants` is None when none were made; `survivors` are places that nobody checks."""

    eval: str
    ok: bool
    reference: str
    empty: str
    wrong: Caught
    alternatives: Caught
    mutants: Caught | None
    survivors: tuple[str, ...]
    complaints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordedControls:
    checks: Mapping[str, RecordedCheck]
    at: datetime


def read_recorded(path: Path) -> RecordedControls | None:
    """None when there is no such file, or it is something else."""
    try:
        found = json.loads(path.read_bytes())
        checks = [_check(each) for each in found["evals"]]
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, KeyError, TypeError, ValueError):
        return None
    return RecordedControls({each.eval: each for each in checks}, changed)


def _check(found: Mapping[str, Any]) -> RecordedCheck:
    mutants = found["mutants"]
    return RecordedCheck(
        found["eval"],
        found["ok"],
        found["reference"],
        found["empty"],
        _caught(found["wrong"]),
        _caught(found["alternatives"]),
        None if mutants is None else Caught(mutants["killed"], mutants["total"]),
        () if mutants is None else tuple(f"{each['file']}:{each['line']}" for each in mutants["survivors"]),
        tuple(found["complaints"]),
    )


def _caught(judged: list[Mapping[str, Any]]) -> Caught:
    return Caught(sum(bool(each["ok"]) for each in judged), len(judged))
