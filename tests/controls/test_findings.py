from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.controls import Findings, Judged
from convex_evals.controls.control import Control, StatedTest
from convex_evals.controls.findings import judge_empty, judge_passing, judge_wrong
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import STEPS, Status, StepName
from convex_evals.pipeline.types import Grade
from convex_evals.suite import Problem, Suite

MakeSuite = Callable[..., Suite]


def judged(status: Status, complaint: str = "", broken: bool = False) -> Judged:
    return Judged("x", status, None, (), "", complaint, broken)


@pytest.fixture
def good(hello: MakeSuite) -> Findings:
    return Findings(hello().evals[0], judged("passed"), judged("failed"), (judged("failed"),), (judged("passed"),))


def test_what_is_as_it_must_be_is_ok(good: Findings) -> None:
    assert (good.ok, good.has_mistakes, good.without_verdict) == (True, False, False)


def test_an_answer_with_an_unexpected_verdict_is_a_mistake(good: Findings) -> None:
    found = replace(good, wrong=(judged("passed", "must fail"),))
    assert (found.ok, found.has_mistakes, found.without_verdict) == (False, True, False)


def test_an_accident_is_neither_ok_nor_a_mistake(good: Findings) -> None:
    found = replace(good, alternatives=(judged("infrastructure", "must pass"),))
    assert (found.ok, found.has_mistakes, found.without_verdict) == (False, False, True)


def test_a_broken_eval_is_a_mistake(good: Findings) -> None:
    found = replace(good, reference=judged("infrastructure", "must pass", broken=True))
    assert (found.ok, found.has_mistakes, found.without_verdict) == (False, True, False)


def test_a_broken_control_is_a_mistake(good: Findings) -> None:
    found = replace(good, problems=(Problem(good.eval.path, "is wrong", "mend it"),))
    assert (found.ok, found.has_mistakes) == (False, True)


KINDS = {"failed": "tests-failed", "infrastructure": "grader-crashed"}


def step(name: StepName, status: Status) -> StepResult:
    said = f"{name} says\n  why" if status in KINDS else ""
    return StepResult(name, status, 0, 0, (), said, Path("log"), KINDS.get(status))


def graded(*failed: StepName, tests: tuple[str, ...] = (), accident: StepName | None = None) -> Grade:
    statuses: dict[StepName, Status] = dict.fromkeys(failed, "failed")
    if accident is not None:
        statuses[accident] = "infrastructure"
    status: Status = "infrastructure" if accident else "failed" if failed else "passed"
    steps = tuple(step(name, statuses.get(name, "passed")) for name in STEPS)
    return Grade("000-a/000-b", status, steps, failed_tests=tests)


def wrong(stated: StepName, test: str | None = None) -> Control:
    return Control("wrong-x", "wrong", "Because.", {}, stated, StatedTest(test) if test else None)


@pytest.mark.parametrize(
    ("control", "grade", "complaint"),
    [
        (wrong("tsc"), graded("tsc"), ""),
        (wrong("tsc"), graded("tsc", "eslint", "tests"), ""),
        (wrong("tests", "test_a"), graded("tests", tests=("test_a[1]", "test_b")), ""),
        (wrong("tsc"), graded(), "must fail at tsc, but passes every step"),
        (wrong("eslint"), graded("tsc", "eslint"), "must fail at eslint, but fails at tsc: tsc says why"),
        (
            wrong("tests", "test_a"),
            graded("tests", tests=("test_b",)),
            "must fail at tests (test_a), but fails at tests (in test_b): tests says why",
        ),
        (wrong("tsc"), graded("tsc", accident="tests"), "must fail at tsc, but has no verdict: tests says why"),
    ],
)
def test_a_wrong_answer_must_fail_where_it_says(control: Control, grade: Grade, complaint: str) -> None:
    judged = judge_wrong(control, grade)
    assert (judged.complaint, judged.ok) == (complaint, not complaint)


def test_right_answers_must_pass_and_empty_projects_must_fail() -> None:
    assert judge_passing("reference answer", graded()).ok
    assert (
        judge_passing("reference answer", graded("deploy")).complaint
        == "must pass, but fails at deploy: deploy says why"
    )
    assert judge_empty("empty project", graded("deploy")).ok
    assert judge_empty("empty project", graded()).complaint == "must fail, but passes every step"


def test_a_broken_eval_is_a_mistake_and_an_accident_is_not() -> None:
    broken = Grade("000-a/000-b", "infrastructure", (), broken="the grader\ncannot be loaded")
    judged = judge_passing("reference answer", broken)
    assert (judged.complaint, judged.without_verdict) == (
        "must pass, but has no verdict: the grader cannot be loaded",
        False,
    )
    died = Grade("000-a/000-b", "infrastructure", (), notes=("The grading worker died.",))
    assert judge_passing("reference answer", died).without_verdict
    assert "The grading worker died." in judge_passing("reference answer", died).complaint
