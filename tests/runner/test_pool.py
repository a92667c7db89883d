"""Real workers that take turns."""

import asyncio
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from tests.runner.conftest import MakeSuite

from convex_evals.core.retry import GRADING
from convex_evals.core.settings import Settings
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import StepName
from convex_evals.pipeline.failures import FAILURES
from convex_evals.pipeline.types import Assignment, Grade, GradingOptions, status_of
from convex_evals.runner import GradingPool, open_workspace
from convex_evals.runner.pool import Referee, Retry, Tries
from convex_evals.runner.worker import LocalWorkers
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
AGAIN, SOON = Retry(5.0), Retry(1.0)
NEVER = ("registry-unreachable", "registry-refused", "disk-full")
LASTING = ("browser-missing",)
ACCIDENTS = tuple(kind.name for kind in FAILURES.values() if kind.fault == "either" and kind.retried)
BROKEN = tuple(kind.name for kind in FAILURES.values() if kind.fault == "either" and not kind.retried)


def assigned(asked: Eval, folder: Path, files: dict[str, str] | None = None) -> Assignment:
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
            assert (await pool.grade(assigned(asked, pool.folder / name))).status == "passed"
        assert len(workers()) == 1
        both = (pool.grade(assigned(asked, pool.folder / name)) for name in "cd")
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
        grade = await turn.grade(assigned(asked, pool.folder / "answer", CRASH), told)
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
                await pool.grade(assigned(asked, pool.folder / "slow"))
        assert not list(pool.folder.iterdir())
        hurry()
        assert (await pool.grade(assigned(asked, pool.folder / "quick"))).status == "passed"


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


def graded(**kinds: str) -> Grade:
    """A grade whose steps ended so: "passed", or a kind of failure."""
    steps = tuple(
        StepResult(name, _status(kind), 0, 0, (), "said", Path("log"), None if kind == "passed" else kind)
        for name, kind in kinds.items()
    )
    return Grade("000-basics/000-hello", status_of(steps), steps)


def _status(kind: str) -> str:
    return "passed" if kind == "passed" else FAILURES[kind].status


@pytest.fixture
def assignment(make_suite: MakeSuite, tmp_path: Path) -> Assignment:
    return Assignment(make_suite(1).evals[0], {"hello.txt": "hostile\n"}, GradingOptions(), tmp_path / "folder")


async def decided(
    settings: Settings, tmp_path: Path, assignment: Assignment, tries: list[Grade], reference: Grade
) -> Retry | Grade:
    referee = Referee(LocalWorkers(settings), tmp_path)
    referee._references[assignment.eval.id, assignment.options, assignment.only] = reference
    return await referee.decide(assignment, tries)


def verdict(decision: Retry | Grade) -> tuple[str, StepName | None, str | None] | Retry:
    if isinstance(decision, Retry):
        return decision
    step = next((step for step in decision.steps if step.failure), None)
    return decision.status, decision.failed_step, step.failure if step else None


PASSES = graded(tsc="passed", tests="passed")
BREAKS = graded(tsc="passed", tests="tool-crashed")
CONVICTED = ("failed", "tests", "accident-repeats")


@pytest.mark.parametrize(
    ("tries", "reference", "expected"),
    [
        *(([graded(tests=kind)], PASSES, SOON) for kind in ACCIDENTS),
        *(([graded(tests=kind)] * 2, PASSES, CONVICTED) for kind in ACCIDENTS),
        *(([graded(tests=kind)] * 2, BREAKS, ("infrastructure", None, kind)) for kind in ACCIDENTS),
        # an eval is broken only if its reference answer says so, too
        *(([graded(tests=kind)], BREAKS, ("infrastructure", None, kind)) for kind in BROKEN),
        *(([graded(tests=kind)], PASSES, SOON) for kind in BROKEN),
        *(([graded(tests=kind)] * 2, PASSES, CONVICTED) for kind in BROKEN),
        # what no answer can cause
        *(([graded(tests=kind)], PASSES, SOON) for kind in NEVER),
        *(([graded(tests=kind)] * 2, PASSES, AGAIN) for kind in NEVER),
        *(([graded(tests=kind)] * 3, PASSES, ("infrastructure", None, kind)) for kind in NEVER),
        *(([graded(tests=kind)], PASSES, ("infrastructure", None, kind)) for kind in LASTING),
        # any two accidents, at whichever step: an answer may choose where it breaks things
        ([graded(tsc="tool-crashed"), graded(tests="worker-died")], PASSES, CONVICTED),
        ([graded(tests="disk-full"), graded(tests="tool-crashed")], PASSES, SOON),
        ([graded(tests="tool-crashed"), graded(tests="disk-full"), graded(tests="worker-hangs")], PASSES, CONVICTED),
        # a failed step outranks an accident elsewhere, at once
        ([graded(tsc="type-errors", tests="tool-crashed")], PASSES, ("failed", "tsc", "type-errors")),
        ([graded(tests="passed")], PASSES, ("passed", None, None)),
        # the reference answer must pass the very step
        ([graded(tests="tool-crashed")] * 2, graded(tsc="type-errors", tests="passed"), CONVICTED),
        ([graded(tests="tool-crashed")] * 2, graded(deploy="deploy-refused"), ("infrastructure", None, "tool-crashed")),
    ],
)
async def test_the_verdict_follows_from_the_tries(
    settings: Settings,
    tmp_path: Path,
    assignment: Assignment,
    tries: list[Grade],
    reference: Grade,
    expected: object,
) -> None:
    assert verdict(await decided(settings, tmp_path, assignment, tries, reference)) == expected


@pytest.mark.parametrize("reference", [PASSES, BREAKS], ids=["reference passes", "reference breaks"])
async def test_an_answer_is_graded_three_times_at_most_whatever_happens(
    settings: Settings, tmp_path: Path, assignment: Assignment, reference: Grade
) -> None:
    kinds = ("tool-crashed", "grader-broken", "disk-full", "browser-missing", "passed")
    longest = 0
    for ends in itertools.product(kinds, repeat=4):
        tries = list[Grade]()
        for end in ends:
            tries.append(graded(tests=end))
            if not isinstance(await decided(settings, tmp_path, assignment, tries, reference), Retry):
                break
        longest = max(longest, len(tries))
    assert longest == GRADING.tries == 3


async def test_the_reference_answer_is_not_compared_with_itself(
    settings: Settings, tmp_path: Path, assignment: Assignment
) -> None:
    same = replace(assignment, files={"hello.txt": "hello\n"})
    decision = await decided(settings, tmp_path, same, [graded(tests="worker-died")] * 2, PASSES)
    assert verdict(decision) == ("infrastructure", None, "worker-died")


async def test_a_conviction_says_what_happened_and_keeps_what_was_said(
    settings: Settings, tmp_path: Path, assignment: Assignment
) -> None:
    tries = [graded(tests="tool-timeout"), graded(tests="worker-died")]
    decision = await decided(settings, tmp_path, assignment, tries, PASSES)
    assert isinstance(decision, Grade)
    sentence = (
        "Grading this answer breaks down each time (tool-timeout at tests, then worker-died at tests); "
        "the reference answer passes tests here."
    )
    assert decision.notes == (sentence,)
    assert decision.steps[-1].excerpt == f"{sentence}\nsaid"
