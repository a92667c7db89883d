import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
MakeSuite = Callable[..., Path]


def test_a_suite_whose_reference_answers_pass_is_in_order(convex_evals: Command, hello_suite: MakeSuite) -> None:
    hello_suite(2)
    result = convex_evals("validate", "--json", "-", MODELS="nonsense")
    assert result.returncode == 0, result.stderr
    run = json.loads(result.stdout)["run"]
    assert (run["model"], run["passed"], run["total"], run["labels"]) == ("reference", 2, 2, ["validate"])


def test_a_reference_answer_that_fails_is_an_error(convex_evals: Command, hello_suite: MakeSuite) -> None:
    hello_suite(2, wrong=(1,))
    result = convex_evals("validate")
    assert result.returncode == 1
    assert "1 of 2 passed, 1 failed" in result.stdout
    assert "000-basics/001-hello  tests 1/2: ✗ test_says_it_to_the_right_one" in result.stdout


def test_graders_that_do_not_always_pass_their_reference_are_flaky(
    convex_evals: Command, hello_suite: MakeSuite
) -> None:
    hello_suite(3, wrong=(0,), flaky=(2,))
    result = convex_evals("validate", "--trials", "3", "--json", "-")
    assert result.returncode == 1
    assert json.loads(result.stdout)["flakyGraders"] == [{"eval": "000-basics/002-hello", "passed": 1, "trials": 3}]
    assert "3 evals × 3 trials: 4 of 9 trials passed, 5 failed" in result.stderr
    assert "1 of 3 graders is flaky: 000-basics/002-hello passed in 1 of 3 trials" in result.stderr
    assert "pass@" not in result.stderr


def test_graders_that_always_agree_are_reported_as_stable(convex_evals: Command, hello_suite: MakeSuite) -> None:
    hello_suite(2)
    result = convex_evals("validate", "--trials", "2", "--json", "-")
    assert result.returncode == 0
    assert json.loads(result.stdout)["flakyGraders"] == []
    assert "no grader is flaky: 2 of 2 agreed in 2 trials (at most 65.8% flaky, 95%)" in result.stderr


def test_broken_evals_are_reported_and_the_others_are_checked(convex_evals: Command, hello_suite: MakeSuite) -> None:
    suite = hello_suite(3)
    (suite / "000-basics" / "001-hello" / "TASK.txt").unlink()
    (suite / "000-basics" / "002-hello" / "grader.py").write_text("import nonsense\n")
    result = convex_evals("validate")
    assert result.returncode == 1
    assert f"broken: {suite / '000-basics' / '001-hello'}: has no TASK.txt;" in result.stderr
    assert "1 of 2 passed, 0 failed, 1 without verdict" in result.stdout
    assert "000-basics/002-hello  broken: " in result.stdout


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe"])
def test_if_only_a_broken_eval_matches_it_is_named(
    convex_evals: Command, hello_suite: MakeSuite, content: bytes | None
) -> None:
    suite = hello_suite(2)
    task = suite / "000-basics" / "001-hello" / "TASK.txt"
    task.unlink() if content is None else task.write_bytes(content)
    broken, sentence = convex_evals("validate", "-f", "001-hello").stderr.splitlines()
    assert broken.startswith("broken: ")
    assert sentence == (
        "convex-evals: The only eval that matches, 000-basics/001-hello, is broken; "
        "`convex-evals list` says what is wrong."
    )


def test_a_syntax_error_of_a_grader_is_shown_with_its_place(convex_evals: Command, hello_suite: MakeSuite) -> None:
    suite = hello_suite(1)
    (suite / "000-basics" / "000-hello" / "grader.py").write_text("import os\n\ndef test_it(:\n    pass\n")
    result = convex_evals("validate")
    assert result.returncode == 1
    assert "broken: the grader cannot be loaded · grader.py:3: SyntaxError: invalid syntax" in result.stdout


def test_broken_evals_that_were_not_selected_do_not_matter(convex_evals: Command, hello_suite: MakeSuite) -> None:
    suite = hello_suite(2)
    (suite / "000-basics" / "001-hello" / "TASK.txt").unlink()
    result = convex_evals("validate", "--name", "000-hello")
    assert result.returncode == 0
    assert "broken" not in result.stderr


def test_only_the_chosen_files_of_a_reference_answer_count(convex_evals: Command, hello_suite: MakeSuite) -> None:
    hello_suite(1)
    result = convex_evals("validate", "--answer-files", "hello.*", "--json", "-")
    assert result.returncode == 1
    (graded,) = json.loads(result.stdout)["evals"]
    assert graded["tests"] == {"passed": 1, "total": 2}
    assert "there is no file to.txt" in graded["steps"][-1]["excerpt"]
