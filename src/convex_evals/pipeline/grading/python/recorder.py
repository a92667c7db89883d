"""Writes the report while pytest runs, and says whose fault it is that a test did not pass."""

import traceback
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from convex_evals.core.diagnostics import Comparison, TestResult, TestStatus, compared
from convex_evals.pipeline.grading.kit import (
    CallFailed,
    CallTimedOut,
    DeploymentLost,
    DeploymentTrouble,
    EvalBroken,
    Mismatch,
    TimeIsUp,
    ToolCrashed,
    difference,
    show,
)
from convex_evals.pipeline.grading.python.fixtures import NoBrowser
from convex_evals.pipeline.grading.types import Report

LONGEST_MESSAGE: Final = 100_000
_MEETING: Final = frozenset(
    {"project", "files", "app", "given", "written_tests", "type_checks"}
)  # fixtures that show what a model made
OURS: Final = ("answer", "given")  # deployments of code that comes with the eval
# No answer can cause these: they are mistakes in the grader's own text.
_AUTHORS_MISTAKES = (EvalBroken, pytest.FixtureLookupError, NameError, ImportError, SyntaxError)


class Recorder:
    """A pytest plugin. A test passes when every phase of it does; the first one that does not decides.

    One that never came to its last phase is not reported at all, so that leaving early is no way to pass.
    """

    def __init__(self, grader: Path, report: Path) -> None:
        self._grader = grader
        self._path = report
        self._collected: list[str] = []
        self._tests: dict[str, TestResult] = {}
        self._compared = _Compared("", Comparison())
        self._ended: set[str] = set()
        self._problems: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if report.failed:
            raised: pytest.CallInfo[None] | None = getattr(report, "call", None)  # pytest takes it away afterwards
            error = raised.excinfo.value.__cause__ if raised is not None and raised.excinfo is not None else None
            self._problems.append(str(report.longrepr) if error is None else self._located(error))
        return report

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._collected = [_name(item.nodeid) for item in session.items]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        name = _name(item.nodeid)
        self._record(name, report, call, meets_answer=not _MEETING.isdisjoint(getattr(item, "fixturenames", ())))
        _shorten(report)
        if call.when == "teardown":
            self._ended.add(name)
        return report

    def pytest_configure(self, config: pytest.Config) -> None:
        """Ours replaces pytest's own comparison, which takes hours for two long texts."""
        plugins = config.pluginmanager
        others = plugins.subset_hook_caller("pytest_assertrepr_compare", [plugins.get_plugin("assertion")])
        config.hook.pytest_assertrepr_compare = others  # type: ignore[attr-defined]

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> list[str] | None:
        """`assert received == expected` tells which is which, and where they differ."""
        received, expected = show(left), show(right)
        said = f"{received} {op} {expected}"
        self._compared = _Compared(said, Comparison(expected if op == "==" else f"{op} {expected}", received))
        found = difference(left, right) if op == "==" else None
        if found is None:
            return [said]
        summary = [said, f"expected: {expected}", f"received: {received}"]
        return [*summary, str(found)] if found.path else summary

    def pytest_sessionfinish(self) -> None:
        tests = tuple(test for test in self._tests.values() if test.name in self._ended)
        Report(tuple(self._collected), tests, "\n".join(self._problems)).write(self._path)

    def _located(self, error: BaseException) -> str:
        """What happened while the grader was imported, with its place there; the log has the traceback."""
        frames = [each for each in traceback.extract_tb(error.__traceback__) if Path(each.filename) == self._grader]
        line = frames[-1].lineno if frames else None
        file, text = self._grader, frames[-1].line if frames else None
        message = f"{type(error).__name__}: {error}"
        if isinstance(error, SyntaxError):
            file, line, text = Path(error.filename or file), error.lineno, error.text
            message = f"{type(error).__name__}: {error.msg}"
        place = f"{file.name}:{line}" if line else file.name
        return "\n".join(filter(None, (f"{place}: {message}", (text or "").strip())))

    def _record(self, name: str, report: pytest.TestReport, call: pytest.CallInfo[None], *, meets_answer: bool) -> None:
        known = self._tests.get(name)
        if known is not None and known.status != "passed":
            return
        status, duration = _status(report, call, meets_answer), report.duration * 1000
        result = TestResult(name, status, duration_ms=(known.duration_ms if known else 0.0) + duration)
        if call.excinfo is None:
            self._tests[name] = replace(result, message=getattr(report, "wasxfail", ""))
        else:
            self._tests[name] = self._explained(result, call.excinfo)

    def _explained(self, result: TestResult, raised: pytest.ExceptionInfo[BaseException]) -> TestResult:
        """The message, the place in the grader, the first line of it that led there, and what was compared."""
        message = _text(raised.value)
        comparison = self._comparison(raised.value, message)
        frames = [entry for entry in raised.traceback if Path(entry.path) == self._grader]
        return replace(
            result,
            message=message[:LONGEST_MESSAGE],
            file=self._grader.name if frames else None,
            line=frames[-1].lineno + 1 if frames else None,
            expected=comparison.expected,
            received=comparison.received,
            assertion=" ".join(str(frames[0].statement).split()) if frames else None,
        )

    def _comparison(self, error: BaseException, message: str) -> Comparison:
        if isinstance(error, Mismatch):
            return Comparison(error.expected, error.received)
        if isinstance(error, CallFailed):
            return Comparison("success", error.text.partition("\n")[0])
        if self._compared.said and self._compared.said in message:
            return self._compared.comparison
        return compared(message)  # in the words of whoever wrote the grader


