"""The clients the checks use: plain HTTP calls, and a small sync client that counts every update it is sent."""

import asyncio
import base64
import contextlib
import json
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2
import websockets

from convex_evals.backend import values
from convex_evals.core import convex_versions

Kind = Literal["query", "mutation", "action", "function"]


class CallFailed(Exception):
    """A function answered with an error. `message` is the developer text, without the request-id line."""

    def __init__(self, text: str, data: object = None, has_data: bool = False, logs: list[str] | None = None) -> None:
        head, _, rest = text.partition("\n")
        super().__init__(text)
        self.text = text
        self.message = rest if head.startswith("[Request ID: ") else text
        self.data = data
        self.has_data = has_data
        self.logs = logs or []

    @property
    def plain(self) -> str:
        """The message without `Uncaught Error: ` and without frames."""
        lines = [line for line in self.message.splitlines() if not line.startswith("    at ")]
        return "\n".join(lines).removeprefix("Uncaught Error: ").rstrip("\n")


class Refused(Exception):
    """The request itself was refused."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"{status} {body}")
        self.status = status
        self.body = body


@dataclass(frozen=True)
class Reply:
    value: Any
    logs: list[str]


@dataclass
class FunctionClient:
    """Calls functions over HTTP, as nobody, as an administrator, or as a user the administrator acts for."""

    http: httpx2.AsyncClient
    url: str
    authorization: str | None = None

    def acting_as(self, admin_key: str, identity: Mapping[str, object]) -> "FunctionClient":
        payload = base64.b64encode(json.dumps(dict(identity)).encode()).decode()
        return FunctionClient(self.http, self.url, f"Convex {admin_key}:{payload}")

    def with_token(self, token: str) -> "FunctionClient":
        return FunctionClient(self.http, self.url, f"Bearer {token}")

    async def call(self, kind: Kind, path: str, args: Mapping[str, Any] | list[Any] | None = None) -> Reply:
        """Runs one function; raises CallFailed or Refused."""
        raw = await self.raw(kind, path, values.encode(dict(args or {}) if not isinstance(args, list) else args))
        logs = list(raw.get("logLines", []))
        if raw["status"] == "error":
            data = values.decode(raw["errorData"]) if "errorData" in raw else None
            raise CallFailed(raw["errorMessage"], data, "errorData" in raw, logs)
        return Reply(values.decode(raw["value"]), logs)

    async def raw(self, kind: Kind, path: str, args: object) -> dict[str, Any]:
        """The response body as it is; `args` is Convex JSON."""
        body = {"path": path, "args": args, "format": "convex_encoded_json"}
        headers = {"Authorization": self.authorization} if self.authorization else {}
        response = await self.http.post(f"{self.url}/api/{kind}", json=body, headers=headers)
        if response.status_code != 200:
            raise Refused(response.status_code, response.text)
        parsed: dict[str, Any] = response.json()
        return parsed

    async def query(self, path: str, args: Mapping[str, Any] | None = None) -> Any:
        return (await self.call("query", path, args)).value

    async def mutation(self, path: str, args: Mapping[str, Any] | None = None) -> Any:
        return (await self.call("mutation", path, args)).value

    async def action(self, path: str, args: Mapping[str, Any] | None = None) -> Any:
        return (await self.call("action", path, args)).value


@dataclass
class Subscription:
    query_id: int
    updates: list[Any] = field(default_factory=list)  # values, or CallFailed
    journals: list[str | None] = field(default_factory=list)

    @property
    def latest(self) -> Any:
        return self.updates[-1]


class SyncClient:
    """One WebSocket. Applies transitions strictly and remembers each one."""

    def __init__(self, socket: websockets.ClientConnection) -> None:
        self._socket = socket
        self._changed = asyncio.Event()
        self._subscriptions: dict[int, Subscription] = {}
        self._responses: dict[int, dict[str, Any]] = {}
        self._query_set = 0
        self._next_query = 0
        self._next_request = 0
        self.version: dict[str, Any] = {"querySet": 0, "identity": 0, "ts": "AAAAAAAAAAA="}
        self.transitions: list[dict[str, Any]] = []
        self.other_messages: list[dict[str, Any]] = []

    @classmethod
    @contextlib.asynccontextmanager
    async def connect(cls, url: str, session_id: str | None = None) -> AsyncIterator["SyncClient"]:
        address = url.replace("http", "ws", 1) + f"/api/{convex_versions.DEFAULT}/sync"
        async with websockets.connect(address, max_size=None, compression=None) as socket:
            client = cls(socket)
            reader = asyncio.create_task(client._read())
            await client.send(
                {
                    "type": "Connect",
                    "sessionId": session_id or str(uuid.uuid4()),
                    "connectionCount": 0,
                    "lastCloseReason": "InitialConnect",
                    "clientTs": 0,
                }
            )
            try:
                yield client
            finally:
                reader.cancel()
                with contextlib.suppress(asyncio.CancelledError, websockets.ConnectionClosed):
                    await reader

    async def send(self, message: Mapping[str, object]) -> None:
        await self._socket.send(json.dumps(message))

    async def subscribe(self, *queries: tuple[str, Mapping[str, Any]]) -> list[Subscription]:
        """Adds queries in one message and waits for their first results."""
        added = []
        for _ in queries:
            added.append(Subscription(self._next_query))
            self._subscriptions[self._next_query] = added[-1]
            self._next_query += 1
        base, self._query_set = self._query_set, self._query_set + 1
        modifications = [
            {"type": "Add", "queryId": one.query_id, "udfPath": path, "args": [values.encode(dict(args))]}
            for one, (path, args) in zip(added, queries, strict=True)
        ]
        await self.send(
            {
                "type": "ModifyQuerySet",
                "baseVersion": base,
                "newVersion": self._query_set,
                "modifications": modifications,
            }
        )
        await self.until(lambda: all(one.updates for one in added))
        return added

    async def mutation(self, path: str, args: Mapping[str, Any] | None = None) -> Any:
        """Runs a mutation and waits for its response and for a later transition that reflects it."""
        request = self._next_request
        self._next_request += 1
        await self.send(
            {"type": "Mutation", "requestId": request, "udfPath": path, "args": [values.encode(dict(args or {}))]}
        )
        await self.until(lambda: request in self._responses and self._responses[request].get("settled"))
        response = self._responses[request]
        if not response["success"]:
            data = values.decode(response["errorData"]) if "errorData" in response else None
            raise CallFailed(response["result"], data, "errorData" in response, response["logLines"])
        return values.decode(response["result"])

    async def until(self, condition: Any, seconds: float = 30.0) -> None:
        async with asyncio.timeout(seconds):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def quiet(self, seconds: float = 0.15) -> None:
        """Waits long enough for an update that should not come."""
        await asyncio.sleep(seconds)

    async def _read(self) -> None:
        async for text in self._socket:
            self._apply(json.loads(text))
            self._changed.set()

    def _apply(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "Transition":
                self._apply_transition(message)
            case "MutationResponse" | "ActionResponse":
                self._responses[message["requestId"]] = message
            case _:
                self.other_messages.append(message)

    def _apply_transition(self, message: dict[str, Any]) -> None:
        if message["startVersion"] != self.version:
            raise AssertionError(f"transition starts at {message['startVersion']}, expected {self.version}")
        self.version = message["endVersion"]
        self.transitions.append(message)
        for response in self._responses.values():
            response["settled"] = True
        for modification in message["modifications"]:
            subscription = self._subscriptions.get(modification["queryId"])
            if subscription is None or modification["type"] == "QueryRemoved":
                continue
            subscription.journals.append(modification.get("journal"))
            if modification["type"] == "QueryUpdated":
                subscription.updates.append(values.decode(modification["value"]))
            else:
                data = values.decode(modification["errorData"]) if "errorData" in modification else None
                failed = CallFailed(modification["errorMessage"], data, "errorData" in modification)
                subscription.updates.append(failed)
