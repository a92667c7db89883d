"""The HTTP endpoints of a deployment (`convex/http.ts`)."""

import json as json_module
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from convex_evals.pipeline.grading.kit.responses import Headers, Response
from convex_evals.pipeline.grading.kit.transport import Transport

_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class HttpEndpoints:
    """`project.http.get("/path")`. Redirects are not followed; any status is an answer, not an error."""

    transport: Transport
    authorization: str | None = None

    def get(self, path: str, *, query: Mapping[str, str] | None = None, headers: Headers | None = None) -> Response:
        return self.request("GET", path, query=query, headers=headers)

    def post(
        self, path: str, *, json: object = _MISSING, body: bytes | str = b"", headers: Headers | None = None
    ) -> Response:
        return self.request("POST", path, json=json, body=body, headers=headers)

    def put(
        self, path: str, *, json: object = _MISSING, body: bytes | str = b"", headers: Headers | None = None
    ) -> Response:
        return self.request("PUT", path, json=json, body=body, headers=headers)

    def patch(
        self, path: str, *, json: object = _MISSING, body: bytes | str = b"", headers: Headers | None = None
    ) -> Response:
        return self.request("PATCH", path, json=json, body=body, headers=headers)

    def delete(self, path: str, *, query: Mapping[str, str] | None = None, headers: Headers | None = None) -> Response:
        return self.request("DELETE", path, query=query, headers=headers)

    def options(self, path: str, *, headers: Headers | None = None) -> Response:
        return self.request("OPTIONS", path, headers=headers)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        json: object = _MISSING,
        body: bytes | str = b"",
        headers: Headers | None = None,
    ) -> Response:
        """`json` is ordinary JSON, not Convex values; it sets the content type."""
        sent: dict[str, str] = {} if self.authorization is None else {"Authorization": self.authorization}
        if json is not _MISSING:
            body = json_module.dumps(json)
            sent["Content-Type"] = "application/json"
        content = body.encode() if isinstance(body, str) else body
        url = self.transport.site_url + path + (f"?{urlencode(query)}" if query else "")
        return self.transport.request(method, url, content, {**sent, **(headers or {})}, what=f"{method} {path}")
