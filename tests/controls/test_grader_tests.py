from pathlib import Path

import pytest

from convex_evals.controls.grader_tests import has_test, is_among
from convex_evals.suite import Grader, GraderKind

PYTHON = """\
import pytest

def test_lists_all(project): ...

@pytest.mark.parametrize("n", [1])
async def test_takes(project, n): ...

class TestOrder:
    def test_is_stable(self): ...

def helper(): "test_in_a_string"
"""


@pytest.mark.parametrize(
    ("stated", "there"),
    [
        ("test_lists_all", True),
        ("test_lists", True),
        ("test_takes[1]", True),
        ("TestOrder::test_is_stable", True),
        ("test_lists_all_of_them", False),
        ("test_in_a_string", False),
        ("helper", False),
    ],
)
def test_tests_of_python_graders_are_functions(tmp_path: Path, stated: str, there: bool) -> None:
    path = tmp_path / "grader.py"
    path.write_text(PYTHON)
    assert has_test(Grader(GraderKind.PYTEST, path), stated) is there


def test_tests_of_vitest_graders_are_titles(tmp_path: Path) -> None:
    path = tmp_path / "grader.test.ts"
    path.write_text('describe("lists", () => { test("newest first", () => {}); });')
    assert has_test(Grader(GraderKind.VITEST, path), "lists > newest first")
    assert not has_test(Grader(GraderKind.VITEST, path), "oldest first")


def test_a_grader_that_is_no_python_has_no_tests(tmp_path: Path) -> None:
    path = tmp_path / "grader.py"
    path.write_text("def test_(:")
    assert not has_test(Grader(GraderKind.PYTEST, path), "test_")


@pytest.mark.parametrize(
    ("stated", "failed", "among"),
    [
        ("test_takes", ("test_takes[1]", "test_other"), True),
        ("test_takes", ("test_other",), False),
        ("test_is_stable", ("TestOrder::test_is_stable",), True),
        ("test_takes", (), False),
    ],
)
def test_a_stated_test_may_fail_with_any_parameters(stated: str, failed: tuple[str, ...], among: bool) -> None:
    assert is_among(stated, failed) is among
