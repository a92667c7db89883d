"""What executions need from the deployment they run in."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from convex_evals.backend.deployed import Application, ComponentInstance
from convex_evals.backend.functions.handles import Handles
from convex_evals.backend.functions.system import SystemFunctions
from convex_evals.backend.functions.turns import Turns
from convex_evals.backend.logs import FunctionLog

if TYPE_CHECKING:
    from convex_evals.backend.database import Database, Transaction
    from convex_evals.backend.runtime import FunctionRuntime


class FileStorage(Protocol):
    """`ctx.storage` inside a transaction, in the namespace of one component instance."""

    def get_url(self, transaction: "Transaction", instance: ComponentInstance, storage_id: str) -> str | None: ...

    def get_metadata(
        self, transaction: "Transaction", instance: ComponentInstance, storage_id: str
    ) -> dict[str, object] | None: ...

    def delete(self, transaction: "Transaction", instance: ComponentInstance, storage_id: str) -> None: ...

    def upload_url(self, instance: ComponentInstance) -> str: ...


class VectorSearch(Protocol):
    def search(
        self, transaction: "Transaction", instance: ComponentInstance, query: dict[str, object]
    ) -> list[dict[str, object]]:
        """`query` as `1.0/actions/vectorSearch` sends it; the answer is `[{"_id", "_score"}]`."""
        ...


@dataclass
class Host:
    database: "Database"
    runtime: "FunctionRuntime"
    log: FunctionLog
    instance_name: str
    cloud_url: str
    site_url: str
    redact: bool = False
    application: Application | None = None  # replaced by every push
    system_functions: SystemFunctions | None = None
    storage: FileStorage | None = None
    vectors: VectorSearch | None = None
    handles: Handles = field(default_factory=Handles)
    turns: Turns = field(default_factory=Turns)
