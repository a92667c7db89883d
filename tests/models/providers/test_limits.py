"""With a clock that moves only when someone sleeps."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

import pytest

from convex_evals.core.settings import Secret
from convex_evals.models.providers.limits import Limit, Limits


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.parametrize(
    ("happened", "allowed"),
    [
        ("", 4),
        ("ok " * 3, 4),
        ("ok " * 4, 5),
        ("ok " * (4 + 5), 6),
        ("ok " * 500, 8),  # never more than the most
        ("no", 2),
        ("no no", 2),  # sent before it was halved: nothing new
        ("no later no", 1),
        ("no later no later no later no", 1),  # never less than one
        ("no ok ok", 3),
        ("ok ok ok no ok", 2),  # successes before a complaint do not count
    ],
)
def test_it_grows_slowly_and_is_halved_at_once(clock: Clock, happened: str, allowed: int) -> None:
    limit, began = Limit(most=8, clock=clock), clock.now
    for event in happened.split():
        match event:
            case "ok":
                limit.succeeded()
            case "no":
                limit.complained(began)
            case "later":
                clock.now += 1
                began = clock.now
    assert limit.allowed == allowed


async def test_no_more_than_allowed_have_their_turn_and_the_first_to_come_is_the_first_served(clock: Clock) -> None:
    limit, order, most = Limit(allowed=2, clock=clock), list[int](), 0

    async def work(number: int) -> None:
        nonlocal most
        async with limit.turn():
            order.append(number)
            most = max(most, limit.in_flight)
            await asyncio.sleep(0)

    await asyncio.gather(*(work(number) for number in range(6)))
    assert (order, most, limit.in_flight) == ([0, 1, 2, 3, 4, 5], 2, 0)


async def test_everyone_waits_while_the_provider_asks_for_a_pause(clock: Clock) -> None:
    limit = Limit(clock=clock, sleep=clock.sleep)
    limit.complained(clock.now, retry_after=30)
    limit.complained(clock.now, retry_after=5)  # the longer wish counts
    async with limit.turn() as began:
        assert began == 130
    assert limit.quiet_seconds == 0


@pytest.mark.parametrize("handed_over", [False, True])
async def test_cancelling_a_wait_does_not_take_a_turn_from_others(handed_over: bool) -> None:
    limit = Limit(allowed=1)

    async def take() -> str:
        async with limit.turn():
            return "had a turn"

    async with limit.turn():
        waiting = [asyncio.create_task(take()) for _ in range(2)]
        await asyncio.sleep(0)
        if not handed_over:
            waiting[0].cancel()
            await asyncio.sleep(0)
    waiting[0].cancel()  # at the moment when it would begin
    with suppress(asyncio.CancelledError):
        await waiting[0]
    assert await waiting[1] == "had a turn"
    assert limit.in_flight == 0


def test_models_that_are_asked_with_the_same_key_share_a_limit() -> None:
    limits = Limits()
    assert limits.of("openai", Secret("a")) is limits.of("openai", Secret("a"))
    assert limits.of("openai", Secret("a")) is not limits.of("openai", Secret("b"))
    assert limits.of("openai", Secret("a")) is not limits.of("openrouter", Secret("a"))
    assert limits.of("local", None).allowed < limits.of("openai", None).allowed
