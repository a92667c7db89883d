"""A client on a WebSocket, as in browsers: queries that stay up to date, mutations and actions."""

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from convex_evals.core import convex_versions
from convex_evals.pipeline.grading.kit.assertions import show
from convex_evals.pipeline.grading.kit.errors import CallFailed, CallTimedOut, Unreadable
from convex_evals.pipeline.grading.kit.patience import PATIENCE
from convex_evals.pipeline.grading.kit.trace import LOG_SECONDS, completions
from convex_evals.pipeline.grading.kit.transport import LARGEST_BODY, Transport
from convex_evals.pipeline.grading.kit.values import from_json, to_json

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

SUBSCRIBER: Final = "SyncWorker"
Arguments = Mapping[str, Any]
Message = dict[str, Any]


@dataclass
class Client:
    """One browser, so to speak: its mutations run one after another, those of several clients at the same time."""

    transport: Transport
    _socket: "ClientConnection"
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _queries: "list[LiveQuery]" = field(default_factory=list)
    _responses: dict[int, Message] = field(default_factory=dict)
    _requests: int = 0
    _identity: int = 0
    _query_set: int = 0
    _shown_query_set: int = 0
    _lost: Exception | None = None

    @classmethod
    @contextmanager
    def open(cls, transport: Transport, credentials: Message | None = None) -> "Iterator[Client]":
        with _connect(transport) as socket:
            client = cls(transport, socket)
            reader = threading.Thread(target=client._read, daemon=True)
            reader.start()
            client._send(_greeting())
            if credentials is not None:
                client._identify(credentials)
            yield client
        reader.join()

    def authenticate(self, token: str | None) -> None:
        """Logs in with a token that the deployment checks, again with another one, or out. One that it refuses ends the
        connection."""
        self._identify({"tokenType": "None"} if token is None else user_credentials(token))

    def mutation(self, path: str, args: Arguments | None = None, /, **named: Any) -> Any:
        return self._call("Mutation", path, {**(args or {}), **named})

    def action(self, path: str, args: Arguments | None = None, /, **named: Any) -> Any:
        return self._call("Action", path, {**(args or {}), **named})

    def subscribe(self, path: str, args: Arguments | None = None, /, **named: Any) -> "LiveQuery":
        """A query that stays up to date as long as the client does. Waits for its first result."""
        live = LiveQuery(self, path)
        added = {"type": "Add", "queryId": len(self._queries), "udfPath": path}
        self._queries.append(live)
        self._modify([{**added, "args": [to_json({**(args or {}), **named})]}])
        self.wait(lambda: bool(live.updates), None, f"the subscription to {path}")
        return live

    def catch_up(self) -> None:
        """Waits until the subscriptions show everything that was committed before."""
        awaited = self._modify([])
        self.wait(lambda: self._shown_query_set >= awaited, None, "the WebSocket")

    def wait(self, condition: Callable[[], bool], seconds: float | None, what: str) -> None:
        """Until something that has arrived meets the condition. Raises CallTimedOut, Unreadable, DeploymentLost."""
        allowed = self.transport.clock.allow(seconds)
        deadline = PATIENCE.now() + allowed
        with self._changed:
            while not condition():
                if self._lost is not None:
                    self.transport.require_alive(what, self._lost)
                    raise Unreadable(self.transport.name, what, f"it ended: {self._lost}")
                remaining = deadline - PATIENCE.now()
                if remaining <= 0:
                    raise CallTimedOut(self.transport.name, what, allowed)
                self._changed.wait(remaining)

    def _call(self, kind: str, path: str, args: Arguments) -> Any:
        request_id, self._requests = self._requests, self._requests + 1
        self._send({"type": kind, "requestId": request_id, "udfPath": path, "args": [to_json(args)]})
        self.wait(lambda: request_id in self._responses, None, f"the {kind.lower()} {path}")
        response = self._responses.pop(request_id)
        if response["success"]:
            return from_json(response["result"])
        raise _failure(self.transport.name, path, response["result"], response)

    def _identify(self, credentials: Message) -> None:
        base, self._identity = self._identity, self._identity + 1
        self._send({"type": "Authenticate", "baseVersion": base, **credentials})

    def _modify(self, modifications: list[Message]) -> int:
        """The version of the query set that results."""
        base, self._query_set = self._query_set, self._query_set + 1
        versions = {"baseVersion": base, "newVersion": self._query_set}
        self._send({"type": "ModifyQuerySet", **versions, "modifications": modifications})
        return self._query_set

    def _send(self, message: Mapping[str, object]) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            self._socket.send(json.dumps(message))
        except ConnectionClosed as error:
            with self._changed:
                self._lost = self._lost or error

    def _read(self) -> None:
        lost: Exception | None = None
        try:
            for text in self._socket:
                self._apply(json.loads(text))
        except Exception as error:  # whatever ends the reader must reach the thread that waits
            lost = error
        with self._changed:
            self._lost = lost or ConnectionError("the deployment closed the connection")
            self._changed.notify_all()

    def _apply(self, message: Message) -> None:
        with self._changed:
            match message["type"]:
                case "Transition":
                    for change in message["modifications"]:
                        self._queries[change["queryId"]].receive(change)
                    self._shown_query_set = message["endVersion"]["querySet"]
                case "MutationResponse" | "ActionResponse":
                    self._responses[message["requestId"]] = message
                case "FatalError" | "AuthError":
                    raise ConnectionError(message["error"])
            self._changed.notify_all()


