"""What the two kinds of graders have in common."""

from dataclasses import dataclass
from typing import Protocol

from convex_evals.core.processes import ProcessResult
from convex_evals.pipeline.grading.report import Report


@dataclass(frozen=True, slots=True)
class GraderRun:
    """A grader's process that has ended, and its report if it came to write one."""

    result: ProcessResult
    report: Report | None


class GraderRunner(Protocol):
    async def collect(self) -> GraderRun:
        """Names the tests, with no answer of a model in sight."""

    async def run(self, expected: tuple[str, ...]) -> GraderRun:
        """Runs them."""
