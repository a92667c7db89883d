"""Real worker processes: what they are given, what they say, and what remains of them."""

import asyncio
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from convex_evals.core.errors import ProcessError
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.steps import StepResult
from convex_evals.core.toolchain import INSTALL_SECONDS
from convex_evals.core.verdicts import StepName
from convex_evals.pipeline.types import Assignment, Grade, GradingOptions
from convex_evals.runner import worker as worker_module
from convex_evals.runner.worker import LIMITS, GradingWorker, grading_worker
from convex_evals.suite import Suite

MakeSuite = Callable[..., Suite]


def assignment(suite: Suite, folder: Path, files: dict[str, str] | None = None) -> Assignment:
    folder.mkdir(parents=True)
    return Assignment(suite.evals[0], {"hello.txt": "hello\n"} if files is None else files, GradingOptions(), folder)


def broken_step(grade: Grade) -> StepResult:
    assert grade.status == "infrastructure"
    return next(step for step in grade.steps if step.status == "infrastructure")


async def ignore(step: StepResult) -> None:
    pass


def process_of(worker: GradingWorker) -> psutil.Process:
    assert worker._process is not None
    return psutil.Process(worker._process.process.pid)


async def test_a_worker_grades_one_submission_after_the_other_and_reports_every_step(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path
) -> None:
    suite = make_suite(1)
    steps: list[StepResult] = []

    async def note(step: StepResult) -> None:
        assert step.log is not None and step.log.is_file()
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


async def test_a_worker_that_cannot_be_started_is_a_grading_without_a_verdict(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start_piped(*_: object, **__: object) -> None:
        raise ProcessError("Cannot start python: this machine has no room for another process (EAGAIN)")

    suite = make_suite(1)
    async with grading_worker(settings, tmp_path / "worker") as worker:
        with monkeypatch.context() as patch:
            patch.setattr("convex_evals.runner.worker.start_piped", start_piped)
            step = broken_step(await worker.grade(assignment(suite, tmp_path / "1"), ignore))
        assert (step.failure, "EAGAIN" in step.excerpt) == ("worker-died", True)
        assert (await worker.grade(assignment(suite, tmp_path / "2"), ignore)).status == "passed"


async def test_a_worker_that_is_killed_is_replaced_by_the_next_grading(
    make_suite: MakeSuite, hurry: Callable[[], None], settings: Settings, tmp_path: Path
) -> None:
    suite = make_suite(1, seconds=280)
    async with grading_worker(settings, tmp_path / "worker") as worker:
        filesystem_done = asyncio.Event()

        async def note(step: StepResult) -> None:
            filesystem_done.set()

        running = asyncio.create_task(worker.grade(assignment(suite, tmp_path / "1"), note))
        await filesystem_done.wait()
        killed = process_of(worker)
        os.kill(killed.pid, signal.SIGKILL)
        step = broken_step(await running)
        assert (step.name, step.failure, step.excerpt) == ("tests", "worker-died", "The grading worker died: signal 9.")
        assert step.log.read_text().endswith(f"{step.excerpt}\n")
        assert not worker.folder.exists(), "what it wrote is gone with it"
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
        running = asyncio.create_task(worker.grade(assignment(suite, tmp_path / "1"), note))
        await filesystem_done.wait()
        family = [process_of(worker), *process_of(worker).children(recursive=True)]
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert not [process for process in family if processes.is_alive(process)]


async def test_a_worker_that_cannot_start_says_why(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "COMMAND", ("/bin/sh", "-c", "echo no module >&2; exit 3"))
    async with grading_worker(settings, tmp_path / "worker") as worker:
        step = broken_step(await worker.grade(assignment(make_suite(1), tmp_path / "1"), ignore))
    assert (step.name, step.excerpt) == ("filesystem", "The grading worker died: exit code 3, no module.")
    assert step.log.read_text() == f"no module\n{step.excerpt}\n"


async def test_a_worker_that_does_not_end_is_stopped(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "COMMAND", ("/bin/sh", "-c", "exec sleep 60"))
    monkeypatch.setitem(worker_module.GATE_SECONDS, "filesystem", 0.5)
    async with grading_worker(settings, tmp_path / "worker") as worker:
        step = broken_step(await worker.grade(assignment(make_suite(1), tmp_path / "1"), ignore))
        assert worker._process is None
    assert step.failure == "worker-hangs"


@pytest.mark.parametrize("step", ["install", "deploy"])
def test_a_slow_installation_ends_before_the_worker_is_said_to_hang(step: StepName) -> None:
    assert worker_module.GATE_SECONDS[step] > INSTALL_SECONDS


async def test_a_worker_that_hangs_at_a_later_step_is_stopped_when_the_time_for_that_step_is_over(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "SPARE_SECONDS", -1198.0)
    async with grading_worker(settings, tmp_path / "worker") as worker:
        task = assignment(make_suite(1, seconds=280), tmp_path / "1")
        step = broken_step(await worker.grade(task, ignore))
    assert (step.name, step.failure) == ("tests", "worker-hangs")


HOG = """\
import asyncio, json, struct, sys
taken = bytearray()
while True:
    taken += bytes(1 << 28)
"""


async def test_a_worker_that_takes_too_much_memory_dies_alone(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "COMMAND", (sys.executable, "-c", HOG))
    monkeypatch.setattr(worker_module, "LIMITS", replace(LIMITS, data=1 << 30))
    async with grading_worker(settings, tmp_path / "worker") as worker:
        step = broken_step(await worker.grade(assignment(make_suite(1), tmp_path / "1"), ignore))
    assert step.excerpt == "The grading worker died: exit code 1, MemoryError."


async def test_processes_of_a_worker_have_its_memory_limit(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path
) -> None:
    async with grading_worker(settings, tmp_path / "worker") as worker:
        await worker.grade(assignment(make_suite(1), tmp_path / "1"), ignore)
        family = [process_of(worker), *process_of(worker).children(recursive=True)]
        limits = [resource.prlimit(process.pid, resource.RLIMIT_DATA) for process in family]
    assert LIMITS.data is not None
    assert len(limits) > 1
    assert all(hard != resource.RLIM_INFINITY and hard <= LIMITS.data for _, hard in limits)


SAYS_TOO_MUCH = "import os, time; os.write(1, b'\\xff' * 8); time.sleep(60)"


async def test_a_worker_that_announces_a_message_beyond_the_limit_is_not_believed(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "COMMAND", (sys.executable, "-c", SAYS_TOO_MUCH))
    async with grading_worker(settings, tmp_path / "worker") as worker:
        step = broken_step(await worker.grade(assignment(make_suite(1), tmp_path / "1"), ignore))
    assert step.failure == "worker-died"


async def test_a_worker_whose_folder_has_grown_too_large_is_replaced(
    make_suite: MakeSuite, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "MOST_BYTES", 1 << 20)
    suite = make_suite(1)
    async with grading_worker(settings, tmp_path / "worker") as worker:
        await worker.grade(assignment(suite, tmp_path / "1"), ignore)
        first = process_of(worker)
        (worker.folder / "left").write_bytes(b"x" * (2 << 20))
        await worker.grade(assignment(suite, tmp_path / "2"), ignore)
        assert not worker.folder.exists()
        assert (await worker.grade(assignment(suite, tmp_path / "3"), ignore)).status == "passed"
        assert process_of(worker) != first
