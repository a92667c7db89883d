"""The web server for functions that fetch."""

import http.client
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from convex_evals.pipeline.grading.kit import Reply, WebRequest, WebServer
from convex_evals.pipeline.grading.kit.web_server import HELD_AFTER_SECONDS, held_requests


def ask(url: str, method: str = "GET", body: bytes | None = None) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=5)
    connection.request(method, f"{parts.path}?{parts.query}", body, {"X-Mine": "1"})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, content


def test_it_sends_prepared_replies_and_records_requests() -> None:
    with WebServer.run() as server:
        address = server.reply("post", "/a", Reply.json({"ok": True}, status=201))
        assert ask(f"{address}?x=1", "POST", b"hello") == (201, b'{"ok": true}')
        assert ask(f"{server.url}/b")[0] == 404
    first, second = server.requests
    assert (first.method, first.path, first.query, first.body) == ("POST", "/a", {"x": "1"}, b"hello")
    assert (first.headers["x-mine"], second.path) == ("1", "/b")


def test_an_answer_may_depend_on_the_request() -> None:
    def double(request: WebRequest) -> Reply:
        return Reply.text(request.query["n"] * 2)

    with WebServer.run() as server:
        assert ask(server.reply("GET", "/double", double) + "?n=4") == (200, b"44")


def test_a_request_that_was_released_a_moment_ago_is_no_longer_held() -> None:
    released = threading.Event()

    def hold(_: WebRequest) -> Reply:
        released.wait(10)
        time.sleep(0.03)  # as when the thread that was woken has to wait for the processor
        return Reply.text("at last")

    with WebServer.run() as server, ThreadPoolExecutor() as executor:
        asked = executor.submit(ask, server.reply("GET", "/hold", hold))
        while not server.requests:
            time.sleep(0.01)
        time.sleep(HELD_AFTER_SECONDS)
        assert held_requests() == 1
        released.set()
        assert held_requests() == 0
        assert asked.result() == (200, b"at last")


def test_at_one_address_nobody_listens() -> None:
    with WebServer.run() as server, pytest.raises(ConnectionRefusedError):
        ask(server.nobody)


def test_it_is_gone_afterwards() -> None:
    with WebServer.run() as server:
        pass
    with pytest.raises(ConnectionRefusedError):
        ask(server.url)
