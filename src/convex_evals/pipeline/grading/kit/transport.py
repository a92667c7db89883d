"""HTTP to one deployment, within the time of the running test.

Every request has a connection of its own, so that threads can share a transport.
"""

import http.client
import io
import json
import secrets
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from convex_evals.pipeline.grading.kit.errors import (
    CallFailed,
    CallTimedOut,
    DeploymentLost,
    Mismatch,
    Refused,
    Unreadable,
)
from convex_evals.pipeline.grading.kit.patience import PATIENCE
from convex_evals.pipeline.grading.kit.values import from_json, to_json

CALL_SECONDS: Final = 20.0
LEAST_SECONDS: Final = 0.05

Headers = Mapping[str, str]
LARGEST_BODY: Final = 32 * 1024 * 1024
_CHUNK: Final = 1 << 16
Kind = Literal["query", "mutation", "action"]
HEALTH: Final = "/version"
HEALTH_SECONDS: Final = 5.0
LONGEST_TEXT: Final = 2000
SYSTEM: Final = "_system/"
OUR_FAILURE: Final = '"code":"InternalServerError"'  # no function can bring this about, unless it breaks the deployment


@dataclass(slots=True)
class Clock:
    """The deadline of the running test, which bounds every wait. Its seconds last longer on a busy machine."""

    ends: float = float("inf")
    call: tuple[str, str] | None = None
    """The deployment, and what is being waited for there."""

    def start(self, seconds: float) -> None:
        self.ends = PATIENCE.now() + seconds

    @property
    def remaining(self) -> float:
        return self.ends - PATIENCE.now()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """In the block, time does not count: for work that has a limit of its own."""
        began, (alarm, _) = PATIENCE.now(), signal.setitimer(signal.ITIMER_REAL, 0)
        try:
            yield
        finally:
            self.ends += PATIENCE.now() - began
            signal.setitimer(signal.ITIMER_REAL, alarm)

    def allow(self, seconds: float | None) -> float:
        """`seconds`, or what a call may take, unless the test ends earlier."""
        wanted = CALL_SECONDS if seconds is None else seconds
        return max(min(wanted, self.remaining), LEAST_SECONDS)


