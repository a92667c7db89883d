"""Real worker processes: what they are given, what they say, and what remains of them."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from convex_evals.core.settings import Settings, read_settings
from convex_evals.pipeline.messages import Assignment
from convex_evals.pipeline.types import GradingOptions, StepResult
from convex_evals.runner.grading import GradingError, GradingWorker, grading_worker
from convex_evals.suite import Suite

MakeSuite = Callable[..., Suite]


def assignment(suite: Suite, folder: Path, files: dict[str, str] | None = None) -> Assignment:
    folder.mkdir(parents=True)
    return Assignment(suite.evals[0], {"hello.txt": "hello\n"} if files is None else files, GradingOptions(), folder)


async def ignore(step: StepResult) -> None:
    pass


def process_of(worker: GradingWorker) -> psutil.Process:
    assert worker._process is not None
    return psutil.Process(worker._process.process.pid)


async def test_a_worker_grades_one_submission_after_the_other_and_tells_of_every_step(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path
) -> None:
    suite = make_suite(1)
    steps: list[StepResult] = []

    async def note(step: StepResult) -> None:
        assert step.log.is_file()
        steps.append(step)

    async with grading_worker(settings, tmp_path / "worker") as worker:
        good = await worker.grade(assignment(suite, tmp_path / "1"), note)
        first = process_of(worker)
        bad = await worker.grade(assignment(suite, tmp_path / "2", {"hello.txt": "good-bye\n"}), note)
        assert process_of(worker) == first
    assert (good.status, bad.status, bad.failed_step) == ("passed", "failed", "tests")
    assert [(step.name, step.status) for step in steps] == [
        ("filesystem", "passed"),
        ("tests", "passed"),
        ("filesystem", "passed"),
        ("tests", "failed"),
    ]


async def test_nothing_is_left_of_a_worker(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path, processes: Any
) -> None:
    async with grading_worker(settings, tmp_path / "worker") as worker:
        await worker.grade(assignment(make_suite(1), tmp_path / "1"), ignore)
        family = [process_of(worker), *process_of(worker).children(recursive=True)]
    assert not [process for process in family if processes.is_alive(process)]


async def test_a_worker_has_no_keys(make_suite: MakeSuite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-key-of-the-environment")
    monkeypatch.setenv("CONVEX_AUTH_TOKEN", "token-of-the-environment")
    (tmp_path / ".env").write_text("ANTHROPIC_API_KEY=key-of-the-file\n")
    settings = read_settings(cwd=tmp_path)
    assert {key.provider for key in settings.provider_keys} == {"openai", "anthropic"}
    async with grading_worker(settings, tmp_path / "worker") as worker:
        await worker.grade(assignment(make_suite(1), tmp_path / "1"), ignore)
        for process in (process_of(worker), *process_of(worker).children(recursive=True)):
            environment = str(process.environ())
            assert not [text for text in ("sk-key", "token-of", "key-of") if text in environment]


async def test_a_worker_that_is_killed_is_replaced_by_the_next_grading(
    make_suite: MakeSuite, hurry: Callable[[], None], settings: Settings, tmp_path: Path
) -> None:
    suite = make_suite(1, seconds=280)
    async with grading_worker(settings, tmp_path / "worker") as worker:
        filesystem_done = asyncio.Event()

        async def note(step: StepResult) -> None:
            filesystem_done.set()

        grading = asyncio.create_task(worker.grade(assignment(suite, tmp_path / "1"), note))
        await filesystem_done.wait()
        killed = process_of(worker)
        os.kill(killed.pid, signal.SIGKILL)
        with pytest.raises(GradingError, match=r"The grading worker died: signal 9\.") as caught:
            await grading
        assert caught.value.failure == "worker-died"
        hurry()
        again = await worker.grade(assignment(suite, tmp_path / "2"), ignore)
        assert again.status == "passed"
        assert process_of(worker) != killed


async def test_cancelling_a_grading_stops_everything_below(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path, processes: Any
) -> None:
    suite = make_suite(1, seconds=280)
    filesystem_done = asyncio.Event()

    async def note(step: StepResult) -> None:
        filesystem_done.set()

    async with grading_worker(settings, tmp_path / "worker") as worker:
        grading = asyncio.create_task(worker.grade(assignment(suite, tmp_path / "1"), note))
        await filesystem_done.wait()
        family = [process_of(worker), *process_of(worker).children(recursive=True)]
        grading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await grading
    assert not [process for process in family if processes.is_alive(process)]


async def test_a_worker_that_cannot_start_says_why(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convex_evals.runner.grading.COMMAND", ("/bin/sh", "-c", "echo no module >&2; exit 3"))
    async with grading_worker(settings, tmp_path / "worker") as worker:
        with pytest.raises(GradingError, match=r"The grading worker died: exit code 3, no module\."):
            await worker.grade(assignment(make_suite(1), tmp_path / "1"), ignore)


async def test_a_worker_that_does_not_end_is_stopped(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convex_evals.runner.grading.COMMAND", ("/bin/sleep", "60"))
    monkeypatch.setattr("convex_evals.runner.grading.OVERHEAD_SECONDS", -299.5)
    async with grading_worker(settings, tmp_path / "worker") as worker:
        with pytest.raises(GradingError) as caught:
            await worker.grade(assignment(make_suite(1), tmp_path / "1"), ignore)
    assert caught.value.failure == "worker-hangs"
