"""A hostile answer whose grading breaks down each time, as the user of the command sees it."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Command = Callable[..., subprocess.CompletedProcess[str]]
GRADER = """\
import os


def test_says_hello(files):
    if "crash" in files.text("hello.txt"):
        os.kill(os.getpid(), 9)
"""
SENTENCE = (
    "Grading this answer breaks down each time (grader-crashed at tests, then grader-crashed at tests); "
    "the reference answer passes tests here."
)


def test_it_has_failed_and_show_reports_every_try(
    convex_evals: Command, hello_suite: Callable[..., Path], tmp_path: Path
) -> None:
    suite = hello_suite(1)
    (suite / "000-basics" / "000-hello" / "grader.py").write_text(GRADER)
    answer = tmp_path / "answers" / "000-basics" / "000-hello"
    answer.mkdir(parents=True)
    (answer / "hello.txt").write_text("crash\n")
    result = convex_evals("run", "--model", "replay:answers", "--json", "result.json")
    assert result.returncode == 0, result.stderr
    assert "0 of 1 passed, 1 failed" in result.stdout
    assert "000-basics/000-hello  tests 0/1: Grading this answer breaks down each time" in result.stdout
    graded = json.loads((tmp_path / "result.json").read_text())
    (found,) = graded["evals"]
    assert (found["status"], found["failedStep"], found["failure"]) == ("failed", "tests", "accident-repeats")
    assert found["notes"] == [SENTENCE]

    shown = convex_evals("show", graded["run"]["id"], "000-hello").stdout
    assert f"note: {SENTENCE}" in shown
    assert "1 earlier attempt, kept as evidence:\n  1: infrastructure (grader-crashed): the grader ended" in shown
    (earlier,) = json.loads(convex_evals("show", graded["run"]["id"], "000-hello", "--json").stdout)["eval"][
        "earlierAttempts"
    ]
    assert (earlier["number"], earlier["failure"]) == (1, "grader-crashed")
