"""A query that stays up to date over the WebSocket, as in browsers."""

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from convex_evals.core import convex_versions
from convex_evals.pipeline.grading.kit.assertions import show
from convex_evals.pipeline.grading.kit.errors import CallFailed, CallTimedOut, Unreadable
from convex_evals.pipeline.grading.kit.transport import LARGEST_BODY, Transport
from convex_evals.pipeline.grading.kit.values import from_json

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

QUERY: Final = 0


@dataclass
class LiveQuery:
    """`value` is the newest result; `updates` are all results since the beginning, failures among them."""

    transport: Transport
    path: str
    updates: list[Any] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _lost: Exception | None = None

    @classmethod
    @contextmanager
    def open(
        cls,
        transport: Transport,
        path: str,
        args: object,
        admin_key: str | None,
        acting_as: Mapping[str, object] | None,
    ) -> Iterator["LiveQuery"]:
        from websockets.sync.client import connect

        address = transport.url.replace("http", "ws", 1) + f"/api/{convex_versions.DEFAULT}/sync"
        live = cls(transport, path)
        with connect(address, max_size=LARGEST_BODY, compression=None) as socket:
            reader = threading.Thread(target=live._read, args=(socket,), daemon=True)
            reader.start()
            for message in _greeting(path, args, admin_key, acting_as):
                socket.send(json.dumps(message))
            live._wait(lambda: bool(live.updates), None, "its first result")
            yield live
        reader.join()

    @property
    def value(self) -> Any:
        """The newest result; raises if that is a failure."""
        newest = self.updates[-1]
        if isinstance(newest, CallFailed):
            raise newest
        return newest

    def wait_until(self, condition: Callable[[Any], object], *, seconds: float = 10.0) -> Any:
        """Waits for a result that meets the condition, and returns it."""
        self._wait(lambda: bool(condition(self.value)), seconds, "a result that meets the condition")
        return self.value

    def _wait(self, condition: Callable[[], bool], seconds: float | None, what: str) -> None:
        allowed = self.transport.clock.allow(seconds)
        deadline = time.monotonic() + allowed
        with self._changed:
            while not condition():
                if self._lost is not None:
                    self._raise_lost(self._lost)
                if not self._changed.wait(deadline - time.monotonic()) and not condition():
                    self._raise_timeout(what, allowed)

    def _raise_lost(self, error: Exception) -> None:
        what = f"the subscription to {self.path}"
        self.transport.require_alive(what, error)
        raise Unreadable(self.transport.name, what, f"it ended: {error}")

    def _raise_timeout(self, what: str, seconds: float) -> None:
        if not self.updates:
            raise CallTimedOut(self.transport.name, f"the subscription to {self.path}", seconds)
        newest = show(self.updates[-1])
        raise AssertionError(
            f"the subscription to {self.path} did not show {what} within {seconds:g} s; newest: {newest}"
        )

    def _read(self, socket: "ClientConnection") -> None:
        lost: Exception | None = None
        try:
            for text in socket:
                self._apply(json.loads(text))
        except Exception as error:  # whatever ends the reader must reach the thread that waits
            lost = error
        with self._changed:
            self._lost = lost or ConnectionError("the deployment closed the connection")
            self._changed.notify_all()

    def _apply(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "Transition":
                results = [self._result(change) for change in message["modifications"] if change["queryId"] == QUERY]
            case "FatalError" | "AuthError":
                raise ConnectionError(message["error"])
            case _:
                return
        with self._changed:
            self.updates += results
            self._changed.notify_all()

    def _result(self, change: dict[str, Any]) -> Any:
        if change["type"] == "QueryUpdated":
            return from_json(change["value"])
        has_data = "errorData" in change
        data = from_json(change["errorData"]) if has_data else None
        return CallFailed(self.transport.name, self.path, change["errorMessage"], data, has_data)


def _greeting(
    path: str, args: object, admin_key: str | None, acting_as: Mapping[str, object] | None
) -> Iterator[dict[str, object]]:
    yield {
        "type": "Connect",
        "sessionId": str(uuid.uuid4()),
        "connectionCount": 0,
        "lastCloseReason": "InitialConnect",
        "clientTs": 0,
    }
    if admin_key is not None:
        authenticate: dict[str, object] = {"type": "Authenticate", "baseVersion": 0}
        authenticate |= {"tokenType": "Admin", "value": admin_key}
        yield authenticate | ({"impersonating": dict(acting_as)} if acting_as else {})
    yield {
        "type": "ModifyQuerySet",
        "baseVersion": 0,
        "newVersion": 1,
        "modifications": [{"type": "Add", "queryId": QUERY, "udfPath": path, "args": [args]}],
    }
