"""Sends what is recorded to a service while runs go on, in a thread of its own: no run ever waits for it."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from convex_evals.core.errors import ConvexEvalsError
from convex_evals.core.retry import SENDING
from convex_evals.core.settings import Destination
from convex_evals.runner.courier import Courier, Say, outcome
from convex_evals.runner.service import Refusal, Service
from convex_evals.scores import RENEWAL_SECONDS, Unsent

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

POLL_SECONDS: Final = 0.25
GRACE_SECONDS: Final = 5.0
"""After the last run, for what is still to be sent."""
SLOW_SECONDS: Final = 30.0
"""Between tries when somebody has to do something first: stop another runner, update the server."""


class Sender:
    """Everything that is listed for one destination, also of earlier runs."""

    def __init__(self, courier: Courier, say: Say) -> None:
        self._courier, self._say = courier, say
        self._closing, self._gone = threading.Event(), threading.Event()
        self._failed, self._renewed = 0, time.monotonic()
        self._thread = threading.Thread(target=self._work, name="sender", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self, grace: float = GRACE_SECONDS) -> tuple[Unsent, ...]:
        """Gives it a moment to finish, and returns what is left."""
        self._closing.set()
        self._thread.join(grace)
        self._gone.set()
        if not self._thread.is_alive():
            self._courier.close()
        return self._courier.store.outbox.unsent(self._courier.destination.url)

    def _work(self) -> None:
        pause: float | None = 0.0
        while pause is not None and not self._gone.wait(pause):
            try:
                pause = self._step()
            except Refusal as refusal:
                pause = self._after(refusal)
            except ConvexEvalsError as error:  # the scores themselves are in trouble, which the run says, too
                pause = self._again(str(error))

    def _step(self) -> float | None:
        """Returns how long to pause, or None when there is nothing left to do."""
        if self._courier.carry_next():
            self._failed = 0
            return 0.0
        if self._closing.is_set():
            return None
        if time.monotonic() - self._renewed > RENEWAL_SECONDS:
            self._renewed = time.monotonic()
            self._courier.renew_leases()
        return POLL_SECONDS

    def _after(self, refusal: Refusal) -> float | None:
        shown = self._courier.destination.shown
        if refusal.answer == "token":
            self._say(f"{shown} refuses the token: {refusal}. Nothing is sent there.")
            return None
        if refusal.answer in ("held", "outdated"):
            self._say(f"{shown}: {refusal}.")
            return None if self._closing.is_set() else SLOW_SECONDS
        return max(self._again(str(refusal)), refusal.wait)

    def _again(self, reason: str) -> float:
        self._failed += 1
        if self._failed == 1:
            self._say(f"{self._courier.destination.shown} takes nothing at the moment: {reason}. It is tried again.")
        return SENDING.pause(self._failed)


@contextmanager
def sending(
    store: "ScoresStore",
    destination: Destination | None,
    runs: Sequence[str],
    say: Say,
    service: Service | None = None,
) -> Iterator[None]:
    """While `runs` go on. In the end it says what is not sent yet. `service`: sent through this one."""
    if destination is None:
        yield
        return
    sender = Sender(Courier(store, destination, say, runs, service), say)
    sender.start()
    try:
        yield
    finally:
        say(outcome(destination, sender.close()))
