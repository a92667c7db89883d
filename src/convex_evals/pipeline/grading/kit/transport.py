"""HTTP to one deployment. Every request has a connection of its own, so that threads can share a transport."""

import http.client
import json
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from convex_evals.pipeline.grading.kit.clock import Clock
from convex_evals.pipeline.grading.kit.errors import CallFailed, CallTimedOut, DeploymentLost, Refused
from convex_evals.pipeline.grading.kit.responses import Headers, Response
from convex_evals.pipeline.grading.kit.values import from_json, to_json

Kind = Literal["query", "mutation", "action"]


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
        )
        if answer["status"] == "error":
            has_data = "errorData" in answer
            data = from_json(answer["errorData"]) if has_data else None
            raise CallFailed(self.name, path, answer["errorMessage"], data, has_data)
        return from_json(answer["value"])

    def system(self, kind: Kind, path: str, args: Mapping[str, object] | None = None) -> Any:
        """Runs a system function as administrator; not part of what is measured."""
        with self.unmeasured():
            return self.call(kind, f"_system/{path}", args or {}, self.admin)

    def post(self, path: str, body: object, authorization: str | None, *, what: str) -> Any:
        headers = {"Content-Type": "application/json"}
        if authorization is not None:
            headers["Authorization"] = authorization
        response = self.request("POST", self.url + path, json.dumps(body).encode(), headers, what=what)
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
        """One HTTP request to any address. Redirects are answers like any other."""
        allowed = self.clock.allow(seconds)
        started = time.monotonic()
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=allowed)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request(method, target, body or None, {"Connection": "close", **self._id(), **headers})
            answer = connection.getresponse()
            return Response(answer.status, answer.headers, answer.read())
        except TimeoutError as error:
            raise CallTimedOut(self.name, what, time.monotonic() - started) from error
        except (OSError, http.client.HTTPException) as error:
            raise DeploymentLost(self.name, f"{what}: {url} does not answer ({error!r})") from error
        finally:
            connection.close()

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
            raise DeploymentLost(self.name, f"{what}: {response.status} {response.text}")
        if response.status != 200:
            raise Refused(self.name, what, response.status, response.text)
        return response
