"""Carries what is listed for a service there, parcel by parcel, and does what can be done about a refusal."""

import hashlib
from collections.abc import Callable, Sequence
from socket import gethostname
from typing import TYPE_CHECKING

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.ids import prefix
from convex_evals.core.retry import SENDING, RetryPolicy
from convex_evals.core.settings import Destination
from convex_evals.core.wording import count
from convex_evals.runner.service import Refusal, Service
from convex_evals.scores import Holder, Parcel, Unsent, batch_of

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
