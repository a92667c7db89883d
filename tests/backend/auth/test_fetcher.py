import asyncio
import contextlib
import gzip
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from convex_evals.backend.auth.fetcher import LARGEST_BODY, Answered, Fetcher, Unanswered, fresh_seconds
from convex_evals.backend.runtime import is_loopback

Issuer = Any

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT


@contextlib.asynccontextmanager
async def serving(talk: Callable[[asyncio.StreamWriter], Awaitable[None]]) -> AsyncIterator[str]:
    """A server below HTTP that says what `talk` writes."""
    talks: list[asyncio.Task[None]] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks.append(task)
        try:
            await talk(writer)
        finally:
            writer.close()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        for task in talks:
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)


async def test_an_answer_comes_with_its_status_type_body_and_freshness(issuer: Issuer) -> None:
    issuer.cache_control = "max-age=60"
    answer = await Fetcher().fetch(f"{issuer.origin}/keys")
    assert isinstance(answer, Answered)
    assert (answer.status, answer.content_type, answer.fresh_seconds) == (200, "application/json", 60.0)
    assert answer.body.startswith(b'{"keys"')


async def test_redirects_are_not_followed(issuer: Issuer, reply: Any) -> None:
    issuer.replies["/moved"] = reply(b"", 302, {"location": "/keys"})
    answer = await Fetcher().fetch(f"{issuer.origin}/moved")
    assert isinstance(answer, Answered)
    assert answer.status == 302
    assert issuer.asked["/keys"] == 0


async def test_the_largest_body_is_read_and_a_larger_one_is_not(issuer: Issuer, reply: Any) -> None:
    issuer.replies["/large"] = reply(b"x" * LARGEST_BODY)
    issuer.replies["/larger"] = reply(b"x" * (LARGEST_BODY + 1))
    large = await Fetcher().fetch(f"{issuer.origin}/large")
    assert isinstance(large, Answered)
    assert len(large.body) == LARGEST_BODY
    larger = await Fetcher().fetch(f"{issuer.origin}/larger")
    assert isinstance(larger, Unanswered)
    assert larger.reason == "the answer is larger than 1048576 bytes"


async def test_a_compressed_body_is_refused_before_it_unfolds(issuer: Issuer, reply: Any) -> None:
    issuer.replies["/bomb"] = reply(gzip.compress(b"x" * 10_000_000), 200, {"content-encoding": "gzip"})
    answer = await Fetcher().fetch(f"{issuer.origin}/bomb")
    assert isinstance(answer, Unanswered)
    assert answer.reason == "the answer is compressed, which was not asked for"


async def test_a_server_that_does_not_answer_is_given_up(issuer: Issuer) -> None:
    issuer.open.clear()
    answer = await Fetcher(timeout=0.05).fetch(f"{issuer.origin}/keys")
    assert isinstance(answer, Unanswered)
    assert answer.reason == "no answer within 0.05 seconds"


async def test_a_server_that_drips_its_answer_is_given_up() -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
        for _ in range(1000):
            writer.write(b"x")
            await asyncio.sleep(0.01)

    async with serving(drip) as url:
        answer = await Fetcher(timeout=0.1).fetch(url)
    assert isinstance(answer, Unanswered)
    assert answer.reason == "no answer within 0.1 seconds"


async def test_a_server_that_is_down_is_no_answer() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        answer = await Fetcher().fetch(f"http://127.0.0.1:{unused.getsockname()[1]}/keys")
    assert isinstance(answer, Unanswered)
    assert "connection attempts failed" in answer.reason


async def test_a_server_that_speaks_no_http_is_no_answer() -> None:
    async def babble(writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")

    async with serving(babble) as url:
        assert isinstance(await Fetcher().fetch(url), Unanswered)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (
            "https://issuer.example/keys",
            "this deployment may only connect to localhost and 127.0.0.1, not to issuer.example",
        ),
        (
            "http://127.0.0.1@issuer.example/keys",
            "this deployment may only connect to localhost and 127.0.0.1, not to issuer.example",
        ),
        (
            "http://169.254.169.254/",
            "this deployment may only connect to localhost and 127.0.0.1, not to 169.254.169.254",
        ),
        ("file:///etc/passwd", "the scheme must be http or https, not 'file'"),
        ("keys", "the scheme must be http or https, not ''"),
    ],
)
async def test_other_places_are_not_even_asked(url: str, reason: str) -> None:
    answer = await Fetcher().fetch(url)
    assert isinstance(answer, Unanswered)
    assert (answer.reason, answer.forbidden) == (reason, True)


async def test_a_broken_url_is_no_answer() -> None:
    assert isinstance(await Fetcher().fetch("http://[oops"), Unanswered)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("localhost.example", False),
        ("10.0.0.1", False),
        ("", False),
    ],
)
def test_loopback_is_this_machine_only(host: str, loopback: bool) -> None:
    assert is_loopback(host) == loopback


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"cache-control": "max-age=300"}, 300),
        ({"cache-control": "public, Max-Age = 300"}, 300),
        ({"cache-control": 'max-age="300"'}, 300),
        ({"cache-control": "max-age=300", "age": "100"}, 200),
        ({"cache-control": "max-age=300", "age": "400"}, 0),
        ({"cache-control": "max-age=300", "age": "often"}, 300),
        ({"cache-control": "no-store, max-age=300"}, 0),
        ({"cache-control": "no-cache"}, 0),
        ({"cache-control": "max-age=-1"}, 0),
        ({"cache-control": "max-age=soon"}, 0),
        ({"expires": "Sun, 06 Nov 1994 08:50:37 GMT"}, 60),
        ({"expires": "Sun, 06 Nov 1994 08:50:37 GMT", "date": "Sun, 06 Nov 1994 08:50:07 GMT"}, 30),
        ({"expires": "Sun, 06 Nov 1994 08:49:00 GMT"}, 0),
        ({"expires": "0"}, 0),
        ({"expires": "Sun, 06 Nov 1994 08:50:37 GMT", "cache-control": "max-age=5"}, 5),
    ],
)
def test_cache_headers_say_how_long_an_answer_is_good(headers: dict[str, str], seconds: float) -> None:
    assert fresh_seconds(headers, NOW) == seconds
