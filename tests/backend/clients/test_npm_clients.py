"""ConvexClient, ConvexReactClient and ConvexHttpClient on one deployment."""

import asyncio
from typing import Any

import httpx2
import pytest
import pytest_asyncio

pytestmark = pytest.mark.asyncio(loop_scope="module")

Deployment = Any
NodeClients = Any

LIST = "_system/frontend/listTableScan"
ADD = "_system/frontend/addDocument"
SIZE = "_system/frontend/tableSize"

ADA = {"issuer": "https://a.example", "subject": "ada", "name": "Ada"}


def texts(documents: list[dict[str, Any]]) -> list[str]:
    return [document["text"] for document in reversed(documents)]


async def add(client: Any, *items: str, **options: Any) -> Any:
    return await client.mutation(ADD, table="notes", documents=[{"text": item} for item in items], **options)


@pytest_asyncio.fixture(params=["browser", "react"], loop_scope="module")
async def client(request: Any, node: NodeClients, deployment: Deployment) -> Any:
    return await node.open(request.param, deployment.url, deployment.admin_key)


async def test_a_subscription_follows_the_clients_own_mutations(client: Any) -> None:
    notes = await client.subscribe(LIST, table="notes", limit=10)
    assert await notes.next() == []
    assert await add(client, "one") == {"success": True}
    assert texts(await notes.next()) == ["one"]
    await add(client, "two", "three")
    assert texts(await notes.next()) == ["one", "two", "three"]


async def test_subscriptions_cross_between_all_kinds_of_clients(node: NodeClients, deployment: Deployment) -> None:
    kinds = ("browser", "react", "http")
    browser, react, http = [await node.open(kind, deployment.url, deployment.admin_key) for kind in kinds]
    watching = [await client.subscribe(LIST, table="notes", limit=10) for client in (browser, react)]
    for notes in watching:
        assert await notes.next() == []
    for client, text in ((browser, "from the browser"), (react, "from react"), (http, "over http")):
        await add(client, text)
        for notes in watching:
            assert texts(await notes.next())[-1] == text
    assert texts(await http.query(LIST, table="notes", limit=1)) == ["over http"]


async def test_mutations_arrive_in_the_order_they_were_made(client: Any) -> None:
    size = await client.subscribe(SIZE, tableName="notes")
    assert await size.next() == 0
    await asyncio.gather(*(add(client, str(number)) for number in range(50)))
    await size.until(lambda count: count == 50)
    notes = await client.query(LIST, table="notes", limit=50)
    assert texts(notes) == [str(number) for number in range(50)]


async def test_an_optimistic_update_gives_way_to_the_result_without_showing_both(client: Any) -> None:
    notes = await client.subscribe(LIST, table="notes", limit=10)
    assert await notes.next() == []
    guess = {"path": LIST, "args": {"table": "notes", "limit": 10}, "item": {"text": "hi", "guessed": True}}
    await add(client, "hi", optimistic=guess)
    shown = [await notes.next(), await notes.next()]
    assert [[document.get("guessed", False) for document in result] for result in shown] == [[True], [False]]


async def test_a_failed_mutation_takes_its_optimistic_update_back(client: Any) -> None:
    notes = await client.subscribe(LIST, table="notes", limit=10)
    assert await notes.next() == []
    guess = {"path": LIST, "args": {"table": "notes", "limit": 10}, "item": {"text": "hi"}}
    with pytest.raises(Exception, match="isn't a valid document") as caught:
        await client.mutation(ADD, table="notes", documents=[{"_text": "hi"}], optimistic=guess)
    error: Any = caught.value
    assert "Field '_text' starts with an underscore" in error.data
    assert [len(await notes.next()), len(await notes.next())] == [1, 0]


async def test_a_failing_query_reaches_the_subscriber_and_recovers(client: Any, deployment: Deployment) -> None:
    lookup = await client.subscribe("_system/frontend/fileStorageV2:getFile", storageId="nope")
    with pytest.raises(
        Exception, match=r"\[CONVEX Q\(_system/frontend/fileStorageV2:getFile\)\] \[Request ID: [0-9a-f]{16}\]"
    ):
        await lookup.next()
    size = await client.subscribe(SIZE, tableName="notes")
    assert await size.next() == 0


async def test_an_unsubscribed_query_sends_no_more_updates(client: Any) -> None:
    notes = await client.subscribe(LIST, table="notes", limit=10)
    size = await client.subscribe(SIZE, tableName="notes")
    assert (await notes.next(), await size.next()) == ([], 0)
    await notes.stop()
    await add(client, "one")
    assert await size.next() == 1
    assert notes.results.empty()


async def test_anonymous_clients_and_impersonators_may_not_call_system_functions(
    node: NodeClients, deployment: Deployment
) -> None:
    anonymous = await node.open("browser", deployment.url)
    impersonator = await node.open("react", deployment.url, deployment.admin_key, ADA)
    http = await node.open("http", deployment.url, deployment.admin_key, ADA)
    for client in (anonymous, impersonator, http):
        with pytest.raises(Exception, match="Operation query not permitted"):
            await client.query(SIZE, tableName="notes")
        with pytest.raises(Exception, match="Operation mutation not permitted"):
            await add(client, "one")


async def test_becoming_an_administrator_runs_queries_again(node: NodeClients, deployment: Deployment) -> None:
    client = await node.open("browser", deployment.url)
    size = await client.subscribe(SIZE, tableName="notes")
    with pytest.raises(Exception, match="Operation query not permitted"):
        await size.next()
    await client.set_admin_auth(deployment.admin_key)
    assert await size.next() == 0


async def test_a_wrong_admin_key_leaves_the_client_anonymous(node: NodeClients, deployment: Deployment) -> None:
    client = await node.open("browser", deployment.url, "wrong|key")
    size = await client.subscribe(SIZE, tableName="notes")
    with pytest.raises(Exception, match="Operation query not permitted"):
        await size.next()


async def test_a_refused_token_leaves_the_client_unauthenticated(node: NodeClients, deployment: Deployment) -> None:
    client = await node.open("browser", deployment.url)
    assert await client.set_auth("not a token") is False
    with pytest.raises(Exception, match="Operation query not permitted"):
        await client.query(SIZE, tableName="notes")


async def test_a_result_of_many_megabytes_arrives_in_chunks(client: Any) -> None:
    await asyncio.gather(*(add(client, "é" * 400_000) for _ in range(8)))
    notes = await client.subscribe(LIST, table="notes", limit=10)
    assert [len(text) for text in texts(await notes.next())] == [400_000] * 8


async def test_files_are_uploaded_listed_and_deleted(client: Any) -> None:
    files = "_system/frontend/fileStorageV2:"
    count = await client.subscribe(f"{files}numFiles")
    assert await count.next() == 0
    async with httpx2.AsyncClient(timeout=60) as http:
        upload_url = await client.mutation(f"{files}generateUploadUrl")
        stored = (await http.post(upload_url, content=b"hello", headers={"content-type": "text/plain"})).json()
        assert await count.next() == 1
        (file,) = (await client.query(f"{files}fileMetadata", paginationOpts={"numItems": 5, "cursor": None}))["page"]
        assert (file["_id"], file["contentType"], file["size"]) == (stored["storageId"], "text/plain", 5)
        assert (await http.get(file["url"])).content == b"hello"
    await client.mutation(f"{files}deleteFile", storageId=file["_id"])
    assert await count.next() == 0
