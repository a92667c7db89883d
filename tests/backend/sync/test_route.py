"""`http/app.py`: where the socket is found, and who finds it."""

from typing import Any

import httpx2
import pytest

Deployment = Any


@pytest.mark.parametrize("path", ["/api/sync", "/api/1.44.0/sync", "/api/anything/sync"])
async def test_the_socket_is_found_under_any_version(deployment: Deployment, path: str) -> None:
    client = await (await deployment.socket(path)).connect()
    await client.modify()
    assert await client.transition() == []


@pytest.mark.parametrize("header", ["python-0.8.1", "swift-9.9.9", "gibberish"])
async def test_every_client_is_welcome(deployment: Deployment, header: str) -> None:
    client = await (await deployment.socket(additional_headers={"Convex-Client": header})).connect()
    await client.modify()
    assert await client.transition() == []


async def test_only_npm_clients_get_chunks(deployment: Deployment) -> None:
    npm = await (await deployment.socket("/api/1.44.0/sync", max_size=None)).connect()
    python = await (
        await deployment.socket(max_size=None, additional_headers={"Convex-Client": "python-0.8.1"})
    ).connect()
    for client in (npm, python):
        await client.subscribe(0, "big", size=2_600_000)
    assert (await npm.receive())["type"] == "TransitionChunk"
    assert (await python.receive())["type"] == "Transition"


@pytest.mark.parametrize("path", ["/api/sync", "/api/1.44.0/sync"])
async def test_a_request_that_is_not_an_upgrade_gets_an_error_that_says_so(deployment: Deployment, path: str) -> None:
    async with httpx2.AsyncClient(timeout=60) as http:
        response = await http.get(deployment.server.origin + path)
    assert response.status_code == 400
    assert response.json() == {
        "code": "InvalidConnectionHeader",
        "message": "Connection header did not include upgrade",
    }
