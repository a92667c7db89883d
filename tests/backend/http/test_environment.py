from collections.abc import AsyncIterator

import httpx2
import pytest

from convex_evals.backend.deployment import Deployment


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    async with Deployment.start() as started:
        yield started


@pytest.fixture
async def client(deployment: Deployment) -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Convex {deployment.admin_key}"}
    async with httpx2.AsyncClient(base_url=deployment.url, headers=headers, timeout=60) as opened:
        yield opened


@pytest.mark.parametrize("api", ["/api", "/api/v1"])
async def test_variables_are_set_listed_and_deleted(client: httpx2.AsyncClient, api: str) -> None:
    changes = [{"name": "A", "value": "x"}, {"name": "B", "value": "y"}]
    answer = await client.post(f"{api}/update_environment_variables", json={"changes": changes})
    assert (answer.status_code, answer.content) == (200, b"")
    await client.post(f"{api}/update_environment_variables", json={"changes": [{"name": "A", "value": None}]})
    answer = await client.get(f"{api}/list_environment_variables")
    assert answer.json() == {"environmentVariables": {"B": "y"}}


async def test_a_bad_name_is_refused_and_nothing_is_set(client: httpx2.AsyncClient) -> None:
    changes = [{"name": "A", "value": "x"}, {"name": "1", "value": "y"}]
    answer = await client.post("/api/update_environment_variables", json={"changes": changes})
    assert (answer.status_code, answer.json()["code"]) == (400, "EnvironmentVariableNameInvalid")
    assert (await client.get("/api/list_environment_variables")).json() == {"environmentVariables": {}}


async def test_the_addresses_are_the_ports_until_they_are_set(
    client: httpx2.AsyncClient, deployment: Deployment
) -> None:
    async def urls() -> object:
        return (await client.get("/api/v1/get_canonical_urls")).json()

    assert await urls() == {"convexCloudUrl": deployment.url, "convexSiteUrl": deployment.site_url}
    change = {"requestDestination": "convexSite", "url": "https://site.example.com"}
    assert (await client.post("/api/v1/update_canonical_url", json=change)).status_code == 200
    assert await urls() == {"convexCloudUrl": deployment.url, "convexSiteUrl": "https://site.example.com"}


async def test_an_admin_key_can_be_checked(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/api/check_admin_key")
    assert answer.json() == {"success": True, "allowedOps": [], "isReadOnly": False}


@pytest.mark.parametrize("path", ["check_admin_key", "list_environment_variables", "v1/get_canonical_urls"])
async def test_strangers_learn_nothing(deployment: Deployment, path: str) -> None:
    async with httpx2.AsyncClient(base_url=deployment.url, timeout=60) as stranger:
        assert (await stranger.get(f"/api/{path}")).status_code == 403
