"""Many edits, few requests to the index, and never an old text in the end."""

import random
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Reply, WebRequest, WebServer, at_once, wait_until

OK, DOWN = Reply.json({"indexed": True}, 201), Reply.text("down", 500)
HANG_SECONDS = 300.0
patience = [10.0]
hanging: list[threading.Event] = []
QUIET_MS, LONGEST_MS, RETRY_MS = 60_000, 600_000, 120_000
SLACK_MS = 10_000
Respond = Callable[[WebRequest], Reply]


class Index:
    """Responds to the first requests as `replies` say, to all others like the last of them."""

    def __init__(self, server: WebServer, *replies: Reply | Respond, path: str = "/index") -> None:
        self.received: list[dict[str, str]] = []
        self.replies = replies
        self.url = server.reply("POST", path, self.respond)

    def respond(self, request: WebRequest) -> Reply:
        self.received.append(request.json())
        reply = self.replies[min(len(self.received), len(self.replies)) - 1]
        return reply if isinstance(reply, Reply) else reply(request)

    @property
    def texts(self) -> list[str]:
        return [each["text"] for each in self.received]


class Silence:
    """A response that comes when the test says so."""

    def __init__(self, reply: Reply) -> None:
        self.reply, self.over = reply, threading.Event()
        hanging.append(self.over)

    def __call__(self, _: WebRequest) -> Reply:
        self.over.wait(HANG_SECONDS)
        return self.reply


@pytest.fixture(autouse=True)
def silences() -> Iterator[None]:
    """Whatever a test leaves hanging ends with it."""
    yield
    while hanging:
        hanging.pop().set()


def wait(condition: Callable[[], object], what: str) -> None:
    """Once something has not come, nothing else gets that much time: the answer is wrong anyway."""
    try:
        wait_until(condition, what, seconds=patience[0])
    except AssertionError:
        patience[0] = 1.0
        raise


def edit(project: Deployment, index: Index, text: str, page: str = "home") -> None:
    assert project.mutation("pages:edit", page=page, text=text, indexUrl=index.url) is None


def read(project: Deployment, page: str = "home") -> tuple[str, str | None]:
    found = project.query("pages:read", page=page)
    assert found.keys() == {"text", "indexedText"}
    return found["text"], found["indexedText"]


def quiet(project: Deployment) -> None:
    """Waits until everything that is due has run, so that nothing is under way when the clock is moved."""
    wait(
        lambda: (
            not [
                job
                for job in project.scheduled()
                if job.state == "inProgress" or (job.state == "pending" and job.scheduled_for <= project.now())
            ]
        ),
        "the end of what is under way",
    )


def hang(project: Deployment, index: Index, requests: int) -> None:
    """Lets the time come for a request that the index does not respond to yet.

    A call that moves the clock would wait for its end, so the clock stops just before, and real time does the rest."""
    due = min(job.scheduled_for for job in project.scheduled() if job.state == "pending")
    project.advance(seconds=max(0.0, (due - project.now()) / 1000 - 1.5))
    wait(lambda: len(index.received) == requests, f"request {requests}")


def test_a_request_begins_a_minute_after_the_last_edit(project: Deployment, web_server: WebServer) -> None:
    index = Index(web_server, OK)
    assert project.query("pages:read", page="home") is None
    for text in ("a", "ab", "abc"):
        edit(project, index, text)
        assert read(project) == (text, None)
        project.advance(seconds=40)
    assert index.received == []
    project.advance(seconds=25)
    assert index.received == [{"page": "home", "text": "abc"}]
    assert read(project) == ("abc", "abc")
    project.advance(hours=3)
    assert len(index.received) == 1
    edit(project, index, "d")
    assert read(project) == ("d", "abc")
    project.advance(seconds=45)
    assert len(index.received) == 1
    project.advance(seconds=20)
    assert (index.texts, read(project)) == (["abc", "d"], ("d", "d"))