@dataclass
class LiveQuery:
    """`value` is the newest result; `updates` are all results since the beginning, failures among them."""

    client: Client
    path: str
    updates: list[Any] = field(default_factory=list)
    _started_ms: float = field(default_factory=lambda: time.time() * 1000)

    @property
    def value(self) -> Any:
        """The newest result; raises if that is a failure."""
        newest = self.updates[-1]
        if isinstance(newest, CallFailed):
            raise newest
        return newest

    def wait_until(self, condition: Callable[[Any], object], *, seconds: float = 10.0) -> Any:
        """Waits for a result that meets the condition, and returns it."""
        try:
            self.client.wait(lambda: bool(condition(self.value)), seconds, f"the subscription to {self.path}")
        except CallTimedOut as error:
            raise AssertionError(
                f"the subscription to {self.path} did not show a result that meets the condition within {seconds:g} s; "
                f"newest: {show(self.updates[-1])}"
            ) from error
        return self.value

    def executions(self) -> int:
        """How often the deployment has run this function for subscribers, since this subscription began.

        Everything that was committed before is taken into account; results from the cache do not count.
        """
        self.client.catch_up()
        entries = completions(self.client.transport, self._started_ms, LOG_SECONDS)
        return sum(
            1
            for entry in entries
            if entry.function == self.path and entry.caller == SUBSCRIBER and not entry.was_cached
        )

    def receive(self, change: Message) -> None:
        if change["type"] == "QueryUpdated":
            self.updates.append(from_json(change["value"]))
        elif change["type"] == "QueryFailed":
            self.updates.append(_failure(self.client.transport.name, self.path, change["errorMessage"], change))


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Makes all these calls at the same time; their results, in order. A call that fails has its CallFailed as result,
    any other trouble is raised."""
    results: list[Any] = [None] * len(calls)
    ready = threading.Barrier(len(calls))

    def run(number: int) -> None:
        ready.wait()
        try:
            results[number] = calls[number]()
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, CallFailed):
            raise result
    return results


def _failure(deployment: str, path: str, text: str, told: Message) -> CallFailed:
    has_data = "errorData" in told
    return CallFailed(deployment, path, text, from_json(told["errorData"]) if has_data else None, has_data)


def user_credentials(token: str) -> Message:
    return {"tokenType": "User", "value": token}


def _connect(transport: Transport) -> "ClientConnection":
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import connect

    address = transport.url.replace("http", "ws", 1) + f"/api/{convex_versions.DEFAULT}/sync"
    seconds = PATIENCE.stretched(transport.clock.allow(None))
    try:
        return connect(address, max_size=LARGEST_BODY, compression=None, open_timeout=seconds)
    except TimeoutError as error:
        raise CallTimedOut(transport.name, "a WebSocket", seconds) from error
    except (OSError, WebSocketException) as error:
        transport.require_alive("a WebSocket", error)
        raise Unreadable(transport.name, "a WebSocket", f"{type(error).__name__}: {error}") from error


def _greeting() -> Message:
    return {
        "type": "Connect",
        "sessionId": str(uuid.uuid4()),
        "connectionCount": 0,
        "lastCloseReason": "InitialConnect",
        "clientTs": 0,
    }
