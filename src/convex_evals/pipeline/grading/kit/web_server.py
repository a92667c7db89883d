"""A web server on this machine, for functions that fetch: it sends prepared replies and records requests."""

import json as json_module
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from convex_evals.core.files import MEBIBYTE
from convex_evals.pipeline.grading.kit.patience import PATIENCE

HELD_AFTER_SECONDS = 0.3  # a reply that is on its way is sent by then
RELEASED_SECONDS = 0.1  # and one that was released just now by then
POLL_SECONDS = 0.005
MOST_BYTES = 64 * MEBIBYTE  # of a body: a function that sends without end must not fill the grader's memory
_LONGEST_LINE = 1024
_open_requests: dict[int, float] = {}  # of all web servers: since when each has waited for its reply


@dataclass(frozen=True, slots=True)
class WebRequest:
    """Names of headers are in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json_module.loads(self.body)


@dataclass(frozen=True, slots=True)
class Reply:
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def json(cls, value: object, status: int = 200) -> "Reply":
        return cls(json_module.dumps(value).encode(), status, {"Content-Type": "application/json"})

    @classmethod
    def text(cls, text: str, status: int = 200) -> "Reply":
        return cls(text.encode(), status, {"Content-Type": "text/plain; charset=utf-8"})


Answer = Reply | Callable[[WebRequest], Reply]
NOT_FOUND = Reply.text("no reply was prepared for this address", 404)


@dataclass
class WebServer:
    """`server.reply("GET", "/data", Reply.json({"a": 1}))`; everything else is answered with 404.

    `nobody` is an address at which nothing listens, and nothing will.
    """

    url: str
    nobody: str = ""
    requests: list[WebRequest] = field(default_factory=list)
    _answers: dict[tuple[str, str], Answer] = field(default_factory=dict)

    def reply(self, method: str, path: str, answer: Answer) -> str:
        """From now on; returns the address. `answer` may be a function of the request."""
        self._answers[method.upper(), path] = answer
        return self.url + path

    def answer(self, request: WebRequest) -> Reply:
        self.requests.append(request)
        answer = self._answers.get((request.method, request.path), NOT_FOUND)
        return answer if isinstance(answer, Reply) else answer(request)

    @classmethod
    @contextmanager
    def run(cls) -> Iterator["WebServer"]:
        server = _Listener(("127.0.0.1", 0), _Handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            with socket.socket() as taken:
                taken.bind(("127.0.0.1", 0))
                server.site.nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
                yield server.site
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def held_requests() -> int:
    """How many requests are kept waiting for their reply on purpose.

    Those that came or were released just now are given time to end."""
    asked = PATIENCE.now()
    while True:
        began = list(_open_requests.values())
        if not began or max(max(began) + HELD_AFTER_SECONDS, asked + RELEASED_SECONDS) < PATIENCE.now():
            return len(began)
        time.sleep(POLL_SECONDS)


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.site = WebServer(f"http://127.0.0.1:{self.server_address[1]}")


class _TooLargeError(ValueError):
    pass


class _Handler(BaseHTTPRequestHandler):
    server: _Listener

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            body = self._body()
        except ValueError as error:
            self.send_error(413 if isinstance(error, _TooLargeError) else 400, str(error))
            return
        request = WebRequest(self.command, parts.path, dict(parse_qsl(parts.query)), headers, body)
        _open_requests[id(request)] = PATIENCE.now()
        try:
            reply = self.server.site.answer(request)
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)
        finally:
            del _open_requests[id(request)]

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self._chunks()
        return self._read(int(self.headers.get("Content-Length") or 0))

    def _chunks(self) -> bytes:
        """As Node's `request.write` and `fetch` with a stream send a body whose length they do not know beforehand."""
        body = bytearray()
        while size := int(self.rfile.readline(_LONGEST_LINE).partition(b";")[0], 16):
            body += self._read(size, MOST_BYTES - len(body))
            self.rfile.readline(_LONGEST_LINE)
        while self.rfile.readline(_LONGEST_LINE).strip():
            pass  # trailers
        return bytes(body)

    def _read(self, size: int, most: int = MOST_BYTES) -> bytes:
        if not 0 <= size <= most:
            raise _TooLargeError(f"a body has at most {MOST_BYTES} bytes")
        content = self.rfile.read(size)
        if len(content) < size:
            raise ValueError("the body is incomplete")
        return content

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _handle

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: `requests` has them all."""
