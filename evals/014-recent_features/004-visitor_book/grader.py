"""Where entries come from is what the deployment saw, and a limit depends on it."""

import http.client
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, Reply, WebServer, at_once

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
TOO_MANY = {"code": "TOO_MANY"}
MINUTE_MS = 60_000
SECONDS = 20.0


@dataclass(frozen=True)
class Visitor:
    """Someone at an address of this machine, with a client that calls itself `program`."""

    project: Deployment
    address: str
    program: str | None = BROWSER
    lies: tuple[tuple[str, str], ...] = ()

    def call(self, kind: str, path: str, **args: Any) -> Any:
        body = json.dumps({"path": path, "args": args, "format": "json"}).encode()
        _, content = self._send(f"{self.project.url}/api/{kind}", body, "application/json")
        answer = json.loads(content)
        if answer["status"] == "error":
            raise CallFailed("project", path, answer["errorMessage"], answer.get("errorData"), "errorData" in answer)
        return answer["value"]

    def sign(self, text: str) -> None:
        assert self.call("mutation", "book:sign", text=text) is None

    def sign_later(self, text: str, minutes: float) -> None:
        assert self.call("mutation", "book:signLater", text=text, minutes=minutes) is None

    def sign_from(self, url: str) -> None:
        assert self.call("action", "book:signFrom", url=url) is None

    def post(self, text: str) -> tuple[int, Any]:
        status, content = self._send(f"{self.project.site_url}/sign", text.encode(), "text/plain")
        return status, json.loads(content)

    def entry(self, text: str) -> dict[str, Any]:
        return {"text": text, "address": self.address, "program": self.program}

    def _send(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(
            parts.hostname or "", parts.port, timeout=SECONDS, source_address=(self.address, 0)
        )
        headers = {"Content-Type": content_type, **dict(self.lies)}
        if self.program is not None:
            headers["User-Agent"] = self.program
        try:
            connection.request("POST", parts.path, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


def entries(project: Deployment) -> list[dict[str, Any]]:
    """Those of visitors, newest first."""
    found: list[dict[str, Any]] = project.query("book:entries")
    return [each for each in found if each["text"] != "Open"]


def test_an_entry_that_came_over_a_socket_says_where_from(project: Deployment) -> None:
    with project.clients(1) as (client,):
        client.mutation("book:sign", text="socket")
    (entry,) = entries(project)
    assert (entry["text"], entry["address"]) == ("socket", "127.0.0.1")
    assert isinstance(entry["program"], str)


def test_an_entry_says_where_it_came_from(project: Deployment) -> None:
    ada, ben = Visitor(project, "127.0.0.2"), Visitor(project, "127.0.7.3", "curl/8.5.0")
    cyd = Visitor(project, "127.0.0.4", None)
    for visitor, text in ((ada, "a"), (ben, "b"), (cyd, "c"), (ada, "d")):
        visitor.sign(text)
    assert entries(project) == [ada.entry("d"), cyd.entry("c"), ben.entry("b"), ada.entry("a")]


def test_an_entry_by_way_of_an_action_came_from_the_visitor(project: Deployment, web_server: WebServer) -> None:
    ada, ben = Visitor(project, "127.0.0.2", "fox/1"), Visitor(project, "127.0.0.3")
    ada.sign_from(web_server.reply("GET", "/poem", Reply.text("roses")))
    ben.sign_from(web_server.reply("GET", "/other", Reply.text("violets", 203)))
    assert entries(project) == [ben.entry("violets"), ada.entry("roses")]
    bad = [web_server.nobody, web_server.reply("GET", "/bad", Reply.text("x", 500))]
    for url in (*bad, web_server.reply("GET", "/304", Reply.text("", 304))):
        with project.fails(data={"code": "UNREACHABLE"}):
            ada.sign_from(url)
    assert len(entries(project)) == 2
    ada.sign("one")
    ada.sign("two")
    with project.fails(data=TOO_MANY):
        ada.sign_from(web_server.reply("GET", "/poem", Reply.text("late")))
    assert [each["text"] for each in entries(project)] == ["two", "one", "violets", "roses"]


def test_an_entry_that_was_posted_came_from_the_visitor(project: Deployment) -> None:
    ada, ben = Visitor(project, "127.0.0.2", "wget/1.2"), Visitor(project, "127.0.0.3", None)
    assert (ada.post("hello\n"), ben.post("")) == ((201, {"ok": True}), (201, {"ok": True}))
    assert entries(project) == [ben.entry(""), ada.entry("hello\n")]
    ada.sign("b")
    assert ada.post("c") == (201, {"ok": True})
    assert ada.post("d") == (429, {"error": "TOO_MANY"})
    assert [each["text"] for each in entries(project)] == ["c", "b", "", "hello\n"]


def test_an_entry_that_appears_later_came_from_the_visitor_who_planned_it(project: Deployment) -> None:
    with project.stopped_clock():
        ada, ben = Visitor(project, "127.0.0.2", "fox/1"), Visitor(project, "127.0.0.3", "fox/2")
        ada.sign_later("in an hour", 59)
        ben.sign_later("soon", 0.5)
        ada.sign("now")
        assert entries(project) == [ada.entry("now")]
        project.advance(seconds=25)
        assert len(entries(project)) == 1
        project.advance(seconds=10)
        assert entries(project) == [ben.entry("soon"), ada.entry("now")]
        project.advance(minutes=58)
        assert len(entries(project)) == 2
        project.advance(minutes=1)
        assert entries(project) == [ada.entry("in an hour"), ben.entry("soon"), ada.entry("now")]


def test_an_entry_that_appears_later_counts_from_now_on(project: Deployment) -> None:
    with project.stopped_clock():
        ada = Visitor(project, "127.0.0.2")
        for text in ("a", "b", "c"):
            ada.sign_later(text, 90)
        with project.fails(data=TOO_MANY):
            ada.sign_later("d", 1)
        project.advance(minutes=59)
        with project.fails(data=TOO_MANY):
            ada.sign("d")
        project.advance(minutes=2)
        ada.sign("e")
        project.advance(minutes=30)
        assert {each["text"] for each in entries(project)} == {"a", "b", "c", "e"}
        ada.sign_later("f", 0)
        project.advance(seconds=1)
        assert entries(project)[0] == ada.entry("f")


def test_three_entries_an_hour_from_one_address(project: Deployment) -> None:
    with project.stopped_clock():
        programs = [BROWSER, "curl/8.5.0", None, "fox/1"]
        ada = [Visitor(project, "127.0.0.2", program) for program in programs]
        for number in range(3):
            ada[number].sign(str(number))
            project.advance(minutes=10)
        for _ in range(4):
            with project.fails(data=TOO_MANY):
                ada[3].sign("refused")
        Visitor(project, "127.0.0.20", BROWSER).sign("neighbour")
        project.advance(minutes=29, seconds=55)
        with project.fails(data=TOO_MANY):
            ada[0].sign("refused")
        project.advance(seconds=10)
        ada[1].sign("3")
        with project.fails(data=TOO_MANY):
            ada[2].sign("refused")
        project.advance(minutes=10)
        ada[2].sign("4")
        assert [each["text"] for each in entries(project)] == ["4", "3", "neighbour", "2", "1", "0"]


def test_whoever_lies_about_the_address_is_found_out(project: Deployment) -> None:
    for number in range(3):
        claimed = f"203.0.113.{number}"
        names = ("X-Forwarded-For", "X-Real-IP", "CF-Connecting-IP", "True-Client-IP", "X-Client-IP")
        lies = (*((name, claimed) for name in names), ("Forwarded", f"for={claimed}"))
        ada = Visitor(project, "127.0.0.2", "fox/1", lies)
        if number == 1:
            ada.sign("1")
        else:
            assert ada.post(str(number)) == (201, {"ok": True})
        assert entries(project)[0] == ada.entry(str(number))
    assert ada.post("3") == (429, {"error": "TOO_MANY"})
    with project.fails(data=TOO_MANY):
        ada.sign("3")


def test_the_house_comes_from_nowhere_and_is_never_refused(project: Deployment) -> None:
    with project.stopped_clock():
        project.advance(hours=3)
        house = project.query("book:entries")
        assert house == [{"text": "Open", "address": None, "program": None}] * len(house)
        assert 17 <= len(house) <= 19
        ada = Visitor(project, "127.0.0.2", None)
        ada.sign("a")
        assert project.query("book:entries")[0] == ada.entry("a")


def test_many_requests_at_the_same_time_are_three_entries(project: Deployment, web_server: WebServer) -> None:
    ada = [Visitor(project, "127.0.0.2", f"fox/{number}") for number in range(5)]
    url = web_server.reply("GET", "/poem", Reply.text("poem"))
    with project.lockstep(5):
        results = at_once([partial(visitor.sign_from, url) for visitor in ada])
    failures = [result.data for result in results if isinstance(result, CallFailed)]
    assert failures == [TOO_MANY] * 2
    assert len(entries(project)) == 3
    ben = [Visitor(project, "127.0.0.3") for _ in range(5)]
    at_once([partial(visitor.sign, "x") for visitor in ben[:3]] + [partial(visitor.post, "x") for visitor in ben[3:]])
    assert len(entries(project)) == 6


def test_signing_reads_little_and_the_book_shows_the_newest(project: Deployment) -> None:
    with project.stopped_clock():
        for _ in range(5):
            for _ in range(3):
                assert project.mutation("book:sign", text="kit") is None
            project.advance(minutes=61)
        for number in range(54):
            Visitor(project, f"127.0.1.{1 + number % 18}", f"fox/{number}").sign(str(number))
        ada = Visitor(project, "127.0.1.18", "fox/54")
        project.advance(minutes=61)
        with project.trace() as work:
            # The trace knows the requests of the kit's own client only: this one comes from 127.0.0.1, as old ones did.
            assert project.mutation("book:sign", text="kit") is None
        assert work.documents_read <= 10
        assert work.calls_of("book:sign") != []
        ada.sign("54")
        shown = project.query("book:entries")
        assert len(shown) == 50
        texts = [each["text"] for each in shown if each["text"] != "Open"]
        assert texts[:3] == ["54", "kit", "53"]
        rest = [each for each in shown if each["text"] not in ("Open", "kit")]
        assert [each["program"] for each in rest] == [f"fox/{each['text']}" for each in rest]


@pytest.mark.parametrize("seed", range(2))
def test_whatever_visitors_do_the_book_is_right(project: Deployment, web_server: WebServer, seed: int) -> None:
    chance = random.Random(seed)
    url = web_server.reply("GET", "/poem", lambda _: Reply.text(text))
    accepted: dict[str, list[float]] = {}
    planned: list[tuple[float, dict[str, Any]]] = []
    with project.stopped_clock():
        for number in range(30):
            project.advance(minutes=chance.choice([0.1, 0.1, 3.3, 11.7, 31.1]))
            address = f"127.0.0.{chance.choice([2, 2, 3])}"
            visitor = Visitor(project, address, chance.choice([None, "fox/1", "fox/2"]))
            text, way, now = str(number), chance.choice(["sign", "later", "from", "post"]), project.now()
            earlier = accepted.setdefault(address, [])
            is_fine = len([time for time in earlier if now - time < 60 * MINUTE_MS]) < 3
            minutes = chance.choice([0.05, 7.5, 40.2]) if way == "later" else 0
            calls: dict[str, Callable[[], Any]] = {
                "sign": partial(visitor.sign, text),
                "later": partial(visitor.sign_later, text, minutes),
                "from": partial(visitor.sign_from, url),
                "post": partial(visitor.post, text),
            }
            try:
                received = calls[way]()
                was_accepted = received is None or received == (201, {"ok": True})
            except CallFailed as error:
                assert error.data == TOO_MANY
                was_accepted = False
            assert was_accepted == is_fine, f"step {number}: {way}"
            if is_fine:
                earlier.append(now)
                planned.append((now + minutes * MINUTE_MS, visitor.entry(text)))
        project.advance(minutes=41)
    due = [entry for _, entry in sorted(planned, key=lambda each: each[0])]
    shown = entries(project)
    assert shown == due[::-1][: len(shown)]
    assert len(shown) >= 10


def test_clients_can_call_four_functions_only(project: Deployment) -> None:
    public = {name: spec for name, spec in project.functions().items() if spec.is_public}
    assert {name: spec.kind for name, spec in public.items()} == {
        "book:sign": "mutation",
        "book:signLater": "mutation",
        "book:signFrom": "action",
        "book:entries": "query",
    }
    for name, arguments in (
        ("sign", {}),
        ("sign", {"text": 1}),
        ("sign", {"text": "a", "address": "203.0.113.7"}),
        ("signLater", {"text": "a"}),
        ("signLater", {"minutes": 1}),
        ("signLater", {"text": 1, "minutes": 1}),
        ("signLater", {"text": "a", "minutes": "1"}),
        ("signLater", {"text": "a", "minutes": 1, "program": "fox"}),
    ):
        with project.fails("ArgumentValidationError"):
            project.mutation(f"book:{name}", arguments)
    for arguments in ({}, {"url": 1}, {"url": "http://localhost", "address": "203.0.113.7"}):
        with project.fails("ArgumentValidationError"):
            project.action("book:signFrom", arguments)
    with project.fails("ArgumentValidationError"):
        project.query("book:entries", address="127.0.0.1")
    assert entries(project) == []
