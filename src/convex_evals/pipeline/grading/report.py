"""What a grader reports, test by test. Written by its process, read by ours."""

import json
from dataclasses import dataclass
from pathlib import Path

from convex_evals.core.diagnostics import TestResult, TestStatus
from convex_evals.core.files import write_file
from convex_evals.core.plain import from_plain, to_plain


@dataclass(frozen=True, slots=True)
class Report:
    """`collected` are the names of all tests that were found; `problem` is why they could not be."""

    collected: tuple[str, ...]
    tests: tuple[TestResult, ...]
    problem: str = ""

    def count(self, *statuses: TestStatus) -> int:
        return len(self.with_status(*statuses))

    def with_status(self, *statuses: TestStatus) -> tuple[TestResult, ...]:
        return tuple(test for test in self.tests if test.status in statuses)

    def write(self, path: Path) -> None:
        """All of it or nothing, so that a report that can be read is complete."""
        write_file(path, json.dumps(to_plain(self)))


def read_report(path: Path) -> Report | None:
    """The report, or None when the grader's process has not come to writing one."""
    try:
        return from_plain(Report, json.loads(path.read_bytes()))
    except (OSError, ValueError):
        return None
