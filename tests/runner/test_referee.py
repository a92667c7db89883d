"""The rule as a table: what follows from how the tries and the reference answer ended."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from tests.runner.conftest import MakeSuite

from convex_evals.core.retry import GRADING
from convex_evals.core.settings import Settings
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import StepName
from convex_evals.pipeline.failures import FAILURES
from convex_evals.pipeline.types import Assignment, Grade, GradingOptions, status_of
from convex_evals.runner.referee import Referee, Retry
from convex_evals.runner.worker import LocalWorkers

AGAIN, SOON = Retry(5.0), Retry(1.0)
NEVER = ("registry-unreachable", "registry-refused", "disk-full")
LASTING = ("browser-missing",)
ACCIDENTS = tuple(kind.name for kind in FAILURES.values() if kind.fault == "either" and kind.retried)
BROKEN = tuple(kind.name for kind in FAILURES.values() if kind.fault == "either" and not kind.retried)


def graded(**kinds: str) -> Grade:
    """A grade whose steps ended so: "passed", or a kind of failure."""
    steps = tuple(
        StepResult(name, _status(kind), 0, 0, (), "said", Path("log"), None if kind == "passed" else kind)
        for name, kind in kinds.items()
    )
    return Grade("000-basics/000-hello", status_of(steps), steps)


def _status(kind: str) -> str:
    return "passed" if kind == "passed" else FAILURES[kind].status


@pytest.fixture
def assignment(make_suite: MakeSuite, tmp_path: Path) -> Assignment:
    return Assignment(make_suite(1).evals[0], {"hello.txt": "hostile\n"}, GradingOptions(), tmp_path / "folder")


async def decided(
    settings: Settings, tmp_path: Path, assignment: Assignment, tries: list[Grade], reference: Grade
) -> Retry | Grade:
    referee = Referee(LocalWorkers(settings), tmp_path)
    referee._references[assignment.eval.id, assignment.options, assignment.only] = reference
    return await referee.decide(assignment, tries)


def verdict(decision: Retry | Grade) -> tuple[str, StepName | None, str | None] | Retry:
    if isinstance(decision, Retry):
        return decision
    step = next((step for step in decision.steps if step.failure), None)
    return decision.status, decision.failed_step, step.failure if step else None


PASSES = graded(tsc="passed", tests="passed")
BREAKS = graded(tsc="passed", tests="tool-crashed")
CONVICTED = ("failed", "tests", "accident-repeats")


@pytest.mark.parametrize(
    ("tries", "reference", "expected"),
    [
        *(([graded(tests=kind)], PASSES, SOON) for kind in ACCIDENTS),
        *(([graded(tests=kind)] * 2, PASSES, CONVICTED) for kind in ACCIDENTS),
        *(([graded(tests=kind)] * 2, BREAKS, ("infrastructure", None, kind)) for kind in ACCIDENTS),
        # an eval is broken only if its reference answer says so, too
        *(([graded(tests=kind)], BREAKS, ("infrastructure", None, kind)) for kind in BROKEN),
        *(([graded(tests=kind)], PASSES, SOON) for kind in BROKEN),
        *(([graded(tests=kind)] * 2, PASSES, CONVICTED) for kind in BROKEN),
        # what no answer can cause
        *(([graded(tests=kind)], PASSES, SOON) for kind in NEVER),
        *(([graded(tests=kind)] * 2, PASSES, AGAIN) for kind in NEVER),
        *(([graded(tests=kind)] * 3, PASSES, ("infrastructure", None, kind)) for kind in NEVER),
        *(([graded(tests=kind)], PASSES, ("infrastructure", None, kind)) for kind in LASTING),
        # any two accidents, at whichever step: an answer may choose where it breaks things
        ([graded(tsc="tool-crashed"), graded(tests="worker-died")], PASSES, CONVICTED),
        ([graded(tests="disk-full"), graded(tests="tool-crashed")], PASSES, SOON),
        ([graded(tests="tool-crashed"), graded(tests="disk-full"), graded(tests="worker-hangs")], PASSES, CONVICTED),
        # a failed step outranks an accident elsewhere, at once
        ([graded(tsc="type-errors", tests="tool-crashed")], PASSES, ("failed", "tsc", "type-errors")),
        ([graded(tests="passed")], PASSES, ("passed", None, None)),
        # the reference answer must pass the very step
        ([graded(tests="tool-crashed")] * 2, graded(tsc="type-errors", tests="passed"), CONVICTED),
        ([graded(tests="tool-crashed")] * 2, graded(deploy="deploy-refused"), ("infrastructure", None, "tool-crashed")),
    ],
)
async def test_the_verdict_follows_from_the_tries(
    settings: Settings,
    tmp_path: Path,
    assignment: Assignment,
    tries: list[Grade],
    reference: Grade,
    expected: object,
) -> None:
    assert verdict(await decided(settings, tmp_path, assignment, tries, reference)) == expected


@pytest.mark.parametrize("reference", [PASSES, BREAKS], ids=["reference passes", "reference breaks"])
async def test_an_answer_is_graded_three_times_at_most_whatever_happens(
    settings: Settings, tmp_path: Path, assignment: Assignment, reference: Grade
) -> None:
    kinds = ("tool-crashed", "grader-broken", "disk-full", "browser-missing", "passed")
    longest = 0
    for ends in itertools.product(kinds, repeat=4):
        tries = list[Grade]()
        for end in ends:
            tries.append(graded(tests=end))
            if not isinstance(await decided(settings, tmp_path, assignment, tries, reference), Retry):
                break
        longest = max(longest, len(tries))
    assert longest == GRADING.tries == 3


async def test_the_reference_answer_is_not_compared_with_itself(
    settings: Settings, tmp_path: Path, assignment: Assignment
) -> None:
    same = replace(assignment, files={"hello.txt": "hello\n"})
    decision = await decided(settings, tmp_path, same, [graded(tests="worker-died")] * 2, PASSES)
    assert verdict(decision) == ("infrastructure", None, "worker-died")


async def test_a_conviction_says_what_happened_and_keeps_what_was_said(
    settings: Settings, tmp_path: Path, assignment: Assignment
) -> None:
    tries = [graded(tests="tool-timeout"), graded(tests="worker-died")]
    decision = await decided(settings, tmp_path, assignment, tries, PASSES)
    assert isinstance(decision, Grade)
    sentence = (
        "Grading this answer breaks down each time (tool-timeout at tests, then worker-died at tests); "
        "the reference answer passes tests here."
    )
    assert decision.notes == (sentence,)
    assert decision.steps[-1].excerpt == f"{sentence}\nsaid"
