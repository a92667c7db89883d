"""Whether an answer fared as it must. Pure rules over grades."""

from dataclasses import dataclass

from convex_evals.controls.control import Control
from convex_evals.controls.grader_tests import is_among
from convex_evals.core.verdicts import Status, StepName
from convex_evals.pipeline.types import Grade

NO_VERDICT = "infrastructure"


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
        """Nothing can be said, and not because of the eval."""
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
    return control.test is None or is_among(control.test, grade.failed_tests)


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
