import asyncio
import contextlib
import gzip
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from convex_evals.backend.auth.fetcher import (
    LARGEST_BODY,
    MOST_RENEWALS,
    MOST_URLS,
    RENEWAL_SECONDS,
    Answer,
    Answered,
    Answers,
    Fetcher,
    Unanswered,
    fresh_seconds,
)
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


async def test_a_server_that_is_down_gives_no_answer() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        answer = await Fetcher().fetch(f"http://127.0.0.1:{unused.getsockname()[1]}/keys")
    assert isinstance(answer, Unanswered)
    assert "connection attempts failed" in answer.reason


async def test_a_server_that_does_not_speak_http_gives_no_answer() -> None:
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


async def test_a_broken_url_gives_no_answer() -> None:
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


Clock = Any
URL = "http://127.0.0.1/keys"


class Server:
    """Answers with what `next` says, when `open` is set; counts."""

    def __init__(self, fresh_seconds: float = 0.0) -> None:
        self.fresh_seconds = fresh_seconds
        self.next: Answer | None = None
        self.asked = 0
        self.open = asyncio.Event()
        self.open.set()

    async def fetch(self, url: str) -> Answer:
        self.asked += 1
        await self.open.wait()
        return self.next or Answered(200, "application/json", f"{url} {self.asked}".encode(), self.fresh_seconds)


async def test_an_answer_is_used_again_while_it_is_fresh(clock: Clock) -> None:
    server = Server(60.0)
    answers = Answers(server.fetch, clock)
    first = await answers.get(URL)
    clock.now += 59.0
    assert await answers.get(URL) is first
    clock.now += 1.0
    assert await answers.get(URL) is not first
    assert server.asked == 2


async def test_an_answer_that_may_not_be_kept_is_asked_for_every_time(clock: Clock) -> None:
    server = Server()
    answers = Answers(server.fetch, clock)
    assert await answers.get(URL) is not await answers.get(URL)


async def test_an_error_is_not_kept_whatever_its_headers_say(clock: Clock) -> None:
    server = Server()
    answers = Answers(server.fetch, clock)
    for failure in (Answered(503, "", b"", 60.0), Unanswered("down")):
        server.next = failure
        assert await answers.get(URL) is failure
    server.next = None
    assert isinstance(await answers.get(URL), Answered)


async def test_requests_at_the_same_time_share_one_answer_even_a_failure(clock: Clock) -> None:
    for outcome in (Answered(200, "", b""), Unanswered("down")):
        server = Server()
        server.next = outcome
        server.open.clear()
        answers = Answers(server.fetch, clock)
        waiting = [asyncio.create_task(answers.get(URL)) for _ in range(10)]
        await asyncio.sleep(0)
        server.open.set()
        assert set(await asyncio.gather(*waiting)) == {outcome}
        assert server.asked == 1


async def test_when_the_one_who_asked_leaves_the_next_one_asks(clock: Clock) -> None:
    server = Server()
    server.open.clear()
    answers = Answers(server.fetch, clock)
    first, second = (asyncio.create_task(answers.get(URL)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    server.open.set()
    assert isinstance(await second, Answered)
    assert (first.cancelled(), server.asked) == (True, 2)


async def test_a_kept_answer_can_be_renewed_early_but_not_often(clock: Clock) -> None:
    server = Server(3600.0)
    answers = Answers(server.fetch, clock)
    answer = await answers.get(URL)
    assert isinstance(answer, Answered)
    for _ in range(MOST_RENEWALS):
        newer = await answers.newer(URL, answer)
        assert newer is not answer
        answer = newer
    assert await answers.newer(URL, answer) is answer
    clock.now += RENEWAL_SECONDS
    assert await answers.newer(URL, answer) is not answer


async def test_holders_of_an_old_answer_get_the_renewed_one(clock: Clock) -> None:
    server = Server(3600.0)
    answers = Answers(server.fetch, clock)
    old = await answers.get(URL)
    assert isinstance(old, Answered)
    renewed = await asyncio.gather(*(answers.newer(URL, old) for _ in range(10)))
    assert (len(set(renewed)), server.asked) == (1, 2)
    assert await answers.get(URL) is renewed[0]


async def test_a_renewal_that_fails_does_not_spoil_the_kept_answer(clock: Clock) -> None:
    server = Server(3600.0)
    answers = Answers(server.fetch, clock)
    kept = await answers.get(URL)
    assert isinstance(kept, Answered)
    for failure in (Unanswered("down"), Answered(500, "", b"")):
        server.next = failure
        assert await answers.newer(URL, kept) is kept
    assert await answers.get(URL) is kept


async def test_an_answer_just_fetched_is_not_renewed(clock: Clock) -> None:
    server = Server()
    answers = Answers(server.fetch, clock)
    answer = await answers.get(URL)
    assert isinstance(answer, Answered)
    assert await answers.newer(URL, answer) is answer
    assert server.asked == 1


async def test_a_limited_number_of_urls_is_remembered(clock: Clock) -> None:
    server = Server(3600.0)
    answers = Answers(server.fetch, clock)
    for number in range(MOST_URLS + 1):
        await answers.get(f"{URL}/{number}")
    await answers.get(f"{URL}/1")
    assert server.asked == MOST_URLS + 1
    await answers.get(f"{URL}/0")
    assert server.asked == MOST_URLS + 2
