"""HTTP to one deployment. Every request has a connection of its own, so that threads can share a transport."""

import http.client
import json
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from convex_evals.pipeline.grading.kit.clock import Clock
from convex_evals.pipeline.grading.kit.errors import CallFailed, CallTimedOut, DeploymentLost, Refused, Unreadable
from convex_evals.pipeline.grading.kit.exchange import LARGEST_BODY, TooLarge, exchange
from convex_evals.pipeline.grading.kit.responses import Headers, Response
from convex_evals.pipeline.grading.kit.values import from_json, to_json

Kind = Literal["query", "mutation", "action"]
HEALTH: Final = "/version"
HEALTH_SECONDS: Final = 5.0
LONGEST_TEXT: Final = 2000
SYSTEM: Final = "_system/"


@dataclass(slots=True)
class Transport:
    """`name` is "project" or "answer". While `requests` is a list, the ids of all requests are noted in it."""

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
        with self.unmeasured():
            return self.call(kind, f"{SYSTEM}{path}", args or {}, self.admin)

    def post(self, path: str, body: object, authorization: str | None, *, what: str, of_function: bool = False) -> Any:
        headers = {"Content-Type": "application/json"}
        if authorization is not None:
            headers["Authorization"] = authorization
        response = self.request("POST", self.url + path, json.dumps(body).encode(), headers, what=what)
        if of_function and response.status >= 500:
            raise Unreadable(self.name, what, f"{response.status} {response.text[:LONGEST_TEXT]}")
        return json.loads(self._accepted(response, what).body or b"null")

    def administer(self, path: str, body: object = None, *, seconds: float | None = None) -> Any:
        """Posts to (or, without a body, gets from) one of the administrator's endpoints."""
        with self.unmeasured():
            if body is not None:
                return self.post(path, body, self.admin, what=path)
            response = self.request(
                "GET", self.url + path, b"", {"Authorization": self.admin}, what=path, seconds=seconds
            )
            return json.loads(self._accepted(response, path).body)

    def request(
        self, method: str, url: str, body: bytes, headers: Headers, *, what: str, seconds: float | None = None
    ) -> Response:
        """One HTTP request. Redirects are answers like any other. Whoever does not answer in HTTP while the deployment
        itself does is the function that was asked."""
        allowed = self.clock.allow(seconds)
        started = time.monotonic()
        try:
            return exchange(method, url, body, {**self._id(), **headers}, allowed)
        except TimeoutError as error:
            raise CallTimedOut(self.name, what, time.monotonic() - started) from error
        except TooLarge as error:
            reason = f"it is larger than {LARGEST_BODY // 1024**2} MB"
            raise Unreadable(self.name, what, reason) from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.require_alive(what, error)
            raise Unreadable(self.name, what, f"{type(error).__name__}: {error}") from error

    def require_alive(self, what: str, cause: BaseException) -> None:
        """Raises DeploymentLost unless the deployment answers."""
        try:
            answer = exchange("GET", self.url + HEALTH, b"", {}, HEALTH_SECONDS)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise DeploymentLost(self.name, f"{what}: {self.url} does not answer ({cause!r})") from error
        if answer.status >= 500:
            raise DeploymentLost(self.name, f"{what}: {self.url} answers with {answer.status} {answer.text[:200]}")

    @contextmanager
    def unmeasured(self) -> Iterator[None]:
        noted, self.requests = self.requests, None
        try:
            yield
        finally:
            self.requests = noted

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
