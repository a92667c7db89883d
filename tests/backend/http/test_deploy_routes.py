from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import brotli
import httpx2
import orjson
import pytest

from convex_evals.backend.deployment import Deployment

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
