"""What executions need from the deployment they run in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from convex_evals.backend.canonical_urls import CanonicalUrls
from convex_evals.backend.deployed import Application, ComponentInstance, CurrentApplication
from convex_evals.backend.errors import SystemFailure
from convex_evals.backend.functions.handles import Handles
from convex_evals.backend.functions.system import SystemFunctions
from convex_evals.backend.functions.turns import Turns
from convex_evals.backend.logs import FunctionLog
from convex_evals.backend.runtime.types import StoredBlob

if TYPE_CHECKING:
    from convex_evals.backend.database import Database, Transaction
    from convex_evals.backend.runtime import FunctionRuntime
    from convex_evals.backend.storage import StoredFile


class FileStorage(Protocol):
    """`ctx.storage` in the namespace of one component instance."""

    def get_url(self, transaction: "Transaction", instance: ComponentInstance, storage_id: str) -> str | None: ...

    def get_metadata(
        self, transaction: "Transaction", instance: ComponentInstance, storage_id: str
    ) -> dict[str, object] | None: ...

    def delete(self, transaction: "Transaction", instance: ComponentInstance, storage_id: str) -> None: ...

    def store_in(
        self,
        transaction: "Transaction",
        instance: ComponentInstance,
        content: bytes,
        content_type: str | None,
        sha256: str | None,
    ) -> "StoredFile": ...

    def load_in(
        self, transaction: "Transaction", instance: ComponentInstance, storage_id: str
    ) -> StoredBlob | None: ...

    def discard_unrecorded(self, stored: "Sequence[StoredFile]") -> None: ...

    def upload_url(self, instance: ComponentInstance) -> str: ...

    async def store(
        self, instance: ComponentInstance, content: bytes, content_type: str | None, sha256: str | None
    ) -> str: ...

    async def load(self, instance: ComponentInstance, storage_id: str) -> StoredBlob | None: ...


@dataclass
class Host:
    database: "Database"
    runtime: "FunctionRuntime"
    log: FunctionLog
    instance_name: str
    urls: CanonicalUrls  # its own addresses
    redact: bool = False
    current: CurrentApplication = field(default_factory=CurrentApplication)
    system_functions: SystemFunctions | None = None
    storage: FileStorage | None = None
    handles: Handles = field(default_factory=Handles)
    turns: Turns = field(default_factory=Turns)
    is_closing: bool = False

    def check_open(self) -> None:
        """A deployment that is being stopped starts nothing any more, retries included."""
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
    def files(self) -> FileStorage:
        if self.storage is None:
            raise SystemFailure("this deployment has no file storage")
        return self.storage
