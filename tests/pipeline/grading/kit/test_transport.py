"""What functions may answer instead of HTTP: each fails the test that asked, and no deployment is blamed."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from convex_evals.pipeline.grading.kit import transport
from convex_evals.pipeline.grading.kit.deployment import Deployment
from convex_evals.pipeline.grading.kit.errors import CallTimedOut, DeploymentLost, Unreadable
from convex_evals.pipeline.grading.kit.patience import Patience
from convex_evals.pipeline.grading.kit.transport import Clock, Transport
from convex_evals.pipeline.grading.python.recorder import classify

HEALTHY = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nunknown"
OK = b"HTTP/1.1 200 OK\r\n"
CHUNK = b"100000\r\n" + b"a" * 0x100000 + b"\r\n"
MALFORMED: dict[str, list[bytes]] = {
    "a content length that promises more": [OK + b"Content-Length: 10\r\n\r\nabc"],
    "nothing at all": [],
    "no HTTP": [b"hello there\r\n\r\n"],
    "101 headers": [OK + b"".join(b"X-%d: 1\r\n" % number for number in range(101)) + b"\r\n"],
    "a header of 100 kB": [OK + b"X: " + b"a" * 100_000 + b"\r\n\r\n"],
    "chunks that are none": [OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc"],
    "a body without end": [OK + b"Transfer-Encoding: chunked\r\n\r\n", *[CHUNK] * 64],
    "a body of 100 MB": [OK + b"Content-Length: 104857600\r\n\r\n", *[b"a" * 0x100000] * 100],
}


@contextmanager
def answering(answer: Callable[[socket.socket], None], health: bytes = HEALTHY) -> Iterator[Deployment]:
    """A deployment whose `/version` is `health` and whose endpoints are `answer`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve, args=(listener, answer, health), daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        clock = Clock()
        clock.start(2.0)
        yield Deployment(Transport("project", url, url, "key", clock))
        listener.shutdown(socket.SHUT_RDWR)


def _serve(listener: socket.socket, answer: Callable[[socket.socket], None], health: bytes) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                if b" /version " in connection.recv(65536):
                    connection.sendall(health)
                else:
                    answer(connection)


@pytest.mark.parametrize("parts", MALFORMED.values(), ids=MALFORMED)
def test_an_invalid_response_fails_the_test_that_asked(parts: list[bytes]) -> None:
    def answer(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)

    with answering(answer) as project, pytest.raises(Unreadable, match="GET /it sent an unreadable") as caught:
        project.http.get("/it")
    assert classify(caught.value) == "failed"
    assert len(str(caught.value)) < 500


def test_a_response_that_trickles_ends_with_the_time_for_it() -> None:
    def trickle(connection: socket.socket) -> None:
        connection.sendall(OK + b"Content-Length: 100000\r\n\r\n")
        for _ in range(1000):
            connection.sendall(b"a")
            time.sleep(0.05)

    started = time.monotonic()
    with answering(trickle) as project, pytest.raises(CallTimedOut, match="GET /it did not answer within") as caught:
        project.http.get("/it")
    assert time.monotonic() - started < 10
    assert classify(caught.value) == "failed"


def test_a_machine_that_becomes_busy_while_a_response_is_awaited_gets_more_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pressure = tmp_path / "pressure"

    def busy(seconds: float) -> None:
        pressure.write_text(f"some avg10=0.00 avg60=0.00 avg300=0.00 total={round(seconds * 1e6)}\n")

    def answer(connection: socket.socket) -> None:
        for tenths in range(12):
            busy(tenths / 10)
            time.sleep(0.1)
        connection.sendall(HEALTHY)

    busy(0.0)
    monkeypatch.setattr(transport, "PATIENCE", Patience(pressure))
    with answering(answer) as project:
        address = f"{project.transport.url}/it"
        assert project.transport.request("GET", address, b"", {}, what="GET /it", seconds=0.6).text == "unknown"


def test_a_deployment_with_an_internal_failure_is_lost() -> None:
    broken = b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"
    with answering(lambda _: None, broken) as project, pytest.raises(DeploymentLost, match="answers with 500"):
        project.http.get("/it")


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [(500, "InternalServerError", DeploymentLost), (503, "OptimisticConcurrencyControlFailure", Unreadable)],
)
def test_a_failure_of_the_deployment_is_not_that_of_the_function(
    status: int, code: str, error: type[Exception]
) -> None:
    body = b'{"code":"%s","message":"no"}' % code.encode()

    def answer(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 %d Oh\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body)

    with answering(answer) as project, pytest.raises(error):
        project.query("a:b")


@pytest.mark.parametrize(
    "body",
    [b"[" * 100_000, b"NaN", b"[Infinity]", b"1" * 10_000, b'"\xff"', b""],
    ids=["deep", "not a number", "infinite", "long number", "not UTF-8", "empty"],
)
def test_a_body_that_is_not_json_is_reported_in_one_sentence(body: bytes) -> None:
    def answer(connection: socket.socket) -> None:
        connection.sendall(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    with answering(answer) as project:
        response = project.http.get("/it")
        with pytest.raises(AssertionError, match="expected a JSON body, received 200") as caught:
            response.json()
    assert len(str(caught.value)) < 1000


def test_a_grader_asks_no_address_but_those_of_the_deployment() -> None:
    reached = []
    with answering(lambda connection: reached.append(connection)) as other, answering(lambda _: None) as project:
        for url in (f"{other.url}/upload", f"{project.url}@{other.url[7:]}/", f"{project.url}.evil.example/"):
            with pytest.raises(AssertionError, match="expected a URL of the file storage"):
                project.storage.upload_to(url, b"content")
    assert reached == []
