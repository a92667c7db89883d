"""The warm process behind Python graders."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from convex_evals.core.errors import ProcessError
from convex_evals.core.supervisor import descendants
from convex_evals.pipeline.grading.kit import wait_until
from convex_evals.pipeline.grading.python.host import GraderHost
from convex_evals.pipeline.grading.python.process import Job
from convex_evals.pipeline.grading.types import BuiltApp, GradedDeployment, read_report

MakeJob = Callable[[str], Job]


@pytest.fixture
def job(tmp_path: Path) -> MakeJob:
    def make(text: str) -> Job:
        grader = tmp_path / "grader.py"
        grader.write_text(text)
        return Job(grader, tmp_path, None, tmp_path / "report.json", tmp_path / "grader.log", tmp_path)

    return make


@pytest_asyncio.fixture
async def host() -> AsyncIterator[GraderHost]:
    async with GraderHost.open() as host:
        yield host


def test_a_job_survives_serialization(tmp_path: Path) -> None:
    deployment = GradedDeployment("http://127.0.0.1:1", "http://127.0.0.1:2", "name|key")
    paths = [tmp_path / name for name in ("grader.py", "suite", "imports", "report", "log", "home")]
    site = BuiltApp(tmp_path / "site", broken="why")
    job = Job(*paths, site=site, files=tmp_path, project=deployment, answer=None, test_seconds=1.5, collect_only=True)
    assert Job.loads(job.dumps()) == job


async def test_a_grader_is_run_and_measured(host: GraderHost, job: MakeJob) -> None:
    one = job("def test_it(): print('hello', end='')")
    result = await host.run(one)
    assert (result.exit_code, result.ok, result.ending) == (0, True, "exit code 0")
    assert "1 passed" in result.output.text
    assert 0 < result.usage.cpu < result.usage.wall + 1
    report = read_report(one.report)
    assert report is not None
    assert [test.status for test in report.tests] == ["passed"]


async def test_what_one_grader_does_no_other_can_see(host: GraderHost, job: MakeJob) -> None:
    text = "import sys\ndef test_it():\n    assert not hasattr(sys, 'mark')\n    sys.mark = 1"
    assert [(await host.run(job(text))).exit_code for _ in range(2)] == [0, 0]


async def test_processes_that_a_grader_leaves_behind_are_killed(host: GraderHost, job: MakeJob) -> None:
    text = """
import subprocess
def test_it():
    subprocess.Popen(["sleep", "600"])
"""
    assert (await host.run(job(text))).exit_code == 0
    warm = await host.prepare()
    assert await asyncio.to_thread(wait_until, lambda: not descendants(warm), "the end of the child", seconds=60)


async def test_a_host_that_dies_is_replaced(host: GraderHost, job: MakeJob) -> None:
    running = asyncio.create_task(host.run(job("import time\ndef test_it(): time.sleep(600)")))
    os.kill(await host.prepare(), signal.SIGKILL)
    with pytest.raises(ProcessError, match="The process that runs Python graders ended"):
        await running
    assert (await host.run(job("def test_it(): pass"))).exit_code == 0


async def test_an_order_that_can_no_longer_be_written_fails(host: GraderHost, job: MakeJob) -> None:
    process = await host.prepare()
    os.kill(process, signal.SIGKILL)
    # The event loop must not see that the process is gone before the order is written.
    wait_until(lambda: process not in psutil.pids(), "the end of the process", seconds=60)
    with pytest.raises(ProcessError, match="The process that runs Python graders ended"):
        await asyncio.wait_for(host.run(job("def test_it(): pass")), 50)


async def test_a_grader_can_be_stopped_before_it_has_begun(host: GraderHost, job: MakeJob) -> None:
    await host.run(job("def test_it(): pass"))
    running = asyncio.create_task(host.run(job("import time\ndef test_it(): time.sleep(600)")))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, 50)


async def test_graders_end_with_the_host(job: MakeJob, tmp_path: Path) -> None:
    mark = tmp_path / "running"
    text = f"""
import os, pathlib, time
def test_it():
    pathlib.Path("{mark}").touch()
    time.sleep(600)
"""
    async with GraderHost.open() as host:
        running = asyncio.create_task(host.run(job(text)))
        await asyncio.to_thread(wait_until, mark.exists, "the grader's start", seconds=60)
        [grader] = descendants(await host.prepare())
    with pytest.raises(ProcessError):
        await running
    assert not is_alive(grader.pid)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