class _Compared(NamedTuple):
    """The latest comparison in an `assert`, and the line that pytest makes of it."""

    said: str
    comparison: Comparison


def _text(error: BaseException) -> str:
    if isinstance(error, pytest.FixtureLookupError):
        return f"fixture {error.argname!r} not found"
    if isinstance(error, AssertionError | pytest.fail.Exception | pytest.skip.Exception):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _shorten(report: pytest.TestReport) -> None:
    """What is printed, too: a function may fail with megabytes."""
    if len(text := str(report.longrepr or "")) > LONGEST_MESSAGE:
        report.longrepr = f"{text[:LONGEST_MESSAGE]}\n… {len(text) - LONGEST_MESSAGE} more characters"
    report.sections = [(name, text[:LONGEST_MESSAGE]) for name, text in report.sections]


def _status(report: pytest.TestReport, call: pytest.CallInfo[None], meets_answer: bool) -> TestStatus:
    if call.excinfo is not None and isinstance(call.excinfo.value, NoBrowser):
        return "unseen"
    if report.skipped or hasattr(report, "wasxfail"):
        return "skipped"
    if report.passed or call.excinfo is None:
        return "passed" if report.passed else "failed"
    return classify(call.excinfo.value, meets_answer=meets_answer)


def _name(node_id: str) -> str:
    """`grader.py::test_lists` is called `test_lists`."""
    return node_id.partition("::")[2]


def classify(error: BaseException, *, meets_answer: bool = True) -> TestStatus:
    """Whatever an answer can cause is its failure: wrong values, the KeyError of a grader that looks at them, and the
    time and memory that looking at them takes, unless the test never meets the answer."""
    for cause in _causes(error):
        if isinstance(cause, TimeIsUp | MemoryError) and not meets_answer:
            return "hangs" if isinstance(cause, TimeIsUp) else "broken"
        if isinstance(cause, CallTimedOut) and cause.deployment in OURS:
            return "hangs"
        if isinstance(cause, DeploymentLost):
            return "lost"
        if isinstance(cause, ToolCrashed):
            return "crashed"
        if isinstance(cause, DeploymentTrouble) and cause.deployment in OURS:
            return "broken"
    return "broken" if isinstance(error, _AUTHORS_MISTAKES) else "failed"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was explicitly raised from."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__
