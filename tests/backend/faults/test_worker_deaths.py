"""The processes that run functions are killed at the worst moments."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import psutil
import pytest

from convex_evals.backend.deployment import Deployment
from convex_evals.backend.errors import WorkerLost
from convex_evals.backend.runtime.program import Program

pytestmark = pytest.mark.asyncio(loop_scope="module")

Workers = Callable[[str], list[psutil.Process]]
Hold = Callable[[str], Any]
Join = Callable[[Deployment], Awaitable[Any]]
Until = Callable[..., Awaitable[None]]

MORE = 'import { queryGeneric as query } from "convex/server"; export const f = query(async () => 1);'


def kill(workers: Workers, script: str) -> None:
    (worker,) = workers(script)
    worker.kill()


async def test_a_query_whose_worker_is_killed_runs_again(deployment: Deployment, workers: Workers, hold: Hold) -> None:
    await deployment.mutation("notes:add", {"text": "here"})
    gate = hold("query/fetch")
    call = asyncio.create_task(deployment.query("notes:list"))
    await gate.reached.wait()
    kill(workers, "functions")
    assert (await call).value == '["here"]'
    assert gate.passed == 2


async def test_a_mutation_whose_worker_is_killed_has_one_effect(
    deployment: Deployment, workers: Workers, hold: Hold
) -> None:
    gate = hold("1.0/insert")
    call = asyncio.create_task(deployment.mutation("notes:add", {"text": "once"}))
    await gate.reached.wait()
    kill(workers, "functions")
    assert (await call).value == '"once"'
    assert gate.passed == 2
    assert (await deployment.query("notes:list")).value == '["once"]'


@pytest.mark.parametrize("kind", ["query", "mutation"])
async def test_a_call_fails_if_no_worker_can_be_started(
    deployment: Deployment, workers: Workers, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    async def start(command: object) -> None:
        raise WorkerLost("cannot start: this machine has no room for another process")

    await deployment.mutation("notes:add", {"text": "here"})
    with monkeypatch.context() as patch:
        patch.setattr(Program, "start", start)
        kill(workers, "functions")
        with pytest.raises(WorkerLost):
            async with asyncio.timeout(20):
                await (deployment.query("notes:echo", {"value": 1.0}) if kind == "query" else add(deployment))
    assert (await add(deployment)).succeeded


async def add(deployment: Deployment) -> Any:
    return await deployment.mutation("notes:add", {"text": "there"})


async def test_clients_do_not_notice_that_the_worker_was_killed(
    deployment: Deployment, workers: Workers, hold: Hold, join: Join
) -> None:
    client = await join(deployment)
    await client.subscribe("notes:list")
    assert await client.value() == []
    gate = hold("1.0/insert")
    await client.mutate(0, "notes:add", text="once")
    await gate.reached.wait()
    kill(workers, "functions")
    assert (await client.receive("MutationResponse"))["success"]
    assert await client.value() == ["once"]


async def test_everything_in_flight_survives_one_death(deployment: Deployment, workers: Workers, hold: Hold) -> None:
    gate = hold("1.0/insert")
    adding = [asyncio.create_task(deployment.mutation("notes:add", {"text": str(n)})) for n in range(8)]
    reading = [asyncio.create_task(deployment.query("notes:list")) for _ in range(8)]
    await gate.reached.wait()
    kill(workers, "functions")
    gate.opened.set()
    assert all(outcome.succeeded for outcome in await asyncio.gather(*adding, *reading))
    listed = await deployment.query("notes:list")
    assert sorted(str(listed.value).strip("[]").split(",")) == [f'"{n}"' for n in range(8)]


async def test_an_action_whose_worker_is_killed_fails_and_is_not_run_again(
    deployment: Deployment, workers: Workers, until: Until
) -> None:
    call = asyncio.create_task(deployment.action("notes:slow", {"name": "it", "milliseconds": 600_000}))
    await until(lambda: _has_begun(deployment))
    kill(workers, "actions")
    outcome = await call
    assert outcome.failure is not None
    assert outcome.failure.message == "The function crashed its worker, which was ended by SIGKILL\n"
    assert (await deployment.query("notes:list")).value == '["it began"]'
    assert (await deployment.action("notes:slow", {"name": "next", "milliseconds": 0})).succeeded


async def test_an_action_that_was_killed_has_failed_over_http(
    deployment: Deployment, workers: Workers, until: Until
) -> None:
    body = {"path": "notes:slow", "args": {"name": "it", "milliseconds": 600_000}}
    async with httpx2.AsyncClient(base_url=deployment.url, timeout=60) as client:
        call = asyncio.create_task(client.post("/api/action", json=body))
        await until(lambda: _has_begun(deployment))
        kill(workers, "actions")
        response = await call
    assert (response.status_code, response.json()["status"]) == (200, "error")
    assert "crashed its worker" in response.json()["errorMessage"]


async def _has_begun(deployment: Deployment) -> bool:
    return (await deployment.query("notes:list")).value != "[]"


async def test_a_worker_killed_while_idle_is_replaced(deployment: Deployment, workers: Workers, until: Until) -> None:
    assert (await deployment.action("notes:slow", {"name": "first", "milliseconds": 0})).succeeded
    for script in ("functions", "actions"):
        kill(workers, script)
        await until(lambda script=script: workers(script) == [])
    assert (await deployment.query("notes:list")).value == '["first began","first ended"]'
    assert (await deployment.action("notes:slow", {"name": "second", "milliseconds": 0})).succeeded
    assert len(workers("functions")) == 1


async def test_a_function_that_always_kills_its_worker_gets_an_error_that_says_so(
    deployment: Deployment, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    from convex_evals.backend.functions.transaction_syscalls import TransactionSyscalls

    async def call(self: TransactionSyscalls, calls: object) -> object:
        kill(workers, "functions")
        return await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(TransactionSyscalls, "call", call)
        outcome = await deployment.mutation("notes:add", {"text": "never"})
    assert outcome.failure is not None
    assert outcome.failure.message.startswith("JavaScript execution ran out of memory")
    assert (await deployment.query("notes:list")).value == "[]"


async def test_a_push_whose_worker_is_killed_still_succeeds(
    deployment: Deployment, workers: Workers, until: Until, deploy: Any, faults_app: dict[str, str]
) -> None:
    more = {**faults_app, "more.ts": MORE}
    pushing = asyncio.create_task(deploy(deployment, more))
    await until(lambda: bool(deployment.runtime._functions._answers))
    kill(workers, "functions")
    await pushing
    assert (await deployment.query("more:f")).value == "1.0"


async def test_an_http_action_whose_worker_is_killed_has_failed(
    deployment: Deployment, workers: Workers, until: Until
) -> None:
    async with httpx2.AsyncClient(base_url=deployment.site_url, timeout=60) as client:
        call = asyncio.create_task(client.get("/never"))
        await until(lambda: any(entry.log_lines for entry in deployment.log.after(0).entries))
        kill(workers, "actions")
        response = await call
    assert response.status_code == 500
    assert "crashed its worker" in response.json()["code"]


async def test_a_response_that_cannot_be_finished_ends_there(deployment: Deployment, workers: Workers) -> None:
    async with (
        httpx2.AsyncClient(base_url=deployment.site_url, timeout=60) as client,
        client.stream("GET", "/halfway") as response,
    ):
        chunks = response.aiter_bytes()
        assert await anext(chunks) == b"half"
        kill(workers, "actions")
        with pytest.raises(StopAsyncIteration):
            await anext(chunks)


async def test_a_scheduled_mutation_whose_worker_is_killed_has_one_effect(
    deployment: Deployment, workers: Workers, hold: Hold, until: Until
) -> None:
    gate = hold("1.0/insert")
    assert (await deployment.mutation("notes:later", {"text": "once", "milliseconds": 0.0})).succeeded
    await gate.reached.wait()
    kill(workers, "functions")
    await until(lambda: _jobs(deployment, "success"))
    assert (await deployment.query("notes:list")).value == '["once"]'


async def test_a_scheduled_action_whose_worker_is_killed_has_failed(
    deployment: Deployment, workers: Workers, until: Until
) -> None:
    assert (await deployment.mutation("notes:actLater", {"name": "it"})).succeeded
    await until(lambda: _has_begun(deployment))
    kill(workers, "actions")
    await until(lambda: _jobs(deployment, "failed"))
    assert (await deployment.query("notes:list")).value == '["it began"]'


async def _jobs(deployment: Deployment, state: str) -> bool:
    return (await deployment.query("notes:jobs")).value == f'["{state}"]'


async def test_a_supervisor_that_is_killed_takes_its_worker_along_and_both_are_replaced(
    deployment: Deployment, workers: Workers, until: Until, processes: Any
) -> None:
    assert (await deployment.query("notes:list")).succeeded
    (worker,) = workers("functions")
    supervisor = worker.parent()
    assert supervisor is not None and supervisor.pid != psutil.Process().pid
    supervisor.kill()
    await until(lambda: not processes.is_alive(worker))
    assert (await deployment.query("notes:list")).value == "[]"


async def test_the_spawn_server_can_be_killed(deployment: Deployment, workers: Workers, until: Until) -> None:
    assert (await deployment.query("notes:list")).succeeded
    (worker,) = workers("functions")
    (server,) = (child for child in psutil.Process().children() if child in worker.parents())
    server.kill()
    assert (await deployment.query("notes:list")).value == "[]"
    assert (await deployment.action("notes:slow", {"name": "it", "milliseconds": 0.0})).succeeded
    worker.kill()
    assert (await deployment.query("notes:list")).value == '["it began","it ended"]'
