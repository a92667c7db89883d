"""One deployment from the inside: JavaScript functions, called without HTTP."""

import asyncio
import gc
import json
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from convex_evals.backend.deployment import Deployment, DeploymentSettings, run_backend_in_foreground
from convex_evals.backend.errors import SystemFailure
from convex_evals.backend.identity import ANONYMOUS, User
from convex_evals.backend.logs import Completion, UsageStats

Deploy = Any
DeploymentOf = Any


@pytest.fixture
async def deployment(deployment_of: DeploymentOf) -> AsyncIterator[Deployment]:
    async with deployment_of() as running:
        yield running


def last_usage(deployment: Deployment) -> UsageStats:
    """The work of what ran last."""
    entry = deployment.log.after(0).entries[-1]
    assert isinstance(entry, Completion)
    return entry.usage


async def test_functions_can_be_called(deployment: Deployment) -> None:
    sent = await deployment.mutation("messages:send", {"channel": "a", "body": "hi"})
    assert sent.succeeded
    listed = await deployment.query("messages:list", {"channel": "a"})
    assert (listed.value, listed.log_texts) == ('["hi"]', ["[LOG] 'listing' 'a'"])
    acted = await deployment.action("messages:sendAndList", {"body": "there"})
    assert (acted.value, acted.log_texts) == ('["there"]', ["[LOG] 'acting'"])


async def test_calls_from_this_process_are_an_administrators_unless_stated_otherwise(deployment: Deployment) -> None:
    assert (await deployment.query("messages:hidden")).value == '"hidden"'
    assert not (await deployment.query("messages:hidden", identity=ANONYMOUS)).succeeded
    ada = User({"name": "Ada", "tokenIdentifier": "x|ada"})
    assert (await deployment.query("messages:whoami", identity=ada)).value == '"Ada"'


async def test_nested_calls_run_in_one_transaction(deployment: Deployment) -> None:
    outcome = await deployment.mutation("messages:sendTwice")
    assert outcome.value == '["one","two"]'
    assert outcome.log_texts == ["[LOG] 'listing' 'nested'"]


async def test_an_error_shows_the_line_that_threw(deployment: Deployment) -> None:
    outcome = await deployment.query("messages:fail")
    assert outcome.failure is not None
    assert outcome.failure.message.startswith("Uncaught Error: boom\n    at ")
    assert "convex/messages.ts:" in outcome.failure.message


@pytest.mark.exhaustive
async def test_a_query_that_never_ends_is_stopped(deployment: Deployment) -> None:
    outcome = await deployment.query("messages:spin")
    assert outcome.failure is not None
    assert outcome.failure.message.strip() == "Function execution timed out (maximum duration: 1s)"


async def test_many_clients_of_one_document_all_succeed(deployment: Deployment) -> None:
    counter = str((await deployment.mutation("messages:create")).value).strip('"')

    async def client() -> None:
        for _ in range(4):
            assert (await deployment.mutation("messages:increment", {"id": counter})).succeeded

    await asyncio.gather(*(client() for _ in range(32)))
    assert (await deployment.mutation("messages:increment", {"id": counter})).value == "129.0"


@pytest.mark.parametrize(
    ("path", "documents", "index"),
    [("messages:list", 2, "messages.by_channel"), ("messages:scan", 12, "messages.by_creation_time")],
)
async def test_the_log_distinguishes_an_index_from_a_scan(
    deployment: Deployment, path: str, documents: int, index: str
) -> None:
    for number in range(12):
        await deployment.mutation("messages:send", {"channel": "ab"[number > 1], "body": str(number)})
    assert (await deployment.query(path, {"channel": "a"})).value == '["0","1"]'
    usage = last_usage(deployment)
    assert (usage.database_read_documents, usage.database_read_indexes) == (documents, (index,))


async def test_only_the_rows_that_were_pulled_are_counted(deployment: Deployment) -> None:
    for number in range(12):
        await deployment.mutation("messages:send", {"channel": "a", "body": str(number)})
    assert (await deployment.query("messages:first")).value == '"0"'
    assert last_usage(deployment).database_read_documents == 1


async def test_data_and_code_survive_a_restart(deploy: Deploy, tmp_path: Path) -> None:
    database = tmp_path / "convex.sqlite3"
    async with Deployment.start(database=database) as first:
        await deploy(first)
        await first.mutation("messages:send", {"channel": "a", "body": "hi"})
    async with Deployment.start(database=database) as second:
        assert (await second.query("messages:list", {"channel": "a"})).value == '["hi"]'


async def test_several_deployments_share_a_process_and_nothing_else(deploy: Deploy) -> None:
    async with Deployment.start() as first, Deployment.start() as second:
        await asyncio.gather(deploy(first), deploy(second))
        await first.mutation("messages:send", {"channel": "a", "body": "hi"})
        assert (await second.query("messages:list", {"channel": "a"})).value == "[]"
        assert len({first.url, first.site_url, second.url, second.site_url}) == 4
        assert first.admin_key != second.admin_key


async def test_stopping_ends_calls_in_flight_and_starts_no_new_process(
    deploy: Deploy, processes: Any, until: Any
) -> None:
    before = _workers(processes)
    async with Deployment.start() as deployment:
        await deploy(deployment)
        call = asyncio.create_task(deployment.query("messages:spin"))
        await until(lambda: bool(deployment.runtime._functions._exchanges))
    with pytest.raises(SystemFailure):
        await call
    assert not _workers(processes) - before


def _workers(processes: Any) -> set[int]:
    """Node processes below this one; other tests have servers here that start and stop processes as they like."""
    return {worker.pid for worker in processes.below_this_one(lambda process: "node" in processes.program(process))}


async def test_starting_and_stopping_take_no_time_and_leave_nothing() -> None:
    async with Deployment.start():
        pass
    tasks = asyncio.all_tasks()
    starting, stopping = [], []
    for _ in range(5):  # the machine may be busy, but not all the time
        started = time.perf_counter()
        async with Deployment.start():
            running = time.perf_counter()
        starting.append(running - started)
        stopping.append(time.perf_counter() - running)
    assert min(starting) < 0.5
    assert min(stopping) < 0.5
    assert asyncio.all_tasks() == tasks
    gc.collect()


SELF_SERVICE = """
import { actionGeneric as action, queryGeneric as query } from "convex/server";
export const f = query(async () => 1);
export const attempt = action(async (ctx, { url, key }: { url: string; key: string }) => {
  const headers = { Authorization: `Convex ${key}`, "Content-Type": "application/json" };
  const post = async (path: string, body: object) =>
    (await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })).status;
  const anonymous = await fetch(`${url}/api/query`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ path: "self:f", args: {} }),
  });
  return [
    await anonymous.json(),
    await post("/api/update_environment_variables", { changes: [{ name: "X", value: "1" }] }),
    await post("/api/deploy2/start_push", { adminKey: key }),
  ];
});
"""


async def test_functions_reach_their_own_deployment_but_never_as_administrators(deploy: Any) -> None:
    async with Deployment.start() as deployment:
        await deploy(deployment, {"self.ts": SELF_SERVICE})
        outcome = await deployment.action("self:attempt", {"url": deployment.url, "key": deployment.admin_key})
        assert outcome.failure is None
        answer, *refusals = json.loads(str(outcome.value))
        assert (answer["status"], answer["value"]) == ("success", 1)
        assert all(400 <= status < 500 for status in refusals), refusals


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
