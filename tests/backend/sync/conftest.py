"""A deployment small enough to see through: lists by name, functions in Python, every wait under the test's control."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import websockets
from websockets.asyncio.client import ClientConnection

from convex_evals.backend.admin_keys import AdminKeys
from convex_evals.backend.errors import RequestError
from convex_evals.backend.functions.calls import (
    Call,
    CallFailure,
    CallOutcome,
    MutationOutcome,
    QueryOutcome,
    SessionRequest,
)
from convex_evals.backend.http.app import main_app, sync_routes
from convex_evals.backend.identity import Authenticator, User
from convex_evals.backend.sync import SyncServer
from convex_evals.core.http import LoopbackServer

Json = dict[str, Any]
Keys = Any  # stands where a ReadSet does: the names of the lists that were read

KEYS = AdminKeys("test", "secret")
SESSION = "b831f486-43ac-4d02-976e-a1a6000c618a"


@dataclass(frozen=True)
class Write:
    ts: int
    key: str
    session_id: str | None = None

    def touches(self, read_set: Keys) -> bool:
        return self.key in read_set or self.session_id in read_set


class World:
    """Lists by name, and their history."""

    def __init__(self) -> None:
        self.latest = 1000
        self.history: list[tuple[Write, str]] = []
        self._callbacks: list[Callable[[Any], None]] = []

    def on_commit(self, callback: Callable[[Any], None]) -> Callable[[], None]:
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    def changed_since(self, read_set: Keys, ts: int) -> bool:
        return any(write.ts > ts and write.touches(read_set) for write, _ in self.history)

    def requests_of(self, session_id: str) -> Keys:
        return {session_id}

    def append(self, key: str, item: str, session_id: str | None = None) -> int:
        self.latest += 1000
        write = Write(self.latest, key, session_id)
        self.history.append((write, item))
        for callback in self._callbacks:
            callback(write)
        return self.latest

    def read(self, key: str, at: int) -> list[str]:
        return [item for write, item in self.history if write.key == key and write.ts <= at]


@dataclass
class Functions:
    """Queries `list`, `whoami`, `big`; the mutation `push` (appends to a list); the action `answer`. Every call waits
    for its gate, if the test has set one up."""

    world: World
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    started: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    journals: list[str | None] = field(default_factory=list)
    recorded: dict[SessionRequest, MutationOutcome] = field(default_factory=dict)

    async def _enter(self, call: Call) -> Json:
        assert isinstance(call.args, list)
        args: Json = call.args[0]
        name = args.get("gate", call.path.function)
        self.started.append(name)
        self.calls.append(call)
        await self._pass(name)
        return args

    async def _pass(self, gate: str) -> None:
        if gate in self.gates:
            await self.gates[gate].wait()

    async def query(self, call: Call, *, at: int | None = None, journal: str | None = None) -> QueryOutcome:
        args = await self._enter(call)
        assert at is not None
        self.journals.append(journal)
        outcome = QueryOutcome(None, None, call.request_id, ts=at, read_set=args_reads(args), journal=journal)
        match call.path.function:
            case "list":
                outcome.value = json.dumps(self.world.read(args["key"], at))
            case "whoami":
                outcome.value = json.dumps(type(call.identity).__name__)
            case "big":
                outcome.value = json.dumps("é" * args["size"])
            case "broken":
                raise RuntimeError("the database is on fire")
            case "unparseable":
                raise RequestError(400, "BadConvexFunctionIdentifier", "x is not a valid path to a Convex function.")
            case _:
                outcome.failure = CallFailure(f"Could not find public function for '{call.path.stripped}'.\n")
        return outcome

    async def mutation(self, call: Call, *, session_request: SessionRequest | None = None) -> MutationOutcome:
        assert session_request is not None
        if session_request in self.recorded:
            return self.recorded[session_request]
        args = await self._enter(call)
        match call.path.function:
            case "push":
                ts = self.world.append(args["key"], args["item"], session_request.session_id)
                await self._pass("committed")
                outcome = MutationOutcome(json.dumps(args["item"]), None, call.request_id, ts=ts)
                self.recorded[session_request] = outcome
                return outcome
            case "contended":
                raise RequestError(503, "OptimisticConcurrencyControlFailure", "Documents read …")
            case _:
                return MutationOutcome(None, CallFailure("Uncaught ConvexError: no\n", '"no"'), call.request_id)

    async def action(self, call: Call) -> CallOutcome:
        args = await self._enter(call)
        if call.path.module.startswith("_system/"):
            raise RequestError(403, "SystemIdentityRequired", "Operation action not permitted")
        return CallOutcome(json.dumps(args.get("say", 42.0)), None, call.request_id)


def args_reads(args: Json) -> Keys:
    return {args["key"]} if "key" in args else set()


class Tokens:
    """A token is `user` (valid), `expired`, `down` (the provider does not answer), or wrong."""

    async def verify(self, token: str) -> User:
        match token:
            case "user":
                return User({"subject": "ada"}, token)
            case "expired":
                return User({"subject": "ada"}, token, expires_at=1.0)
            case "down":
                raise RequestError(503, "AuthProviderDown", "Try again later.")
            case _:
                raise RequestError(401, "InvalidAuthHeader", "Could not parse JWT payload.")


class Client:
    """A raw WebSocket that checks the version chain of every Transition it gets."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.version: Json = {"querySet": 0, "identity": 0, "ts": "AAAAAAAAAAA="}
        self._query_set = 0

    async def send(self, **message: object) -> None:
        await self.connection.send(json.dumps(message))

    async def connect(self, **fields: object) -> "Client":
        await self.send(type="Connect", sessionId=SESSION, connectionCount=0, **fields)
        return self

    async def subscribe(self, query_id: int, function: str, **args: object) -> None:
        await self.modify({"type": "Add", "queryId": query_id, "udfPath": f"m:{function}", "args": [args]})

    async def modify(self, *modifications: Json) -> None:
        base, self._query_set = self._query_set, self._query_set + 1
        await self.send(
            type="ModifyQuerySet", baseVersion=base, newVersion=self._query_set, modifications=modifications
        )

    async def mutate(self, request_id: int, function: str, **args: object) -> None:
        await self.send(type="Mutation", requestId=request_id, udfPath=f"m:{function}", args=[args])

    async def act(self, request_id: int, path: str, **args: object) -> None:
        await self.send(type="Action", requestId=request_id, udfPath=path, args=[args])

    async def receive(self) -> Json:
        message: Json = json.loads(await asyncio.wait_for(self.connection.recv(), 60))
        if message["type"] == "Transition":
            assert message["startVersion"] == self.version
            self.version = message["endVersion"]
        return message

    async def transition(self) -> list[Json]:
        """The modifications of the next message, which must be a Transition."""
        message = await self.receive()
        assert message["type"] == "Transition", message
        modifications: list[Json] = message["modifications"]
        return modifications

    async def silence(self, seconds: float = 0.05) -> None:
        """Fails when anything is said within `seconds`."""
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(seconds):
                pytest.fail(f"unexpected: {await self.connection.recv()!r}")

    async def closed(self) -> tuple[int, str]:
        """Code and reason of the close frame, once everything said before it was read."""
        with pytest.raises(websockets.ConnectionClosed):
            await asyncio.wait_for(self.connection.recv(), 60)
        frame = self.connection.protocol.close_rcvd
        assert frame is not None
        return frame.code, frame.reason


@dataclass
class Deployment:
    world: World
    functions: Functions
    sync: SyncServer
    server: LoopbackServer
    _clients: list[Client] = field(default_factory=list)

    async def socket(self, path: str = "/api/sync", **options: Any) -> Client:
        url = self.server.origin.replace("http", "ws") + path
        client = Client(await websockets.connect(url, **options))
        self._clients.append(client)
        return client

    async def client(self) -> Client:
        return await (await self.socket()).connect()

    async def leave(self) -> None:
        for client in self._clients:
            await client.connection.close()


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    world = World()
    functions = Functions(world)
    sync = SyncServer(functions, world)
    server = LoopbackServer()
    await server.start(main_app(sync_routes(sync, Authenticator(KEYS, Tokens()))))
    running = Deployment(world, functions, sync, server)
    yield running
    await running.leave()
    await sync.stop()
    await server.stop()


@pytest.fixture
async def client(deployment: Deployment) -> Client:
    return await deployment.client()


@pytest.fixture
def admin_key() -> str:
    return KEYS.issue()
