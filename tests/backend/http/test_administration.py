import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import brotli
import httpx2
import orjson
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


MODULE = """
export const f = Object.assign(() => null, {
  isQuery: true, isPublic: true, invokeQuery: async () => '"answer"', exportArgs: () => '{"type":"any"}',
});
"""


def start_push(path: str = "m.js", source: str = MODULE) -> dict[str, object]:
    module = {"path": path, "source": source, "environment": "isolate"}
    app = {"definition": None, "dependencies": [], "changedModules": [module], "udfServerVersion": "1.44.0"}
    return {"appDefinition": app, "componentDefinitions": []}


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    async with Deployment.start() as started:
        yield started


@pytest.fixture
async def client(deployment: Deployment) -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Convex {deployment.admin_key}"}
    async with httpx2.AsyncClient(base_url=deployment.url, headers=headers, timeout=60) as opened:
        yield opened


async def push(client: httpx2.AsyncClient, body: dict[str, object]) -> Any:
    started = (await client.post("/api/deploy2/start_push", json=body)).json()
    change = {"schemaChange": started["schemaChange"], "timeoutMs": 10000, "dryRun": False}
    assert (await client.post("/api/deploy2/wait_for_schema", json=change)).json() == {"type": "complete"}
    return await client.post("/api/deploy2/finish_push", json={"startPush": started, "dryRun": False})


async def test_a_compressed_push_makes_a_function_callable(client: httpx2.AsyncClient, deployment: Deployment) -> None:
    headers = {"Content-Encoding": "br", "Content-Type": "application/json"}
    body = brotli.compress(orjson.dumps(start_push()), mode=brotli.MODE_TEXT, quality=4)
    started = (await client.post("/api/deploy2/start_push", content=body, headers=headers)).json()
    assert started["analysis"][""]["functions"]["m.js"]["functions"][0]["name"] == "f"
    finished = await client.post("/api/deploy2/finish_push", json={"startPush": started, "dryRun": False})
    assert finished.status_code == 200
    assert (await deployment.query("m:f")).value == '"answer"'


async def test_the_hashes_of_the_last_push_are_reported(client: httpx2.AsyncClient) -> None:
    async def hashes() -> Any:
        return (await client.post("/api/get_config_hashes", json={"version": "1.44.0"})).json()

    empty: dict[str, object] = {
        "config": {"functions": "convex/"},
        "moduleHashes": [],
        "udfServerVersion": None,
        "nodeVersion": None,
    }
    assert await hashes() == empty
    await push(client, start_push())
    known = await hashes()
    assert known["udfServerVersion"] == "1.44.0"
    assert [(entry["path"], len(entry["hash"])) for entry in known["moduleHashes"]] == [("m.js", 64)]


async def test_errors_of_a_push_say_that_they_are_but_errors_of_its_form_do_not(client: httpx2.AsyncClient) -> None:
    broken = await client.post("/api/deploy2/start_push", json=start_push(source="throw new Error('boom')"))
    assert broken.status_code == 400
    assert broken.json()["code"] == "InvalidModules"
    assert broken.json()["message"].startswith("Hit an error while pushing:\nLoading the pushed modules")
    misnamed = await client.post("/api/deploy2/start_push", json=start_push(path="foo-bar.js"))
    assert misnamed.json()["code"] == "InvalidConfig"
    assert misnamed.json()["message"].startswith("foo-bar.js is not a valid path to a Convex module. ")


@pytest.mark.parametrize("path", ["get_config_hashes", "deploy2/start_push", "deploy2/finish_push"])
async def test_only_administrators_may_push(deployment: Deployment, path: str) -> None:
    async with httpx2.AsyncClient(base_url=deployment.url, timeout=60) as stranger:
        refused = await stranger.post(f"/api/{path}", json={})
        assert (refused.status_code, refused.json()["code"]) == (403, "BadDeployKey")
        wrong = await stranger.post(f"/api/{path}", json={"adminKey": "wrong"})
        assert (wrong.status_code, wrong.json()["code"]) == (401, "BadAdminKey")


async def test_the_key_may_be_in_the_body(deployment: Deployment) -> None:
    async with httpx2.AsyncClient(base_url=deployment.url, timeout=60) as client:
        answer = await client.post("/api/get_config_hashes", json={"adminKey": deployment.admin_key})
    assert answer.status_code == 200


async def test_a_body_that_is_not_json_is_refused(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/api/deploy2/start_push", content=b"{}", headers={"Content-Type": "text/plain"})
    assert answer.json() == {
        "code": "BadJsonBody",
        "message": "Expected request with `Content-Type: application/json`",
    }


async def test_the_report_of_a_finished_push_is_taken(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/api/deploy2/report_push_completed", json={"spans": []})
    assert (answer.status_code, answer.json()) == (200, None)


async def test_what_was_deployed_survives_a_restart(tmp_path: Path) -> None:
    database = tmp_path / "convex.sqlite3"
    async with Deployment.start(database=database) as deployment:
        headers = {"Authorization": f"Convex {deployment.admin_key}"}
        async with httpx2.AsyncClient(base_url=deployment.url, headers=headers, timeout=60) as client:
            assert (await push(client, start_push())).status_code == 200
        before = deployment.application
    async with Deployment.start(database=database) as deployment:
        assert deployment.application == before
        assert (await deployment.query("m:f")).value == '"answer"'
