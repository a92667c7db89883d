"""Asks again when asking again may help, in turn with everyone who asks the same provider."""

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import count
from time import monotonic
from typing import Protocol

from convex_evals.core.retry import ASKING, UNUSABLE_ANSWERS, RetryPolicy
from convex_evals.core.settings import Secret
from convex_evals.models.providers.errors import BusyError, ModelUnusableError, OutageError, ProviderError
from convex_evals.models.providers.question import Question, Reply
from convex_evals.scores import Usage


@dataclass(slots=True)
class Limit:
    """How many questions may be in flight to a provider, adapted to what it accepts.

    Grows by one after as many successes as it allows at once; halved when the provider is overloaded.

    Complaints about questions that were sent before it was last halved say nothing new, and do not halve it again.
    """

    allowed: int = 4
    most: int = 32
    clock: Callable[[], float] = monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    in_flight: int = 0
    _successes: int = 0
    _halved_at: float = float("-inf")
    _quiet_until: float = float("-inf")
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[float]:
        """Waits for a turn, first come, first served, and holds it until the block ends. Yields when it began."""
        await self._take()
        try:
            while quiet := self.quiet_seconds:
                await self.sleep(quiet)
            yield self.clock()
        finally:
            self._give_back()

    def succeeded(self) -> None:
        self._successes += 1
        if self._successes >= self.allowed:
            self._successes = 0
            self.allowed = min(self.most, self.allowed + 1)
            self._hand_out()

    def complained(self, began: float, retry_after: float | None = None) -> None:
        """The provider was overloaded by a question whose turn began then."""
        now = self.clock()
        self._quiet_until = max(self._quiet_until, now + (retry_after or 0.0))
        if began > self._halved_at:
            self.allowed = max(1, self.allowed // 2)
            self._successes = 0
            self._halved_at = now

    @property
    def quiet_seconds(self) -> float:
        """For how long the provider still asks us to wait."""
        return max(0.0, self._quiet_until - self.clock())

    async def _take(self) -> None:
        if self.in_flight < self.allowed:
            self.in_flight += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._waiting.remove(place)
            else:  # it was handed over at the very moment when nobody wanted it any more
                self._give_back()
            raise

    def _give_back(self) -> None:
        self.in_flight -= 1
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and self.in_flight < self.allowed:
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)


@dataclass(frozen=True, slots=True)
class Limits:
    """One limit per provider and key, shared by all models that are asked with that key."""

    _limits: dict[tuple[str, Secret | None], Limit] = field(default_factory=dict)

    def of(self, provider: str, key: Secret | None) -> Limit:
        return self._limits.setdefault((provider, key), _first_limit(provider))


def _first_limit(provider: str) -> Limit:
    """A local server usually has one GPU, and never says that it is overloaded."""
    return Limit(allowed=1, most=4) if provider == "local" else Limit()


@dataclass(frozen=True, slots=True)
class RequestPolicy:
    """In seconds. Waiting for a turn does not count."""

    deadline: float = 1800.0  # for everything: all tries, and the pauses between them
    first_token: float = 900.0  # models that think silently take their time
    stall: float = 180.0  # between two pieces of text
    connect: float = 15.0
    tries: int = ASKING.tries
    unusable_answers: int = UNUSABLE_ANSWERS
    first_pause: float = ASKING.first_pause
    longest_pause: float = ASKING.longest_pause

    def pause(self, failed: int, retry_after: float | None = None, chance: float | None = None) -> float:
        """Before the next try, after `failed` ones: twice as long each time, with jitter.

        Never shorter than the provider asks for. `chance` is a number from 0 to 1, random unless given.
        """
        chance = random.random() if chance is None else chance
        policy = RetryPolicy(self.tries, self.first_pause, longest_pause=self.longest_pause)
        longest = policy.pause(failed)
        jittered = longest * (0.5 + chance / 2)
        return jittered if retry_after is None else retry_after + jittered / 2


class Client(Protocol):
    """Carries a question to a model once."""

    async def send(self, question: Question, seconds: float) -> Reply:
        """The reply, if it is complete within these seconds. Raises ProviderError."""
        ...


@dataclass(slots=True)
class RetryTransport:
    """Once the model turns out to be unusable, questions that still wait for a turn fail without being sent."""

    client: Client
    limit: Limit
    policy: RequestPolicy
    clock: Callable[[], float] = monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _ended: ProviderError | None = field(default=None, init=False)
    _answers: int = field(default=0, init=False)

    async def ask(self, question: Question) -> Reply:
        spent, notes, unusable, answers_before = 0.0, list[str](), list[Usage](), self._answers
        for tried in count(1):
            began = self.clock()
            try:
                async with self.limit.turn() as began:
                    reply = await self._send(question, self.policy.deadline - spent)
                self.limit.succeeded()
                return replace(reply, notes=(*notes, *reply.notes), unusable=tuple(unusable))
            except ProviderError as error:
                unusable += error.usages
                if not error.retried or error.ends_run:
                    error.usages = tuple(unusable)
                    raise
                if isinstance(error, BusyError):
                    self.limit.complained(began, error.retry_after)
                pause = self.policy.pause(tried, error.retry_after)
                spent += self.clock() - began + pause
                if tried >= self._most_tries(error) or spent >= self.policy.deadline:
                    given_up = self._given_up(error, tried, answers_before)
                    given_up.usages = tuple(unusable)
                    raise given_up from None
                notes.append(f"Try {tried} of {self._most_tries(error)}: {error}")
            await self.sleep(pause)
        raise AssertionError("count never ends")

    async def _send(self, question: Question, seconds: float) -> Reply:
        if self._ended is not None:
            raise copy(self._ended)
        try:
            reply = await self.client.send(question, seconds)
        except ModelUnusableError as error:
            self._end(error)
            raise
        self._answers += 1
        return reply

    def _end(self, error: ProviderError) -> None:
        """From now on every question fails with it, at no cost."""
        self._ended = copy(error)
        self._ended.usages = ()

    def _most_tries(self, error: ProviderError) -> int:
        free = isinstance(error, BusyError | OutageError)
        return self.policy.tries if free else min(self.policy.tries, self.policy.unusable_answers)

    def _given_up(self, error: ProviderError, tried: int, answers_before: int) -> ProviderError:
        """A provider that failed this question each time and answered no other one meanwhile is not asked again."""
        ended = isinstance(error, BusyError | OutageError) and self._answers == answers_before
        given_up = error if tried == 1 else type(error)(f"{error} It was asked {tried} times.", error.retry_after)
        given_up.ends_run = ended
        if ended and self._ended is None:
            self._end(given_up)
        return given_up
