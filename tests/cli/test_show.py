import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
Record = Callable[..., str]


def test_a_run_is_a_table_of_evals_and_steps(convex_evals: Command, record_run: Record) -> None:
    run = record_run({"000-first": "passed", "001-second": "failed", "002-third": "infrastructure", "003-fourth": None})
    result = convex_evals("show", run[:6])
    assert result.returncode == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[:4] == [
        ["eval", "status", "filesystem", "install", "deploy", "tsc", "eslint", "tests", "seconds"],
        ["000-basics/000-first", "passed", "✓", "✓", "2/2", "1.5"],
        ["000-basics/001-second", "failed", "✓", "✗", "1/2", "1.5"],
        ["000-basics/002-third", "infrastructure", "✓", "!", "1.5"],
    ]
    assert f"run {run[:8]} · tester · 1 of 4 passed, 1 failed, 1 without verdict, 1 not done" in result.stdout
    assert result.stdout.splitlines()[-1] == f"`convex-evals run --resume {run[:8]}` takes up what has no verdict."


def test_an_eval_shows_every_step_with_its_excerpt_and_the_files(convex_evals: Command, record_run: Record) -> None:
    run = record_run({"000-first": "passed", "001-second": "failed"})
    result = convex_evals("show", run[:8], "001-second")
    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        f"000-basics/001-second · trial 1 · failed · run {run[:8]} · tester",
        "tests 1/2: ✗ test_order · expected [1, 2], received [2, 1]",
        "10 tokens in, 20 out · cost $0.50 (provider)",
        "✓ filesystem · passed · 0.10 s, CPU 0.05 s",
        "✗ tests · failed (tests-failed) · 1.40 s, CPU 0.70 s",
        "    $ pytest grader.py  (exit code 1)",
        "    note: one thing was assumed",
        "    ✗ test_order",
        "    expected [1, 2], received [2, 1]",
        "",
        "2 files:",
        "  convex/index.ts (2 lines)",
        "  package.json (1 line)",
    ]


def test_an_eval_says_how_many_others_failed_alike(convex_evals: Command, record_run: Record) -> None:
    run = record_run({"001-second": "failed"})
    for model in ("tester", "other", "third"):
        record_run({"001-second": "failed"}, model)
    record_run({"000-first": "failed"}, "fourth")  # a test of that name in another eval is another test
    lines = convex_evals("show", run[:8], "001-second").stdout.splitlines()
    assert lines[2] == "failed alike: 3 other runs, 2 other models"
    shown = json.loads(convex_evals("show", run[:8], "001-second", "--json").stdout)
    assert shown["eval"]["alike"] == {"runs": 3, "models": 2}


def test_json_has_what_every_step_found_as_values(convex_evals: Command, record_run: Record) -> None:
    run = record_run({"001-second": "failed"})
    (shown,) = json.loads(convex_evals("show", run[:8], "--json").stdout)["evals"]
    (found,) = shown["steps"][1]["diagnostics"]
    assert found == {
        "kind": "test",
        "step": "tests",
        "message": "expected [1, 2], received [2, 1]",
        "name": "test_order",
        "file": "grader.py",
        "line": 3,
        "column": None,
        "expected": "[1, 2]",
        "received": "[2, 1]",
        "assertion": None,
        "tool": "pytest",
        "code": None,
        "fingerprint": "test:test_order",
    }
    assert [(test["name"], test["status"], test["durationMs"]) for test in shown["steps"][1]["testResults"]] == [
        ("test_fine", "passed", 2.5),
        ("test_order", "failed", 0.0),
    ]
    assert (shown["steps"][0]["diagnostics"], shown["steps"][0]["testResults"]) == ([], [])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--log", "tests"], "first line\n\x1b[31mlast line\n"),
        (["--prompt"], "Write it.\n"),
        (["--response"], "Here it is.\n"),
        (["--files"], "==> convex/index.ts <==\nexport {};\n// end\n==> package.json <==\n{}\n"),
    ],
)
def test_complete_texts_are_printed_as_they_are(
    convex_evals: Command, record_run: Record, options: list[str], text: str
) -> None:
    run = record_run({"001-second": "failed"})
    assert convex_evals("show", run, "001-second", *options).stdout == text


def test_json_of_a_run_and_of_an_eval(convex_evals: Command, record_run: Record) -> None:
    run = record_run({"000-first": "passed", "001-second": "failed"})
    shown = json.loads(convex_evals("show", run, "--json").stdout)
    assert shown["run"]["id"] == run
    assert [(each["eval"], each["status"]) for each in shown["evals"]] == [
        ("000-basics/000-first", "passed"),
        ("000-basics/001-second", "failed"),
    ]
    eval = json.loads(convex_evals("show", run, "000-basics/001-second", "--json").stdout)["eval"]
    assert (eval["prompt"], eval["response"]) == ("Write it.", "Here it is.")
    assert eval["files"] == {"convex/index.ts": "export {};\n// end\n", "package.json": "{}"}
    assert eval["steps"][-1]["log"] == "first line\n\x1b[31mlast line\n"
    assert eval["usage"]["inputTokens"] == 10
    assert (eval["cost"], eval["costSource"]) == (0.5, "provider")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nonsense"], "There is no run 'nonsense' in these scores;"),
        (["RUN", "third"], "has no eval 'third'"),
        (["RUN", "001-secnd"], "did you mean 001-second?"),
        (["RUN", "--files"], "--log, --files, --prompt and --response are about one eval;"),
        (["RUN", "001-second", "--log", "deploy"], "The step deploy of 000-basics/001-second has no log:"),
        (["RUN", "001-second", "--trial", "2"], "000-basics/001-second has not been tried in trial 2"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    convex_evals: Command, record_run: Record, arguments: list[str], sentence: str
) -> None:
    run = record_run({"001-second": "failed"})
    result = convex_evals("show", *(run if each == "RUN" else each for each in arguments))
    assert (result.returncode, result.stdout) == (2, "")
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


def test_looking_at_scores_that_are_not_there_makes_none(convex_evals: Command, tmp_path: Path) -> None:
    result = convex_evals("show", "0a1b2c3d")
    assert result.returncode == 2
    assert "There are no scores in scores/scores.db yet; `convex-evals run` makes them." in result.stderr
    assert list(tmp_path.iterdir()) == []
