import asyncio
from typing import Any

from convex_evals.backend.auth.answers import MOST_RENEWALS, MOST_URLS, RENEWAL_SECONDS, Answers
from convex_evals.backend.auth.fetcher import Answer, Answered, Unanswered

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


async def test_whoever_holds_an_old_answer_gets_the_renewed_one(clock: Clock) -> None:
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


async def test_only_so_many_urls_are_remembered(clock: Clock) -> None:
    server = Server(3600.0)
    answers = Answers(server.fetch, clock)
    for number in range(MOST_URLS + 1):
        await answers.get(f"{URL}/{number}")
    await answers.get(f"{URL}/1")
    assert server.asked == MOST_URLS + 1
    await answers.get(f"{URL}/0")
    assert server.asked == MOST_URLS + 2