def test_an_edit_that_changes_nothing_is_an_edit_too(project: Deployment, web_server: WebServer) -> None:
    index = Index(web_server, OK)
    edit(project, index, "a")
    project.advance(seconds=65)
    edit(project, index, "a")
    project.advance(seconds=40)
    edit(project, index, "a")
    project.advance(seconds=40)
    assert index.texts == ["a"]
    project.advance(seconds=25)
    assert index.texts == ["a", "a"]


def test_no_edit_waits_for_more_than_ten_minutes(project: Deployment, web_server: WebServer) -> None:
    index = Index(web_server, OK)
    for number in range(26):  # every 40 seconds, for 17 minutes
        edit(project, index, str(number))
        project.advance(seconds=40)
        assert len(index.received) == (0 if number < 14 else 1), f"after {(number + 1) * 40} seconds"
    assert index.texts == ["14"]
    project.advance(seconds=25)
    assert (index.texts, read(project)) == (["14", "25"], ("25", "25"))
    project.advance(hours=1)
    assert len(index.received) == 2


def test_few_functions_are_pending(project: Deployment, web_server: WebServer) -> None:
    index = Index(web_server, DOWN, OK)
    for number in range(16):
        edit(project, index, str(number))
        assert len([job for job in project.scheduled() if job.state == "pending"]) <= 2
        project.advance(seconds=3 if number < 8 else 31)
    project.advance(minutes=10)
    assert read(project) == ("15", "15")


def test_a_failed_request_is_repeated_after_two_minutes_with_the_newest_text(
    project: Deployment, web_server: WebServer
) -> None:
    index = Index(web_server, DOWN, Reply.text("", 304), OK)
    edit(project, index, "a")
    project.advance(seconds=65)
    assert (index.texts, read(project)) == (["a"], ("a", None))
    edit(project, index, "b")
    project.advance(seconds=95)
    assert index.texts == ["a"]
    edit(project, index, "c")
    project.advance(seconds=25)
    assert (index.texts, read(project)) == (["a", "c"], ("c", None))
    project.advance(seconds=105)
    assert index.texts == ["a", "c"]
    project.advance(seconds=20)
    assert (index.texts, read(project)) == (["a", "c", "c"], ("c", "c"))
    project.advance(hours=2)
    assert len(index.received) == 3


def test_an_index_that_cannot_be_reached_is_asked_again(project: Deployment, web_server: WebServer) -> None:
    project.mutation("pages:edit", page="home", text="a", indexUrl=web_server.nobody)
    with project.trace(scheduled=True) as work:
        project.advance(minutes=30)
    assert read(project) == ("a", None)
    assert len([call for call in work.calls if call.kind == "action"]) >= 10


@pytest.mark.parametrize(
    ("seconds", "moments"),
    [(20, ((50, 1), (70, 2))), (100, ((100, 2),))],
    ids=["not due yet", "overdue"],
)
def test_an_edit_during_a_request_leads_to_another_one(
    project: Deployment, web_server: WebServer, seconds: int, moments: tuple[tuple[int, int], ...]
) -> None:
    silence = Silence(OK)
    index = Index(web_server, silence, OK)
    edit(project, index, "a")
    hang(project, index, 1)
    edit(project, index, "b")
    edit(project, index, "c")
    edited = project.now()
    project.advance(seconds=seconds)
    assert (index.texts, read(project)) == (["a"], ("c", None))
    silence.over.set()
    wait(lambda: read(project)[1] is not None, "the end of the request")
    quiet(project)
    if len(index.received) == 1:
        assert read(project) == ("c", "a")
    for moment, count in moments:
        # The calls since the edit have taken up some of the time.
        project.advance(seconds=max(0.0, moment - (project.now() - edited) / 1000))
        assert len(index.received) == count, f"{moment} seconds after the edit"
    assert (index.texts, read(project)) == (["a", "c"], ("c", "c"))
    project.advance(hours=1)
    assert len(index.received) == 2


