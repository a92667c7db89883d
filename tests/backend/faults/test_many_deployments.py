"""Twenty deployments in one process."""

import asyncio
import gc
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from convex_evals.backend.deployment import Deployment

pytestmark = pytest.mark.asyncio(loop_scope="module")

MEGABYTE = 1024 * 1024
Until = Callable[..., Awaitable[None]]
Workers = Callable[[str], list[psutil.Process]]


def is_empty(folder: Path) -> bool:
    return not any(folder.iterdir())


async def live(deploy: Any, app: dict[str, str], numbers: range) -> None:
    """Starts, pushes to, writes to and reads from a deployment for every number, all at the same time."""
    async with AsyncExitStack() as opened:
        deployments = await asyncio.gather(*(opened.enter_async_context(Deployment.start()) for _ in numbers))
        await asyncio.gather(*(deploy(deployment, app) for deployment in deployments))
        await asyncio.gather(
            *(d.mutation("notes:add", {"text": str(n)}) for n, d in zip(numbers, deployments, strict=True))
        )
        listed = await asyncio.gather(*(deployment.query("notes:list") for deployment in deployments))
        assert [outcome.value for outcome in listed] == [f'["{number}"]' for number in numbers]


@pytest.mark.exhaustive
async def test_ten_deployments_live_side_by_side_and_leave_nothing(
    deploy: Any,
    faults_app: dict[str, str],
    until: Until,
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    await live(deploy, faults_app, range(2))  # what is made once and kept
    process = psutil.Process()
    gc.collect()
    files, threads, memory = process.num_fds(), process.num_threads(), process.memory_info().rss
    tasks = len(asyncio.all_tasks())
    await live(deploy, faults_app, range(10))
    gc.collect()
    await until(lambda: not workers("functions"))
    assert len(asyncio.all_tasks()) == tasks
    assert process.num_fds() <= files
    assert process.num_threads() <= threads
    assert process.memory_info().rss - memory < 60 * MEGABYTE
    assert is_empty(tmp_path)


async def test_a_deployment_that_cannot_start_leaves_nothing(until: Until, workers: Workers) -> None:
    process = psutil.Process()
    async with Deployment.start() as first:
        port = int(first.url.rsplit(":", 1)[1])
        before = process.num_fds(), len(asyncio.all_tasks())
        for ports in ((port, 0), (0, port)):
            with pytest.raises(OSError):
                async with Deployment.start(*ports):
                    pass
        assert (process.num_fds(), len(asyncio.all_tasks())) == before
        await until(lambda: len(workers("functions")) == 1)


async def test_a_deployment_that_is_stopped_while_it_starts_leaves_nothing(until: Until, workers: Workers) -> None:
    process = psutil.Process()
    before = process.num_fds(), len(asyncio.all_tasks())
    for _ in range(5):
        async with Deployment.start():
            pass
    await until(lambda: not workers("functions"))
    assert (process.num_fds(), len(asyncio.all_tasks())) == before
