"""What executions run in: the deployment, and for queries and mutations one attempt with its transaction."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from convex_evals.backend.clock import DeploymentClock
from convex_evals.backend.deployed import Application, CurrentApplication
from convex_evals.backend.environment import CanonicalUrls, DeploymentState, read_state
from convex_evals.backend.errors import SystemFailure
from convex_evals.backend.functions.calls import Call
from convex_evals.backend.functions.targets import Handles
from convex_evals.backend.functions.turns import Rendezvous, Turns
from convex_evals.backend.logs import FunctionLog
from convex_evals.backend.runtime import LogLine

if TYPE_CHECKING:
    from convex_evals.backend.database import Database, Transaction
    from convex_evals.backend.functions.system_calls import SystemFunctions
    from convex_evals.backend.runtime import FunctionRuntime
    from convex_evals.backend.storage import Files, StoredFile

TransactionKind = Literal["Query", "Mutation"]


@dataclass
class Host:
    database: "Database"
    runtime: "FunctionRuntime"
    log: FunctionLog
    instance_name: str
    urls: CanonicalUrls  # its own addresses
    redact: bool = False
    current: CurrentApplication = field(default_factory=CurrentApplication)
    system_functions: "SystemFunctions | None" = None
    storage: "Files | None" = None
    handles: Handles = field(default_factory=Handles)
    turns: Turns = field(default_factory=Turns)
    clock: DeploymentClock = field(default_factory=DeploymentClock)
    lockstep: Rendezvous = field(default_factory=Rendezvous)
    is_closing: bool = False
    settle: Callable[[], Awaitable[None]] | None = None  # waits for scheduled mutations that are due

    def check_open(self) -> None:
        """Once a deployment is being stopped, nothing new starts in it, retries included."""
        if self.is_closing:
            raise SystemFailure("this deployment is being stopped")

    @property
    def application(self) -> Application | None:
        return self.current.application

    @property
    def cloud_url(self) -> str:
        return self.urls.cloud

    @property
    def site_url(self) -> str:
        return self.urls.site

    @property
    def files(self) -> "Files":
        if self.storage is None:
            raise SystemFailure("this deployment has no file storage")
        return self.storage


@dataclass
class Attempt:
    """One run of a query or mutation in one transaction, with everything that nested calls share."""

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
