import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.diagnostics import Diagnostic, TestResult
from convex_evals.core.plain import from_plain, to_plain
from convex_evals.core.steps import Command, StepResult, TestCounts
from convex_evals.pipeline.types import Assignment, Grade, GradingOptions
from convex_evals.suite import Eval, EvalFingerprints, Grader, GraderKind, Pipeline

STEP = StepResult(
    name="tests",
    status="failed",
    duration_ms=12.5,
    cpu_ms=3,
    commands=(Command(("pytest", "grader.py"), "exit code 1", 10.0, 2.0),),
    excerpt="✗ test_hello\n\ud800",
    log=Path("/tmp/logs/tests.log"),
    failure="tests-failed",
    notes=("a note",),
    diagnostics=(Diagnostic("tests", "no", "test_hello", "grader.py", 3, fingerprint="test:test_hello"),),
    test_results=(TestResult("test_hello", "failed", "no", "grader.py", 3, "1", "2", "assert x == 1", 1.5),),
)
EVAL = Eval(
    "000-basics",
    "000-hello",
    Path("/suite/000-basics/000-hello"),
    "Say hello.\n",
    Pipeline.STATIC,
    Grader(GraderKind.PYTEST, Path("/suite/000-basics/000-hello/grader.py")),
    None,
    EvalFingerprints("c" * 64, None),
)
VALUES = [
    GradingOptions(),
    GradingOptions(linter="eslint", packages_before=date(2026, 11, 1), answer_files=("*.ts", "package.json")),
    STEP,
    Grade("000-basics/000-hello", "failed", (STEP,), TestCounts(1, 2), 20.0, 5.0, "broken", ("note",)),
    Assignment(EVAL, {"hello.txt": "hello\n", "../x": "\0"}, GradingOptions(), Path("/tmp/x")),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_survives_the_way_through_json(value: object) -> None:
    assert from_plain(type(value), json.loads(json.dumps(to_plain(value)))) == value


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"status": "splendid"}, r"\$\.status"),
        ({"name": "compile"}, r"\$\.name"),
        ({"duration_ms": "12"}, r"\$\.duration_ms"),
        ({"excerpt": None}, r"\$\.excerpt"),
        ({"commands": None}, r"\$\.commands"),
        ({"notes": 3}, r"\$\.notes"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], place: str) -> None:
    with pytest.raises(ValueError, match=place):
        from_plain(StepResult, {**to_plain(STEP), **change})


def test_what_is_missing_is_refused() -> None:
    with pytest.raises(ValueError, match="missing required field"):
        from_plain(StepResult, {"name": "tests"})
