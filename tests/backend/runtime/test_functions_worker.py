"""User code that has no time left is ended from outside."""

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from convex_evals.backend.errors import WorkerLost
from convex_evals.backend.runtime.functions_worker import DEAF_SECONDS, INTERVAL_SECONDS, Watch

pytestmark = pytest.mark.asyncio(loop_scope="module")

Stage = Any  # of conftest.py, which tests cannot import
Until = Callable[..., Awaitable[None]]


class Worker:
    """Says what the test wants; every look costs it `pace` seconds of processor time."""

    def __init__(self, pace: float, looks: int = 10) -> None:
        self.looks_left = looks
        self.seen_enough = asyncio.Event()
        self.signs_of_life = 0
        self.pace = pace
        self.spent = 0.0
        self.interrupted_at: list[float] = []
        self.is_killed = False

    def main_thread_seconds(self) -> float:
        self.looks_left -= 1
        if self.looks_left == 0:
            self.seen_enough.set()
        self.spent += self.pace
        return self.spent

    def interrupt(self) -> None:
        self.interrupted_at.append(self.spent)

    def kill(self) -> None:
        self.is_killed = True


async def watched(worker: Worker, left: float) -> None:
    watch = Watch(lambda: left)
    watch.begin(worker)
    await worker.seen_enough.wait()
    watch.end()


async def test_a_worker_that_uses_up_the_time_is_interrupted_and_not_before() -> None:
    worker = Worker(pace=0.2)
    await watched(worker, left=1.0)
    (interrupted_at,) = worker.interrupted_at
    assert interrupted_at > 1.0
    assert not worker.is_killed


async def test_a_worker_that_does_not_listen_is_killed() -> None:
    worker = Worker(pace=DEAF_SECONDS)
    await watched(worker, left=0.1)
    assert worker.is_killed


async def test_a_worker_whose_code_may_run_forever_is_left_alone() -> None:
    worker = Worker(pace=5.0)
    await watched(worker, left=math.inf)
    assert not worker.interrupted_at
    assert not worker.is_killed


async def test_a_worker_that_runs_no_user_code_is_not_looked_at() -> None:
    worker = Worker(pace=5.0)
    Watch(lambda: None).begin(worker)
    spent = worker.spent
    await asyncio.sleep(3 * INTERVAL_SECONDS)
    assert worker.spent == spent


async def test_a_worker_that_gives_signs_of_life_is_left_alone() -> None:
    class Lively(Worker):
        def main_thread_seconds(self) -> float:
            self.signs_of_life += 1
            return super().main_thread_seconds()

    worker = Lively(pace=5.0)
    await watched(worker, left=1.0)
    assert not worker.interrupted_at


async def test_a_signal_that_was_meant_for_another_one_loses_the_call_and_nothing_else(
    own_stage: Stage, until: Until
) -> None:
    process = await own_stage.runtime._functions._running()
    before = process.main_thread_seconds()
    running = asyncio.create_task(own_stage.evaluate("for (;;);", user_seconds=20.0))
    await until(lambda: process.main_thread_seconds() > before + 0.3)
    process.interrupt()
    with pytest.raises(WorkerLost):
        await running
    assert await own_stage.value("return 1;") == 1
    assert (await own_stage.runtime._functions._running()).pid == process.pid


async def test_a_signal_that_comes_when_nothing_runs_leaves_the_worker_alive(own_stage: Stage, until: Until) -> None:
    async def answers() -> bool:
        with contextlib.suppress(WorkerLost):  # the signal has come too late for that
            return await own_stage.value("return 1;") == 1
        return False

    process = await own_stage.runtime._functions._running()
    process.interrupt()
    await until(answers)
    assert (await own_stage.runtime._functions._running()).pid == process.pid
