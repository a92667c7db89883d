"""An application's own functions, called and watched by real clients. The application is in `app/`."""

import asyncio
import re
from typing import Any

import pytest
import pytest_asyncio

from convex_evals.backend.environment import VariableChange

pytestmark = pytest.mark.asyncio(loop_scope="module")

App = Any
Deployment = Any
NodeClients = Any
PushApp = Any
StartClient = Any
Wire = Any

ADA = {"issuer": "https://a.example", "subject": "ada", "name": "Ada"}


@pytest_asyncio.fixture(loop_scope="module")
async def client(node: NodeClients, deployed: Deployment) -> Any:
    return await node.open("browser", deployed.url)


async def test_functions_are_shared_by_clients_of_every_kind(
    node: NodeClients, deployed: Deployment, python_client: StartClient
) -> None:
    browser, react, http = [await node.open(kind, deployed.url) for kind in ("browser", "react", "http")]
    python = await python_client(deployed.url)
    await python.subscribe("notes", "notes:list", topic="t")
    watching = [await client.subscribe("notes:list", topic="t") for client in (browser, react)]
    expected: list[str] = []
    for client in (None, browser, react, http, python):
        if client is not None:
            expected.append(f"note {len(expected)}")
            await client.mutation("notes:add", topic="t", text=expected[-1])
        assert [await notes.next() for notes in watching] == [expected, expected]
        assert await python.next("notes") == expected


async def test_a_query_runs_again_only_when_its_range_is_written(client: Any) -> None:
    runs = await client.subscribe("notes:runs", topic="mine")
    first = await runs.next()
    await client.mutation("notes:add", topic="other", text="x")
    await client.mutation("notes:increment")
    assert await client.query("notes:list", topic="other") == ["x"]
    assert runs.results.empty()
    await client.mutation("notes:add", topic="mine", text="y")
    second = await runs.next()
    assert (second[0], second[1] != first[1]) == ("y", True)
    await client.mutation("notes:add", topic="mine", text="behind the first one")
    assert await client.query("notes:counter") == 1
    assert runs.results.empty()


async def test_concurrent_increments_of_several_clients_are_all_counted(
    node: NodeClients, deployed: Deployment
) -> None:
    clients = [await node.open(kind, deployed.url) for kind in ("browser", "react", "browser", "http")]
    await asyncio.gather(*(client.mutation("notes:increment") for client in clients for _ in range(10)))
    assert await clients[0].query("notes:counter") == 40


def error_data(error: Any) -> object:
    return error.data


async def test_failures_reach_the_caller_and_leave_nothing_behind(client: Any) -> None:
    with pytest.raises(
        Exception, match=r"^\[CONVEX M\(notes:fail\)\] \[Request ID: [0-9a-f]{16}\] Server Error"
    ) as plain:
        await client.mutation("notes:fail", how="plainly")
    assert re.search(r"Server Error\nUncaught Error: boom\n.*\n  Called by client$", str(plain.value), re.DOTALL)
    assert error_data(plain.value) is None
    with pytest.raises(Exception, match="Uncaught ConvexError") as with_data:
        await client.mutation("notes:fail", how="with data")
    assert error_data(with_data.value) == {"code": "7n"}
    with pytest.raises(Exception, match="ArgumentValidationError: Object is missing the required field `how`"):
        await client.mutation("notes:fail")
    with pytest.raises(Exception, match=re.escape("Could not find public function for 'notes:secret'.")):
        await client.mutation("notes:secret")
    assert await client.query("notes:list", topic="failures") == []


async def test_administrators_may_call_internal_functions(node: NodeClients, deployed: Deployment) -> None:
    client = await node.open("browser", deployed.url, deployed.admin_key)
    assert await client.mutation("notes:secret") == "secret"
    assert await client.query("notes:whoami") is None


