"""Clients that ask for more than their share."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from convex_evals.backend.deployment import Deployment
from convex_evals.backend.sync.session import MOST_CALLS_IN_FLIGHT

pytestmark = pytest.mark.asyncio(loop_scope="module")

Hold = Callable[[str], Any]
Join = Callable[[Deployment], Awaitable[Any]]


async def test_a_socket_with_too_many_mutations_at_once_is_closed(
    deployment: Deployment, join: Join, hold: Hold
) -> None:
    client, bystander = await join(deployment), await join(deployment)
    gate = hold("1.0/insert")
    for number in range(MOST_CALLS_IN_FLIGHT + 2):
        await client.mutate(number, "notes:add", text=str(number))
    await asyncio.wait_for(client.connection.wait_closed(), 60)
    assert (client.connection.close_code, client.connection.close_reason) == (1013, "TooManyConcurrentMutations")
    gate.opened.set()
    await bystander.mutate(0, "notes:add", text="bystander")
    assert (await bystander.receive("MutationResponse"))["success"]
    listed = json.loads((await deployment.query("notes:list")).value or "")
    assert listed in (["0", "bystander"], ["bystander", "0"], ["bystander"])


async def test_a_hundred_requests_at_once_are_all_answered(deployment: Deployment) -> None:
    async with httpx2.AsyncClient(base_url=deployment.url, timeout=60) as client:

        async def ask(number: int) -> Any:
            kind, path = ("mutation", "notes:add") if number % 3 == 0 else ("query", "notes:echo")
            args = {"text": str(number)} if kind == "mutation" else {"value": number}
            return (await client.post(f"/api/{kind}", json={"path": path, "args": args})).json()["status"]

        assert await asyncio.gather(*(ask(number) for number in range(100))) == ["success"] * 100


async def test_a_crowd_of_subscribers_gets_every_update(deployment: Deployment, join: Join) -> None:
    clients = [await join(deployment) for _ in range(60)]
    for client in clients:
        await client.subscribe("notes:list")
        assert await client.value() == []
    for number in range(3):
        assert (await deployment.mutation("notes:add", {"text": str(number)})).succeeded
        expected = [str(n) for n in range(number + 1)]
        assert [await client.value() for client in clients] == [expected] * len(clients)


async def test_a_query_that_hoards_fails_alone_among_the_queries_of_a_socket(
    deployment: Deployment, join: Join
) -> None:
    client = await join(deployment)
    await client.subscribe("hostile:asQuery", {"name": "hoard"})
    await client.subscribe("notes:list")
    changes: dict[int, Any] = {}
    while len(changes) < 2:
        changes |= {change["queryId"]: change for change in (await client.receive("Transition"))["modifications"]}
    assert changes[0]["type"] == "QueryFailed"
    assert (changes[1]["type"], changes[1]["value"]) == ("QueryUpdated", [])
