"""Real clients against a real deployment: those of npm in one Node process, each of PyPI's in a process of its own."""

import asyncio
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from convex_evals.backend.deployment import Deployment
from convex_evals.backend.push import PushRequest
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import Toolchain, prepare_toolchain

APP = Path(__file__).parent / "app"
NPM_DRIVER = Path(__file__).parent / "npm_client.mjs"
PYTHON_DRIVER = Path(__file__).parent / "python_client.py"


class RemoteError(Exception):
    """What a client's promise rejected with."""

    def __init__(self, message: str, data: object = None) -> None:
        super().__init__(message)
        self.data = data


@dataclass
class Subscription:
    """Results in the order in which the client's listener saw them."""

    name: str
    node: "NodeClients"
    results: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)

    async def next(self) -> Any:
        result = await asyncio.wait_for(self.results.get(), 60)
        if "error" in result:
            raise RemoteError(result["error"]["message"], result["error"].get("data"))
        return result.get("value")

    async def until(self, condition: Callable[[Any], bool]) -> Any:
        while True:
            value = await self.next()
            if condition(value):
                return value

    async def stop(self) -> None:
        await self.node.do("unsubscribe", subscription=self.name)


@dataclass
class NpmClient:
    """One client object in the Node process."""

    name: str
    node: "NodeClients"

    async def query(self, path: str, **args: object) -> Any:
        return await self.node.do("query", client=self.name, path=path, args=args)

    async def mutation(self, path: str, optimistic: object = None, **args: object) -> Any:
        return await self.node.do("mutation", client=self.name, path=path, args=args, optimistic=optimistic)

    async def action(self, path: str, **args: object) -> Any:
        return await self.node.do("action", client=self.name, path=path, args=args)

    async def subscribe(self, path: str, **args: object) -> Subscription:
        subscription = self.node.subscription(self.name)
        await self.node.do("subscribe", client=self.name, subscription=subscription.name, path=path, args=args)
        return subscription

    async def set_admin_auth(self, key: str, identity: object = None) -> None:
        await self.node.do("setAdminAuth", client=self.name, adminKey=key, identity=identity)

    async def set_auth(self, *tokens: str) -> bool:
        """Whether the client became authenticated. It gets one token each time it asks, the last one forever."""
        authenticated: bool = await self.node.do("setAuth", client=self.name, tokens=tokens)
        return authenticated

    async def clear_auth(self) -> None:
        await self.node.do("clearAuth", client=self.name)

    async def close(self) -> None:
        """Also of one that is closed already."""
        await self.node.do("close", client=self.name)


class Driver:
    """A process that is told what to do, line by line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._reading = asyncio.create_task(self._read())

    @staticmethod
    async def spawn(folder: Path, *command: object) -> asyncio.subprocess.Process:
        with (folder / "stderr").open("a") as errors:
            return await asyncio.create_subprocess_exec(
                *map(str, command),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                limit=2**26,
            )

    async def stop(self) -> None:
        self._process.kill()
        await self._process.wait()
        await self._reading

    async def do(self, op: str, **arguments: object) -> Any:
        number = len(self._answers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"id": number, "op": op, **arguments}).encode() + b"\n")
        return await asyncio.wait_for(answer, 60)

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self._take(json.loads(line))

    def _take(self, message: dict[str, Any]) -> None:
        if "error" in message:
            error = RemoteError(message["error"]["message"], message["error"].get("data"))
            self._answers[message["id"]].set_exception(error)
        else:
            self._answers[message["id"]].set_result(message["value"])


class NodeClients(Driver):
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        super().__init__(process)
        self._subscriptions: dict[str, Subscription] = {}
        self._clients: defaultdict[str, int] = defaultdict(int)
        self._open: list[NpmClient] = []

    @classmethod
    async def start(cls, toolchain: Toolchain, folder: Path) -> "NodeClients":
        (folder / "node_modules").symlink_to(toolchain.packages.node_modules)
        (folder / NPM_DRIVER.name).write_text(NPM_DRIVER.read_text())
        return cls(await cls.spawn(folder, toolchain.node.executable, folder / NPM_DRIVER.name))

    async def open(self, kind: str, url: str, admin_key: str | None = None, identity: object = None) -> NpmClient:
        self._clients[kind] += 1
        client = NpmClient(f"{kind}{self._clients[kind]}", self)
        self._open.append(client)
        await self.do("open", client=client.name, kind=kind, url=url, adminKey=admin_key, identity=identity)
        return client

    async def close_clients(self) -> None:
        """For the next test, which has the process to itself."""
        opened, self._open = self._open, []
        for client in opened:
            await client.close()

    def subscription(self, client: str) -> Subscription:
        name = f"{client}/{len(self._subscriptions)}"
        subscription = self._subscriptions[name] = Subscription(name, self)
        return subscription

    def _take(self, message: dict[str, Any]) -> None:
        if "subscription" in message:
            self._subscriptions[message["subscription"]].results.put_nowait(message)
        else:
            super()._take(message)


class PythonClient(Driver):
    """One client object of PyPI's `convex`. It does one thing at a time."""

    @classmethod
    async def start(cls, folder: Path, url: str, admin_key: str | None = None) -> "PythonClient":
        return cls(await cls.spawn(folder, sys.executable, PYTHON_DRIVER, url, *([admin_key] if admin_key else [])))

    async def query(self, path: str, **args: object) -> Any:
        return await self.do("query", path=path, args=args)

    async def mutation(self, path: str, **args: object) -> Any:
        return await self.do("mutation", path=path, args=args)

    async def action(self, path: str, **args: object) -> Any:
        return await self.do("action", path=path, args=args)

    async def subscribe(self, name: str, path: str, **args: object) -> None:
        await self.do("subscribe", subscription=name, path=path, args=args)

    async def next(self, name: str) -> Any:
        return await self.do("next", subscription=name)


