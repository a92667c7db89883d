import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

Asked = Any  # see conftest.py
Command = Callable[..., subprocess.CompletedProcess[str]]
INDEX = "001-queries/000-index"


@pytest.mark.parametrize("name", ["000-index", "index", "queries/index", INDEX])
def test_a_task_is_printed_verbatim(convex_evals: Command, suite_folder: Path, name: str) -> None:
    (suite_folder / INDEX / "TASK.txt").write_text("Write it.\n\nThen test it.\n")
    result = convex_evals("task", name)
    assert (result.returncode, result.stdout) == (0, "Write it.\n\nThen test it.\n")


@pytest.fixture
def given(suite_folder: Path) -> Path:
    """An eval that starts from a project of which one file must stay as it is."""
    folder = suite_folder / INDEX
    for path, text in {"convex/tasks.ts": "export const tasks = 1;\n", "package.json": "{}\n"}.items():
        (folder / "given" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "given" / path).write_text(text)
    (folder / "eval.json").write_text('{"mayChange": ["convex/**"]}')
    return folder


def test_the_given_files_are_named_after_the_task_and_shown_in_the_prompt(convex_evals: Command, given: Path) -> None:
    assert convex_evals("task", "index").stdout.splitlines() == [
        f"Task of {INDEX}.",
        "",
        "Given files (--prompt shows their contents):",
        "",
        "- convex/tasks.ts",
        "- package.json (must not change)",
    ]
    prompt = convex_evals("task", "index", "--prompt").stdout
    assert "## convex/tasks.ts\n\n```ts\nexport const tasks = 1;\n```\n" in prompt
    assert "change or delete only those that match one of these patterns: `convex/**`" in prompt
    assert prompt.endswith(f"\n# Task\n\nTask of {INDEX}.\n")


@pytest.mark.parametrize("options", [[], ["-e", "no_guidelines"], ["--guidelines", "rules.md"]])
def test_the_prompt_is_what_a_run_sends(asked: Asked, options: Sequence[str]) -> None:
    (asked.folder / "rules.md").write_text("# Rules\n\n## Politeness\n\nSay hello to the world.\n")
    run = asked.run("--name", "000-hello", *options)["run"]
    sent = asked("show", run["id"], "000-hello", "--prompt").stdout
    printed = asked("task", "000-hello", "--prompt", *options).stdout
    assert printed == sent
    assert ("Convex guidelines" in printed, "Say hello to the world." in printed) == (
        options[:1] != ["-e"],
        options[:1] == ["--guidelines"],
    )


def test_how_to_prompt_is_refused_without_a_prompt(convex_evals: Command, suite_folder: Path) -> None:
    result = convex_evals("task", "index", "-e", "no_guidelines")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        "convex-evals: --experiment and --guidelines decide how models are prompted; add --prompt.\n"
    )
