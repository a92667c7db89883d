from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from convex_evals.core.settings import Settings, read_settings
from convex_evals.scores import ScoresStore
from convex_evals.suite import Suite, load_suite

GRADER = """\
import time
from pathlib import Path


def test_says_hello(files):
    end = time.monotonic() + {seconds}
    while time.monotonic() < end and not Path("{hurry}").exists():
        time.sleep(0.02)
    assert files.text("hello.txt") == "hello\\n"
"""
MakeSuite = Callable[..., Suite]
Workers = Callable[[], list[psutil.Process]]


@pytest.fixture
def hurry(tmp_path: Path) -> Callable[[], None]:
    """After it is called, no grader of `make_suite` takes its time any more."""
    return (tmp_path / "hurry").touch


@pytest.fixture
def make_suite(tmp_path: Path) -> MakeSuite:
    """A suite of evals that grade files only, so that they are quick. `seconds` is how long a grader takes."""

    def make_suite(count: int = 2, *, seconds: float = 0, grader: str = GRADER) -> Suite:
        for number in range(count):
            path = tmp_path / "suite" / "000-basics" / f"{number:03}-hello"
            (path / "answer").mkdir(parents=True)
            (path / "TASK.txt").write_text("Say hello.\n")
            (path / "answer" / "hello.txt").write_text("hello\n")
            (path / "eval.json").write_text('{"pipeline": "static"}')
            (path / "grader.py").write_text(grader.format(seconds=seconds, hurry=tmp_path / "hurry"))
        return load_suite(tmp_path / "suite")

    return make_suite


@pytest.fixture
def workers(processes: Any) -> Workers:
    """Finds the grading workers of this test that run now; those that are kept ready belong to other tests."""

    def grades(one: psutil.Process) -> bool:
        return "convex_evals.pipeline.worker" in processes.command(one)

    ready = processes.below_this_one(grades)

    def running() -> list[psutil.Process]:
        found = processes.below_this_one(grades)
        # A worker that starts a program is two processes with the same command line for a moment.
        return [each for each in found if each not in ready and processes.parent(each) not in found]

    return running


@pytest.fixture
def store(ready_scores: None, tmp_path: Path) -> Iterator[ScoresStore]:
    with ScoresStore.open(tmp_path / "scores.db") as opened:
        yield opened


@pytest.fixture
def settings() -> Settings:
    return read_settings()
