"""What is shown on a terminal, and where there is none."""

import io
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.cli.progress.conftest import make_item

from convex_evals.cli.progress.board import Board
from convex_evals.cli.progress.display import Labels, LiveTable, ProgressLines, heading, line
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import StepName
from convex_evals.runner import Finished, Generating, Grading, Halted, Retrying, StepFinished
from convex_evals.scores import Outcome

CONTROL = re.compile(r"\r|\x1b\[[0-9?;]*[A-Za-z]")
MakeSuite = Callable[..., Path]


def on_terminal(command: list[str], cwd: Path, **variables: str) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", **variables},
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the last one who had the terminal open is gone
            break
        if not part:
            break
        seen += part
    os.close(ours)
    assert process.wait() == 0
    return seen.decode()


def test_a_terminal_sees_a_table_that_grows_and_a_summary(hello_suite: MakeSuite, tmp_path: Path) -> None:
    hello_suite(2, seconds=0.6, wrong=(1,))
    program = str(Path(sys.executable).parent / "convex-evals")
    seen = on_terminal([program, "run", "-m", "reference", "--jobs", "1"], tmp_path)
    assert "eval                  filesystem  install  deploy  tsc  eslint  tests" in seen
    assert seen.count("✓") >= 3 and "✗" in seen and "…" in seen
    assert "ETA" in seen
    assert "1 of 2 passed, 1 failed" in seen


def test_a_narrow_terminal_without_other_characters_sees_ascii_and_the_reason_below_the_name(
    hello_suite: MakeSuite, tmp_path: Path
) -> None:
    hello_suite(2, seconds=0.6, wrong=(1,))
    program = str(Path(sys.executable).parent / "convex-evals")
    seen = on_terminal([program, "run", "-m", "reference", "--jobs", "1"], tmp_path, LC_ALL="C", COLUMNS="48")
    assert seen.isascii()
    assert "000-basics/000-hello  +" in CONTROL.sub("", seen)
    assert re.search("1/2 - 1 (passed|failed) - ETA", seen)  # whichever was answered first
    lines = [line.rstrip() for line in CONTROL.sub("", seen).splitlines()]
    where = lines.index("  000-basics/001-hello")
    assert lines[where + 1].startswith("    tests 1/2: x test_says")


def test_done_evals_stay_above_and_those_under_way_below() -> None:
    items = [make_item(f"{number:03}-b") for number in range(12)]
    screen = io.StringIO()
    console = Console(file=screen, width=100, height=8, force_terminal=True, color_system=None)
    with LiveTable(items, Board(total=12), console) as table:
        for item in items:
            table(Generating(item))
            table(Grading(item))
        table(StepFinished(items[0], StepResult("filesystem", "passed", 1, 1, (), "", Path("log"))))
        table(StepFinished(items[0], StepResult("install", "infrastructure", 1, 1, (), "", Path("log"))))
        table(Retrying(items[1], "The worker died."))
        table(Finished(items[0], Outcome("infrastructure")))
    lines = CONTROL.sub("\n", screen.getvalue()).splitlines()
    assert ["000-a/000-b", "✓", "!", "without", "verdict"] in [line.split()[-5:] for line in lines]
    assert any("000-a/001-b  retrying: The worker died." in line for line in lines)
    assert any("… 7 more" in line for line in lines)


def test_an_eval_that_is_done_is_never_shown_as_under_way_too() -> None:
    item, screen = make_item("000-b"), io.StringIO()
    console = Console(file=screen, width=100, height=8, force_terminal=True, color_system=None)
    with LiveTable([item, make_item("001-b")], Board(total=2), console) as table:
        table(Grading(item))
        while "000-a/000-b" not in screen.getvalue():  # until it was drawn
            time.sleep(0.05)
        before = len(screen.getvalue())
        table(Finished(item, Outcome("passed")))
        assert screen.getvalue()[before:].count("000-a/000-b") == 1


def test_long_names_are_cut_on_the_left_where_there_is_no_room() -> None:
    item = make_item(f"000-{'long' * 30}")
    screen = io.StringIO()
    console = Console(file=screen, width=80, force_terminal=True, color_system=None)
    with LiveTable([item], Board(total=1), console) as table:
        table(Finished(item, Outcome("passed")))
    done = next(line for line in screen.getvalue().splitlines() if "long" in line)
    assert "…" in done and len(done.rstrip()) <= 80


