"""The live table, drawn on a real pseudo-terminal by the installed command, and on a console of known size."""

import io
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from tests.cli.progress.conftest import make_item

from convex_evals.cli.progress.board import Board
from convex_evals.cli.progress.live import LiveTable
from convex_evals.core.steps import StepResult
from convex_evals.runner import Finished, Generating, Grading, Retrying, StepFinished
from convex_evals.scores import Outcome

CONTROL = re.compile(r"\r|\x1b\[[0-9?;]*[A-Za-z]")
MakeSuite = Callable[..., Path]


def on_terminal(command: list[str], cwd: Path) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
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
    assert any("000-a/001-b   tried again: The worker died." in line for line in lines)
    assert any("… 7 more" in line for line in lines)


def test_long_names_are_cut_on_the_left_where_there_is_no_room() -> None:
    item = make_item(f"000-{'long' * 30}")
    screen = io.StringIO()
    console = Console(file=screen, width=80, force_terminal=True, color_system=None)
    with LiveTable([item], Board(total=1), console) as table:
        table(Finished(item, Outcome("passed")))
    done = next(line for line in screen.getvalue().splitlines() if "long" in line)
    assert "…" in done and len(done.rstrip()) <= 80