@dataclass(frozen=True, slots=True)
class Response:
    """`headers` are looked up whatever their case."""

    status: int
    headers: Message
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        try:
            return json.loads(self.body, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            received = f"{self.status} {self.text[:500]!r}"
            raise Mismatch(f"expected a JSON body, received {received}", "a JSON body", received) from error

    def header(self, name: str) -> str | None:
        value = self.headers.get(name)
        return None if value is None else str(value)

    def __repr__(self) -> str:
        return f"Response({self.status}, {self.text[:200]!r})"


def _refuse(constant: str) -> None:
    """Python would accept NaN and its like; other JSON parsers do not."""
    raise ValueError(f"{constant} is not JSON")


class TooLarge(Exception):
    pass


def exchange(method: str, url: str, body: bytes, headers: Headers, seconds: float) -> Response:
    """Redirects are responses like any other. Raises TimeoutError when all of it took longer than `seconds`, which last
    longer while the machine is busy, TooLarge, OSError when nobody answers, and HTTPException, ValueError when the
    response is not HTTP."""
    parts = urlsplit(url)
    kind = _TimedTls if parts.scheme == "https" else _Timed
    connection = kind(parts.hostname or "", parts.port, timeout=PATIENCE.stretched(seconds))
    connection.response_class = _until(Deadline.of(seconds))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request(method, target, body or None, {"Connection": "close", **headers})
        response = connection.getresponse()
        return Response(response.status, response.headers, _read(response))
    finally:
        connection.close()


class _Timed(http.client.HTTPConnection):
    response_class: Any


class _TimedTls(http.client.HTTPSConnection):
    response_class: Any


@dataclass(frozen=True, slots=True)
class Deadline:
    """The later of two: what the machine was like when the wait began decides, or what it has been like since."""

    fixed: float
    patient: float

    @classmethod
    def of(cls, seconds: float) -> "Deadline":
        return cls(time.monotonic() + PATIENCE.stretched(seconds), PATIENCE.now() + seconds)

    @property
    def remaining(self) -> float:
        return max(self.fixed - time.monotonic(), self.patient - PATIENCE.now())


def _until(deadline: Deadline) -> Any:
    """A socket's timeout starts again with every byte, so a response that trickles would never end."""

    class TimedResponse(http.client.HTTPResponse):
        def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
            super().__init__(sock, *args, **options)
            self.fp = io.BufferedReader(_Stream(sock, self.fp, deadline), _CHUNK)

    return TimedResponse


class _Stream(io.RawIOBase):
    def __init__(self, sock: socket.socket, file: io.BufferedIOBase, deadline: Deadline) -> None:
        self._socket, self._file, self._deadline = sock, file, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while (remaining := self._deadline.remaining) > 0:
            self._socket.settimeout(remaining)
            with suppress(TimeoutError):
                return self._socket.recv_into(buffer)
        raise TimeoutError

    def close(self) -> None:
        super().close()
        self._file.close()


def _read(response: http.client.HTTPResponse) -> bytes:
    parts = bytearray()
    while chunk := response.read(_CHUNK):
        parts += chunk
        if len(parts) > LARGEST_BODY:
            raise TooLarge
    if response.length:
        raise http.client.IncompleteRead(bytes(parts), response.length)
    return bytes(parts)


@dataclass(slots=True)
class Transport:
    """`name` is "project" or "answer". While `requests` is a list, the ids of all calls are noted in it."""

    name: str
    url: str
    site_url: str
    admin_key: str = field(repr=False)
    clock: Clock
    requests: list[str] | None = field(default=None)

    @property
    def admin(self) -> str:
        """The header of an administrator."""
        return f"Convex {self.admin_key}"

    def call(self, kind: Kind, path: str, args: Mapping[str, object], authorization: str | None = None) -> Any:
        """Runs a function and returns its value; raises one of the errors of `errors.py`."""
        answer = self.post(
            f"/api/{kind}",
            {"path": path, "args": to_json(args), "format": "convex_encoded_json"},
            authorization,
            what=f"the {kind} {path}",
            of_function=not path.startswith(SYSTEM),
        )
        if answer["status"] == "error":
            has_data = "errorData" in answer
            data = from_json(answer["errorData"]) if has_data else None
            raise CallFailed(self.name, path, answer["errorMessage"], data, has_data)
        return from_json(answer["value"])

    def system(self, kind: Kind, path: str, args: Mapping[str, object] | None = None) -> Any:
        """Runs a system function as administrator; not part of what is measured."""
        return self.call(kind, f"{SYSTEM}{path}", args or {}, self.admin)

    def post(self, path: str, body: object, authorization: str | None, *, what: str, of_function: bool = False) -> Any:
        headers = {"Content-Type": "application/json"}
        if authorization is not None:
            headers["Authorization"] = authorization
        content = json.dumps(body).encode()
        response = self.request("POST", self.url + path, content, headers, what=what, measured=of_function)
        if of_function and response.status >= 500:
            text = f"{response.status} {response.text[:LONGEST_TEXT]}"
            if OUR_FAILURE in text:
                raise DeploymentLost(self.name, f"{what}: {text}")
            raise Unreadable(self.name, what, text)
        return json.loads(self._accepted(response, what).body or b"null")

    def administer(self, path: str, body: object = None, *, seconds: float | None = None) -> Any:
        """Posts to (or, without a body, gets from) one of the administrator's endpoints."""
        if body is not None:
            return self.post(path, body, self.admin, what=path)
        headers = {"Authorization": self.admin}
        response = self.request("GET", self.url + path, b"", headers, what=path, seconds=seconds, measured=False)
        return json.loads(self._accepted(response, path).body)

    def request(
        self,
        method: str,
        url: str,
        body: bytes,
        headers: Headers,
        *,
        what: str,
        seconds: float | None = None,
        measured: bool = True,
    ) -> Response:
        """One HTTP request. Redirects are answers like any other. When there is no valid HTTP response although the
        deployment is alive, it is the function's fault (Unreadable)."""
        allowed = self.clock.allow(seconds)
        started = time.monotonic()
        self.clock.call = (self.name, what)
        try:
            return exchange(method, url, body, {**(self._id() if measured else {}), **headers}, allowed)
        except TimeoutError as error:
            raise CallTimedOut(self.name, what, time.monotonic() - started) from error
        except TooLarge as error:
            reason = f"it is larger than {LARGEST_BODY // 1024**2} MB"
            raise Unreadable(self.name, what, reason) from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.require_alive(what, error)
            raise Unreadable(self.name, what, f"{type(error).__name__}: {error}") from error
        finally:
            self.clock.call = None

    def require_alive(self, what: str, cause: BaseException) -> None:
        """Raises DeploymentLost unless the deployment answers."""
        try:
            answer = exchange("GET", self.url + HEALTH, b"", {}, HEALTH_SECONDS)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise DeploymentLost(self.name, f"{what}: {self.url} does not answer ({cause!r})") from error
        if answer.status >= 500:
            raise DeploymentLost(self.name, f"{what}: {self.url} answers with {answer.status} {answer.text[:200]}")

    def _id(self) -> Headers:
        if self.requests is None:
            return {}
        request_id = secrets.token_hex(8)
        self.requests.append(request_id)
        return {"Convex-Request-Id": request_id}

    def _accepted(self, response: Response, what: str) -> Response:
        if response.status >= 500:
            raise DeploymentLost(self.name, f"{what}: {response.status} {response.text[:LONGEST_TEXT]}")
        if response.status != 200:
            raise Refused(self.name, what, response.status, response.text[:LONGEST_TEXT])
        return response
