"""What is graded, with which options, and what comes out."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Final, Literal, Self

from convex_evals.core.diagnostics import TestResult
from convex_evals.core.processes import Sandbox
from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.core.verdicts import Status, StepName
from convex_evals.suite import Eval, SuiteSettings

Linter = Literal["oxlint", "eslint"]
Compiler = Literal["7", "5.9"]
Fault = Literal["model", "either", "infrastructure"]
OnStep = Callable[[StepResult], Awaitable[None]]


async def ignore_step(step: StepResult) -> None:
    """For callers that wait for the whole grade."""


STRETCH: Final = 4.0
"""How much longer something may take on a busy machine: see `patience` in the grading kit."""


@dataclass(frozen=True, slots=True)
class GradingOptions:
    """What a run grades with; part of its fingerprint."""

    linter: Linter = "oxlint"
    compiler: Compiler = "7"
    backend: str = "embedded"  # embedded, official, or a URL
    admin_key: str | None = field(default=None, repr=False)  # of the deployment at that URL
    packages_before: date | None = None  # None: the suite's own date
    answer_files: tuple[str, ...] | None = None  # globs below answer/; None: the suite's own
    test_seconds: float = 60.0  # per test
    grader_seconds: float = 300.0  # per grader
    fast_push: bool = True  # False: the CLI deploys, always
    sandbox: Sandbox = "required"

    @property
    def longest_grader_seconds(self) -> float:
        """Until a grader is stopped that does not end by its own limits."""
        return self.grader_seconds * STRETCH

    def completed(self, suite: SuiteSettings) -> Self:
        """With the suite's values for what was not given, so that a run records what it was graded with."""
        return replace(
            self,
            packages_before=self.packages_before or suite.packages_before,
            answer_files=self.answer_files or suite.answer_files,
        )


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a grading worker is given: the files that answer an eval, and an empty folder to grade them in.

    `files` are as a model named them, relative path -> text. With `only`, this step is graded and what must come before
    it; the others are skipped. With `until_failure`, no test is run once one has failed: for whoever asks only whether
    the answer passes. The test `first_test` runs before the others, then those whose
    names begin so. `cut_off` says how the answer ended if it is not the whole one.
    """

    eval: Eval
    files: Mapping[str, str]
    options: GradingOptions
    folder: Path
    only: StepName | None = None
    until_failure: bool = False
    first_test: str | None = None
    cut_off: str = ""


@dataclass(frozen=True, slots=True)
class Grade:
    """The verdict on one submission. `failed_step` is the first step that failed."""

    eval: str  # "002-queries/012-index_and_filter"
    status: Status
    steps: tuple[StepResult, ...]
    tests: TestCounts | None = None
    duration_ms: float = 0.0
    cpu_ms: float = 0.0
    broken: str | None = None  # why there is no verdict although nothing failed by accident: the eval itself is wrong
    failed_tests: tuple[str, ...] = ()  # all of them, where an excerpt has only the first
    notes: tuple[str, ...] = field(default=())

    @property
    def failed_step(self) -> StepName | None:
        return next((step.name for step in self.steps if step.status == "failed"), None)

    @property
    def unseen(self) -> tuple[TestResult, ...]:
        """Tests that look at pages and did not run, because they cannot be looked at here."""
        tests = self.step("tests")
        return tuple(test for test in (tests.test_results if tests else ()) if test.status == "unseen")

    def step(self, name: StepName) -> StepResult | None:
        return next((step for step in self.steps if step.name == name), None)


def status_of(steps: Sequence[StepResult]) -> Status:
    """A step that failed decides, whatever accident happened elsewhere; without one, an accident leaves no verdict."""
    found = {step.status for step in steps}
    return next((status for status in ("failed", "infrastructure") if status in found), "passed")
