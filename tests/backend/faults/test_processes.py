"""`convex-evals backend` as a process: killed under load, interrupted with clients, out of disk space."""

import asyncio
import contextlib
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
import pytest_asyncio
from tests.examples import exhaustively

pytestmark = pytest.mark.asyncio(loop_scope="module")

COMMAND = [str(Path(sys.executable).with_name("convex-evals")), "backend", "--port", "0", "--site-proxy-port", "0"]
MEGABYTE = 1024 * 1024

Until = Callable[..., Awaitable[None]]
Join = Callable[[Any], Awaitable[Any]]


@dataclass
class Backend:
    """A deployment in another process."""

    process: asyncio.subprocess.Process
    url: str
    admin_key: str
    client: httpx2.AsyncClient
    family: list[psutil.Process]
    _processes: Any

    async def call(self, kind: str, path: str, **args: object) -> httpx2.Response:
        return await self.client.post(f"/api/{kind}", json={"path": path, "args": args})

    async def notes(self) -> list[str]:
        value: list[str] = (await self.call("query", "notes:list")).json()["value"]
        return value

    def note_family(self) -> None:
        """Who must be gone when the process is."""
        self.family = psutil.Process(self.process.pid).children(recursive=True)

    def is_gone(self) -> bool:
        return not any(self._processes.is_alive(member) for member in self.family)


@pytest_asyncio.fixture(loop_scope="module")
async def backend(tmp_path: Path, processes: Any) -> AsyncIterator[Callable[..., Awaitable[Backend]]]:
    """Starts one on the same database file each time."""
    async with contextlib.AsyncExitStack() as opened:

        async def start(**options: Any) -> Backend:
            process = await asyncio.create_subprocess_exec(
                *COMMAND, str(tmp_path / "db.sqlite3"), stdout=asyncio.subprocess.PIPE, cwd=tmp_path, **options
            )
            assert process.stdout is not None
            opened.push_async_callback(_reap, process)
            said = [(await process.stdout.readline()).decode().split()[-1] for _ in range(3)]
            client = await opened.enter_async_context(httpx2.AsyncClient(base_url=said[0], timeout=60))
            return Backend(process, said[0], said[2], client, [], processes)

        yield start


async def _reap(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.communicate()


async def test_what_was_acknowledged_survives_a_kill_under_load(
    backend: Any, deploy: Any, faults_app: dict[str, str], until: Until
) -> None:
    first = await backend()
    await deploy(first, faults_app)
    acknowledged: list[str] = []

    async def write(writer: int) -> None:
        for number in range(10_000):
            text = f"{writer}-{number}"
            if (await first.call("mutation", "notes:add", text=text)).json()["status"] == "success":
                acknowledged.append(text)

    writers = [asyncio.create_task(write(writer)) for writer in range(8)]
    await until(lambda: len(acknowledged) >= 80)
    first.note_family()
    first.process.kill()
    await asyncio.gather(*writers, return_exceptions=True)
    await until(first.is_gone)
    second = await backend()
    found = await second.notes()
    assert set(acknowledged) <= set(found)
    assert len(found) == len(set(found)) <= len(acknowledged) + len(writers)
    assert (await second.call("mutation", "notes:add", text="after")).json()["status"] == "success"


async def test_a_kill_leaves_no_process_not_even_one_that_loops(
    backend: Any, deploy: Any, faults_app: dict[str, str], until: Until
) -> None:
    running = await backend()
    await deploy(running, faults_app)
    paths = ("hostile:asAction", "hostileNode:asNode")
    calls = [asyncio.create_task(running.call("action", path, name="announcedLoop")) for path in paths]
    await until(lambda: _are_looping(running, 2))
    running.note_family()
    assert len(running.family) >= 3
    running.process.kill()
    await until(running.is_gone)
    await asyncio.gather(*calls, return_exceptions=True)


async def _are_looping(backend: Backend, count: int) -> bool:
    headers = {"Authorization": f"Convex {backend.admin_key}"}
    page = await backend.client.get("/api/stream_function_logs", params={"cursor": 0}, headers=headers)
    looping = [entry for entry in page.json()["entries"] if entry["logLines"] == ["[LOG] 'looping'"]]
    return len(looping) == count


@pytest.mark.parametrize("number", [signal.SIGTERM, *exhaustively(signal.SIGINT)])
async def test_an_interrupt_ends_everything_in_good_order(
    backend: Any, deploy: Any, faults_app: dict[str, str], join: Join, until: Until, number: signal.Signals
) -> None:
    running = await backend()
    await deploy(running, faults_app)
    client = await join(running)
    await client.subscribe("notes:list")
    await client.value()
    acting = asyncio.create_task(running.call("action", "notes:slow", name="it", milliseconds=600_000))
    looping = asyncio.create_task(running.call("action", "hostile:asAction", name="announcedLoop"))
    await until(lambda: _has_notes(running))
    await until(lambda: _are_looping(running, 1))
    running.note_family()
    running.process.send_signal(number)
    assert await asyncio.wait_for(running.process.wait(), 60) == 0
    await client.connection.wait_closed()
    assert client.connection.close_code == 1001
    await until(running.is_gone)
    await asyncio.gather(acting, looping, return_exceptions=True)
    again = await backend()
    assert await again.notes() == ["it began"]


async def _has_notes(backend: Backend) -> bool:
    return await backend.notes() != []


def limit_files(backend: Backend, size: int) -> None:
    """As if the disk were full: no file of the process may grow beyond this."""
    resource.prlimit(backend.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def test_a_full_disk_fails_what_cannot_be_kept_and_nothing_else(
    backend: Any, deploy: Any, faults_app: dict[str, str], join: Join, tmp_path: Path
) -> None:
    first = await backend()
    await deploy(first, faults_app)
    client = await join(first)
    await client.subscribe("notes:list")
    await client.value()
    kept = ["before"]
    assert (await first.call("mutation", "notes:add", text="before")).status_code == 200
    limit_files(first, max(entry.stat().st_size for entry in os.scandir(tmp_path)) + MEGABYTE)
    for number in range(10):
        text = f"{number} {'x' * 500_000}"
        refused = await first.call("mutation", "notes:add", text=text)
        if refused.status_code != 200:
            break
        kept.append(text)
    assert (refused.status_code, refused.json()["code"]) == (500, "InternalServerError")
    assert len(kept) >= 2
    assert await first.notes() == kept
    limit_files(first, 0)
    failed = await first.call("action", "notes:slow", name="it", milliseconds=0)
    assert "Your request couldn't be completed. Try again later." in failed.json()["errorMessage"]
    assert await first.notes() == kept
    limit_files(first, resource.RLIM_INFINITY)
    kept.append("after")
    assert (await first.call("mutation", "notes:add", text="after")).status_code == 200
    while await client.value() != kept:
        pass
    first.process.kill()
    await first.process.wait()
    second = await backend()
    assert await second.notes() == kept


async def test_a_database_that_is_in_use_or_invalid_is_one_sentence(backend: Any, tmp_path: Path) -> None:
    await backend()
    (tmp_path / "text").write_text("no database, but longer than the header of one" * 10)
    (tmp_path / "folder").mkdir()
    reasons = {
        "db.sqlite3": "database is locked",
        "text": "file is not a database",
        "folder": "unable to open database file",
    }
    for name, reason in reasons.items():
        process = await asyncio.create_subprocess_exec(
            *COMMAND, name, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=tmp_path
        )
        output, errors = await process.communicate()
        sentence = f"convex-evals: The deployment failed: cannot open the database {name}: {reason}."
        assert (process.returncode, output, errors.decode().splitlines()) == (3, b"", [sentence])
