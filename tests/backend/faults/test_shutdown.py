"""Deployments that are stopped in the middle of everything: soon, completely, and without losing a write."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from convex_evals.backend.deployment import Deployment
from convex_evals.backend.functions.calls import CallOutcome

pytestmark = pytest.mark.asyncio(loop_scope="module")

Join = Callable[[Deployment], Awaitable[Any]]
Until = Callable[..., Awaitable[None]]
Workers = Callable[[str], list[psutil.Process]]

PATIENCE = 30.0  # far less than anything takes that is not stopped, even when the machine is busy


@contextlib.asynccontextmanager
async def stopped_soon(deploy: Any, app: dict[str, str], **options: Any) -> AsyncIterator[Deployment]:
    """A deployment that must be gone a moment after the block."""
    async with Deployment.start(**options) as deployment:
        await deploy(deployment, app)
        yield deployment
        stopping = time.monotonic()
    assert time.monotonic() - stopping < PATIENCE


async def test_calls_of_every_kind_end_when_their_deployment_stops(
    deploy: Any, faults_app: dict[str, str], until: Until, workers: Workers
) -> None:
    async with stopped_soon(deploy, faults_app) as deployment:
        calls = [
            deployment.query("hostile:asQuery", {"name": "loop"}),
            deployment.mutation("hostile:asMutation", {"name": "loop"}),
            deployment.action("hostile:asAction", {"name": "announcedLoop"}),
            deployment.action("hostileNode:asNode", {"name": "announcedLoop"}),
            deployment.action("notes:slow", {"name": "it", "milliseconds": 600_000.0}),
        ]
        running = [asyncio.create_task(call) for call in calls]
        await until(lambda: sum(bool(entry.log_lines) for entry in deployment.log.after(0).entries) == 2)
    ended = await asyncio.wait_for(asyncio.gather(*running, return_exceptions=True), 60)
    assert not any(isinstance(end, CallOutcome) and end.succeeded for end in ended)
    assert workers("functions") == workers("actions") == workers("node") == []


async def test_http_requests_and_streams_end_when_their_deployment_stops(
    deploy: Any, faults_app: dict[str, str], until: Until
) -> None:
    async with httpx2.AsyncClient(timeout=60) as client:
        async with stopped_soon(deploy, faults_app) as deployment:
            waiting = asyncio.create_task(client.get(f"{deployment.site_url}/never"))
            halfway = asyncio.create_task(client.get(f"{deployment.site_url}/halfway"))
            headers = {"Authorization": f"Convex {deployment.admin_key}"}
            cursor = {"cursor": time.time() * 1e6}
            url = f"{deployment.url}/api/stream_function_logs"
            polling = asyncio.create_task(client.get(url, params=cursor, headers=headers))
            await until(lambda: deployment._main.requests == 1 and deployment._site.requests == 2)
        ends = await asyncio.wait_for(asyncio.gather(waiting, halfway, polling, return_exceptions=True), 60)
    assert isinstance(ends[2], httpx2.Response) and ends[2].status_code == 200
    assert not any(isinstance(end, httpx2.Response) and end.status_code < 500 for end in ends[:2])


async def test_clients_that_send_nothing_or_half_a_request_do_not_keep_it(
    deploy: Any, faults_app: dict[str, str]
) -> None:
    async with stopped_soon(deploy, faults_app) as deployment:
        host, port = deployment.url.removeprefix("http://").split(":")
        silent = socket.create_connection((host, int(port)))
        slow = socket.create_connection((host, int(port)))
        slow.sendall(
            b"POST /api/query HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"
        )
        await asyncio.sleep(0.1)
    silent.close()
    slow.close()


async def test_a_push_in_progress_ends(
    deploy: Any, faults_app: dict[str, str], until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convex_evals.backend.push.analysis.FUNCTION_SECONDS", 3600.0)
    endless = {**faults_app, "endless.ts": "for (;;);\nexport const x = 1;"}
    async with stopped_soon(deploy, faults_app) as deployment:
        pushing = asyncio.create_task(deploy(deployment, endless))
        await until(lambda: bool(deployment.runtime._functions._answers))
    with pytest.raises((httpx2.HTTPError, AssertionError)):
        await asyncio.wait_for(pushing, 60)


async def test_writes_that_race_with_the_stop_are_kept_or_refused(
    deploy: Any, faults_app: dict[str, str], tmp_path: Path
) -> None:
    database = tmp_path / "db.sqlite3"
    async with stopped_soon(deploy, faults_app, database=database) as deployment:
        writing = [asyncio.create_task(deployment.mutation("notes:add", {"text": str(n)})) for n in range(100)]
        await asyncio.wait(writing, return_when=asyncio.FIRST_COMPLETED)
    ended = await asyncio.gather(*writing, return_exceptions=True)
    acknowledged = {end.value for end in ended if not isinstance(end, BaseException) and end.succeeded}
    async with Deployment.start(database=database) as again:
        listed = str((await again.query("notes:list")).value)
    assert acknowledged and all(str(text) in listed for text in acknowledged)


async def test_a_deployment_that_stops_can_be_followed_by_another_on_the_same_ports(
    deploy: Any, faults_app: dict[str, str], join: Join
) -> None:
    async with stopped_soon(deploy, faults_app) as first:
        ports = [int(url.rsplit(":", 1)[1]) for url in (first.url, first.site_url)]
        client = await join(first)
        await client.subscribe("notes:list")
        await client.value()
    await client.connection.wait_closed()
    async with Deployment.start(port=ports[0], site_port=ports[1]) as second:
        assert second.url == first.url
        assert (await join(second)).connection.close_code is None