async def test_an_impersonated_user_is_who_functions_see(node: NodeClients, deployed: Deployment) -> None:
    for kind in ("browser", "react", "http"):
        client = await node.open(kind, deployed.url, deployed.admin_key, ADA)
        assert await client.query("notes:whoami") == "Ada"
        assert await client.mutation("notes:secret") == "secret"


async def test_queries_follow_the_identity_of_their_client(node: NodeClients, deployed: Deployment) -> None:
    client = await node.open("browser", deployed.url)
    whoami = await client.subscribe("notes:whoami")
    assert await whoami.next() is None
    await client.set_admin_auth(deployed.admin_key, ADA)
    assert await whoami.next() == "Ada"


async def test_an_action_answers_and_its_writes_reach_subscribers(client: Any) -> None:
    notes = await client.subscribe("notes:list", topic="t")
    assert await notes.next() == []
    assert await client.action("notes:shout", topic="t", text="hey") == "hey!"
    assert await notes.next() == ["HEY"]


async def test_a_slow_action_holds_up_nothing(client: Any) -> None:
    begun = await client.subscribe("notes:list", topic="begun")
    waiting = asyncio.create_task(client.action("notes:wait", topic="t"))
    await begun.until(lambda topics: topics == ["t"])
    await client.mutation("notes:increment")
    assert await client.query("notes:counter") == 1
    assert not waiting.done()
    await client.mutation("notes:add", topic="t", text="now")
    assert await waiting == "now"


async def test_an_action_runs_on_when_its_client_lost_the_connection(
    node: NodeClients, deployed: Deployment, wire: Wire
) -> None:
    client = await node.open("browser", wire.url)
    begun = await client.subscribe("notes:list", topic="begun")
    waiting = asyncio.create_task(client.action("notes:wait", topic="t"))
    await begun.until(lambda topics: topics == ["t"])
    wire.cut()
    with pytest.raises(Exception, match="Connection lost while action was in flight"):
        await waiting
    cursor = deployed.log.cursor
    await client.mutation("notes:add", topic="t", text="now")
    await until_logged(deployed, "notes:wait", cursor)


async def until_logged(deployment: Deployment, identifier: str, cursor: float) -> None:
    """Waits until a call of this function has ended."""
    async with asyncio.timeout(60):
        while True:
            page = await deployment.log.wait_after(cursor, 10)
            cursor = page.cursor
            if any(entry.identifier == identifier for entry in page.entries):
                return


async def test_a_page_keeps_its_extent_over_writes_and_reconnections(
    node: NodeClients, deployed: Deployment, wire: Wire
) -> None:
    client = await node.open("browser", wire.url)
    for text in "abcd":
        await client.mutation("notes:add", topic="pages", text=text)
    first_page = await client.subscribe("notes:page", paginationOpts={"numItems": 2, "cursor": None, "id": 1})
    assert (await first_page.next())["page"] == ["d", "c"]
    await client.mutation("notes:add", topic="pages", text="e")
    assert (await first_page.next())["page"] == ["e", "d", "c"]
    wire.cut()
    await client.mutation("notes:add", topic="pages", text="f")
    assert (await first_page.until(lambda result: len(result["page"]) > 3))["page"] == ["f", "e", "d", "c"]


async def test_new_code_is_noticed_by_subscribers(
    node: NodeClients, deployment: Deployment, app: App, push_app: PushApp
) -> None:
    client = await node.open("browser", deployment.url)
    counter = await client.subscribe("notes:counter")
    with pytest.raises(Exception, match=re.escape("Could not find public function for 'notes:counter'.")):
        await counter.next()
    await push_app(deployment, app)
    assert await counter.next() == 0
    await push_app(deployment, app.without("counter"))
    with pytest.raises(Exception, match=re.escape("Could not find public function for 'notes:counter'.")):
        await counter.next()


async def test_a_changed_environment_variable_is_noticed_by_subscribers(client: Any, deployed: Deployment) -> None:
    setting = await client.subscribe("notes:setting")
    assert await setting.next() is None
    await deployed.variables.update([VariableChange("SETTING", "on")])
    assert await setting.next() == "on"
