"""Retries with a clock that moves only when someone sleeps, and a line that does as it is told."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pytest

from convex_evals.core.retry import ASKING
from convex_evals.core.settings import Secret
from convex_evals.models.prompt import Prompt
from convex_evals.models.providers import (
    BusyError,
    DeadlineError,
    ModelUnusableError,
    OutageError,
    ProviderError,
    Question,
    Reply,
    RequestPolicy,
    RequestRefusedError,
)
from convex_evals.models.providers.retry import Limit, Limits, RetryTransport
from convex_evals.scores import Usage

PATIENCE = RequestPolicy(first_pause=1, longest_pause=60)


@pytest.mark.parametrize(
    ("failed", "retry_after", "shortest", "longest"),
    [
        (1, None, 0.5, 1),
        (2, None, 1, 2),
        (4, None, 4, 8),
        (7, None, 30, 60),
        (50, None, 30, 60),
        (1, 20, 20.25, 20.5),  # never sooner than the provider asks for
        (1, 0, 0.25, 0.5),
    ],
)
def test_pauses_grow_and_never_two_wait_equally_long(
    failed: int, retry_after: float | None, shortest: float, longest: float
) -> None:
    assert PATIENCE.pause(failed, retry_after, chance=0) == shortest
    assert PATIENCE.pause(failed, retry_after, chance=1) == longest
    assert shortest <= PATIENCE.pause(failed, retry_after) <= longest


QUESTION = Question(Prompt("", "Hello?"))


@dataclass
class ToldLine:
    """Each try takes `seconds` and ends with the next of `ends`, or well."""

    ends: list[ProviderError] = field(default_factory=list)
    seconds: float = 10
    now: float = 0
    slept: list[float] = field(default_factory=list)
    granted: list[float] = field(default_factory=list)

    async def send(self, question: Question, seconds: float) -> Reply:
        self.granted.append(seconds)
        self.now += self.seconds
        if self.ends:
            raise self.ends.pop(0)
        return Reply("Hello.", Usage(), ("fine",))

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now

    def transport(self, limit: Limit, policy: RequestPolicy) -> RetryTransport:
        limit.clock, limit.sleep = self.clock, self.sleep
        return RetryTransport(self, limit, policy, self.clock, self.sleep)


async def test_the_deadline_is_for_all_tries_and_the_pauses_between_them() -> None:
    line = ToldLine([OutageError("Lost.") for _ in range(9)])
    with pytest.raises(OutageError, match=r"Lost\. It was asked 3 times\."):
        await line.transport(Limit(), RequestPolicy(deadline=33, tries=9)).ask(QUESTION)
    first, second, third = line.granted
    assert first == 33
    assert second == pytest.approx(33 - 10 - line.slept[0])
    assert third == pytest.approx(33 - 20 - sum(line.slept))


async def test_complaints_lower_the_limit_and_success_raises_it() -> None:
    limit = Limit(allowed=4)
    line = ToldLine([BusyError("Slowly.", 7), OutageError("Lost.")])
    reply = await line.transport(limit, RequestPolicy()).ask(QUESTION)
    assert reply.notes == ("Try 1 of 5: Slowly.", "Try 2 of 5: Lost.", "fine")
    assert limit.allowed == 2  # an outage is no complaint
    assert line.slept[0] >= 7
    await line.transport(limit, RequestPolicy()).ask(QUESTION)
    assert limit.allowed == 3


async def test_a_model_that_is_unusable_is_not_asked_by_those_who_wait_for_their_turn() -> None:
    line = ToldLine([ModelUnusableError("The key is refused.")])
    transport = line.transport(Limit(allowed=1), RequestPolicy())
    answers = await asyncio.gather(*(transport.ask(QUESTION) for _ in range(3)), return_exceptions=True)
    assert [(type(each), str(each)) for each in answers] == [(ModelUnusableError, "The key is refused.")] * 3
    assert len(line.granted) == 1


@pytest.mark.parametrize(
    ("ends", "error", "tries"),
    [
        ([OutageError("Lost.")] * 9, OutageError, 5),
        ([BusyError("Slowly.")] * 9, BusyError, 5),
        ([ProviderError("Empty.")] * 9, ProviderError, 3),
        ([OutageError("Lost."), ProviderError("Empty."), BusyError("Slowly.")] * 3, ProviderError, 5),
        ([OutageError("Lost.")] * 4 + [ProviderError("Empty.")], ProviderError, 5),
        ([DeadlineError("RequestTimeout.")], DeadlineError, 1),
        ([RequestRefusedError("No.")], RequestRefusedError, 1),
    ],
)
async def test_a_question_is_asked_five_times_at_most_and_three_times_if_answers_are_unusable(
    ends: list[ProviderError], error: type[ProviderError], tries: int
) -> None:
    line = ToldLine(list(ends))
    with pytest.raises(error) as raised:
        await line.transport(Limit(), RequestPolicy()).ask(QUESTION)
    assert len(line.granted) == tries <= ASKING.tries
    assert ("asked" in str(raised.value)) == (tries > 1)


async def test_what_unusable_answers_took_is_said_once_whatever_comes_in_the_end() -> None:
    paid = [Usage(cost_usd=cost, cost_source="provider") for cost in (1.0, 2.0)]
    unusable = [ProviderError("Empty.", usages=(each,)) for each in paid]
    reply = await ToldLine([*unusable]).transport(Limit(), RequestPolicy()).ask(QUESTION)
    assert reply.unusable == tuple(paid)
    transport = ToldLine([*unusable, *[OutageError("Lost.")] * 9]).transport(Limit(), RequestPolicy())
    for usages in (tuple(paid), ()):
        with pytest.raises(OutageError) as raised:
            await transport.ask(QUESTION)
        assert raised.value.ends_run and raised.value.usages == usages


async def test_a_provider_that_fails_every_time_is_not_asked_by_those_who_come_later() -> None:
    line = ToldLine([OutageError("Lost.")] * 99)
    transport = line.transport(Limit(allowed=1), RequestPolicy(tries=3))
    answers = await asyncio.gather(*(transport.ask(QUESTION) for _ in range(3)), return_exceptions=True)
    assert {str(each) for each in answers} == {"Lost. It was asked 3 times."}
    assert all(isinstance(each, OutageError) and each.ends_run for each in answers)
    sent = len(line.granted)
    assert sent <= 3 * 3
    with pytest.raises(OutageError):
        await transport.ask(QUESTION)
    assert len(line.granted) == sent


async def test_a_question_that_fails_while_others_are_answered_ends_nothing() -> None:
    class OneBadQuestion(ToldLine):
        async def send(self, question: Question, seconds: float) -> Reply:
            if question.trial == 1:
                raise OutageError("Lost.")
            return await super().send(question, seconds)

        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds)
            await asyncio.sleep(0.01)  # time for the other question

    line = OneBadQuestion()
    transport = line.transport(Limit(allowed=1), RequestPolicy(tries=2))
    bad, good = await asyncio.gather(
        transport.ask(QUESTION), transport.ask(replace(QUESTION, trial=2)), return_exceptions=True
    )
    assert isinstance(bad, OutageError) and not bad.ends_run
    assert isinstance(good, Reply)
    assert (await transport.ask(replace(QUESTION, trial=3))).text == "Hello."


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
