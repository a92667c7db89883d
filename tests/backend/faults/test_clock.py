"""The clock of the machine is set while a deployment runs."""

import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from convex_evals.backend.deployment import Deployment

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOUR = 3600.0

Join = Callable[[Deployment], Awaitable[Any]]
SetClock = Callable[[float], None]
Until = Callable[..., Awaitable[None]]


@pytest.fixture
def move_clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    """Sets the clock to so many seconds from the real time."""
    real, real_ns = time.time, time.time_ns

    def move(seconds: float) -> None:
        monkeypatch.setattr(time, "time", lambda: real() + seconds)
        monkeypatch.setattr(time, "time_ns", lambda: real_ns() + int(seconds * 1e9))

    return move


async def value(deployment: Deployment, path: str) -> Any:
    outcome = await deployment.query(path)
    assert outcome.value is not None, outcome.failure
    return json.loads(outcome.value)


@pytest.mark.parametrize("jump", [-HOUR, HOUR], ids=["backwards", "forwards"])
async def test_time_never_runs_backwards_in_the_database(
    deployment: Deployment, move_clock: SetClock, join: Join, jump: float
) -> None:
    client = await join(deployment)
    await client.subscribe("notes:list")
    assert await client.value() == []
    stamps: list[int] = []
    for offset in (0.0, jump, 0.0, -jump, 0.0):
        move_clock(offset)
        outcome = await deployment.mutation("notes:add", {"text": str(len(stamps))})
        assert outcome.ts is not None
        stamps.append(outcome.ts)
        assert await client.value() == [str(n) for n in range(len(stamps))]
    assert stamps == sorted(set(stamps))
    created = await value(deployment, "notes:times")
    assert created == sorted(set(created))
    assert await value(deployment, "notes:now") >= int(created[-1])


async def test_what_is_due_now_runs_after_the_clock_moved_back(
    deployment: Deployment, move_clock: SetClock, until: Until
) -> None:
    move_clock(-HOUR)
    assert (await deployment.mutation("notes:later", {"text": "now", "milliseconds": 0.0})).succeeded
    await until(lambda: _listed(deployment, ["now"]))


async def _listed(deployment: Deployment, expected: list[str]) -> bool:
    return bool(await value(deployment, "notes:list") == expected)


async def test_readers_of_the_log_miss_nothing(deployment: Deployment, move_clock: SetClock) -> None:
    cursor = deployment.log.cursor
    for number, offset in enumerate((0.0, -HOUR, HOUR, 0.0)):
        move_clock(offset)
        await deployment.query("notes:echo", {"value": float(number)})
        page = deployment.log.after(cursor)
        assert len(page.entries) == 1
        cursor = page.cursor
