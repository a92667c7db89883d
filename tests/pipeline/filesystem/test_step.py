"""The step `filesystem`."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from convex_evals.core.steps import StepResult
from convex_evals.pipeline.filesystem import write_project
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.types import Grade
from convex_evals.pipeline.workspace import Workspace


@pytest.fixture
def write(tools: Tools, tmp_path: Path) -> Callable[[dict[str, str]], StepResult]:
    def run(files: dict[str, str]) -> StepResult:
        workspace = Workspace(tmp_path / "workspace")
        workspace.prepare()
        return write_project(RunningStep("filesystem", workspace, tools), files)

    return run


@pytest.mark.parametrize(
    ("files", "failure", "excerpt"),
    [
        ({}, "empty-submission", "no files"),
        ({".env": "SECRET=1"}, "empty-submission", "no files"),
        ({"../../escape.ts": ""}, "path-refused", "../../escape.ts: a path must stay inside the project"),
        ({"convex/_generated/api.js": ""}, "generated-refused", "_generated is written by tools, never by hand"),
        ({"./a.ts": "1", "a.ts": "2"}, "path-refused", "is there twice"),
        ({"a.ts": "x" * 1_000_001}, "size-refused", "1000001 bytes"),
        ({f"{n}.ts": "x" * 900_000 for n in range(10)}, "size-refused", "9000000 bytes"),
        ({f"{n}.ts": "" for n in range(501)}, "size-refused", "at most 500"),
        ({"convex.json": '{"functions": "../../elsewhere/"}'}, "path-refused", "inside the project"),
        ({"convex.json": '{"functions": "/etc/convex"}'}, "path-refused", "not absolute"),
    ],
)
def test_what_cannot_be_a_project_fails(
    write: Callable[[dict[str, str]], StepResult], tmp_path: Path, files: dict[str, str], failure: str, excerpt: str
) -> None:
    result = write(files)
    assert (result.status, result.failure) == ("failed", failure)
    assert excerpt in result.excerpt
    assert list((tmp_path / "workspace/project").iterdir()) == []
    assert not (tmp_path / "escape.ts").exists()


def test_files_are_written_as_they_are_and_dotfiles_are_left_out(
    write: Callable[[dict[str, str]], StepResult], tmp_path: Path
) -> None:
    result = write({"./convex/a.ts": "ü\r\n\ud800", ".npmrc": "registry=http://evil", "src/.env": "X=1"})
    project = tmp_path / "workspace/project"
    assert result.status == "passed"
    assert (project / "convex/a.ts").read_bytes() == "ü\r\n?".encode()
    assert sorted(path.name for path in project.rglob("*") if path.is_file()) == ["a.ts"]
    assert len(result.notes) == 2
    assert result.notes[0].startswith(".npmrc is not written")


async def test_an_empty_answer_is_the_models_failure_and_nothing_else_runs(
    grade_files: Callable[..., Awaitable[Grade]],
) -> None:
    grade = await grade_files({})
    assert (grade.status, grade.failed_step) == ("failed", "filesystem")
    assert [step.status for step in grade.steps[1:]] == ["skipped"] * 5
    assert all(step.log.exists() for step in grade.steps)
