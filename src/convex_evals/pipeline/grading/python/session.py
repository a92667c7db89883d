"""Runs pytest on a grader, inside the process that was made for it, and within its time limits."""

import signal
import sys
from collections.abc import Generator
from pathlib import Path
from types import FrameType

import pytest

from convex_evals.pipeline.grading.kit import PATIENCE, CallTimedOut, Clock, NoTimeLeft, TimeIsUp
from convex_evals.pipeline.grading.python.fixtures import AppFixture, Fixtures
from convex_evals.pipeline.grading.python.process import Job
from convex_evals.pipeline.grading.python.recorder import Recorder
from convex_evals.pipeline.grading.types import OrderOfTests

# Plugins of pytest that graders have no use for; each costs time at every start.
UNUSED = (
    "cacheprovider",
    "debugging",
    "doctest",
    "junitxml",
    "legacypath",
    "pastebin",
    "setuponly",
    "setupplan",
    "stepwise",
    "unittest",
)
OPTIONS = (
    "-vv",
    "--tb=short",
    "--color=no",
    "--noconftest",
    "--disable-plugin-autoload",
    "--import-mode=importlib",
    "--override-ini=python_files=*.py",
    "--config-file=/dev/null",
    *(f"-pno:{name}" for name in UNUSED),
)
# Calls end first, so that a test that waits for a slow function fails, with the name of the function.
CALLS_END_EARLIER = 1.0
SHORTEST_ALARM = 0.1


def _only_grader(imports: Path, private: Path) -> Path:
    """A folder that holds the package `grader` and nothing else that could be imported."""
    folder = private / "imports"
    folder.mkdir(exist_ok=True)
    if not (folder / "grader").exists():
        (folder / "grader").symlink_to(imports / "grader")
    return folder


def run_session(job: Job) -> int:
    """pytest's exit code. The report is on disk by then."""
    sys.dont_write_bytecode = True
    if job.imports is not None:
        sys.path.insert(0, str(_only_grader(job.imports, job.private)))
    clock = Clock()
    plugins = [
        Fixtures(job, clock),
        AppFixture(job, clock),
        TimeLimits(clock, job.test_seconds, job.grader_seconds),
        FirstFailure(job.order),
        Recorder(job.grader, job.report),
    ]
    temporary = job.report.parent / "temporary"
    places = (f"--rootdir={job.suite}", f"--confcutdir={job.grader.parent}", f"--basetemp={temporary}")
    arguments = [*OPTIONS, *places, str(job.grader)]
    if job.collect_only:
        arguments.append("--collect-only")
    return int(pytest.main(arguments, plugins=plugins))


class TimeLimits:
    """A pytest plugin. A test that is still busy with itself when its time is up hangs."""

    def __init__(self, clock: Clock, test_seconds: float, grader_seconds: float) -> None:
        self._clock = clock
        self._test_seconds = test_seconds
        self._grader_seconds = grader_seconds
        self._ends = PATIENCE.now() + grader_seconds
        signal.signal(signal.SIGALRM, self._on_alarm)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        seconds = min(self._test_seconds, self._ends - PATIENCE.now())
        self._clock.start(seconds)
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0) + CALLS_END_EARLIER)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if self._clock.remaining <= 0:
            raise NoTimeLeft(self._grader_seconds)

    def _on_alarm(self, number: int, frame: FrameType | None) -> None:
        remaining = self._clock.remaining + CALLS_END_EARLIER
        if remaining > 0:  # the machine is busy
            signal.setitimer(signal.ITIMER_REAL, max(remaining, SHORTEST_ALARM))
        elif self._clock.call is not None:  # it was, so the call was allowed to take longer
            signal.setitimer(signal.ITIMER_REAL, CALLS_END_EARLIER)
            raise CallTimedOut(*self._clock.call, self._test_seconds)
        else:
            raise TimeIsUp("the test did not end in time, and it was not waiting for a function")


class FirstFailure:
    """A pytest plugin. Once a test has failed, nothing is waited for as long as before; if that is all that is asked,
    the other tests do not run."""

    def __init__(self, order: OrderOfTests) -> None:
        self._order = order
        self._has_failed = False

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self._order.rank(item.nodeid.partition("::")[2]))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self._has_failed:
            self._has_failed = True
            PATIENCE.end()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if self._has_failed and self._order.until_failure:
            pytest.skip("a test before this one has failed, and whether one does was all that was asked")
