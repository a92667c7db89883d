"""Much at once: slow actions, fast queries, and a document that everyone wants."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from convex_evals.backend.database import Transaction
from convex_evals.backend.deployment import Deployment
from convex_evals.backend.functions.transaction_syscalls import TransactionSyscalls

pytestmark = pytest.mark.asyncio(loop_scope="module")

Join = Callable[[Deployment], Awaitable[Any]]
Until = Callable[..., Awaitable[None]]

ACTIONS = 30


@pytest.mark.exhaustive
async def test_queries_stay_fast_while_many_actions_run(deployment: Deployment, until: Until) -> None:
    slow = {"milliseconds": 500.0, "until": "measured"}
    actions = [
        asyncio.create_task(deployment.action("notes:slow", {"name": str(number), **slow})) for number in range(ACTIONS)
    ]
    await until(lambda: _count(deployment, ACTIONS))
    seconds: list[float] = []
    for number in range(50):
        started = time.perf_counter()
        assert (await deployment.query("notes:echo", {"value": float(number)})).value == f"{number}.0"
        seconds.append(time.perf_counter() - started)
    assert statistics.median(seconds) < 1
    assert not any(action.done() for action in actions)
    assert (await deployment.mutation("notes:add", {"text": "measured"})).succeeded
    assert all(outcome.succeeded for outcome in await asyncio.gather(*actions))
    assert await _count(deployment, 2 * ACTIONS + 1)


async def _count(deployment: Deployment, expected: int) -> bool:
    return str((await deployment.query("notes:list")).value).count('",') + 1 == expected


async def test_a_hot_document_loses_no_increment(deployment: Deployment, join: Join) -> None:
    clients = [await join(deployment) for _ in range(8)]

    async def increment(client: Any) -> None:
        for number in range(10):
            await client.mutate(number, "notes:increment")
            assert (await client.receive("MutationResponse"))["success"]

    await asyncio.gather(*(increment(client) for client in clients))
    assert (await deployment.query("notes:counted")).value == "80.0"


@pytest.fixture
def rival(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Someone who changes the counter whenever a mutation is about to; the list has one element per time."""
    answer = TransactionSyscalls.call
    times: list[str] = []

    async def call(self: TransactionSyscalls, calls: Any) -> Any:
        if any(request.name == "1.0/shallowMerge" for request in calls):
            transaction: Transaction = deployment.database.begin()
            (counter,) = transaction.scan(*_by_id(transaction))
            times.append(counter.document.id)
            transaction.patch("", counter.document.id, {"n": -float(len(times))})
            deployment.database.commit(transaction, "rival")
        return await answer(self, calls)

    monkeypatch.setattr(TransactionSyscalls, "call", call)
    return times


def _by_id(transaction: Transaction) -> Any:
    from convex_evals.backend.database.ranges import EVERYTHING

    table = transaction.catalog("").tables["counters"]
    return table, table.by_id, EVERYTHING


async def test_a_mutation_that_always_loses_gives_up(deployment: Deployment, rival: list[str]) -> None:
    await deployment.mutation("notes:increment")
    async with httpx2.AsyncClient(base_url=deployment.url, timeout=60) as client:
        response = await client.post("/api/mutation", json={"path": "notes:increment", "args": {}})
    assert (response.status_code, response.json()["code"]) == (503, "OptimisticConcurrencyControlFailure")
    assert 'Documents read from or written to the "counters" table changed' in response.json()["message"]
    assert len(rival) == 5
    assert (await deployment.query("notes:counted")).value == "-5.0"
    assert (await deployment.mutation("notes:add", {"text": "others go on"})).succeeded


async def test_a_socket_whose_mutation_always_loses_is_told_to_try_again_later(
    deployment: Deployment, join: Join, rival: list[str]
) -> None:
    await deployment.mutation("notes:increment")
    client = await join(deployment)
    await client.mutate(0, "notes:increment")
    await asyncio.wait_for(client.connection.wait_closed(), 60)
    assert (client.connection.close_code, client.connection.close_reason) == (
        1013,
        "OptimisticConcurrencyControlFailure",
    )
