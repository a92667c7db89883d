"""One run of a query or mutation in one transaction, with everything that nested calls share."""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from convex_evals.backend.deployed import Application
from convex_evals.backend.environment import DeploymentState, read_state
from convex_evals.backend.functions.calls import Call
from convex_evals.backend.functions.host import Host
from convex_evals.backend.runtime import LogLine

if TYPE_CHECKING:
    from convex_evals.backend.database import Transaction
    from convex_evals.backend.storage import StoredFile

TransactionKind = Literal["Query", "Mutation"]


@dataclass
class Attempt:
    host: Host
    call: Call
    kind: TransactionKind
    transaction: "Transaction"
    application: Application | None
    state: DeploymentState
    journal: str | None = None  # where the page of a paginated query ended last time
    next_journal: str | None = None  # where it ends this time
    identity_read: bool = False
    clock_read: bool = False
    audited_bytes: int = 0
    round_trips: int = 0  # how often user code had to wait; what it asks for at once counts once
    user_ms: float = 0.0  # spent in user code by every call that has ended
    is_suspect: bool = False  # it has lost its worker before, and runs apart from others
    stored: "list[StoredFile]" = field(default_factory=list)
    warnings: list[LogLine] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    @classmethod
    def begin(
        cls, host: Host, call: Call, kind: TransactionKind, *, at: int | None = None, journal: str | None = None
    ) -> "Attempt":
        host.check_open()
        transaction = host.database.begin(at)
        return cls(host, call, kind, transaction, host.application, read_state(transaction, host.urls), journal)

    @property
    def now_ms(self) -> float:
        """The clock that user code sees: it stands still."""
        return float(int(self.transaction.started_ms))

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started
