"""What a grader is given, and what comes out of it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from convex_evals.core.steps import StepResult, TestCounts

# Kinds of failure of the step `tests`: keys of the table in pipeline/failures.py.
TESTS_FAILED: Final = "tests-failed"
GRADER_BROKEN: Final = "grader-broken"
GRADER_HANGS: Final = "grader-hangs"
GRADER_CRASHED: Final = "grader-crashed"
DEPLOYMENT_LOST: Final = "deployment-lost"
BROWSER_MISSING: Final = "browser-missing"
TOOL_CRASHED: Final = "tool-crashed"


@dataclass(frozen=True, slots=True)
class GradedDeployment:
    """A deployment that graders talk to, over HTTP only: ours, the official one, or any other."""

    url: str
    site_url: str
    admin_key: str = field(repr=False)


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