def test_there_is_one_request_at_a_time_for_a_page_but_pages_do_not_wait(
    project: Deployment, web_server: WebServer
) -> None:
    silence = Silence(DOWN)
    slow, fast = Index(web_server, silence, OK), Index(web_server, OK, path="/fast")
    edit(project, slow, "a")
    hang(project, slow, 1)
    for number in range(4):
        edit(project, slow, f"b{number}")
        edit(project, fast, f"c{number}", "other")
        project.advance(minutes=4)
    assert (slow.texts, fast.texts) == (["a"], ["c0", "c1", "c2", "c3"])
    silence.over.set()
    quiet(project)
    project.advance(seconds=100)
    assert slow.texts == ["a"]
    project.advance(seconds=25)
    assert (slow.texts, read(project)) == (["a", "b3"], ("b3", "b3"))
    project.advance(hours=1)
    assert len(slow.received) == 2


def test_edits_of_many_clients_become_one_request(project: Deployment, web_server: WebServer) -> None:
    index = Index(web_server, OK)
    with project.clients(6) as clients:
        at_once(
            [
                partial(client.mutation, "pages:edit", page="home", text=f"t{number}", indexUrl=index.url)
                for number, client in enumerate(clients)
            ]
        )
    newest = read(project)[0]
    project.advance(minutes=2)
    assert (index.texts, read(project)) == ([newest], (newest, newest))


class Truth:
    """What one page's requests must be, if every response comes at once."""

    def __init__(self, replies: list[Reply]) -> None:
        self.replies, self.sent = list(replies), list[str]()
        self.text, self.first, self.last = "", None, 0.0
        self.retry: float | None = None
        self.indexed: str | None = None

    first: float | None

    def edit(self, text: str, now: float) -> None:
        self.text, self.last = text, now
        self.first = now if self.first is None else self.first

    @property
    def due(self) -> float | None:
        if self.retry is not None:
            return self.retry
        return None if self.first is None else min(self.last + QUIET_MS, self.first + LONGEST_MS)

    def pass_until(self, now: float) -> None:
        while self.due is not None and self.due <= now:
            moment, self.first, self.retry = self.due, None, None
            self.sent.append(self.text)
            if (self.replies.pop(0) if self.replies else OK) is OK:
                self.indexed = self.text
            else:
                self.retry = moment + RETRY_MS


def let_time_pass(project: Deployment, truth: Truth, seconds: float) -> None:
    """Does not stop close to the moment at which a request begins."""
    project.advance(seconds=seconds)
    truth.pass_until(project.now() - SLACK_MS)
    while truth.due is not None and abs(truth.due - project.now()) < 2 * SLACK_MS:
        project.advance(seconds=3 * SLACK_MS / 1000)
        truth.pass_until(project.now() - SLACK_MS)


@pytest.mark.parametrize("seed", range(2))
def test_whatever_happens_the_requests_are_the_right_ones(
    project: Deployment, web_server: WebServer, seed: int
) -> None:
    chance = random.Random(seed)
    replies = [chance.choice([OK, OK, DOWN]) for _ in range(12)]
    index, truth = Index(web_server, *replies, OK), Truth(replies)
    for number in range(26):
        if chance.random() < 0.75:
            edit(project, index, str(number))
            truth.edit(str(number), project.now())
        let_time_pass(project, truth, chance.choice([5, 15, 30, 30, 45, 90, 200]))
        assert index.texts == truth.sent, f"after step {number}"
    let_time_pass(project, truth, 3600)
    assert (index.texts, read(project)) == (truth.sent, (truth.text, truth.indexed))
    assert truth.text == truth.indexed


def test_clients_can_call_two_functions_only(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {"pages:edit": "mutation", "pages:read": "query"}
    right = {"page": "home", "text": "", "indexUrl": "http://localhost"}
    wrong: list[dict[str, Any]] = [{"page": 1}, {"text": 1}, {"indexUrl": 1}]
    for each in wrong:
        with project.fails("ArgumentValidationError"):
            project.mutation("pages:edit", right | each)
    with project.fails("ArgumentValidationError"):
        project.query("pages:read", page=1)
