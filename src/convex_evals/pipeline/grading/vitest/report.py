"""Vitest's own reports, read as ours."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from convex_evals.pipeline.grading.report import Outcome, Report, TestReport

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_FRAME = re.compile(r"^\s+at ")


def read_names(path: Path) -> Report | None:
    """The tests of a run that ran none of them."""
    results = _read(path)
    if results is None:
        return None
    return Report(tuple(test.name for test in _tests(results)), (), _problem(results))


def read_results(path: Path, expected: tuple[str, ...]) -> Report | None:
    """What the JSON reporter wrote. When the file fails as a whole, so do the expected tests that it did not reach."""
    results = _read(path)
    if results is None:
        return None
    tests, problem = _tests(results), _problem(results)
    if problem:
        tests += [TestReport(name, "failed", problem) for name in _missing(expected, tests)]
    return Report(tuple(test.name for test in tests), tuple(tests))


def _tests(results: Any) -> list[TestReport]:
    return [test for file in results["testResults"] for test in _tests_of(file)]


def _tests_of(file: dict[str, Any]) -> list[TestReport]:
    """When a file failed and none of its tests did, their preparation failed: those that did not run failed with it."""
    tests = [_test(entry) for entry in file["assertionResults"]]
    if file["status"] != "failed" or any(test.outcome == "failed" for test in tests):
        return tests
    message = _clean(file.get("message") or "") or "what prepares the tests failed, see the log"
    return [replace(test, outcome="failed", message=message) if test.outcome == "skipped" else test for test in tests]


def _problem(results: Any) -> str:
    """Why a file failed as a whole."""
    return "\n".join(filter(None, (_clean(file.get("message") or "") for file in results["testResults"])))


def _missing(expected: tuple[str, ...], tests: list[TestReport]) -> Iterator[str]:
    reported = [test.name for test in tests]
    for name in expected:
        if name in reported:
            reported.remove(name)
        else:
            yield name


def _test(entry: dict[str, Any]) -> TestReport:
    message = "\n".join(_clean(text) for text in entry.get("failureMessages") or [])
    name = " > ".join([*entry["ancestorTitles"], entry["title"]])
    return TestReport(name, _outcome(entry["status"]), message, seconds=(entry.get("duration") or 0) / 1000)


def _outcome(status: str) -> Outcome:
    return "passed" if status == "passed" else "failed" if status == "failed" else "skipped"


def _clean(text: str) -> str:
    """Without colours and stack frames."""
    return "\n".join(line for line in _COLOURS.sub("", text).splitlines() if not _FRAME.match(line))


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
