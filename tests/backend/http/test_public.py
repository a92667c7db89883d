"""The part of a deployment that its own functions can reach: everything that needs no administrator."""

import asyncio
import base64
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from websockets.asyncio.client import connect

from convex_evals.backend.deployment import Deployment

APP = Path(__file__).parent / "app"
MESSAGES = Path(__file__).parents[1] / "app/convex"
ADA = base64.b64encode(json.dumps({"issuer": "https://x", "subject": "ada"}).encode()).decode()
ADMIN_GETS = [
    "/api/check_admin_key",
    "/api/list_environment_variables",
    "/api/v1/list_environment_variables",
    "/api/v1/get_canonical_urls",
    "/api/v1/deployment_info",
    "/api/shapes2",
    "/api/get_indexes",
    "/api/stream_function_logs?cursor=0",
    "/api/stream_udf_execution?cursor=0",
]
ADMIN_POSTS = [
    "/api/deploy2/start_push",
    "/api/deploy2/evaluate_push",
    "/api/deploy2/wait_for_schema",
    "/api/deploy2/finish_push",
    "/api/deploy2/report_push_completed",
    "/api/get_config_hashes",
    "/api/update_environment_variables",
    "/api/v1/update_environment_variables",
    "/api/update_canonical_url",
    "/api/v1/update_canonical_url",
    "/api/delete_tables",
    "/api/cancel_job",
    "/api/cancel_all_jobs",
    "/api/delete_scheduled_functions_table",
    "/api/v1/pause_deployment",
    "/api/v1/unpause_deployment",
    "/api/run_test_function",
]

pytestmark = pytest.mark.asyncio(loop_scope="module")


@asynccontextmanager
async def public_port(deployment: Deployment, *, site: bool) -> AsyncIterator[str]:
    """A port as functions see it: whoever connects is handed to the public part."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setblocking(False)

    async def accept() -> None:
        while True:
            accepted, _ = await asyncio.get_running_loop().sock_accept(listening)
            await deployment.serve_public(accepted, site=site)

    accepting = asyncio.create_task(accept())
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    accepting.cancel()
    await asyncio.wait({accepting})
    listening.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployment(deploy: Any) -> AsyncIterator[Deployment]:
    async with Deployment.start() as running:
        sources = {path.name: path.read_text() for path in MESSAGES.glob("*.ts")}
        await deploy(running, {**sources, "http.ts": (APP / "http.ts").read_text()})
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def main(deployment: Deployment) -> AsyncIterator[str]:
    async with public_port(deployment, site=False) as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(main: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=main, timeout=60) as public:
        yield public


async def test_public_functions_can_be_called(client: httpx2.AsyncClient) -> None:
    response = await client.post("/api/query", json={"path": "messages:whoami", "args": {}})
    assert response.json() == {"status": "success", "value": None}


@pytest.mark.parametrize("path", ADMIN_GETS)
async def test_no_key_opens_what_administrators_read(
    client: httpx2.AsyncClient, deployment: Deployment, path: str
) -> None:
    response = await client.get(path, headers={"Authorization": f"Convex {deployment.admin_key}"})
    assert (response.status_code, response.json()["code"]) == (401, "BadAdminKey")


@pytest.mark.parametrize("path", ADMIN_POSTS)
@pytest.mark.parametrize("where", ["header", "body"])
async def test_no_key_opens_what_administrators_change(
    client: httpx2.AsyncClient, deployment: Deployment, path: str, where: str
) -> None:
    headers = {"Authorization": f"Convex {deployment.admin_key}"} if where == "header" else {}
    response = await client.post(path, json={"adminKey": deployment.admin_key}, headers=headers)
    assert response.status_code in (401, 403)
    assert response.json()["code"] in ("BadAdminKey", "BadDeployKey")


@pytest.mark.parametrize("path", ["messages:hidden", "_system/cli/tables"])
@pytest.mark.parametrize("kind", ["query", "function"])
async def test_internal_and_system_functions_stay_closed(
    client: httpx2.AsyncClient, deployment: Deployment, path: str, kind: str
) -> None:
    for key in (deployment.admin_key, f"{deployment.admin_key}:{ADA}"):
        headers = {"Authorization": f"Convex {key}"}
        response = await client.post(f"/api/{kind}", json={"path": path, "args": {}}, headers=headers)
        assert (response.status_code, response.json()["code"]) == (401, "BadAdminKey")
    response = await client.post(f"/api/{kind}", json={"path": path, "args": {}})
    assert response.status_code == 403 or response.json()["status"] == "error"


@pytest.mark.parametrize("acting_as", [None, {"issuer": "https://x", "subject": "ada"}])
async def test_the_socket_takes_no_administrators_token(
    main: str, deployment: Deployment, acting_as: dict[str, str] | None
) -> None:
    async with connect(main.replace("http", "ws") + "/api/1.44.0/sync") as opened:
        await opened.send(json.dumps({"type": "Connect", "sessionId": "s", "connectionCount": 0}))
        token = {"type": "Authenticate", "baseVersion": 0, "tokenType": "Admin", "value": deployment.admin_key}
        await opened.send(json.dumps(token | ({"impersonating": acting_as} if acting_as else {})))
        async with asyncio.timeout(60):
            while (heard := json.loads(await opened.recv()))["type"] == "Ping":
                pass
    assert heard["type"] == "AuthError"
    assert "admin key was invalid" in heard["error"]


async def test_http_actions_answer_on_the_site_port_and_believe_no_key(deployment: Deployment) -> None:
    headers = {"Authorization": f"Convex {deployment.admin_key}:{ADA}"}
    async with public_port(deployment, site=True) as url, httpx2.AsyncClient(timeout=60) as site:
        assert (await site.get(f"{url}/whoami")).json() is None
        assert (await site.get(f"{deployment.site_url}/whoami", headers=headers)).json()["subject"] == "ada"
        refused = await site.get(f"{url}/whoami", headers=headers)
    assert refused.status_code == 500
    assert "admin key was invalid" in refused.text


async def test_a_connection_that_comes_after_the_end_is_closed() -> None:
    async with Deployment.start() as running, public_port(running, site=False) as url:
        async with httpx2.AsyncClient(base_url=url, timeout=60) as public:
            assert (await public.get("/version")).status_code == 200
        await running._stop()
        async with httpx2.AsyncClient(base_url=url, timeout=60) as public:
            with pytest.raises(httpx2.TransportError):
                await public.get("/version")


async def test_functions_have_a_limited_number_of_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convex_evals.backend.deployment.PUBLIC_CONNECTIONS", 3)
    async with Deployment.start() as running, public_port(running, site=False) as url:
        port = int(url.rpartition(":")[2])
        opened = []
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
            opened.append(writer)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        async with httpx2.AsyncClient(timeout=60) as graders:
            assert (await graders.get(f"{running.url}/version")).status_code == 200
        for each in (*opened, writer):
            each.close()