class Wire:
    """A TCP proxy in front of a deployment, which a test can cut or make deaf."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._writers: set[asyncio.StreamWriter] = set()
        self._pumps: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.delivering = asyncio.Event()  # what the server says reaches the clients
        self.delivering.set()
        self.connections = 0

    async def start(self) -> "Wire":
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        return self

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        for pump in self._pumps:
            pump.cancel()
        for writer in self._writers:
            writer.transport.abort()

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        pumps = list(self._pumps)
        self.cut()
        await asyncio.gather(*pumps, return_exceptions=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, server_writer}
        self._start(self._pump(reader, server_writer, None))
        self._start(self._pump(server_reader, writer, self.delivering))

    def _start(self, pump: Any) -> None:
        task = asyncio.create_task(pump)
        self._pumps.add(task)
        task.add_done_callback(self._pumps.discard)

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gate: asyncio.Event | None
    ) -> None:
        try:
            while data := await reader.read(2**16):
                if gate is not None:
                    await gate.wait()
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.transport.abort()
            self._writers.discard(writer)


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    return asyncio.run(prepare_toolchain(read_settings()))


@dataclass(frozen=True)
class App:
    """The application in `app/`, bundled as the CLI would."""

    modules: dict[str, str]

    @classmethod
    def bundle(cls, toolchain: Toolchain, folder: Path) -> "App":
        source = folder / "convex"
        shutil.copytree(APP, source)
        (folder / "node_modules").symlink_to(toolchain.packages.node_modules)
        command = [str(toolchain.binary("esbuild")), "--bundle", "--format=esm", "--conditions=convex,module"]
        subprocess.run(
            [*command, f"--outdir={folder / 'out'}", "--log-level=error", *map(str, source.glob("*.js"))], check=True
        )
        return cls({file.name: file.read_text() for file in (folder / "out").iterdir()})

    def without(self, *functions: str) -> "App":
        """As if these functions had not been written yet."""
        notes = self.modules["notes.js"]
        for function in functions:
            notes = re.sub(rf"\b{function},?\n", "", notes)
        return App({**self.modules, "notes.js": notes})

    def with_module(self, path: str, source: str) -> "App":
        return App({**self.modules, path: source})

    def request(self) -> PushRequest:
        modules = {
            path: {"path": path, "source": source, "environment": "isolate"} for path, source in self.modules.items()
        }
        app = {
            "definition": None,
            "dependencies": [],
            "schema": modules.pop("schema.js"),
            "changedModules": list(modules.values()),
            "udfServerVersion": "1.44.0",
        }
        return PushRequest.parse({"appDefinition": app, "componentDefinitions": []})


@pytest.fixture(scope="session")
def app(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> App:
    return App.bundle(toolchain, tmp_path_factory.mktemp("app"))


async def push(deployment: Deployment, app: App) -> None:
    started = await deployment.pusher.start(app.request())
    assert await deployment.pusher.schema_status(started["schemaChange"]) == {"type": "complete"}
    await deployment.pusher.finish(started, dry_run=False)


@pytest.fixture
def push_app() -> Callable[[Deployment, App], Awaitable[None]]:
    return push


@pytest_asyncio.fixture(loop_scope="module")
async def deployed(deployment: Deployment, app: App) -> Deployment:
    await push(deployment, app)
    return deployment


@pytest_asyncio.fixture(loop_scope="module")
async def deployment() -> AsyncIterator[Deployment]:
    async with Deployment.start() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def node_process(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[NodeClients]:
    clients = await NodeClients.start(toolchain, tmp_path_factory.mktemp("node"))
    yield clients
    await clients.stop()


@pytest_asyncio.fixture(loop_scope="module")
async def node(node_process: NodeClients) -> AsyncIterator[NodeClients]:
    """One process for all tests of a file; the clients of a test are closed after it."""
    yield node_process
    await node_process.close_clients()


@pytest_asyncio.fixture(loop_scope="module")
async def wire(deployment: Deployment) -> AsyncIterator[Wire]:
    wire = await Wire(int(deployment.url.rpartition(":")[2])).start()
    yield wire
    await wire.stop()


@pytest_asyncio.fixture(loop_scope="module")
async def python_client(tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[PythonClient]]]:
    """Starts clients: `await python_client(url, admin_key)`."""
    started: list[PythonClient] = []

    async def start(url: str, admin_key: str | None = None) -> PythonClient:
        started.append(await PythonClient.start(tmp_path, url, admin_key))
        return started[-1]

    yield start
    await asyncio.gather(*(client.stop() for client in started))
