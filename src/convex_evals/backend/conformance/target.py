"""The deployment under test, and what a check may do with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from convex_evals.backend.conformance.client import FunctionClient, Reply, SyncClient

if TYPE_CHECKING:
    from convex_evals.backend.conformance.embedded import EmbeddedDeployment
    from convex_evals.backend.conformance.project import PushResult
    from convex_evals.core.toolchain import Toolchain

Files = Mapping[str, str]


@dataclass
class Target:
    """`embedded` is our own deployment when that is what runs, for checks that need to restart it."""

    url: str
    site_url: str
    admin_key: str
    http: httpx2.AsyncClient
    workspace: Path
    toolchain: "Toolchain"
    embedded: "EmbeddedDeployment | None" = None
    client: FunctionClient = field(init=False)
    admin: FunctionClient = field(init=False)

    def __post_init__(self) -> None:
        self.client = FunctionClient(self.http, self.url)
        self.admin = FunctionClient(self.http, self.url, f"Convex {self.admin_key}")

    # Shorthands: most checks are one call and a look at what came back.

    async def query(self, path: str, args: Mapping[str, Any] | None = None) -> Any:
        return await self.client.query(path, args)

    async def mutation(self, path: str, args: Mapping[str, Any] | None = None) -> Any:
        return await self.client.mutation(path, args)

    async def action(self, path: str, args: Mapping[str, Any] | None = None) -> Any:
        return await self.client.action(path, args)

    async def reply(self, path: str, args: Mapping[str, Any] | None = None, kind: Any = "query") -> Reply:
        return await self.client.call(kind, path, args)

    def acting_as(self, **identity: object) -> FunctionClient:
        attributes = {"issuer": "https://issuer.example", "subject": "user_1", **identity}
        return self.client.acting_as(self.admin_key, attributes)

    def sync(self, session_id: str | None = None) -> Any:
        """`async with target.sync() as client:` — a live WebSocket client."""
        return SyncClient.connect(self.url, session_id)

    async def system(self, path: str, args: Mapping[str, Any] | None = None) -> Any:
        """Runs a system query as administrator."""
        return await self.admin.query(f"_system/{path}", args)

    async def clear(self, *tables: str) -> None:
        for table in tables:
            cursor: object = None
            while True:
                page = await self.admin.mutation(
                    "_system/frontend/clearTablePage", {"tableName": table, "cursor": cursor}
                )
                if not page["hasMore"]:
                    break
                cursor = page["continueCursor"]

    async def set_env(self, **variables: str | None) -> None:
        changes = [{"name": name, "value": value} for name, value in variables.items()]
        response = await self.http.post(
            f"{self.url}/api/update_environment_variables",
            json={"changes": changes},
            headers={"Authorization": f"Convex {self.admin_key}"},
        )
        response.raise_for_status()

    async def restart(self, *, pause: float = 0.0) -> None:
        """Stops our own deployment as a crash would, waits, and starts it again on the same data and ports."""
        if self.embedded is None:
            raise RuntimeError("only an embedded deployment can be restarted")
        await self.embedded.restart(pause=pause)

    async def push(self, files: Files | None = None, *, remove: tuple[str, ...] = ()) -> "PushResult":
        """Deploys the conformance app, changed by `files` (path -> text), with the real CLI."""
        from convex_evals.backend.conformance.project import push

        return await push(self, files or {}, remove)

    async def push_only(self, files: Files) -> "PushResult":
        """Deploys a project that holds nothing but `files`."""
        from convex_evals.backend.conformance.project import push

        return await push(self, files, remove=("convex/**",))
