"""Deployments that are mistreated: functions that misbehave, processes that are killed, clients that vanish."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio
import websockets
from websockets.asyncio.client import ClientConnection

from convex_evals.backend.deployment import Deployment
from convex_evals.backend.functions.transaction_syscalls import TransactionSyscalls
from convex_evals.backend.runtime import SyscallReply, SyscallRequest

APP = Path(__file__).parent / "app"
PATIENCE = 60.0

Json = dict[str, Any]
DeploymentOf = Callable[..., AbstractAsyncContextManager[Deployment]]


@pytest.fixture(scope="session")
def faults_app() -> dict[str, str]:
    return {path.relative_to(APP).as_posix(): path.read_text() for path in APP.rglob("*.ts")}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(deployment_of: DeploymentOf, faults_app: dict[str, str]) -> AsyncIterator[Deployment]:
    """One deployment of the app for all tests of a module."""
    async with deployment_of(faults_app) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def deployment(deployment_of: DeploymentOf, faults_app: dict[str, str]) -> AsyncIterator[Deployment]:
    """One for a single test."""
    async with deployment_of(faults_app) as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def kept_by_others() -> frozenset[int]:
    """Processes that belong to tests of other files, which share this process and may keep a deployment open."""
    return frozenset(child.pid for child in psutil.Process().children(recursive=True))


@pytest.fixture
def workers(kept_by_others: frozenset[int], processes: Any) -> Callable[[str], list[psutil.Process]]:
    """The workers of this process that run a script: `functions`, `actions` or `node`."""

    def runs(script: str, process: psutil.Process) -> bool:
        arguments = processes.command(process)
        return process.pid not in kept_by_others and any(each.endswith(f"/js/{script}.mjs") for each in arguments)

    return lambda script: processes.below_this_one(partial(runs, script))


class Gate:
    """Holds the first transaction that makes a certain syscall, in the middle of its function."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()
        self.passed = 0

    async def wait(self) -> None:
        self.passed += 1
        if not self.reached.is_set():
            self.reached.set()
            await self.opened.wait()


@pytest.fixture
def hold(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Gate]:
    answer = TransactionSyscalls.call

    def install(syscall: str) -> Gate:
        gate = Gate()

        async def call(self: TransactionSyscalls, calls: Sequence[SyscallRequest]) -> Sequence[SyscallReply]:
            if any(request.name == syscall for request in calls):
                await gate.wait()
            return await answer(self, calls)

        monkeypatch.setattr(TransactionSyscalls, "call", call)
        return gate

    return install


class Client:
    """A raw WebSocket of the sync protocol, which can be rude."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.session = str(uuid.uuid4())
        self._query_set = 0

    async def send(self, **message: object) -> None:
        await self.connection.send(json.dumps(message))

    async def connect(self) -> "Client":
        await self.send(type="Connect", sessionId=self.session, connectionCount=0)
        return self

    async def subscribe(self, path: str, *args: object) -> None:
        base, self._query_set = self._query_set, self._query_set + 1
        add = {"type": "Add", "queryId": base, "udfPath": path, "args": list(args) or [{}]}
        await self.send(type="ModifyQuerySet", baseVersion=base, newVersion=self._query_set, modifications=[add])

    async def mutate(self, request_id: int, path: str, **args: object) -> None:
        await self.send(type="Mutation", requestId=request_id, udfPath=path, args=[args])

    async def act(self, request_id: int, path: str, **args: object) -> None:
        await self.send(type="Action", requestId=request_id, udfPath=path, args=[args])

    async def receive(self, kind: str) -> Json:
        """The next message of that type."""
        async with asyncio.timeout(PATIENCE):
            while True:
                message: Json = json.loads(await self.connection.recv())
                if message["type"] == kind:
                    return message

    async def value(self) -> Any:
        """Of the next query that is updated."""
        while True:
            for change in (await self.receive("Transition"))["modifications"]:
                if change["type"] == "QueryUpdated":
                    return change["value"]

    def vanish(self) -> None:
        """Without a word."""
        self.connection.transport.abort()


@pytest_asyncio.fixture(loop_scope="module")
async def join() -> AsyncIterator[Callable[[Deployment], Awaitable[Client]]]:
    """Connects another client to a deployment."""
    opened: list[Client] = []

    async def connect(deployment: Deployment) -> Client:
        url = deployment.url.replace("http", "ws", 1)
        connection = await websockets.connect(f"{url}/api/sync", max_size=None, compression=None)
        opened.append(await Client(connection).connect())
        return opened[-1]

    yield connect
    for client in opened:
        client.vanish()
        await client.connection.wait_closed()
