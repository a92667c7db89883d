import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from convex_evals.scores import ScoresStore

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
    assert result.stdout.splitlines()[-1] == f"`convex-evals run --resume {run[:8]}` continues what has no verdict."


def test_an_eval_shows_every_step_with_its_excerpt_and_the_files(convex_evals: Command, record_run: Record) -> None:
    run = record_run({"000-first": "passed", "001-second": "failed"})
    result = convex_evals("show", run[:8], "001-second")
    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        f"000-basics/001-second · trial 1 · failed · run {run[:8]} · tester",
        "10 tokens in, 20 out · cost $0.50 (provider)",
        "✗ tests 1/2 · failed (tests-failed) · 1.40 s, CPU 0.70 s",
        "    note: one thing was assumed",
        "    ✗ test_order",
        "    expected [1, 2], received [2, 1]",
        "✓ filesystem · passed · 0.10 s, CPU 0.05 s",
        "",
        "2 files:",
        "  convex/index.ts (2 lines)",
        "  package.json (1 line)",
        "--files prints them, --diff compares them with the reference answer, --commands shows what the steps ran.",
    ]
    shown = convex_evals("show", run[:8], "second", "--commands").stdout
    assert "    $ pytest grader.py\n      exit code 1\n" in shown


def test_the_evals_that_failed_are_listed_with_the_reason(convex_evals: Command, record_run: Record) -> None:
    run = record_run({"000-first": "passed", "001-second": "failed"})
    headline, heading, row = convex_evals("show", "latest", "--failed").stdout.splitlines()
    assert headline.startswith(f"run {run[:8]} · tester") and heading.split() == ["eval", "why"]
    assert "000-basics/001-second" in row and "tests 1/2: ✗ test_order" in row
    (only,) = json.loads(convex_evals("show", run, "--failed", "--json").stdout)["evals"]
    assert only["eval"] == "000-basics/001-second"
    good = record_run({"000-first": "passed"})
    assert convex_evals("show", "--failed").stdout == f"No eval failed in run {good[:8]} of tester.\n"


def test_an_answer_is_compared_with_the_reference_answer(
    convex_evals: Command, hello_suite: Callable[..., Path], tmp_path: Path
) -> None:
    suite = hello_suite(1)
    answer = tmp_path / "answers" / "000-basics" / "000-hello"
    answer.mkdir(parents=True)
    (answer / "hello.txt").write_text("hallo\n")
    (answer / "more.txt").write_text("more\n")
    assert convex_evals("run", "-m", "replay:answers").returncode == 0
    assert convex_evals("show", "latest", "hello", "--diff").stdout.splitlines() == [
        "--- reference/hello.txt",
        "+++ model/hello.txt",
        "@@ -1 +1 @@",
        "-hello",
        "+hallo",
        "--- reference/to.txt",
        "+++ /dev/null",
        "@@ -1 +0,0 @@",
        "-world",
        "--- /dev/null",
        "+++ model/more.txt",
        "@@ -0,0 +1 @@",
        "+more",
    ]
    shown = convex_evals("show", "latest", "hello", "--reference", "--evals", suite).stdout
    assert shown == "==> hello.txt <==\nhello\n==> to.txt <==\nworld\n"
    convex_evals("run", "-m", "reference")
    assert "is the reference answer, word for word" in convex_evals("show", "latest", "hello", "--diff").stderr


def test_the_difference_from_the_reference_answer_comes_before_that_from_given_files(
    convex_evals: Command, hello_suite: Callable[..., Path], tmp_path: Path
) -> None:
    given = hello_suite(1) / "000-basics" / "000-hello" / "given"
    answer = tmp_path / "answers" / "000-basics" / "000-hello"
    for folder, said in ((given, "hey\n"), (answer, "hallo\n")):
        folder.mkdir(parents=True)
        (folder / "hello.txt").write_text(said)
    assert convex_evals("run", "-m", "replay:answers").returncode == 0
    shown = convex_evals("show", "latest", "hello", "--diff").stdout.splitlines()
    assert shown[:2] == ["==> how the answer differs from the reference answer <==", "--- reference/hello.txt"]
    heading = shown.index("==> what the answer changes in the given files <==")
    assert shown[heading + 1 :] == ["--- given/hello.txt", "+++ model/hello.txt", "@@ -1 +1 @@", "-hey", "+hallo"]


