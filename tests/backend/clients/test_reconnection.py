"""Clients that lose their connection, or their deployment, and come back."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from convex_evals.backend.deployment import Deployment

pytestmark = pytest.mark.asyncio(loop_scope="module")

NodeClients = Any
Wire = Any

LIST = "_system/frontend/listTableScan"
ADD = "_system/frontend/addDocument"
SIZE = "_system/frontend/tableSize"


async def add(client: Any, text: str) -> Any:
    return await client.mutation(ADD, table="notes", documents=[{"text": text}])


async def size_of(deployment: Deployment) -> str | None:
    return (await deployment.query(SIZE, {"tableName": "notes"})).value


async def test_a_client_whose_connection_is_cut_comes_back_and_catches_up(
    node: NodeClients, deployment: Deployment, wire: Wire
) -> None:
    client = await node.open("browser", wire.url, deployment.admin_key)
    size = await client.subscribe(SIZE, tableName="notes")
    assert await size.next() == 0
    wire.cut()
    await deployment.mutation(ADD, {"table": "notes", "documents": [{"text": "meanwhile"}]})
    assert await size.until(lambda count: count == 1) == 1
    await add(client, "afterwards")
    assert await size.until(lambda count: count == 2) == 2
    assert wire.connections == 2


async def test_a_mutation_whose_answer_was_lost_is_not_run_again(
    node: NodeClients, deployment: Deployment, wire: Wire, until: Any
) -> None:
    async def is_added() -> bool:
        return await size_of(deployment) == "1.0"

    client = await node.open("browser", wire.url, deployment.admin_key)
    size = await client.subscribe(SIZE, tableName="notes")
    assert await size.next() == 0
    wire.delivering.clear()
    adding = asyncio.create_task(add(client, "once"))
    await until(is_added)
    wire.cut()
    wire.delivering.set()
    assert await adding == {"success": True}
    assert await size.until(lambda count: count > 0) == 1
    assert await size_of(deployment) == "1.0"


async def test_mutations_made_while_offline_arrive_in_order(
    node: NodeClients, deployment: Deployment, wire: Wire
) -> None:
    client = await node.open("browser", wire.url, deployment.admin_key)
    size = await client.subscribe(SIZE, tableName="notes")
    assert await size.next() == 0
    wire.cut()
    await asyncio.gather(*(add(client, str(number)) for number in range(5)))
    notes = await client.query(LIST, table="notes", limit=10)
    assert [note["text"] for note in notes] == ["4", "3", "2", "1", "0"]


async def test_clients_survive_a_restart_of_the_deployment(node: NodeClients, tmp_path: Path) -> None:
    database = tmp_path / "deployment.sqlite3"
    async with Deployment.start(database=database, instance_secret="s") as first:
        port = int(first.url.rpartition(":")[2])
        clients = [await node.open(kind, first.url, first.admin_key) for kind in ("browser", "react")]
        sizes = [await client.subscribe(SIZE, tableName="notes") for client in clients]
        await add(clients[0], "before")
        for size in sizes:
            await size.until(lambda count: count == 1)
    async with Deployment.start(port=port, database=database, instance_secret="s"):
        await add(clients[1], "after")
        for size in sizes:
            await size.until(lambda count: count == 2)
        for client in clients:
            await client.close()
