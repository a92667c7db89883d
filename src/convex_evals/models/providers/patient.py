"""Asks again when asking again may help, in turn with everybody who asks the same provider."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from itertools import count
from time import monotonic
from typing import Protocol

from convex_evals.models.providers.asking import Question, Reply
from convex_evals.models.providers.errors import BusyError, ModelUnusableError, OutageError, ProviderError
from convex_evals.models.providers.limit import Limit
from convex_evals.models.providers.patience import Patience


class Line(Protocol):
    """Carries a question to a model once."""

    async def send(self, question: Question, seconds: float) -> Reply:
        """The reply, if it is complete within these seconds. Raises ProviderError."""
        ...


@dataclass(slots=True)
class PatientTransport:
    """Once the model turns out to be unusable, whoever still waits for a turn is told so without asking."""

    line: Line
    limit: Limit
    patience: Patience
    clock: Callable[[], float] = monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _unusable: str | None = field(default=None, init=False)

    async def ask(self, question: Question) -> Reply:
        spent, notes = 0.0, list[str]()
        for tried in count(1):
            began = self.clock()
            try:
                async with self.limit.turn() as began:
                    reply = await self._send(question, self.patience.deadline - spent)
                self.limit.succeeded()
                return replace(reply, notes=(*notes, *reply.notes))
            except (BusyError, OutageError) as error:
                if isinstance(error, BusyError):
                    self.limit.complained(began, error.retry_after)
                pause = self.patience.pause(tried, error.retry_after)
                spent += self.clock() - began + pause
                if tried == self.patience.tries or spent >= self.patience.deadline:
                    raise _given_up(error, tried) from None
                notes.append(f"Try {tried} of {self.patience.tries}: {error}")
            await self.sleep(pause)
        raise AssertionError("count never ends")

    async def _send(self, question: Question, seconds: float) -> Reply:
        if self._unusable is not None:
            raise ModelUnusableError(self._unusable)
        try:
            return await self.line.send(question, seconds)
        except ModelUnusableError as error:
            self._unusable = str(error)
            raise


def _given_up(error: ProviderError, tried: int) -> ProviderError:
    return error if tried == 1 else type(error)(f"{error} It was asked {tried} times.", error.retry_after)
