"""The bench answers as a suite written elsewhere."""

from importlib.resources import as_file, files
from pathlib import Path

import pytest

from convex_evals.core.verdicts import StepName
from convex_evals.pipeline.bench.baseline import write_foreign_suite
from convex_evals.pipeline.grade import grade
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.types import Assignment, GradingOptions
from convex_evals.suite import GraderKind, Suite, load_suite, read_answer


@pytest.fixture
def suite(tools: Tools, tmp_path: Path) -> Suite:
    with as_file(files("convex_evals.pipeline.bench") / "suite") as bench:
        return load_suite(write_foreign_suite(bench, tmp_path / "foreign", tools.toolchain))


def test_its_graders_are_vitest_files_that_share_helpers(suite: Suite) -> None:
    assert not suite.problems
    assert len(suite.evals) == 3
    for each in suite.evals:
        assert each.grader is not None
        assert each.grader.kind is GraderKind.VITEST
        text = each.grader.path.read_text()
        assert 'from "../../../grader"' in text
        assert "ConvexHttpClient" not in text


@pytest.mark.exhaustive
async def test_it_is_graded_by_its_own_rules_and_tests_are_named_once(
    suite: Suite, grading_tools: Tools, tmp_path: Path
) -> None:
    first = suite.evals[0]
    commands: list[dict[StepName, int]] = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        result = await grade(Assignment(first, read_answer(first), GradingOptions(), folder), grading_tools)
        assert result.status == "passed", [(step.name, step.excerpt) for step in result.steps]
        commands.append({step.name: len(step.commands) for step in result.steps})
        linted = result.step("eslint")
        assert linted is not None
        assert any("the suite's eslint.config.mjs" in note for note in linted.notes)
    assert commands[1]["tests"] == 1, "the names of its tests are known from the first time"
