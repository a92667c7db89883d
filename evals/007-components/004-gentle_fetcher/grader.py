"""Pages that are fetched a few at a time, again if need be, and recorded and reported once."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Reply, WebRequest, WebServer, at_once, wait_until

FUNCTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "pages:submit": ("mutation", {"urls": ["http://x"], "urgent": False, "callback": "http://x", "delay": 5}),
    "pages:list": ("query", {"batch": "id"}),
    "pages:cancel": ("mutation", {"batch": "id"}),
    "pages:again": ("mutation", {"batch": "id"}),
    "pages:setLimit": ("mutation", {"limit": 1}),
}
DOWN, GONE, MISSING = Reply.text("down", 503), Reply.text("gone", 410), Reply.text("missing", 404)
TRIES = 4
patience = [10.0]
hanging: list[threading.Event] = []
Respond = Callable[[WebRequest], Reply]


class Silence:
    """A response that comes when the test says so."""

    def __init__(self, reply: Reply) -> None:
        self.reply, self.over = reply, threading.Event()
        hanging.append(self.over)

    def __call__(self, _: WebRequest) -> Reply:
        self.over.wait(30.0)
        return self.reply


class Site:
    """The project, and the server whose pages it fetches. A page responds with its replies in turn, then its last."""

    def __init__(self, project: Deployment, server: WebServer) -> None:
        self.project, self.server, self.lock = project, server, threading.Lock()
        self.received, self.times = Counter[str](), list[tuple[str, float]]()
        self.reports, self.report_times = list[dict[str, Any]](), list[float]()
        self.report_replies: list[Reply | Respond] = [Reply.text("ok")]
        self.flying, self.most = Counter[str](), Counter[str]()
        self.callback = server.reply("POST", "/report", self._report)

    def page(self, name: str, *replies: Reply | Respond) -> str:
        """The address of a page; names that begin with "u" count as urgent."""
        left = list(replies or [Reply.text(f"text of {name}")])

        def respond(request: WebRequest) -> Reply:
            with self.lock:
                self.received[name] += 1
                self.times.append((name, self.project.now()))
            return self._counted("urgent" if name.startswith("u") else "bulk", left, request)

        return self.server.reply("GET", f"/pages/{name}", respond)

    def _report(self, request: WebRequest) -> Reply:
        with self.lock:
            self.reports.append(request.json())
            self.report_times.append(self.project.now())
        return self._counted("urgent", self.report_replies, request)

    def _counted(self, kind: str, left: list[Reply | Respond], request: WebRequest) -> Reply:
        """The next reply. How many requests of this kind are under way is counted until then."""
        with self.lock:
            self.flying[kind] += 1
            self.most[kind] = max(self.most[kind], self.flying[kind])
            reply = left.pop(0) if len(left) > 1 else left[0]
        try:
            return reply if isinstance(reply, Reply) else reply(request)
        finally:
            with self.lock:
                self.flying[kind] -= 1

    # ------------------------------------------------------------------ what a client does

    def submit(self, *urls: str, urgent: bool = False, **more: float) -> str:
        batch: str = self.project.mutation(
            "pages:submit", {"urls": urls, "urgent": urgent, "callback": self.callback, **more}
        )
        return batch

    def pages(self, batch: str) -> list[Any]:
        pages: list[Any] = self.project.query("pages:list", batch=batch)
        assert all(set(page) == {"url", "state", "failedTries", "body"} for page in pages)
        return pages

    def states(self, batch: str) -> list[str]:
        return [page["state"] for page in self.pages(batch)]

    def limit(self, number: float) -> None:
        assert self.project.mutation("pages:setLimit", limit=number) is None

    def ask(self, what: str, batch: str) -> Any:
        return self.project.mutation(f"pages:{what}", batch=batch)

    # ------------------------------------------------------------------ what happens by itself

    def wait(self, condition: Callable[[], object], what: str) -> None:
        """Once something has not come, nothing else gets that much time: the answer is wrong anyway."""
        try:
            wait_until(condition, what, seconds=patience[0])
        except AssertionError:
            patience[0] = 1.0
            raise

    def reaches(self, batch: str, *states: str) -> None:
        self.wait(lambda: self.states(batch) == list(states), f"the states {states}")

    def comes(self, batch: str, *states: str) -> None:
        """With so many tries as it takes, which are at most ten minutes apart."""
        for _ in range(16):
            if self.states(batch) == list(states):
                break
            self.project.advance(minutes=2)
        self.reaches(batch, *states)

    def receives(self, name: str, count: int = 1) -> None:
        self.wait(lambda: self.received[name] >= count, f"request {count} for {name}")
        assert self.received[name] == count

    def sends(self, count: int) -> None:
        """So many reports, with so many tries as it takes."""
        for _ in range(16):
            if len(self.reports) >= count:
                break
            self.project.advance(minutes=2)
        self.wait(lambda: len(self.reports) >= count, f"report {count}")
        assert len(self.reports) == count

    def reported(self, batch: str, times: int = 1, **counts: int) -> None:
        expected = {"batch": batch, "done": 0, "failed": 0, "canceled": 0, **counts}
        self.wait(lambda: [each for each in self.reports if each["batch"] == batch][times - 1 :], f"report {times}")
        assert [each for each in self.reports if each["batch"] == batch][times - 1 :] == [expected]

    def settle(self) -> None:
        """So much time that all tries of a page have come to an end."""
        for _ in range(15):
            self.project.advance(minutes=2)

    def work(self, pool: str) -> list[Any]:
        return self.project.documents("work", component=pool)


@pytest.fixture
def site(project: Deployment, web_server: WebServer) -> Iterator[Site]:
    yield Site(project, web_server)
    while hanging:
        hanging.pop().set()


def test_pages_are_fetched_listed_in_order_and_reported_once(site: Site) -> None:
    urls = [site.page("a"), site.page("b", GONE), site.page("a"), site.page("c", MISSING), site.page("d")]
    batch = site.submit(*urls)
    site.reaches(batch, "done", "failed", "done", "failed", "done")
    bodies = ["text of a", None, "text of a", None, "text of d"]
    expected = zip(urls, site.states(batch), bodies, strict=True)
    assert site.pages(batch) == [
        {"url": url, "state": state, "failedTries": None, "body": body} for url, state, body in expected
    ]
    site.reported(batch, done=3, failed=2)
    assert site.received == {"a": 2, "b": 1, "c": 1, "d": 1}
    site.settle()
    assert (len(site.reports), site.work("bulk"), site.work("urgent")) == (1, [], [])
    assert [site.ask("cancel", batch), site.states(batch)[0]] == [0, "done"]


def test_a_batch_without_pages_is_reported_at_once(site: Site) -> None:
    batch = site.submit()
    site.reported(batch)
    assert (site.pages(batch), site.ask("cancel", batch), site.ask("again", batch)) == ([], 0, 0)


def test_a_page_is_tried_four_times_in_all(site: Site) -> None:
    bad = site.page("bad", DOWN, Reply.text("busy", 429), Reply.text("", 204), DOWN)
    good = site.page("good", DOWN, Reply.text("no", 400), DOWN, Reply.text("at last"))
    batch = site.submit(bad, good)
    site.receives("bad")
    waiting = [{"state": "waiting", "failedTries": 1, "body": None}] * 2

    def both_wait() -> bool:
        return [{key: page[key] for key in ("state", "failedTries", "body")} for page in site.pages(batch)] == waiting

    site.wait(both_wait, "both pages wait for another try")
    assert [work["attempts"] for work in site.work("bulk")] == [1, 1]
    assert site.reports == []
    site.comes(batch, "failed", "done")
    assert [page["body"] for page in site.pages(batch)] == [None, "at last"]
    assert site.received == {"bad": TRIES, "good": TRIES}
    site.reported(batch, done=1, failed=1)
    for name in ("bad", "good"):
        times = [at for each, at in site.times if each == name]
        pauses = [later - earlier for earlier, later in pairwise(times)]
        assert all(9_900 <= pause <= 600_000 for pause in pauses), f"milliseconds between tries: {pauses}"


def killed(site: Site) -> Respond:
    """The end of the action that waits for the reply."""

    def die(_: WebRequest) -> Reply:
        site.project.kill_actions()
        return DOWN

    return die


def test_a_page_whose_action_was_killed_is_tried_again(site: Site) -> None:
    batch = site.submit(site.page("a", killed(site), Reply.text("second")))
    site.receives("a")
    site.comes(batch, "done")
    site.reported(batch, done=1)
    assert site.received == {"a": 2}


def test_a_report_whose_action_was_killed_is_sent_again(site: Site) -> None:
    site.report_replies = [killed(site), Reply.text("ok")]
    batch = site.submit()
    site.sends(2)
    site.settle()
    assert site.reports == [{"batch": batch, "done": 0, "failed": 0, "canceled": 0}] * 2


def test_reports_and_urgent_pages_wait_for_one_another(site: Site) -> None:
    slow = Silence(Reply.text("ok"))
    site.report_replies = [slow, Reply.text("ok")]
    empty = site.submit()
    site.wait(lambda: site.flying["urgent"] == 1, "a report")
    urgent, other = site.submit(site.page("u"), urgent=True), site.submit(site.page("b"))
    site.reaches(other, "done")
    site.project.advance(seconds=5)
    assert (site.received["u"], [each["batch"] for each in site.reports]) == (0, [empty])
    slow.over.set()
    site.reaches(urgent, "done")
    site.reported(urgent, done=1)
    site.reported(other, done=1)
    assert site.most == {"bulk": 1, "urgent": 1}


def test_three_are_fetched_at_a_time_and_urgent_ones_do_not_wait(site: Site) -> None:
    silences = [Silence(Reply.text(str(number))) for number in range(8)]
    urls = [site.page(f"b{number}", silence) for number, silence in enumerate(silences)]
    first, second = site.submit(*urls[:5]), site.submit(*urls[5:])
    site.wait(lambda: site.flying["bulk"] == 3, "three fetches at a time")
    slow = Silence(Reply.text("urgent"))
    urgent = site.submit(site.page("u1", slow), site.page("u2"), urgent=True)
    site.wait(lambda: site.received["u1"] + site.received["u2"] >= 1, "an urgent page")
    site.wait(lambda: site.states(first) == ["running"] * 3 + ["waiting"] * 2, "three running pages")
    assert site.states(second) == ["waiting"] * 3
    assert [page["failedTries"] for page in site.pages(first)] == [0] * 5
    assert [work["fnType"] for work in site.work("bulk")] == ["action"] * 8
    slow.over.set()
    site.reaches(urgent, "done", "done")
    site.reported(urgent, done=2)
    assert site.flying["bulk"] == 3
    for silence in silences:
        silence.over.set()
    site.reaches(first, *["done"] * 5)
    site.reaches(second, *["done"] * 3)
    site.reported(first, done=5)
    site.reported(second, done=3)
    assert site.most == {"bulk": 3, "urgent": 1}
    assert len(site.reports) == 3


def test_urgent_pages_are_fetched_one_at_a_time(site: Site) -> None:
    def slow(_: WebRequest) -> Reply:
        time.sleep(0.1)
        return Reply.text("slow")

    batches = [site.submit(*[site.page(f"u{name}{number}", slow) for number in range(3)], urgent=True) for name in "ab"]
    for batch in batches:
        site.reaches(batch, *["done"] * 3)
    assert site.most == {"urgent": 1}


def test_pages_that_wait_for_another_try_do_not_hold_up_others(site: Site) -> None:
    failing = site.submit(*[site.page(f"bad{number}", DOWN, Reply.text("ok")) for number in range(4)])
    site.wait(lambda: sum(site.received.values()) == 4, "four failed tries")
    batch = site.submit(site.page("good"))
    site.reaches(batch, "done")
    assert site.states(failing) == ["waiting"] * 4


def test_the_limit_can_be_changed_while_pages_wait(site: Site) -> None:
    silences = [Silence(Reply.text(str(number))) for number in range(12)]
    urls = [site.page(f"b{number}", silence) for number, silence in enumerate(silences)]
    site.limit(2)
    first = site.submit(*urls[:8])
    site.wait(lambda: site.flying["bulk"] == 2, "two fetches at a time")
    site.limit(5)
    site.wait(lambda: site.flying["bulk"] == 5, "five fetches at a time")
    second = site.submit(*urls[8:])
    site.limit(0)
    for silence in silences:
        silence.over.set()
    site.wait(lambda: Counter(site.states(first)) == {"done": 5, "waiting": 3}, "the end of five fetches")
    site.submit(site.page("u"), urgent=True)
    site.receives("u")
    third = site.submit(site.page("late"))
    site.project.advance(seconds=5)
    assert (sum(site.received.values()), site.received["late"]) == (6, 0)
    assert site.states(second) == ["waiting"] * 4
    site.limit(1)
    site.reaches(first, *["done"] * 8)
    site.reaches(second, *["done"] * 4)
    site.reaches(third, "done")
    assert site.most["bulk"] == 5


def test_after_a_limit_was_set_submitting_does_not_reset_it(site: Site) -> None:
    silences = [Silence(Reply.text(str(number))) for number in range(12)]
    urls = [site.page(f"b{number}", silence) for number, silence in enumerate(silences)]
    site.limit(10)
    batches = [site.submit(*urls[:6]), site.submit(*urls[6:])]
    site.wait(lambda: site.flying["bulk"] == 10, "ten fetches at a time")
    for silence in silences:
        silence.over.set()
    for batch in batches:
        site.reaches(batch, *["done"] * 6)
    assert site.most["bulk"] == 10
    for wrong in (-1, 11, 1.5):
        with site.project.fails(data={"code": "BAD_LIMIT"}):
            site.project.mutation("pages:setLimit", limit=wrong)


def test_a_cancellation_ends_what_waits_and_lets_the_rest_finish(site: Site) -> None:
    replies = {"good": Reply.text("good"), "bad": DOWN, "gone": GONE}
    silences = {name: Silence(reply) for name, reply in replies.items()}
    retried = site.submit(site.page("retried", DOWN))
    site.wait(lambda: site.pages(retried)[0]["failedTries"] == 1, "a page that waits for another try")
    running = [site.page(name, silence) for name, silence in silences.items()]
    batch = site.submit(*running, site.page("next"), site.page("last"))
    site.wait(lambda: site.flying["bulk"] == 3, "three fetches at a time")
    other = site.submit(site.page("other"))
    with site.project.clients(3) as clients:
        made = at_once([partial(each.mutation, "pages:cancel", batch=batch) for each in clients])
    assert max(made) == 5
    assert site.ask("cancel", retried) == 1
    site.reaches(retried, "canceled")
    site.reported(retried, canceled=1)
    site.wait(lambda: site.states(batch)[3:] == ["canceled"] * 2, "the end of what was waiting")
    assert site.states(batch)[:3] == ["running"] * 3
    for silence in silences.values():
        silence.over.set()
    site.reaches(batch, "done", "canceled", "failed", "canceled", "canceled")
    site.reported(batch, done=1, failed=1, canceled=3)
    site.reaches(other, "done")
    site.settle()
    assert site.received == {"retried": 1, "good": 1, "bad": 1, "gone": 1, "other": 1}
    assert len(site.reports) == 3
    assert site.ask("cancel", batch) == 0
    assert site.pages(batch)[0]["body"] == "good"


def test_an_urgent_batch_can_be_canceled(site: Site) -> None:
    slow = Silence(DOWN)
    batch = site.submit(site.page("u1", slow), site.page("u2"), urgent=True)
    site.receives("u1")
    assert site.ask("cancel", batch) == 2
    slow.over.set()
    site.reaches(batch, "canceled", "canceled")
    site.reported(batch, canceled=2)


def test_what_was_lost_is_fetched_again(site: Site) -> None:
    urls = [site.page("a"), site.page("b", GONE, Reply.text("back")), site.page("c", *[DOWN] * 5, Reply.text("up"))]
    batch = site.submit(*urls)
    site.wait(lambda: site.states(batch) == ["done", "failed", "waiting"], "a page that is not over")
    assert site.ask("again", batch) == 0
    site.comes(batch, "done", "failed", "failed")
    site.reported(batch, done=1, failed=2)
    with site.project.clients(4) as clients:
        made = at_once([partial(each.mutation, "pages:again", batch=batch) for each in clients])
    assert sorted(made) == [0, 0, 0, 2]
    site.wait(lambda: site.states(batch) == ["done", "done", "waiting"], "the second round")
    assert [page["failedTries"] for page in site.pages(batch)] == [None, None, 1]
    site.comes(batch, "done", "done", "done")
    assert [page["body"] for page in site.pages(batch)] == ["text of a", "back", "up"]
    site.reported(batch, times=2, done=3)
    assert site.received == {"a": 1, "b": 2, "c": TRIES + 2}
    assert site.ask("again", batch) == 0
    site.settle()
    assert len(site.reports) == 2


def test_a_batch_can_wait_before_it_begins(site: Site) -> None:
    hour = 60 * 60_000
    batch, other = site.submit(site.page("later"), delay=2 * hour), site.submit(site.page("never"), delay=3 * hour)
    now = site.submit(site.page("now"))
    site.reaches(now, "done")
    site.project.advance(minutes=118)
    assert site.states(batch) == ["waiting"]
    assert site.ask("cancel", other) == 1
    site.reaches(other, "canceled")
    site.project.advance(minutes=4)
    site.reaches(batch, "done")
    site.project.advance(minutes=120)
    assert site.received == {"now": 1, "later": 1}


def test_a_report_is_repeated_until_it_arrives(site: Site) -> None:
    site.report_replies = [DOWN, MISSING, Reply.text("moved", 302), Reply.text("ok")]
    batch = site.submit(site.page("a"))
    site.reaches(batch, "done")
    site.wait(lambda: len(site.reports) == 1, "the first report")
    site.wait(lambda: [work["attempts"] for work in site.work("urgent")] == [1], "a report that the component repeats")
    site.settle()
    site.wait(lambda: len(site.reports) == TRIES, "four reports")
    pauses = [later - earlier for earlier, later in pairwise(site.report_times)]
    assert all(9_900 <= pause <= 600_000 for pause in pauses), f"milliseconds between reports: {pauses}"
    assert site.reports == [{"batch": batch, "done": 1, "failed": 0, "canceled": 0}] * TRIES
    site.report_replies = [GONE]
    batch = site.submit(site.page("b"))
    site.settle()
    site.settle()
    assert len(site.reports) == 2 * TRIES
    assert site.received == {"a": 1, "b": 1}


@pytest.mark.parametrize("seed", range(2))
def test_every_page_ends_as_it_should_whatever_happens_at_once(site: Site, seed: int) -> None:
    chance, batches, number = random.Random(seed), dict[str, list[str]](), 0
    replies = {"good": [Reply.text("good")], "gone": [GONE], "flaky": [DOWN, Reply.text("good")]}
    for is_urgent in (False, True, False):
        kinds = chance.choices(sorted(replies), k=chance.randint(2, 4))
        names = [f"{'u' if is_urgent else 'b'}{number + index}" for index in range(len(kinds))]
        number += len(kinds)
        urls = [site.page(name, *replies[kind]) for name, kind in zip(names, kinds, strict=True)]
        batches[site.submit(*urls, urgent=is_urgent)] = kinds
    site.wait(lambda: len(site.received) == number, "the first try of each page")
    ends = {"good": "done", "gone": "failed", "flaky": "done"}
    for batch, kinds in batches.items():
        expected = [ends[kind] for kind in kinds]
        site.comes(batch, *expected)
        site.reported(batch, **Counter(expected))
    tries = sum(2 if kind == "flaky" else 1 for kinds in batches.values() for kind in kinds)
    assert sum(site.received.values()) == tries
    assert all(site.most[kind] <= most for kind, most in (("bulk", 3), ("urgent", 1)))


def test_a_batch_that_is_gone_is_empty(site: Site) -> None:
    batch = site.submit()
    site.reported(batch)
    site.project.delete("batches", batch)
    assert (site.pages(batch), site.ask("cancel", batch), site.ask("again", batch)) == ([], 0, 0)


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(site: Site) -> None:
    project = site.project
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    batch = site.submit()
    calls = {"query": project.query, "mutation": project.mutation, "action": project.action}
    for name, (kind, example) in FUNCTIONS.items():
        arguments: dict[str, Any] = {**example, **({"batch": batch} if "batch" in example else {})}
        for argument in arguments:
            without = {key: arguments[key] for key in arguments if key != argument}
            wrong = "x" if argument in ("limit", "delay") else 1
            for rejected in ({**arguments, argument: wrong}, {**arguments, "more": 1}, without):
                if argument == "delay" and rejected == without:
                    continue
                with project.fails("ArgumentValidationError"):
                    calls[kind](name, rejected)
    with project.fails("ArgumentValidationError"):
        project.mutation("pages:submit", urls=[1], urgent=False, callback="http://x")