def test_headings_of_steps_are_shortened_before_a_name_is_cut() -> None:
    item = make_item(f"000-{'long' * 8}")
    labels = Labels.of([item], 80)
    assert labels.headings == ["file", "inst", "depl", "tsc", "lint", "test"]
    assert labels.label(item) == item.eval.id


def test_where_there_is_no_room_for_headings_the_steps_share_one_column() -> None:
    item = make_item(f"000-{'long' * 8}")
    labels = Labels.of([item], 60)
    assert labels.label(item) == item.eval.id
    assert heading(labels).plain == f"{'eval'.ljust(len(item.eval.id))}  steps "
    drawn = line(labels, item, {"filesystem": "passed", "install": "passed", "eslint": "failed"}, ["tests"], "retrying")
    assert drawn.plain == f"{item.eval.id}  ✓✓  ✗…  retrying"


@pytest.mark.parametrize("width", [60, 80, 140])
def test_an_eval_that_waits_for_its_answer_says_so_beside_its_name(width: int) -> None:
    item, screen = make_item("000-name_of_almost_fifty_characters"), io.StringIO()
    console = Console(file=screen, width=width, force_terminal=True, color_system=None)
    with LiveTable([item, replace(item, trial=2)], Board(total=2), console) as table:
        table(Generating(item))
    drawn = CONTROL.sub("\n", screen.getvalue()).splitlines()
    assert f"{item.eval.id} #1  generating" in [line.rstrip() for line in drawn]


def test_a_models_provider_is_left_out_before_a_name_is_cut() -> None:
    items = [replace(make_item("001-single_column_index"), model=f"sample/{name}") for name in ("apprentice", "expert")]
    label = Labels.of(items, 45).label(items[0])
    assert label.strip() == "apprentice · 001-single_column_index"


ITEM = make_item()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def lines(said: list[str]) -> ProgressLines:
    lines = ProgressLines([ITEM], Board(total=1), said.append)
    lines(Generating(ITEM))
    lines(Grading(ITEM))
    return lines


def step(name: StepName, excerpt: str) -> StepResult:
    return StepResult(name, "failed", 1.0, 1.0, (), excerpt, Path("log"))


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        (Outcome("passed"), "1/1  passed  000-a/000-b"),
        (Outcome("failed", "tsc"), "1/1  failed  000-a/000-b  tsc: index.ts(1,1): error"),
        (Outcome("infrastructure", failure="disk-full"), "1/1  infrastructure  000-a/000-b  tsc: index.ts(1,1): error"),
        (Outcome("infrastructure", broken="no tests\nat all"), "1/1  infrastructure  000-a/000-b  tsc: no tests"),
    ],
)
def test_an_eval_that_is_done_says_what_decided(
    lines: ProgressLines, said: list[str], outcome: Outcome, line: str
) -> None:
    lines(StepFinished(ITEM, step("tsc", "\nindex.ts(1,1): error\nmore")))
    lines(Finished(ITEM, outcome))
    assert said == [line]


def test_a_run_that_is_halted_says_why(lines: ProgressLines, said: list[str]) -> None:
    lines(Halted("r" * 32, "openai/gpt", "The key in OPENAI_API_KEY is refused."))
    assert said == [
        "The key in OPENAI_API_KEY is refused. Nothing more is asked of openai/gpt; the rest of its run can be resumed."
    ]


def test_without_any_step_the_notes_say_it(lines: ProgressLines, said: list[str]) -> None:
    lines(Finished(ITEM, Outcome("infrastructure", failure="worker-died", notes=("The worker died.",))))
    assert said == ["1/1  infrastructure  000-a/000-b  The worker died."]


def test_retries_are_reported_and_what_was_said_before_them_is_forgotten(lines: ProgressLines, said: list[str]) -> None:
    lines(StepFinished(ITEM, step("tsc", "an accident")))
    lines(Retrying(ITEM, "The worker died."))
    lines(Grading(ITEM))
    lines(Finished(ITEM, Outcome("passed")))
    assert said == ["retrying  000-a/000-b  The worker died.", "1/1  passed  000-a/000-b"]


def test_what_a_model_printed_is_shown_as_text(lines: ProgressLines, said: list[str]) -> None:
    lines(StepFinished(ITEM, step("tests", "\x1b[2Jgone")))
    lines(Finished(ITEM, Outcome("failed", "tests")))
    assert said == [r"1/1  failed  000-a/000-b  tests: \x1b[2Jgone"]
