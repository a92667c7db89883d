"""Runs that are disturbed: killed at any moment, interrupted from the keyboard, or not alone."""

import json
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.examples import exhaustively

from convex_evals.pipeline.grading.kit.assertions import wait_until
from convex_evals.scores import ScoresStore

Command = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]
MakeSuite = Callable[..., Path]
ProcessesIn = Callable[[Path], list[psutil.Process]]
WRONG = (1, 3)
PATIENCE = 120.0
until = partial(wait_until, seconds=PATIENCE)


@pytest.fixture
def processes_in(processes: Any) -> ProcessesIn:
    """Every process that works below a folder, whoever its parent is by now."""
    return lambda folder: processes.of_this_machine(lambda process: processes.works_below(process, folder))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where the runs of a test write; nothing may be left in it."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def runs(convex_evals: Command) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(convex_evals("status", "--json").stdout)["runs"]
    return listed


def results(store: ScoresStore, run: str) -> list[tuple[str, int, str, str | None, object]]:
    return [(each.eval, each.trial, each.status, each.failed_step, each.tests) for each in store.results(run)]


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "evals"), [(1, 4), *exhaustively((8, 6))])
def test_killed_at_random_moments_and_resumed_a_run_ends_like_an_undisturbed_one(
    convex_evals: Command,
    started: Start,
    hello_suite: MakeSuite,
    processes_in: ProcessesIn,
    tmp_path: Path,
    out: Path,
    kills: int,
    evals: int,
) -> None:
    hello_suite(evals, wrong=WRONG)
    undisturbed = json.loads(convex_evals("run", "-m", "reference", "--trials", "2", "--json", "-").stdout)["run"]["id"]
    moments = random.Random(7)
    command: list[str] = ["run", "-m", "reference", "--trials", "2"]
    for _ in range(kills):
        process = started(*command, OUTPUT_TEMPDIR=str(out))
        until(lambda: any(out.glob("*/*/000-basics")))
        time.sleep(moments.uniform(0, 1.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
        newest = runs(convex_evals)[0]
        assert newest["id"] != undisturbed
        if newest["condition"] == "completed":
            break
        assert newest["condition"] == "interrupted"
        command = ["run", "--resume", newest["id"][:8]]
    finished = convex_evals("run", "--resume", newest["id"], OUTPUT_TEMPDIR=str(out))
    assert finished.returncode == 0, finished.stderr

    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        assert results(store, newest["id"]) == results(store, undisturbed)
        asked = Counter(
            (details.attempt.eval, details.attempt.trial)
            for details in store.details(newest["id"])
            if details.generation is not None and details.generation.reused_from is None
        )
        assert set(asked.values()) == {1} and len(asked) == 2 * evals
        assert store.find_run(newest["id"]).status == "completed"
    until(lambda: not processes_in(out))
    assert list(out.iterdir()) == []


def test_a_run_that_is_under_way_cannot_be_resumed_by_another_process(
    convex_evals: Command, started: Start, hello_suite: MakeSuite, out: Path
) -> None:
    hello_suite(1, seconds=280)
    started("run", "-m", "reference", OUTPUT_TEMPDIR=str(out))
    until(lambda: any(out.glob("*/*/000-basics")))
    (run,) = runs(convex_evals)
    assert (run["condition"], run["canResume"]) == ("running", False)
    refused = convex_evals("run", "--resume", run["id"])
    assert refused.returncode == 2
    assert "Another process is working on run" in refused.stderr


def test_ctrl_c_finishes_what_is_in_flight_and_says_how_to_resume(
    convex_evals: Command,
    started: Start,
    hello_suite: MakeSuite,
    processes_in: ProcessesIn,
    tmp_path: Path,
    out: Path,
) -> None:
    hello_suite(3, seconds=280)
    process = started("run", "-m", "reference", "--jobs", "1", OUTPUT_TEMPDIR=str(out))
    until(lambda: any(out.glob("*/*/*/*/*/logs/tests.log")))
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    while "Stopping" not in (line := process.stderr.readline()):
        assert line, "it ended without a word"
    (tmp_path / "hurry").touch()
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    (run,) = runs(convex_evals)
    assert run["condition"] == "interrupted"
    assert (run["passed"], run["failed"]) == (1, 0)
    assert f"convex-evals run --resume {run['id'][:8]}` continues what has no verdict." in output
    assert not processes_in(out)
    assert list(out.iterdir()) == []
    shown = convex_evals("status").stdout
    assert f"convex-evals run --resume {run['id'][:8]}" in shown
    listed = convex_evals("run", "--resume", run["id"], "--dry-run").stdout
    assert "grade the stored answer" in listed


@pytest.mark.parametrize(
    "signals", [[signal.SIGTERM], *exhaustively([signal.SIGINT, signal.SIGINT])], ids=["SIGTERM", "Ctrl-C twice"]
)
def test_it_can_be_stopped_at_once_and_nothing_is_left(
    convex_evals: Command,
    started: Start,
    hello_suite: MakeSuite,
    processes_in: ProcessesIn,
    out: Path,
    signals: list[signal.Signals],
) -> None:
    hello_suite(2, seconds=300)
    process = started("run", "-m", "reference", "--jobs", "1", OUTPUT_TEMPDIR=str(out))
    until(lambda: any(out.glob("*/*/*/*/*/logs/tests.log")))
    assert processes_in(out)
    for number in signals:
        process.send_signal(number)
        time.sleep(0.2)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert not processes_in(out)
    assert list(out.iterdir()) == []
    (run,) = runs(convex_evals)
    assert (run["condition"], run["passed"], run["canResume"]) == ("interrupted", 0, True)


@pytest.mark.exhaustive
def test_two_runs_at_once_share_one_scores_file(convex_evals: Command, started: Start, hello_suite: MakeSuite) -> None:
    hello_suite(3, wrong=(2,))
    processes = [started("run", "-m", "reference", "--jobs", "1", "--json", "-") for _ in range(2)]
    outputs = [process.communicate(timeout=PATIENCE)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    both = [json.loads(output)["run"] for output in outputs]
    assert [(run["passed"], run["failed"]) for run in both] == [(2, 1), (2, 1)]
    assert {run["id"] for run in runs(convex_evals)} == {run["id"] for run in both}


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
def test_memory_and_open_files_do_not_grow_with_the_number_of_evals(
    started: Start, hello_suite: MakeSuite, tmp_path: Path
) -> None:
    """80 answers of 3 MB, which no step can like, so that they are quickly graded and the queue is always full."""
    hello_suite(80)
    for number in range(80):
        folder = tmp_path / "answers" / "000-basics" / f"{number:03}-hello"
        folder.mkdir(parents=True)
        (folder / "hello.txt").write_text(f"{number}{'hello ' * 500_000}")
    process = started("run", "-m", "replay:answers")
    observed = psutil.Process(process.pid)
    most_memory, most_files = 0, 0
    while process.poll() is None:
        try:
            most_memory = max(most_memory, observed.memory_info().rss)
            most_files = max(most_files, observed.num_fds())
        except psutil.Error:
            break
        time.sleep(0.02)
    output, _ = process.communicate()
    assert "0 of 80 passed, 80 failed" in output
    assert most_memory < 260_000_000  # all answers at once would be 240 MB more than the program alone
    assert most_files < 100
