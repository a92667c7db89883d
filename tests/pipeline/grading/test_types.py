"""The report that a grader's process writes and ours reads."""

from pathlib import Path

import pytest

from convex_evals.core.diagnostics import TestResult
from convex_evals.pipeline.grading.types import Report, read_report


def test_a_report_comes_back_as_it_was_written(tmp_path: Path) -> None:
    report = Report(
        ("a", "b"), (TestResult("a", "failed", "wrong", "grader.py", 1, "1", "2", "assert x", 0.5),), "half"
    )
    report.write(tmp_path / "report.json")
    assert read_report(tmp_path / "report.json") == report
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize("content", [None, b"", b'{"collected": ['])
def test_an_unfinished_report_is_ignored(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "report.json"
    if content is not None:
        file.write_bytes(content)
    assert read_report(file) is None
