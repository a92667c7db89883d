"""Real workers that take turns."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tests.runner.conftest import MakeSuite

from convex_evals.core.settings import Settings
from convex_evals.core.steps import StepResult
from convex_evals.pipeline.types import Assignment, Grade, GradingOptions
from convex_evals.runner import GradingPool, open_workspace
from convex_evals.runner.pool import Tries
from convex_evals.suite import Eval

HELLO, CRASH = {"hello.txt": "hello\n"}, {"hello.txt": "crash\n"}
CRASHES = """\
# {seconds} {hurry}
import os


def test_says_hello(files):
    if "crash" in files.text("hello.txt"):
        os._exit(3)
    assert files.text("hello.txt") == "hello\\n"
"""


def assignment(asked: Eval, folder: Path, files: dict[str, str] | None = None) -> Assignment:
    return Assignment(asked, files or HELLO, GradingOptions(), folder)


class Told(Tries):
    def __init__(self) -> None:
        self.events: list[str] = []

    async def begin(self) -> None:
        self.events.append("begin")

    async def step(self, step: StepResult) -> None:
        self.events.append(step.name)

    async def end(self, grade: Grade) -> None:
        assert all(step.log.is_file() for step in grade.steps)
        self.events.append(grade.status)

    async def again(self, grade: Grade, pause: float | None) -> bool:
        self.events.append("last" if pause is None else "again")
        return pause is not None


async def test_answers_are_graded_by_as_few_workers_as_it_takes(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path, workers: Callable[[], list[psutil.Process]]
) -> None:
    (asked,) = make_suite(1).evals
    async with GradingPool.open(settings, tmp_path / "pool", 2) as pool:
        assert workers() == []
        for name in "ab":
            assert (await pool.grade(assignment(asked, pool.folder / name))).status == "passed"
        assert len(workers()) == 1
        both = (pool.grade(assignment(asked, pool.folder / name)) for name in "cd")
        assert [grade.status for grade in await asyncio.gather(*both)] == ["passed", "passed"]
        assert len(workers()) == 2
        assert sorted(path.name for path in pool.folder.iterdir()) == ["worker-0", "worker-1"]
    assert workers() == []


async def test_every_try_is_reported_and_has_a_folder_of_its_own(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path
) -> None:
    (asked,) = make_suite(1, grader=CRASHES).evals
    told = Told()
    async with GradingPool.open(settings, tmp_path / "pool", 1, keep=True) as pool, pool.turn() as turn:
        grade = await turn.grade(assignment(asked, pool.folder / "answer", CRASH), told)
    assert grade.status == "failed"
    first = ["begin", "filesystem", "tests", "infrastructure", "again"]
    assert told.events == [*first, "begin", "filesystem", "tests", "failed", "last"]
    assert sorted(path.name for path in (tmp_path / "pool").glob("answer*")) == ["answer-1", "answer-2"]


async def test_an_interrupted_worker_is_replaced(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path, hurry: Callable[[], None]
) -> None:
    (asked,) = make_suite(1, seconds=280).evals
    async with GradingPool.open(settings, tmp_path / "pool", 1) as pool:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await pool.grade(assignment(asked, pool.folder / "slow"))
        assert not list(pool.folder.iterdir())
        hurry()
        assert (await pool.grade(assignment(asked, pool.folder / "quick"))).status == "passed"


HOLD = """\
import sys, time
from pathlib import Path
from convex_evals.runner import open_workspace
with open_workspace(Path(sys.argv[1])) as folder:
    print(folder, flush=True)
    time.sleep(600)
"""


def test_nothing_is_left_of_it(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "not yet there") as folder:
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text("text")
    assert list((tmp_path / "not yet there").iterdir()) == []


def test_nothing_is_left_of_it_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), open_workspace(tmp_path):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_it_can_be_kept(tmp_path: Path) -> None:
    with open_workspace(tmp_path, keep=True) as folder:
        (folder / "file").write_text("text")
    assert [path.name for path in folder.iterdir()] == ["file"]
    with open_workspace(tmp_path):
        pass
    assert (folder / "file").exists()


def test_what_a_killed_command_left_is_removed_by_the_next_one_but_not_what_is_in_use(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    folders = [Path(process.stdout.readline().strip()) for process in processes if process.stdout]
    os.kill(processes[0].pid, signal.SIGKILL)
    processes[0].wait()
    with open_workspace(tmp_path):
        assert not folders[0].exists()
        assert folders[1].exists()
    processes[1].kill()
    for process in processes:
        process.communicate()