def test_an_eval_says_how_many_others_failed_alike(convex_evals: Command, record_run: Record) -> None:
    run = record_run({"001-second": "failed"})
    for model in ("tester", "other", "third"):
        record_run({"001-second": "failed"}, model)
    record_run({"000-first": "failed"}, "fourth")  # a test of that name in another eval is another test
    lines = convex_evals("show", run[:8], "001-second").stdout.splitlines()
    assert lines[1] == "the same failure in 3 other runs and 2 other models"
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
        (["RUN", "--files"], "--log, --commands, --files, --diff, --reference, --prompt, --response and --trial are"),
        (["RUN", "001-second", "--log", "deploy"], "The step deploy of 000-basics/001-second has no log:"),
        (
            ["RUN", "001-second", "--trial", "2"],
            "--trial must be at most 1, the trials of 000-basics/001-second",
        ),
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
    assert "There are no scores in scores/scores.db yet; `convex-evals run` creates them." in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_where_there_is_no_room_for_six_columns_the_steps_share_one(
    convex_evals: Command, record_run: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_run({"000-first": "passed", "001-second": "failed"})
    narrow = Console(width=50, force_terminal=True, color_system=None, markup=False)
    monkeypatch.setattr("convex_evals.cli.runs.display.console", lambda: narrow)
    lines = convex_evals("show").stdout.splitlines()
    assert lines[0].split() == ["eval", "status", "steps", "seconds"]
    assert lines[2].split() == ["000-basics/001-second", "failed", "✓", "✗", "1/2", "1.5"]


def test_where_there_is_no_room_for_whole_names_evals_stand_below_their_category(
    convex_evals: Command, record_run: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_run({"000-first": "passed", "001-second": "failed"})
    narrow = Console(width=36, force_terminal=True, color_system=None, markup=False)
    monkeypatch.setattr("convex_evals.cli.runs.display.console", lambda: narrow)
    lines = convex_evals("show").stdout.splitlines()
    assert lines[1] == "000-basics"
    assert lines[3].split() == ["001-second", "failed", "✓", "✗", "1/2", "1.5"]


def test_runs_are_counted_by_difficulty_where_evals_have_one(
    convex_evals: Command, hello_suite: Callable[..., Path]
) -> None:
    suite = hello_suite(4, wrong=(1, 2))
    assert "by difficulty" not in convex_evals("run", "-m", "reference").stdout
    for number, level in enumerate(("hard", "easy", "hard")):
        tags = {"difficulty": {"level": level, "source": "author"}}
        settings = json.dumps({"pipeline": "static", "tags": tags})
        (suite / f"000-basics/{number:03}-hello/eval.json").write_text(settings)
    line = "by difficulty: easy 0 of 1 passed, hard 1 of 2, no difficulty 1 of 1"
    assert line in convex_evals("run", "-m", "reference").stdout.splitlines()
    assert line in convex_evals("show").stdout.splitlines()
    both = "by difficulty: easy 0 of 1 → 0 of 1 passed, hard 1 of 2 → 1 of 2, no difficulty 1 of 1 → 1 of 1"
    assert both in convex_evals("compare").stdout.splitlines()
    assert "by difficulty" not in convex_evals("validate").stdout


def test_a_run_says_what_selected_its_evals(convex_evals: Command, hello_suite: Callable[..., Path]) -> None:
    hello_suite(3)
    assert convex_evals("run", "-m", "reference", "-f", "00[01]-hello").returncode == 0
    assert "selected: -f '00[01]-hello'\n" in convex_evals("show").stdout
    shown = json.loads(convex_evals("show", "--json").stdout)
    assert shown["run"]["options"]["selection"] == {"pattern": "00[01]-hello"}
    assert convex_evals("run", "--regrade", "latest").returncode == 0
    assert "selected: -f '00[01]-hello'\n" in convex_evals("show").stdout


def test_a_run_that_was_interrupted_says_so_once(convex_evals: Command, record_run: Record, tmp_path: Path) -> None:
    run = record_run({"000-first": "passed", "001-second": None})
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        store.finish_run(run, "stopped", "interrupted")
    assert convex_evals("show", run).stdout.count("interrupted") == 1
