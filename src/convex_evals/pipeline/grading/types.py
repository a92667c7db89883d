"""What a grader is given, what it reports, and what comes out of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from convex_evals.core.diagnostics import TestResult, TestStatus
from convex_evals.core.files import write_file
from convex_evals.core.plain import from_plain, to_plain
from convex_evals.core.steps import StepResult, TestCounts

# Kinds of failure of the step `tests`: keys of the table in pipeline/failures.py.
TESTS_FAILED: Final = "tests-failed"
GRADER_BROKEN: Final = "grader-broken"
GRADER_HANGS: Final = "grader-hangs"
GRADER_CRASHED: Final = "grader-crashed"
DEPLOYMENT_LOST: Final = "deployment-lost"
BROWSER_MISSING: Final = "browser-missing"
TOOL_CRASHED: Final = "tool-crashed"

BUNDLE: Final = "app"  # the base name of the files of a built app


@dataclass(frozen=True, slots=True)
class GradedDeployment:
    """A deployment that graders talk to, over HTTP only: ours, the official one, or any other."""

    url: str
    site_url: str
    admin_key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Pushes:
    """What `start_push` takes, without the key: for the given project, and for the model's."""

    given: Mapping[str, Any]
    project: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class GivenProject:
    """A deployment for a grader that deploys the given project and then the model's over it."""

    deployment: GradedDeployment
    pushes: Pushes


@dataclass(frozen=True, slots=True)
class OrderOfTests:
    """The test `first` runs before the others, then those whose names begin so; with `until_failure`, none runs after a
    failure."""

    first: str | None = None
    until_failure: bool = False

    def rank(self, name: str) -> int:
        """Where a test belongs: those with the lowest rank run first."""
        if self.first is None or not name.startswith(self.first):
            return 2
        return 0 if name.partition("[")[0] == self.first else 1


AS_WRITTEN: Final = OrderOfTests()


@dataclass(frozen=True, slots=True)
class BuiltApp:
    """`folder` has `app.js` and perhaps `app.css`, unless the app is `broken` or the tool has `crashed`: then why."""

    folder: Path
    broken: str = ""
    crashed: str = ""


@dataclass(frozen=True, slots=True)
class GraderResult:
    """`broken` says what is wrong with the eval itself when that is why there is no verdict; `failed` names tests."""

    step: StepResult
    tests: TestCounts
    broken: str | None = None
    failed: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True)
class WrittenTest:
    """`state` is "passed", "failed" or, as of all tests after one that failed, "skipped"."""

    name: str
    state: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class VariantReport:
    """What the tests that a model wrote said about one variant; `problem` is why a file of them failed as a whole."""

    tests: tuple[WrittenTest, ...]
    problem: str = ""

    @property
    def has_passed(self) -> bool:
        states = {test.state for test in self.tests}
        return not self.problem and "passed" in states and "failed" not in states


@dataclass(frozen=True, slots=True)
class WrittenReply:
    """Unless there is a `problem` with the tests as a whole, or vitest `crashed`, which is not their fault."""

    variants: dict[str, VariantReport] = field(default_factory=dict)
    problem: str = ""
    crashed: str = ""


@dataclass(frozen=True, slots=True)
class TypeCheckReply:
    """The errors in each snippet of a grader, unless the compiler `crashed`, which is not their fault."""

    errors: dict[str, tuple[str, ...]] = field(default_factory=dict)
    crashed: str = ""


def read_report(path: Path) -> Report | None:
    """The report, or None when the grader's process has not come to writing one."""
    try:
        return from_plain(Report, json.loads(path.read_bytes()))
    except (OSError, ValueError):
        return None
