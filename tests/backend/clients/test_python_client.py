"""The client of PyPI's `convex`, which is the Rust client underneath, beside clients of npm."""

import asyncio
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

Deployment = Any
NodeClients = Any
StartClient = Any

LIST = "_system/frontend/listTableScan"
ADD = "_system/frontend/addDocument"


async def add(client: Any, *items: str) -> Any:
    return await client.mutation(ADD, table="notes", documents=[{"text": item} for item in items])


def texts(documents: list[dict[str, Any]]) -> list[str]:
    return [document["text"] for document in reversed(documents)]


async def test_a_client_may_begin_with_a_mutation(deployment: Deployment, python_client: StartClient) -> None:
    client = await python_client(deployment.url, deployment.admin_key)
    assert await add(client, "one") == {"success": True}
    assert texts(await client.query(LIST, table="notes", limit=10)) == ["one"]


async def test_failures_are_answered_at_once_with_their_data(
    deployment: Deployment, python_client: StartClient
) -> None:
    client = await python_client(deployment.url, deployment.admin_key)
    with pytest.raises(Exception, match="isn't a valid document") as caught:
        await client.mutation(ADD, table="notes", documents=[{"_x": 1}])
    error: Any = caught.value
    assert "Field '_x' starts with an underscore" in error.data
    with pytest.raises(Exception, match="Couldn't find system module"):
        await client.query("_system/frontend/nope")


async def test_without_the_key_nothing_of_the_system_is_open(
    deployment: Deployment, python_client: StartClient
) -> None:
    client = await python_client(deployment.url)
    with pytest.raises(Exception, match="Operation query not permitted"):
        await client.query(LIST, table="notes", limit=10)
    with pytest.raises(Exception, match="Operation mutation not permitted"):
        await add(client, "one")


async def test_updates_cross_between_python_and_npm_clients(
    deployment: Deployment, node: NodeClients, python_client: StartClient
) -> None:
    watcher = await python_client(deployment.url, deployment.admin_key)
    writer = await python_client(deployment.url, deployment.admin_key)
    browser = await node.open("browser", deployment.url, deployment.admin_key)
    await watcher.subscribe("notes", LIST, table="notes", limit=10)
    in_browser = await browser.subscribe(LIST, table="notes", limit=10)
    assert await watcher.next("notes") == await in_browser.next() == []

    await add(writer, "from python")
    assert texts(await watcher.next("notes")) == texts(await in_browser.next()) == ["from python"]

    await add(browser, "from npm")
    assert texts(await watcher.next("notes")) == texts(await in_browser.next()) == ["from python", "from npm"]


async def test_mutations_of_several_clients_at_once_all_arrive(
    deployment: Deployment, node: NodeClients, python_client: StartClient
) -> None:
    clients = [await python_client(deployment.url, deployment.admin_key) for _ in range(2)]
    clients += [await node.open(kind, deployment.url, deployment.admin_key) for kind in ("browser", "react")]
    await asyncio.gather(*(add(client, str(number)) for client in clients for number in range(10)))
    assert len(await clients[0].query(LIST, table="notes", limit=100)) == 40
