"""Carries what is listed for a service there, parcel by parcel, in a thread of its own: no run ever waits for it."""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from socket import gethostname
from typing import TYPE_CHECKING, Final

from convex_evals.core.errors import ConvexEvalsError, InfrastructureError
from convex_evals.core.ids import prefix
from convex_evals.core.retry import SENDING, RetryPolicy
from convex_evals.core.settings import Destination
from convex_evals.core.text import count
from convex_evals.runner.service import Refusal, Service
from convex_evals.scores import RENEWAL_SECONDS, Holder, Parcel, Unsent, batch_of

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

Say = Callable[[str], None]


def holder_of(store: "ScoresStore") -> Holder:
    """A database, in which only one process works on a run at a time; so whoever resumes a run is not another one."""
    host = gethostname()
    return Holder(hashlib.sha256(f"{host}\n{store.location}".encode()).hexdigest(), host)


class Courier:
    """`at_work` are the runs that are going on here, and nowhere else."""

    def __init__(
        self,
        store: "ScoresStore",
        destination: Destination,
        say: Say,
        at_work: Sequence[str] = (),
        service: Service | None = None,
    ) -> None:
        self.store, self.destination, self._say = store, destination, say
        self._service = service or Service(destination)
        self._at_work, self._holder = at_work, holder_of(store)
        self._listed_again = set[str]()

    def close(self) -> None:
        self._service.close()

    def carry_next(self, runs: Sequence[str] = ()) -> int:
        """One parcel; `runs`: only of these. Returns how many entries arrived; 0: there is nothing to send.

        Raises Refusal when the service takes nothing at the moment.
        """
        while (parcel := self.store.outbox.next_parcel(self.destination.url, runs)) is not None:
            try:
                self._carry(parcel)
            except Refusal as refusal:
                self._settle(parcel.run_id, refusal)
            else:
                self.store.outbox.delivered(parcel)
                return len(parcel.entries)
        return 0

    def renew_leases(self) -> None:
        """Of the runs at work. Raises Refusal."""
        self._service.renew(list(self._at_work), self._holder)

    def _carry(self, parcel: Parcel) -> None:
        """Artifacts that are not there, then the records that name them."""
        if parcel.artifacts:
            for sha256, start in self._service.missing(parcel.artifacts).items():
                self._service.put(sha256, self.store.read_bytes(sha256), start)
        holder = self._holder if parcel.run_id in self._at_work else None
        self._service.record(batch_of(parcel.run_id, parcel.records, holder))

    def _settle(self, run_id: str, refusal: Refusal) -> None:
        """What is about this run alone does not hold up others; the rest is raised again."""
        if refusal.answer in ("conflict", "invalid"):
            self.store.outbox.refuse(self.destination.url, run_id, str(refusal))
            self._say(f"{self.destination.shown} does not take run {prefix(run_id)}: {refusal}.")
        elif refusal.answer == "incomplete" and run_id not in self._listed_again:
            # It lost something, or never had it. All of the run is sent; what is there changes nothing.
            self._listed_again.add(run_id)
            self.store.outbox.send_again(run_id, self.destination.url)
        else:
            raise refusal


def outcome(destination: Destination, unsent: Sequence[Unsent]) -> str:
    """For whoever sent something there."""
    if not unsent:
        return f"Everything is at {destination.shown}."
    refused = [f"Run {prefix(each.run_id)} is refused: {each.refused}." for each in unsent if each.refused]
    left = [each for each in unsent if not each.refused]
    if left:
        records = count(sum(each.entries for each in left), "record")
        of_runs = ", ".join(prefix(each.run_id) for each in left)
        how = f"`convex-evals sync --to {destination.name or destination.url}` sends them"
        refused.insert(0, f"{records} of {of_runs}; {how}.")
    return f"Not yet at {destination.shown}: {' '.join(refused)}"


def catch_up(
    courier: Courier,
    runs: Sequence[str],
    on_sent: Callable[[int], None],
    sleep: Callable[[float], None],
    policy: RetryPolicy = SENDING,
) -> None:
    """Sends until nothing is left. Raises InfrastructureError when the service takes nothing, after some tries."""
    failed = 0
    while True:
        try:
            sent = courier.carry_next(runs)
        except Refusal as refusal:
            failed += 1
            if refusal.answer != "unavailable" or not policy.allows(failed):
                raise InfrastructureError(f"{courier.destination.shown} takes nothing: {refusal}.") from refusal
            sleep(max(policy.pause(failed), refusal.wait))
            continue
        failed = 0
        if not sent:
            return
        on_sent(sent)


POLL_SECONDS: Final = 0.25
GRACE_SECONDS: Final = 5.0
"""After the last run, for what is still to be sent."""
SLOW_SECONDS: Final = 30.0
"""Between tries when someone has to do something first: stop another runner, update the server."""


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
            self._say(f"{self._courier.destination.shown} is not accepting records: {reason}. Retrying.")
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
