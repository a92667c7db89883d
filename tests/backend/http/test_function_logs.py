import asyncio
import hashlib
from typing import Any

import httpx2
import pytest

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.deployment import Deployment
from convex_evals.backend.functions.calls import Call

pytestmark = pytest.mark.asyncio(loop_scope="module")

CLI = {"Convex-Client": "npm-cli-1.44.0"}


async def read(admin: httpx2.AsyncClient, deployment: Deployment, since: float, **options: Any) -> list[Any]:
    params = {"cursor": since, **options.pop("params", {})}
    response = await admin.get("/api/stream_function_logs", params=params, **options)
    assert response.json()["newCursor"] == deployment.log.cursor
    entries: list[Any] = response.json()["entries"]
    return entries


async def test_the_command_line_gets_structured_lines(admin: httpx2.AsyncClient, deployment: Deployment) -> None:
    since = deployment.log.cursor
    await admin.post("/api/query", json={"path": "messages:list", "args": {"channel": "logs"}})
    [entry] = await read(admin, deployment, since, headers=CLI)
    assert (entry["kind"], entry["udfType"], entry["identifier"]) == ("Completion", "Query", "messages:list")
    [line] = entry["logLines"]
    assert (line["messages"], line["level"], line["isTruncated"]) == (["'listing'", "'logs'"], "LOG", False)
    assert entry["caller"] == "HttpApi"
    assert entry["usageStats"]["databaseReadDocuments"] == 0


async def test_others_get_strings(admin: httpx2.AsyncClient, deployment: Deployment) -> None:
    since = deployment.log.cursor
    await admin.post("/api/query", json={"path": "messages:list", "args": {"channel": "logs"}})
    [entry] = await read(admin, deployment, since)
    assert entry["logLines"] == ["[LOG] 'listing' 'logs'"]


async def test_the_measured_work_is_in_the_log(admin: httpx2.AsyncClient, deployment: Deployment) -> None:
    for body in "abc":
        await deployment.mutation("messages:send", {"channel": "work", "body": body})
    since = deployment.log.cursor
    await deployment.query("messages:list", {"channel": "work"})
    await deployment.query("messages:list", {"channel": "work"})
    computed, cached = await read(admin, deployment, since)
    assert (computed["usageStats"]["databaseReadDocuments"], computed["cachedResult"]) == (3, False)
    assert (cached["usageStats"]["databaseReadDocuments"], cached["cachedResult"]) == (0, True)


async def test_a_reader_is_answered_when_something_happens(admin: httpx2.AsyncClient, deployment: Deployment) -> None:
    waiting = asyncio.create_task(read(admin, deployment, deployment.log.cursor))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    await deployment.query("messages")
    [entry] = await waiting
    assert entry["identifier"] == "messages"


async def test_the_older_stream_has_only_ends(admin: httpx2.AsyncClient, deployment: Deployment) -> None:
    since = deployment.log.cursor
    await deployment.action("messages:sendAndList", {"body": "x"})
    response = await admin.get("/api/stream_udf_execution", params={"cursor": since})
    assert {entry["kind"] for entry in response.json()["entries"]} == {"Completion"}


async def test_a_client_may_ask_for_one_of_its_requests(admin: httpx2.AsyncClient, deployment: Deployment) -> None:
    session = "b831f486-43ac-4d02-976e-a1a6000c618a"
    since = deployment.log.cursor
    request_id = hashlib.sha256(f"{session}|3".encode()).hexdigest()[:16]
    await deployment.query("messages")
    await deployment.functions.query(Call(FunctionPath("messages.js", "default"), {}, request_id=request_id))
    entries = await read(admin, deployment, since, params={"sessionId": session, "clientRequestCounter": 3})
    assert [entry["requestId"] for entry in entries] == [request_id]


@pytest.mark.parametrize("path", ["stream_function_logs", "stream_udf_execution"])
async def test_only_administrators_may_read(client: httpx2.AsyncClient, admin: httpx2.AsyncClient, path: str) -> None:
    refused = await client.get(f"/api/{path}", params={"cursor": 0})
    assert (refused.status_code, refused.json()["code"]) == (403, "BadDeployKey")
    assert (await admin.get(f"/api/{path}")).json()["code"] == "BadQueryArgs"


async def test_lines_of_an_action_can_be_read_while_it_runs(
    deploy: Any, admin: httpx2.AsyncClient, deployment: Deployment
) -> None:
    source = """
    import { actionGeneric as action } from "convex/server";
    export const slow = action(async () => {
      console.log("begun");
      await new Promise((resolve) => setTimeout(resolve, 400));
      console.log("done");
    });
    """
    await deploy(deployment, {"slow.ts": source})
    since = deployment.log.cursor
    running = asyncio.create_task(deployment.action("slow:slow"))
    [first] = await read(admin, deployment, since)
    assert (first["kind"], first["identifier"], first["logLines"]) == ("Progress", "slow:slow", ["[LOG] 'begun'"])
    assert not running.done()
    assert (await running).log_texts == ["[LOG] 'begun'", "[LOG] 'done'"]
    _, second, end = await read(admin, deployment, since)
    assert (second["kind"], second["logLines"]) == ("Progress", ["[LOG] 'done'"])
    assert (end["kind"], end["logLines"]) == ("Completion", [])
    assert first["executionId"] == second["executionId"] == end["executionId"]
