import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.deployment import Deployment
from convex_evals.backend.functions import Call

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROUTES = [
    ("POST", "/api/delete_tables"),
    ("POST", "/api/cancel_job"),
    ("POST", "/api/cancel_all_jobs"),
    ("POST", "/api/delete_scheduled_functions_table"),
    ("GET", "/api/shapes2"),
    ("GET", "/api/get_indexes"),
    ("POST", "/api/v1/pause_deployment"),
    ("POST", "/api/v1/unpause_deployment"),
    ("GET", "/api/v1/deployment_info"),
    ("GET", "/api/check_admin_key"),
]

CLI = {"Convex-Client": "npm-cli-1.44.0"}


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_everyone_else_is_refused(client: httpx2.AsyncClient, method: str, path: str) -> None:
    response = await client.request(method, path, json={} if method == "POST" else None)
    assert (response.status_code, response.json()["code"]) == (403, "BadDeployKey")


async def test_a_key_can_be_checked(admin: httpx2.AsyncClient) -> None:
    assert (await admin.get("/api/check_admin_key")).json() == {"success": True, "allowedOps": [], "isReadOnly": False}


async def test_a_paused_deployment_runs_nothing_until_it_is_resumed(admin: httpx2.AsyncClient) -> None:
    async def run() -> Any:
        return (await admin.post("/api/query", json={"path": "messages", "args": {}})).json()

    assert (await admin.post("/api/v1/pause_deployment", json={})).status_code == 200
    assert "Cannot run functions while this deployment is paused." in (await run())["errorMessage"]
    assert (await admin.post("/api/v1/unpause_deployment", json={})).status_code == 200
    assert (await run())["value"] == "default"


async def test_what_is_here_can_be_listed(admin: httpx2.AsyncClient) -> None:
    assert (await admin.get("/api/v1/deployment_info")).json() == {"kind": "selfHosted"}
    assert (await admin.get("/api/shapes2")).json() == {
        "counters": {"type": "Unknown"},
        "messages": {"type": "Unknown"},
    }
    assert (await admin.get("/api/get_indexes")).json() == {
        "indexes": [
            {
                "table": "messages",
                "name": "by_channel",
                "fields": ["channel", "_creationTime"],
                "backfill": {"state": "done"},
                "staged": False,
            }
        ]
    }


async def test_tables_can_be_deleted_unless_the_schema_names_them(
    admin: httpx2.AsyncClient, deployment: Deployment
) -> None:
    transaction = deployment.database.begin()
    transaction.insert("", "leftover", {})
    deployment.database.commit(transaction)
    assert (await admin.post("/api/delete_tables", json={"tableNames": ["leftover"]})).status_code == 200
    assert "leftover" not in deployment.database.begin().catalog("").tables
    refused = await admin.post("/api/delete_tables", json={"tableNames": ["messages"]})
    assert (refused.status_code, refused.json()["message"]) == (
        400,
        'Failed to delete table "messages" because it appears in the schema',
    )


async def test_jobs_can_be_cancelled_and_forgotten(admin: httpx2.AsyncClient, deployment: Deployment) -> None:
    def jobs() -> list[Any]:
        return [row.value["state"] for row in deployment.database.begin().system.scan("", "_scheduled_jobs")]

    transaction = deployment.database.begin()
    fields: dict[str, Any] = {"udfPath": "a.js:b", "state": {"type": "pending"}, "nextTs": 2**62, "completedTs": None}
    ids = [transaction.system.insert("", "_scheduled_jobs", fields).id for _ in range(3)]
    deployment.database.commit(transaction)
    await admin.post("/api/cancel_job", json={"id": ids[0]})
    assert jobs() == [{"type": "canceled"}, {"type": "pending"}, {"type": "pending"}]
    await admin.post("/api/cancel_all_jobs", json={"udfPath": "other.js:b"})
    assert jobs().count({"type": "pending"}) == 2
    await admin.post("/api/cancel_all_jobs", json={"udfPath": "a.js:b"})
    assert jobs() == [{"type": "canceled"}] * 3
    await admin.post("/api/delete_scheduled_functions_table", json={})
    assert jobs() == []


@pytest.mark.parametrize("job", ["x", "j57000820c20a1g7104gm2rc1m70ynr8"])
async def test_a_job_must_be_named_by_its_id(admin: httpx2.AsyncClient, job: str) -> None:
    refused = await admin.post("/api/cancel_job", json={"id": job})
    assert refused.json() == {"code": "InvalidId", "message": "Invalid ID for table _scheduled_jobs"}


@pytest_asyncio.fixture(loop_scope="module")
async def empty() -> AsyncIterator[Deployment]:
    async with Deployment.start() as started:
        yield started


@pytest_asyncio.fixture(loop_scope="module")
async def empty_admin(empty: Deployment) -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Convex {empty.admin_key}"}
    async with httpx2.AsyncClient(base_url=empty.url, headers=headers, timeout=60) as opened:
        yield opened


@pytest.mark.parametrize("api", ["/api", "/api/v1"])
async def test_variables_are_set_listed_and_deleted(empty_admin: httpx2.AsyncClient, api: str) -> None:
    changes = [{"name": "A", "value": "x"}, {"name": "B", "value": "y"}]
    answer = await empty_admin.post(f"{api}/update_environment_variables", json={"changes": changes})
    assert (answer.status_code, answer.content) == (200, b"")
    await empty_admin.post(f"{api}/update_environment_variables", json={"changes": [{"name": "A", "value": None}]})
    answer = await empty_admin.get(f"{api}/list_environment_variables")
    assert answer.json() == {"environmentVariables": {"B": "y"}}


async def test_a_bad_name_is_refused_and_nothing_is_set(empty_admin: httpx2.AsyncClient) -> None:
    changes = [{"name": "A", "value": "x"}, {"name": "1", "value": "y"}]
    answer = await empty_admin.post("/api/update_environment_variables", json={"changes": changes})
    assert (answer.status_code, answer.json()["code"]) == (400, "EnvironmentVariableNameInvalid")
    assert (await empty_admin.get("/api/list_environment_variables")).json() == {"environmentVariables": {}}


async def test_the_addresses_are_the_ports_until_they_are_set(
    empty_admin: httpx2.AsyncClient, empty: Deployment
) -> None:
    async def urls() -> object:
        return (await empty_admin.get("/api/v1/get_canonical_urls")).json()

    assert await urls() == {"convexCloudUrl": empty.url, "convexSiteUrl": empty.site_url}
    change = {"requestDestination": "convexSite", "url": "https://site.example.com"}
    assert (await empty_admin.post("/api/v1/update_canonical_url", json=change)).status_code == 200
    assert await urls() == {"convexCloudUrl": empty.url, "convexSiteUrl": "https://site.example.com"}


async def test_an_admin_key_can_be_checked(empty_admin: httpx2.AsyncClient) -> None:
    answer = await empty_admin.get("/api/check_admin_key")
    assert answer.json() == {"success": True, "allowedOps": [], "isReadOnly": False}


@pytest.mark.parametrize("path", ["check_admin_key", "list_environment_variables", "v1/get_canonical_urls"])
async def test_routes_of_administrators_refuse_anonymous_clients(empty: Deployment, path: str) -> None:
    async with httpx2.AsyncClient(base_url=empty.url, timeout=60) as stranger:
        assert (await stranger.get(f"/api/{path}")).status_code == 403


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


async def test_a_client_may_read_the_log_of_one_of_its_requests(
    admin: httpx2.AsyncClient, deployment: Deployment
) -> None:
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
