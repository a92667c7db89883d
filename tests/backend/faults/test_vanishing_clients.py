"""Clients that leave without a word, in the middle of everything."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from convex_evals.backend.deployment import Deployment

pytestmark = pytest.mark.asyncio(loop_scope="module")

Hold = Callable[[str], Any]
Join = Callable[[Deployment], Awaitable[Any]]
Until = Callable[..., Awaitable[None]]


def sessions(deployment: Deployment) -> int:
    return len(deployment.sync._sessions)


async def test_a_mutation_of_a_client_that_vanished_has_one_effect(
    deployment: Deployment, hold: Hold, join: Join, until: Until
) -> None:
    client = await join(deployment)
    gate = hold("1.0/insert")
    await client.mutate(0, "notes:add", text="once")
    await gate.reached.wait()
    client.vanish()
    await until(lambda: sessions(deployment) == 0)
    gate.opened.set()
    await until(lambda: _notes(deployment, '["once"]'))


async def _notes(deployment: Deployment, expected: str) -> bool:
    return (await deployment.query("notes:list")).value == expected


async def test_a_client_that_comes_back_and_asks_again_is_answered_once(
    deployment: Deployment, hold: Hold, join: Join, until: Until
) -> None:
    client = await join(deployment)
    gate = hold("1.0/insert")
    await client.mutate(0, "notes:add", text="once")
    await gate.reached.wait()
    client.vanish()
    again = await join(deployment)
    await again.send(type="Connect", sessionId=client.session, connectionCount=1)
    await again.mutate(0, "notes:add", text="once")
    gate.opened.set()
    assert (await again.receive("MutationResponse"))["result"] == "once"
    assert (await deployment.query("notes:list")).value == '["once"]'


async def test_mutations_that_were_not_begun_are_not_run(
    deployment: Deployment, hold: Hold, join: Join, until: Until
) -> None:
    client = await join(deployment)
    gate = hold("1.0/insert")
    for number in range(5):
        await client.mutate(number, "notes:add", text=str(number))
    await gate.reached.wait()
    client.vanish()
    await until(lambda: sessions(deployment) == 0)
    gate.opened.set()
    await until(lambda: _notes(deployment, '["0"]'))
    await asyncio.sleep(0.05)
    assert await _notes(deployment, '["0"]')


async def test_an_action_continues_without_the_client_that_asked_for_it(
    deployment: Deployment, join: Join, until: Until
) -> None:
    client = await join(deployment)
    await client.act(0, "notes:slow", name="it", milliseconds=20, until="gone")
    await until(lambda: _notes(deployment, '["it began"]'))
    client.vanish()
    await until(lambda: sessions(deployment) == 0)
    assert (await deployment.mutation("notes:add", {"text": "gone"})).succeeded
    await until(lambda: _notes(deployment, '["it began","gone","it ended"]'))


async def test_an_http_client_that_vanished_leaves_a_whole_mutation_or_none(
    deployment: Deployment, hold: Hold, until: Until
) -> None:
    gate = hold("1.0/insert")
    async with httpx2.AsyncClient(base_url=deployment.url, timeout=60) as client:
        body = {"path": "notes:add", "args": {"text": "once"}}
        call = asyncio.create_task(client.post("/api/mutation", json=body))
        await gate.reached.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    gate.opened.set()
    await until(lambda: _notes(deployment, '["once"]'))


async def test_nothing_remains_of_a_crowd_that_vanished(deployment: Deployment, join: Join, until: Until) -> None:
    await deployment.query("notes:list")
    tasks = len(asyncio.all_tasks())
    clients = [await join(deployment) for _ in range(50)]
    for client in clients:
        await client.subscribe("notes:list")
        await client.value()
        await client.mutate(0, "notes:add", text="x")
    for client in clients:
        client.vanish()
    await until(lambda: sessions(deployment) == 0)
    for client in clients:
        await client.connection.wait_closed()
    await until(lambda: len(asyncio.all_tasks()) <= tasks)
    await until(lambda: not deployment.sync._background._tasks)
    assert (await deployment.mutation("notes:add", {"text": "after"})).succeeded
