import asyncio
import os
import signal

import httpx2
import pytest

from convex_evals.backend.deployment import DeploymentSettings
from convex_evals.backend.foreground import run_backend_in_foreground


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_deployment_in_the_foreground_runs_until_a_signal(number: signal.Signals) -> None:
    lines: asyncio.Queue[str] = asyncio.Queue()
    running = asyncio.create_task(run_backend_in_foreground(DeploymentSettings(instance_name="mine"), lines.put_nowait))
    said = [await lines.get() for _ in range(3)]
    url, key = said[0].split()[-1], said[2].split()[-1]
    assert said[0] == f"Deployment mine is running at {url}"
    async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
        headers = {"Authorization": f"Convex {key}"}
        assert (await client.get("/api/check_admin_key", headers=headers)).json()["success"]
    os.kill(os.getpid(), number)
    await asyncio.wait_for(running, 60)
    async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
        with pytest.raises(httpx2.ConnectError):
            await client.get("/version")
