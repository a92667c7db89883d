"""The web server for functions that fetch."""

import http.client
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from convex_evals.core.processes import run
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import find_node
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


@pytest.mark.parametrize(
    "script",
    [
        "const r = require('http').request(url, { method: 'POST' }, (x) => x.resume()); r.write('hel'); r.end('lo')",
        "fetch(url, { method: 'POST', body: new Blob(['hel', 'lo']).stream(), duplex: 'half' })",
    ],
)
async def test_a_body_that_node_sends_in_chunks_arrives(script: str, tmp_path: Path) -> None:
    node = await find_node(read_settings())
    with WebServer.run() as server:
        url = server.reply("POST", "/", Reply())
        sent = await run([node.executable, "-e", f"const url = '{url}'; {script}"], cwd=tmp_path, timeout=30)
    assert sent.ok
    assert [request.body for request in server.requests] == [b"hello"]


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ("Transfer-Encoding: chunked", b"3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n", b"200"),
        ("Transfer-Encoding: chunked", b"3\r\nhel\r\n5000000\r\n", b"413"),
        ("Transfer-Encoding: chunked", b"-1\r\nhello", b"413"),
        ("Transfer-Encoding: chunked", b"3\r\nhel\r\n", b"400"),
        ("Content-Length: 67108865", b"", b"413"),
        ("Content-Length: 6", b"hello", b"400"),
    ],
)
def test_only_a_complete_body_of_a_reasonable_size_is_recorded(headers: str, body: bytes, status: bytes) -> None:
    with WebServer.run() as server, socket.create_connection(("127.0.0.1", urlsplit(server.url).port or 0)) as client:
        server.reply("POST", "/", Reply())
        client.sendall(f"POST / HTTP/1.1\r\n{headers}\r\n\r\n".encode() + body)
        client.shutdown(socket.SHUT_WR)
        assert client.recv(100).split()[1] == status
    assert [request.body for request in server.requests] == ([b"hello"] if status == b"200" else [])


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
