"""What a grader reports, test by test. Written by its process, read by ours."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from convex_evals.core.files import write_file

Outcome = Literal["passed", "failed", "skipped", "unseen", "broken", "hangs", "lost", "crashed"]
"""`broken` and `hangs` are the grader's own fault, `lost` that of the deployment, `crashed` that of a tool of ours.

`unseen` tests need a browser, and there is none: they count neither way, and the step says so.
"""


@dataclass(frozen=True, slots=True)
class TestReport:
    """`place` is like `grader.py:12`; `message` says what was expected and what was received."""

    __test__ = False

    name: str
    outcome: Outcome
    message: str = ""
    place: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """`collected` are the names of all tests that were found; `problem` is why they could not be."""

    collected: tuple[str, ...]
    tests: tuple[TestReport, ...]
    problem: str = ""

    def count(self, *outcomes: Outcome) -> int:
        return sum(test.outcome in outcomes for test in self.tests)

    def with_outcome(self, *outcomes: Outcome) -> tuple[TestReport, ...]:
        return tuple(test for test in self.tests if test.outcome in outcomes)

    def write(self, path: Path) -> None:
        """All of it or nothing, so that a report that can be read is complete."""
        write_file(path, json.dumps(asdict(self)))


def read_report(path: Path) -> Report | None:
    """The report, or None when the grader's process has not come to writing one."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return Report(tuple(content["collected"]), _tests(content["tests"]), content["problem"])


def _tests(entries: Iterable[dict[str, Any]]) -> tuple[TestReport, ...]:
    return tuple(TestReport(**entry) for entry in entries)
