from collections.abc import Callable
from dataclasses import replace

import pytest

from convex_evals.controls import Findings, Judged
from convex_evals.core.verdicts import Status
from convex_evals.suite import Problem, Suite

MakeSuite = Callable[..., Suite]


def judged(status: Status, complaint: str = "", broken: bool = False) -> Judged:
    return Judged("x", status, None, (), "", complaint, broken)


@pytest.fixture
def good(hello: MakeSuite) -> Findings:
    return Findings(hello().evals[0], judged("passed"), judged("failed"), (judged("failed"),), (judged("passed"),))


def test_what_is_as_it_must_be_is_ok(good: Findings) -> None:
    assert (good.ok, good.has_mistakes, good.without_verdict) == (True, False, False)


def test_an_answer_that_is_judged_otherwise_is_a_mistake(good: Findings) -> None:
    found = replace(good, wrong=(judged("passed", "must fail"),))
    assert (found.ok, found.has_mistakes, found.without_verdict) == (False, True, False)


def test_an_accident_is_not_ok_but_no_mistake(good: Findings) -> None:
    found = replace(good, alternatives=(judged("infrastructure", "must pass"),))
    assert (found.ok, found.has_mistakes, found.without_verdict) == (False, False, True)


def test_a_broken_eval_is_a_mistake(good: Findings) -> None:
    found = replace(good, reference=judged("infrastructure", "must pass", broken=True))
    assert (found.ok, found.has_mistakes, found.without_verdict) == (False, True, False)


def test_a_broken_control_is_a_mistake(good: Findings) -> None:
    found = replace(good, problems=(Problem(good.eval.path, "is wrong", "mend it"),))
    assert (found.ok, found.has_mistakes) == (False, True)
