"""Charges over HTTP with idempotency keys: retries, races, crashes, and a bank that is slow or silent."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, Reply, WebRequest, WebServer, at_once

MALFORMED = (400, {"error": "malformed"})
IN_USE = (422, {"error": "key in use"})
BUSY = (409, {"error": "in progress"})
NO_BANK = (502, {"error": "bank"})


@dataclass
class Bank:
    """Charges once for each reference. `before` decides about a request first, and may respond in the bank's place."""

    charged: dict[str, tuple[int, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    before: Callable[[dict[str, Any]], Reply | None] = lambda _: None

    def respond(self, request: WebRequest) -> Reply:
        order = request.json()
        assert order.keys() == {"reference", "amount", "card"}
        assert isinstance(order["reference"], str)
        assert order["reference"] != ""
        self.asked.append(order["reference"])
        self.charged.setdefault(order["reference"], (order["amount"], order["card"]))
        return self.before(order) or Reply.json({"approved": order["amount"] < 1000, "more": 1})


@pytest.fixture
def bank(project: Deployment, web_server: WebServer) -> Bank:
    bank = Bank()
    url = web_server.reply("POST", "/bank", bank.respond)
    assert project.admin.mutation("charges:setBank", url=url) is None
    return bank


def post(project: Deployment, key: str | None = "k", body: str | None = None, **order: Any) -> tuple[int, Any]:
    """Status and body."""
    status, content, _ = replayed(project, key, body, **order)
    return status, content


def replayed(
    project: Deployment, key: str | None = "k", body: str | None = None, **order: Any
) -> tuple[int, Any, bool]:
    """Status, body, and whether the response is said to be the same as before."""
    headers = {} if key is None else {"Idempotency-Key": key}
    text = json.dumps({"amount": 5, "card": "visa", **order}) if body is None else body
    response = project.http.post("/charges", body=text, headers=headers)
    return response.status, response.json(), response.header("Idempotent-Replayed") == "true"


def charges(project: Deployment) -> list[tuple[int, str, bool]]:
    found = project.query("charges:list")
    assert all(each.keys() == {"chargeId", "amount", "card", "approved"} for each in found)
    assert len({each["chargeId"] for each in found}) == len(found)
    return [(each["amount"], each["card"], each["approved"]) for each in found]


def test_a_repeated_request_gets_the_same_response(project: Deployment, bank: Bank) -> None:
    status, content, is_replay = replayed(project)
    [stored] = project.query("charges:list")
    assert (status, content, is_replay) == (201, {"chargeId": stored["chargeId"], "approved": True}, False)
    for _ in range(2):
        assert replayed(project) == (201, content, True)
    refused = post(project, "other", amount=2000)
    assert refused[1]["approved"] is False
    assert replayed(project, "other", amount=2000) == (*refused, True)
    assert charges(project) == [(5, "visa", True), (2000, "visa", False)]
    assert len(bank.asked) == len(bank.charged) == 2
    assert list(bank.charged.values()) == [(5, "visa"), (2000, "visa")]


def test_a_key_belongs_to_its_amount_and_card(project: Deployment, bank: Bank) -> None:
    first = post(project)
    assert post(project, amount=6) == post(project, card="Visa") == IN_USE
    for text in ('{ "card": "visa",\n "amount": 5.0 }', '{"amount":5,"note":{"$a":1},"card":"\\u0076isa"}'):
        assert post(project, body=text) == first
    assert post(project, "K", amount=6)[0] == 201
    assert charges(project) == [(5, "visa", True), (6, "visa", True)]
    bank.before = lambda _: Reply.text("down", 503)
    assert post(project, "late") == NO_BANK
    assert post(project, "late", amount=6) == IN_USE
    assert len(bank.charged) == 3


def test_malformed_requests_use_no_key(project: Deployment, bank: Bank) -> None:
    for text in ("", "{", "null", "[]", "5", "{}", '{"amount":5}', '{"card":"visa"}'):
        assert post(project, body=text) == MALFORMED, text
    for order in (
        {"amount": 0},
        {"amount": -1},
        {"amount": 1.5},
        {"amount": "5"},
        {"card": ""},
        {"card": 5},
        {"amount": None},
    ):
        assert post(project, "k", None, **order) == MALFORMED, order
    assert post(project, None) == post(project, "") == post(project, "x" * 101) == MALFORMED
    assert bank.asked == []
    assert post(project)[0] == 201
    assert post(project, body="{") == MALFORMED
    assert post(project, "x" * 100)[0] == 201


@pytest.mark.parametrize(
    "answer",
    [
        Reply.text("down", 503),
        Reply.json({"approved": True}, 202),
        Reply.text("yes"),
        Reply.json({"approved": "yes"}),
        Reply.json(None),
    ],
    ids=["error", "another status", "no JSON", "no boolean", "null"],
)
def test_without_a_word_from_the_bank_there_is_no_result(project: Deployment, bank: Bank, answer: Reply) -> None:
    bank.before = lambda _: answer
    assert [post(project), post(project)] == [NO_BANK, NO_BANK]
    assert charges(project) == []
    bank.before = lambda _: None
    first = replayed(project)
    assert (first[0], first[2]) == (201, False)
    assert replayed(project) == (*first[:2], True)
    assert (len(bank.asked), len(bank.charged), charges(project)) == (3, 1, [(5, "visa", True)])


def test_a_bank_that_is_not_there_is_no_result(project: Deployment, bank: Bank, web_server: WebServer) -> None:
    project.admin.mutation("charges:setBank", url=web_server.nobody)
    assert post(project) == NO_BANK
    project.admin.mutation("charges:setBank", url=web_server.url + "/bank")
    assert post(project)[0] == 201


def test_requests_at_the_same_time_are_one(project: Deployment, bank: Bank) -> None:
    with project.lockstep(4):
        received = at_once([partial(post, project) for _ in range(4)])
    assert [each for each in received if isinstance(each, CallFailed)] == []
    statuses = sorted(each[0] for each in received)
    assert [status for status in statuses if status not in (201, 409)] == []
    assert len({each[1]["chargeId"] for each in received if each[0] == 201}) == 1
    assert (len(bank.asked), len(bank.charged), len(charges(project))) == (1, 1, 1)


def let_pass(project: Deployment, seconds: int, since: float) -> None:
    """Time passes until so many seconds after a moment, however slow the machine has been since then."""
    project.advance(seconds=max(0, since + seconds * 1000 - project.now()) / 1000)


class Held:
    """A request that the bank does not respond to before it is told to. It began at `since` or later."""

    def __init__(self, project: Deployment, bank: Bank, reply: Reply | None = None) -> None:
        self.asked, self.released, self.since = threading.Event(), threading.Event(), project.now()
        self.response: Any = None
        bank.before = partial(self.hold, reply)
        self.thread = threading.Thread(target=self.run, args=(project,))
        self.thread.start()
        assert self.asked.wait(30), "the bank must be asked"
        bank.before = lambda _: None

    def hold(self, reply: Reply | None, _: dict[str, Any]) -> Reply | None:
        self.asked.set()
        self.released.wait(30)
        return reply

    def run(self, project: Deployment) -> None:
        self.response = post(project)

    def release(self) -> Any:
        self.released.set()
        self.thread.join(30)
        return self.response


def test_while_one_is_worked_on_others_wait(project: Deployment, bank: Bank) -> None:
    held = Held(project, bank)
    received = [post(project), post(project, amount=6), post(project, "other")[0]]
    let_pass(project, 40, held.since)
    received.append(post(project))
    first = held.release()
    assert received == [BUSY, IN_USE, 201, BUSY]
    assert first[0] == 201
    assert replayed(project) == (*first, True)
    assert (len(bank.asked), len(bank.charged)) == (2, 2)


def test_a_request_that_seemed_dead_gets_the_same_result(project: Deployment, bank: Bank) -> None:
    held = Held(project, bank)
    project.advance(seconds=61)
    second = post(project)
    first = held.release()
    assert second[0] == 201
    assert first == second == post(project)
    assert (len(bank.asked), len(bank.charged), len(charges(project))) == (2, 1, 1)


def test_a_late_failure_does_not_free_the_key(project: Deployment, bank: Bank) -> None:
    first = Held(project, bank, Reply.text("down", 503))
    project.advance(seconds=61)
    second = Held(project, bank)
    late = first.release()
    third = post(project)
    last = second.release()
    assert (late, third, last[0]) == (NO_BANK, BUSY, 201)
    assert post(project) == last
    assert (len(bank.asked), len(bank.charged), len(charges(project))) == (2, 1, 1)


def test_a_late_failure_does_not_undo_a_result(project: Deployment, bank: Bank) -> None:
    held = Held(project, bank, Reply.text("down", 503))
    project.advance(seconds=61)
    second = post(project)
    held.release()
    assert replayed(project) == (*second, True)
    assert (len(bank.asked), len(bank.charged), len(charges(project))) == (2, 1, 1)


def test_after_a_crash_the_next_request_takes_over(project: Deployment, bank: Bank) -> None:
    def die(_: dict[str, Any]) -> None:
        project.kill_actions()

    bank.before, since = die, project.now()
    headers = {"Idempotency-Key": "k"}
    body = json.dumps({"amount": 5, "card": "visa"})
    response = project.http.post("/charges", body=body, headers=headers)
    assert response.status >= 500
    bank.before = lambda _: None
    assert post(project) == BUSY
    let_pass(project, 40, since)
    assert post(project) == BUSY
    project.advance(seconds=61)
    first = replayed(project)
    assert (first[0], first[2]) == (201, False)
    assert post(project) == first[:2]
    assert (len(bank.asked), len(bank.charged), charges(project)) == (2, 1, [(5, "visa", True)])


def test_keys_are_free_again_after_a_day(project: Deployment, bank: Bank) -> None:
    first = post(project)
    bank.before = lambda _: Reply.text("down", 503)
    assert post(project, "failed") == NO_BANK
    bank.before = lambda _: None
    project.advance(hours=23, minutes=58)
    assert post(project) == first
    assert post(project, "failed", amount=7) == IN_USE
    project.advance(minutes=3)
    assert post(project, "failed", amount=7)[0] == 201
    second = replayed(project)
    assert (second[0], second[2]) == (201, False)
    assert second[1]["chargeId"] != first[1]["chargeId"]
    assert replayed(project) == (*second[:2], True)
    project.advance(hours=23)
    assert post(project) == second[:2]
    assert len(bank.charged) == 4
    assert charges(project) == [(5, "visa", True), (7, "visa", True), (5, "visa", True)]


def test_clients_can_only_look(project: Deployment, bank: Bank) -> None:
    assert {name for name, function in project.functions().items() if function.is_public} == {"charges:list"}
    with project.fails("ArgumentValidationError"):
        project.admin.mutation("charges:setBank", url=5)
    assert (post(project)[0], len(bank.charged)) == (201, 1)
