"""The step `filesystem`, and which paths it takes."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from convex_evals.core.steps import StepResult
from convex_evals.pipeline.filesystem import clean, is_hidden, refuse, refuse_together, shown, write_project
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


@pytest.mark.parametrize(
    "path",
    [
        "package.json",
        "convex/schema.ts",
        "convex/deep/er/module.ts",
        "src/App.tsx",
        "a b/c.ts",
        "[id]/page.tsx",
        "ü.ts",
    ],
)
def test_ordinary_paths_are_allowed(path: str) -> None:
    assert refuse(path) is None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "must not be empty"),
        ("../outside.ts", "inside the project"),
        ("convex/../../outside.ts", "inside the project"),
        ("..", "inside the project"),
        ("../project-evil/x.ts", "inside the project"),
        ("/etc/passwd", "not absolute"),
        ("//host/share", "not absolute"),
        ("C:/windows/x.ts", "must not contain :"),
        ("convex\\..\\..\\x.ts", "must not contain \\"),
        ("convex/x.ts::$DATA", "must not contain :"),
        ("convex/x\0.ts", "control or invisible"),
        ("convex/x\n.ts", "control or invisible"),
        ("convex/\u202etxt.ts", "control or invisible"),
        ("convex/\ud800.ts", "control or invisible"),
        ("convex//x.ts", "empty parts"),
        ("convex/./x.ts", "empty parts"),
        ("convex/", "empty parts"),
        ("convex/x.ts ", "begin or end with a space"),
        ("convex/x.", "end with a dot"),
        ("convex/nul.ts", "device"),
        ("a/" * 20 + "x.ts", "deeper"),
        ("x" * 200, "longer"),
        ("ä/" * 100, "longer"),
    ],
)
def test_a_path_that_could_leave_the_project_or_cannot_exist_is_refused(path: str, reason: str) -> None:
    refusal = refuse(path)
    assert refusal is not None
    assert refusal.kind == "path-refused"
    assert reason in refusal.reason


@pytest.mark.parametrize(
    "path",
    [
        "convex/_generated/api.d.ts",
        "convex/counter/_generated/server.ts",
        "node_modules/x/index.js",
        "CONVEX/_Generated/x",
    ],
)
def test_what_tools_generate_is_refused(path: str) -> None:
    refusal = refuse(path)
    assert refusal is not None
    assert refusal.kind == "generated-refused"


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        (["convex/Users.ts", "convex/users.ts"], "is the same file as convex/Users.ts"),
        (["é.ts", "e\u0301.ts"], "is the same file"),
        (["convex", "convex/x.ts"], "lies below convex, which is a file"),
        (["a/b", "A/B/c"], "lies below a/b"),
    ],
)
def test_paths_that_cannot_exist_side_by_side_are_refused(paths: list[str], reason: str) -> None:
    assert reason in refuse_together(paths)[0].reason


def test_dotfiles_are_recognised_and_a_leading_dot_slash_means_nothing() -> None:
    assert is_hidden(".npmrc")
    assert is_hidden("convex/.env")
    assert is_hidden(".git/hooks/post-checkout")
    assert not is_hidden("convex/a.b.ts")
    assert clean("./convex/x.ts") == "convex/x.ts"


def test_a_refused_path_is_shown_and_not_obeyed() -> None:
    assert shown("a\x1b[31m\u202e") == "a\\x1b[31m\\u202e"
    assert len(shown("x" * 10_000)) < 300
