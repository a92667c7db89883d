"""Vitest's own reports, read as ours."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from convex_evals.core.diagnostics import Comparison, TestResult, TestStatus, compared
from convex_evals.pipeline.grading.types import Report

Compared = dict[str, list[Comparison]]
_CUT = "…"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_FRAME = re.compile(r"^\s+at ")
_PLACE = re.compile(r"^\s+at .*?(?P<path>/[^\s()]+):(?P<line>\d+):\d+\)?$", re.MULTILINE)


def read_names(path: Path) -> Report | None:
    """The tests of a run that ran none of them."""
    results = _read(path)
    if results is None:
        return None
    return Report(tuple(test.name for test in _tests(results, path)), (), _problem(results))


def read_compared(path: Path) -> Compared:
    """What `failures.mjs` wrote, by the name of the test; several tests may have the same."""
    found: Compared = {}
    for entry in _read(path) or ():
        found.setdefault(_name(entry["name"]), []).append(Comparison(entry["expected"], entry["received"]))
    return found


def read_results(path: Path, expected: tuple[str, ...], grader: Path, failures: Compared) -> Report | None:
    """What the JSON reporter wrote of the tests in `grader`. When the file fails as a whole, so do the expected tests
    that it did not reach."""
    results = _read(path)
    if results is None:
        return None
    tests, problem = [_with_values(test, failures) for test in _tests(results, grader)], _problem(results)
    if problem:
        tests += [TestResult(name, "failed", problem) for name in _missing(expected, tests)]
    return Report(tuple(test.name for test in tests), tuple(tests))


def _tests(results: Any, grader: Path) -> list[TestResult]:
    return [test for file in results["testResults"] for test in _tests_of(file, grader)]


def _tests_of(file: dict[str, Any], grader: Path) -> list[TestResult]:
    """When a file failed and none of its tests did, their preparation failed: those that did not run failed with it."""
    tests = [_test(entry, grader) for entry in file["assertionResults"]]
    if file["status"] != "failed" or any(test.status == "failed" for test in tests):
        return tests
    message = _clean(file.get("message") or "") or "what prepares the tests failed, see the log"
    return [replace(test, status="failed", message=message) if test.status == "skipped" else test for test in tests]


def _problem(results: Any) -> str:
    """Why a file failed as a whole."""
    return "\n".join(filter(None, (_clean(file.get("message") or "") for file in results["testResults"])))


def _missing(expected: tuple[str, ...], tests: list[TestResult]) -> Iterator[str]:
    reported = [test.name for test in tests]
    for name in expected:
        if name in reported:
            reported.remove(name)
        else:
            yield name


def _test(entry: dict[str, Any], grader: Path) -> TestResult:
    said = "\n".join(entry.get("failureMessages") or [])
    message, line = _clean(said), _line_in(grader, said)
    comparison = compared(message)
    return TestResult(
        name=_name([*entry["ancestorTitles"], entry["title"]]),
        status=_status(entry["status"]),
        message=message,
        file=grader.name if line else None,
        line=line,
        expected=comparison.expected,
        received=comparison.received,
        assertion=_source(grader, line) if line else None,
        duration_ms=float(entry.get("duration") or 0),
    )


def _with_values(test: TestResult, failures: Compared) -> TestResult:
    """A message abbreviates long values; then those that were compared count."""
    complete = failures[test.name].pop(0) if test.status == "failed" and failures.get(test.name) else Comparison()
    if complete.expected is None or (test.expected and _CUT not in f"{test.expected}{test.received}"):
        return test
    return replace(test, expected=complete.expected, received=complete.received)


def _name(titles: list[str]) -> str:
    return " > ".join(titles)


def _line_in(grader: Path, stack: str) -> int | None:
    """Of the innermost frame in the grader's own file."""
    frames = (match for match in _PLACE.finditer(stack) if Path(match["path"]).name == grader.name)
    frame = next(frames, None)
    return int(frame["line"]) if frame else None


def _source(grader: Path, line: int) -> str | None:
    lines = grader.read_text(errors="replace").splitlines()
    return lines[line - 1].strip() if line <= len(lines) else None


def _status(status: str) -> TestStatus:
    return "passed" if status == "passed" else "failed" if status == "failed" else "skipped"


def _clean(text: str) -> str:
    """Without colours and stack frames."""
    return "\n".join(line for line in _COLOURS.sub("", text).splitlines() if not _FRAME.match(line))


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
