"""What executions need from the deployment they run in."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from convex_evals.backend.clock import DeploymentClock
from convex_evals.backend.deployed import Application, CurrentApplication
from convex_evals.backend.environment import CanonicalUrls
from convex_evals.backend.errors import SystemFailure
from convex_evals.backend.functions.targets import Handles
from convex_evals.backend.functions.turns import Rendezvous, Turns
from convex_evals.backend.logs import FunctionLog

if TYPE_CHECKING:
    from convex_evals.backend.database import Database
    from convex_evals.backend.functions.system_calls import SystemFunctions
    from convex_evals.backend.runtime import FunctionRuntime
    from convex_evals.backend.storage import Files


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
