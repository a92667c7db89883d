"""The deployment that checks run against, pushes to it, and our own deployment as a target that can be restarted."""

import asyncio
import contextlib
import fnmatch
import shutil
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx2

from convex_evals.backend.conformance.client import FunctionClient, Reply, SyncClient
from convex_evals.backend.deployment import Deployment, DeploymentSettings
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.http import HOST
from convex_evals.core.processes import base_environment, run
from convex_evals.core.toolchain import Toolchain

Files = Mapping[str, str]
Pusher = Callable[["Target", Path], Awaitable["PushResult"]]

PUSH_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class PushResult:
    """`ok` only when the CLI reports that the functions are ready: its exit code alone proves nothing."""

    ok: bool
    output: str


async def push_with_cli(target: "Target", project: Path) -> PushResult:
    """Runs `convex dev --once` in the folder."""
    (project / "node_modules").symlink_to(target.toolchain.packages.node_modules)
    home = target.workspace / "home"
    home.mkdir(exist_ok=True)
    options = ("--once", "--typecheck=disable", "--tail-logs=disable")
    address = ("--url", target.url, "--admin-key", target.admin_key)
    result = await run(
        [*target.toolchain.node_command("convex"), "dev", *options, *address],
        cwd=project,
        timeout=PUSH_SECONDS,
        environment=base_environment(home, {"CI": "1"}),
    )
    output = result.output.read().decode(errors="replace")
    return PushResult(result.ok and "Convex functions ready!" in output, output)


@dataclass
class Target:
    """`embedded` is our own deployment when that is what runs, for checks that need to restart it."""

    url: str
    site_url: str
    admin_key: str
    http: httpx2.AsyncClient
    workspace: Path
    toolchain: Toolchain
    embedded: "EmbeddedDeployment | None" = None
    pusher: Pusher = push_with_cli
    client: FunctionClient = field(init=False)
    admin: FunctionClient = field(init=False)

    def __post_init__(self) -> None:
        self.client = FunctionClient(self.http, self.url)
        self.admin = FunctionClient(self.http, self.url, f"Convex {self.admin_key}")

    # Shorthands: most checks make one call and look at its result.

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

    async def push(self, files: Files | None = None, *, remove: tuple[str, ...] = ()) -> PushResult:
        """Deploys the conformance app, changed by `files` (path -> text), from a fresh folder."""
        project = Path(mkdtemp(prefix="project-", dir=self.workspace))
        _write(project, files or {}, remove)
        return await self.pusher(self, project)

    async def push_only(self, files: Files) -> PushResult:
        """Deploys a project that holds nothing but `files`."""
        return await self.push(files, remove=("convex/**",))


def _write(project: Path, changes: Mapping[str, str], remove: tuple[str, ...]) -> None:
    with as_file(files("convex_evals.backend.conformance") / "app") as app:
        shutil.copytree(app, project, dirs_exist_ok=True)
    for file in [path for path in project.rglob("*.ts") if path.is_file()]:
        relative = file.relative_to(project).as_posix()
        if any(fnmatch.fnmatch(relative, pattern) for pattern in remove):
            file.unlink()
    for name, text in changes.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class EmbeddedDeployment:
    """Keeps its ports after the first start, so that a restart has the same URLs."""

    def __init__(self, settings: DeploymentSettings) -> None:
        self._settings = settings
        self._stack = contextlib.AsyncExitStack()

    async def start(self) -> Deployment:
        deployment = await self._stack.enter_async_context(Deployment.run(self._settings))
        self._settings = replace(self._settings, port=_port(deployment.url), site_port=_port(deployment.site_url))
        return deployment

    async def stop(self) -> None:
        await self._stack.aclose()

    async def restart(self, pause: float = 0.0) -> None:
        await self.stop()
        with _kept(self._settings.port), _kept(self._settings.site_port):
            await asyncio.sleep(pause)
            self._stack = contextlib.AsyncExitStack()
            await self.start()


@contextlib.asynccontextmanager
async def embedded_target(
    toolchain: Toolchain, pusher: Pusher = push_with_cli, *, redact: bool = False
) -> AsyncIterator[Target]:
    """An empty deployment that keeps its data on disk, so that checks may restart it."""
    with TemporaryDirectory(prefix="conformance-") as name:
        folder = Path(name)
        settings = DeploymentSettings(
            database=folder / "data.db", storage=folder / "storage", instance_secret="5e" * 32, redact=redact
        )
        embedded = EmbeddedDeployment(settings)
        deployment = await embedded.start()
        try:
            async with httpx2.AsyncClient(timeout=60) as http:
                address = (deployment.url, deployment.site_url, deployment.admin_key)
                yield Target(*address, http, folder, toolchain, embedded, pusher)
        finally:
            await embedded.stop()


@contextlib.contextmanager
def _kept(port: int) -> Iterator[None]:
    """Reserves the port: nobody who asks for any free port gets it, but it can still be bound by number."""
    with socket.socket() as placeholder:
        placeholder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        placeholder.bind((HOST, port))
        yield


def _port(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None, f"{url} names no port"
    return port


class Deployments(Protocol):
    """Where targets come from."""

    name: str
    embedded: bool

    def target(self) -> contextlib.AbstractAsyncContextManager[Target]:
        """An empty deployment; for a remote target the one there is."""
        ...


class EmbeddedDeployments:
    name = "embedded"
    embedded = True

    def __init__(self, toolchain: Toolchain, pusher: Pusher = push_with_cli) -> None:
        self._toolchain, self._pusher = toolchain, pusher

    def target(self) -> contextlib.AbstractAsyncContextManager[Target]:
        return embedded_target(self._toolchain, self._pusher)


class RemoteDeployment:
    """A deployment someone else runs. Its code is replaced; the tables of the conformance app are used."""

    embedded = False

    def __init__(self, url: str, admin_key: str, toolchain: Toolchain) -> None:
        self.name = url.rstrip("/")
        self._admin_key = admin_key
        self._toolchain = toolchain

    @contextlib.asynccontextmanager
    async def target(self) -> AsyncIterator[Target]:
        with TemporaryDirectory(prefix="conformance-") as folder:
            async with httpx2.AsyncClient(timeout=60) as http:
                site_url = await self._site_url(http)
                yield Target(self.name, site_url, self._admin_key, http, Path(folder), self._toolchain)

    async def _site_url(self, http: httpx2.AsyncClient) -> str:
        try:
            response = await http.get(
                f"{self.name}/api/v1/get_canonical_urls", headers={"Authorization": f"Convex {self._admin_key}"}
            )
        except httpx2.TransportError as error:
            raise InfrastructureError(f"No deployment answers at {self.name} ({error}); check the URL.") from error
        if response.status_code != 200:
            raise InfrastructureError(
                f"The deployment at {self.name} refused the admin key ({response.status_code}); check --admin-key."
            )
        return str(response.json()["convexSiteUrl"])
