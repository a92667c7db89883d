import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals import __version__
from convex_evals.cli import app, main
from convex_evals.core.errors import InfrastructureError, UsageError

Command = Callable[..., subprocess.CompletedProcess[str]]


def test_the_version_is_printed(installed: Command) -> None:
    result = installed("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"convex-evals {__version__}\n", "")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_names_every_command(installed: Command, arguments: list[str]) -> None:
    result = installed(*arguments)
    assert result.returncode == 0
    for name in app.command_tree().commands:
        assert f"\n  {name} " in result.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["lst"], "There is no command lst; did you mean list? `convex-evals --help` shows what there is."),
        (["frobnicate"], "There is no command frobnicate. `convex-evals --help` shows what there is."),
        (["--vresion"], "There is no option --vresion; did you mean --version? `convex-evals --help` shows"),
    ],
)
def test_a_command_or_option_that_does_not_exist_is_bad_usage(
    convex_evals: Command, arguments: list[str], sentence: str
) -> None:
    result = convex_evals(*arguments)
    assert result.returncode == 2
    assert not result.stdout
    assert result.stderr.startswith(f"convex-evals: {sentence}")


@pytest.mark.parametrize(
    ("error", "exit_code", "sentence"),
    [
        (UsageError("Expected a day, found 'x'."), 2, "convex-evals: Expected a day, found 'x'.\n"),
        (InfrastructureError("The disk is full."), 3, "convex-evals: The disk is full.\n"),
        (
            PermissionError(13, "Permission denied", "/x"),
            3,
            "convex-evals: the system refused /x: permission denied.\n",
        ),
        (ConnectionError("nobody answers"), 3, "convex-evals: the system refused: nobody answers.\n"),
        (OSError(5, "I/O error"), 3, "convex-evals: the system refused: I/O error.\n"),
        (
            KeyError("a\nb"),
            3,
            "convex-evals: this is a bug in convex-evals itself (KeyError: 'a\\nb'); "
            "`convex-evals --debug list --json` shows where.\n",
        ),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_an_error_becomes_one_sentence_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    exit_code: int,
    sentence: str,
) -> None:
    def fail(given: object) -> None:
        raise error

    monkeypatch.setattr("convex_evals.suite.find_suite", fail)
    assert main.run(["list", "--json"]) == exit_code
    assert capsys.readouterr().err == sentence


def test_debug_shows_the_traceback_before_the_sentence(installed: Command) -> None:
    quiet, loud = installed("list", "--evals", "nowhere"), installed("--debug", "list", "--evals", "nowhere")
    assert quiet.returncode == loud.returncode == 2
    assert loud.stderr.startswith("Traceback (most recent call last)")
    assert loud.stderr.endswith(quiet.stderr)


def test_debug_also_helps_when_the_command_tree_itself_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app, "command_tree", lambda: 1 / 0)
    assert main.run(["--debug", "list"]) == 3
    assert "ZeroDivisionError" in capsys.readouterr().err.splitlines()[-2]


def test_a_reader_that_leaves_early_is_not_an_error(tmp_path: Path) -> None:
    program = Path(sys.executable).parent / "convex-evals"
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing) as stdout:
        result = subprocess.run([program, "list"], stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert not result.stderr


def test_the_package_can_be_run_as_a_module() -> None:
    result = subprocess.run([sys.executable, "-m", "convex_evals", "--version"], capture_output=True, text=True)
    assert result.stdout == f"convex-evals {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands(shell: str, tmp_path: Path) -> None:
    program = Path(sys.executable).parent / "convex-evals"
    words = {"COMP_WORDS": "convex-evals li", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "convex-evals li"}
    environment = {"_CONVEX_EVALS_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args", **words}
    result = subprocess.run([program], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0
    assert "list" in result.stdout
    assert "doctor" not in result.stdout


def test_completion_can_be_installed(tmp_path: Path) -> None:
    program = Path(sys.executable).parent / "convex-evals"
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    command = ["bash", "-c", f"{program} --install-completion; exit $?"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "bash completion installed in" in result.stdout
    assert "_CONVEX_EVALS_COMPLETE" in next(tmp_path.rglob("*.sh")).read_text()
