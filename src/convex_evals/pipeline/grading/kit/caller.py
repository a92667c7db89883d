"""Calls as someone: as a client that nobody is logged in to, as a user, or as an administrator."""

import json as json_module
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

from convex_evals.pipeline.grading.kit.assertions import assert_same, show
from convex_evals.pipeline.grading.kit.client import Client, LiveQuery, user_credentials
from convex_evals.pipeline.grading.kit.errors import CallFailed, Mismatch
from convex_evals.pipeline.grading.kit.transport import Headers, Kind, Response, Transport

_MISSING: Final = object()

MOST_PAGES: Final = 1000
FIELDS: Final = ("page", "isDone", "continueCursor")
BEARER: Final = "Bearer "
Arguments = Mapping[str, Any]


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


@dataclass(frozen=True, slots=True)
class Page:
    items: list[Any]
    is_done: bool
    cursor: str


def walk(path: str, ask: Callable[[dict[str, object]], Any], num_items: int) -> list[Page]:
    pages: list[Page] = []
    cursor: str | None = None
    while not pages or not pages[-1].is_done:
        pages.append(_page(path, ask({"numItems": num_items, "cursor": cursor})))
        if len(pages) >= MOST_PAGES or (pages[-1].cursor == cursor and not pages[-1].is_done):
            raise AssertionError(f"{path} never comes to an end: page {len(pages)} still has isDone false")
        cursor = pages[-1].cursor
    return pages


def _page(path: str, result: Any) -> Page:
    is_page = isinstance(result, dict) and all(name in result for name in FIELDS)
    if not is_page or not isinstance(result["page"], list):
        raise AssertionError(
            f"{path} must return a page\nexpected: an object with {', '.join(FIELDS)}\nreceived: {show(result)}"
        )
    return Page(result["page"], result["isDone"], result["continueCursor"])


class Anything:
    def __repr__(self) -> str:
        return "ANYTHING"


ANYTHING: Final = Anything()


@dataclass
class ExpectedFailure:
    """After the block, `error` is the failure: its `message` and, of a ConvexError, its `data`."""

    text: str
    expected_data: object = ANYTHING
    _error: CallFailed | None = field(default=None, init=False)

    @property
    def error(self) -> CallFailed:
        assert self._error is not None, "the failure is known only after the block"
        return self._error

    @property
    def message(self) -> str:
        return self.error.message

    @property
    def data(self) -> object:
        return self.error.data

    @contextmanager
    def watch(self) -> Iterator[None]:
        try:
            yield
        except CallFailed as error:
            self._error = error
            self._check(error)
        else:
            because = f" with {self.text!r}" if self.text else ""
            wanted = f"an error {self.text!r}" if self.text else "an error"
            raise Mismatch(f"expected a call to fail{because}, but all calls succeeded", wanted, "success")

    def _check(self, error: CallFailed) -> None:
        if self.text not in error.message:
            wanted = f"an error with {self.text!r}"
            raise Mismatch(
                f"{error.path} failed, as it must, but for another reason\nexpected: {wanted}\nreceived: {error.text}",
                wanted,
                error.text,
            ) from error
        if self.expected_data is ANYTHING:
            return
        if not error.has_data:
            wanted = f"data {self.expected_data!r}"
            raise Mismatch(
                f"{error.path} must throw a ConvexError\nexpected: {wanted}\nreceived: {error.text}", wanted, error.text
            ) from error
        assert_same(error.data, self.expected_data, what=f"the data of the ConvexError of {error.path}")


@dataclass(frozen=True)
class Caller:
    """Arguments are named, `query("messages:list", channel="x")`, or given as one dict after the path."""

    transport: Transport
    authorization: str | None = None
    acting_as: Mapping[str, object] | None = None

    def query(self, path: str, args: Arguments | None = None, /, **named: Any) -> Any:
        return self._call("query", path, args, named)

    def mutation(self, path: str, args: Arguments | None = None, /, **named: Any) -> Any:
        return self._call("mutation", path, args, named)

    def action(self, path: str, args: Arguments | None = None, /, **named: Any) -> Any:
        return self._call("action", path, args, named)

    @property
    def http(self) -> HttpEndpoints:
        return HttpEndpoints(self.transport, self.authorization)

    @contextmanager
    def fails(self, text: str = "", *, data: object = ANYTHING) -> Iterator[ExpectedFailure]:
        """The block must call a function that fails, with `text` in its message and, if given, with that `data`."""
        expected = ExpectedFailure(text, data)
        with expected.watch():
            yield expected

    def pages(
        self,
        path: str,
        args: Arguments | None = None,
        /,
        *,
        num_items: int = 10,
        options: str = "paginationOpts",
        **named: Any,
    ) -> list[Page]:
        """All pages of a paginated query, each asked for with the cursor of the one before."""
        given = {**(args or {}), **named}
        return walk(path, lambda opts: self.query(path, {**given, options: opts}), num_items)

    @contextmanager
    def subscribe(self, path: str, args: Arguments | None = None, /, **named: Any) -> Iterator[LiveQuery]:
        """A query that stays up to date while the block runs."""
        with self.clients(1) as (client,):
            yield client.subscribe(path, args, **named)

    @contextmanager
    def clients(self, count: int) -> Iterator[list[Client]]:
        """So many clients on WebSockets of their own, while the block runs."""
        with ExitStack() as stack:
            yield [stack.enter_context(Client.open(self.transport, self._credentials)) for _ in range(count)]

    @property
    def _credentials(self) -> dict[str, Any] | None:
        """As a WebSocket takes them."""
        if self.authorization is None:
            return None
        if self.authorization.startswith(BEARER):
            return user_credentials(self.authorization.removeprefix(BEARER))
        acting = {"impersonating": dict(self.acting_as)} if self.acting_as else {}
        return {"tokenType": "Admin", "value": self.transport.admin_key, **acting}

    def _call(self, kind: Kind, path: str, args: Arguments | None, named: Arguments) -> Any:
        return self.transport.call(kind, path, {**(args or {}), **named}, self.authorization)
