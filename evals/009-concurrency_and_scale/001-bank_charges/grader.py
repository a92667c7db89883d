"""Charges that happen once although actions die and the bank is silent."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Reply, WebRequest, WebServer, at_once, wait_until

PAID = Reply.json({"receipt": "r-1"})
DOWN = Reply.text("down", 503)
HANG_SECONDS = 300.0
patience = [10.0]
hanging: list[threading.Event] = []
Respond = Callable[[WebRequest], Reply]


class Bank:
    """Responds to the first requests as `replies` say, to all others like the last of them."""

    def __init__(self, server: WebServer, *replies: Reply | Respond) -> None:
        self.requests: list[WebRequest] = []
        self.replies = replies
        self.url = server.reply("POST", "/charges", self.respond)

    def respond(self, request: WebRequest) -> Reply:
        self.requests.append(request)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        return reply if isinstance(reply, Reply) else reply(request)

    def used_keys(self) -> list[str]:
        return [request.headers.get("idempotency-key", "") for request in self.requests]


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


def start(project: Deployment, bank: Bank, order: str = "o1", amount: int = 500) -> None:
    assert project.mutation("payments:start", order=order, amount=amount, bankUrl=bank.url) is None


def state(project: Deployment, order: str = "o1") -> Any:
    return project.query("payments:status", order=order)["state"]


def settled(project: Deployment, expected: str, order: str = "o1") -> None:
    wait(lambda: state(project, order) == expected, f"the state {expected}")


def requests_reach(bank: Bank, count: int) -> None:
    wait(lambda: len(bank.requests) == count, f"request {count} to the bank")


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
        "the end of the attempt",
    )


def pass_until(project: Deployment, start: float, minutes: float) -> None:
    """Until so many minutes after the start, of which the calls since then have taken up some."""
    project.advance(minutes=max(0.0, minutes - (project.now() - start) / 60_000))


def test_an_order_is_charged_at_once_and_only_once(project: Deployment, web_server: WebServer) -> None:
    bank = Bank(web_server, PAID)
    assert project.query("payments:status", order="o1") is None
    assert project.query("payments:balance") == 0
    start(project, bank)
    settled(project, "paid")
    start(project, bank)
    start(project, bank, amount=900)
    project.advance(hours=2)
    assert [request.json() for request in bank.requests] == [{"order": "o1", "amount": 500}]
    assert project.query("payments:status", order="o1") == {"state": "paid", "receipt": "r-1"}
    assert project.query("payments:balance") == 500


def test_every_order_has_a_key_and_an_outcome_of_its_own(project: Deployment, web_server: WebServer) -> None:
    replies = {"a": PAID, "b": Reply.json({"no": "money"}, 402), "c": Reply.json({"receipt": "r-3"})}
    bank = Bank(web_server, lambda request: replies[request.json()["order"]])
    for number, order in enumerate(replies):
        start(project, bank, order, 10 ** (number + 1))
    for order, expected in (("a", "paid"), ("b", "declined"), ("c", "paid")):
        settled(project, expected, order)
    assert project.query("payments:status", order="b") == {"state": "declined", "receipt": None}
    assert project.query("payments:status", order="c") == {"state": "paid", "receipt": "r-3"}
    assert project.query("payments:balance") == 1010
    project.advance(hours=2)
    start(project, bank, "b")
    project.advance(hours=2)
    assert len(bank.requests) == len(set(bank.used_keys())) == 3
    assert "" not in bank.used_keys()


def test_failed_attempts_are_repeated_after_growing_delays_with_the_same_key(
    project: Deployment, web_server: WebServer
) -> None:
    bank = Bank(web_server, DOWN, Reply.text("what?", 404), Reply.text("moved", 500), Reply.json({}, 202), DOWN)
    start(project, bank)
    requests_reach(bank, 1)
    quiet(project)
    start_ms = project.now()
    for moment, count in ((0.5, 1), (1.5, 2), (2.5, 2), (3.5, 3), (6.5, 3), (7.5, 4), (14.5, 4), (15.5, 5), (30.5, 5)):
        pass_until(project, start_ms, moment)
        assert (len(bank.requests), state(project)) == (count, "pending"), f"after {moment} minutes"
    project.advance(minutes=1)
    assert (len(bank.requests), state(project)) == (6, "failed")
    project.advance(days=2)
    start(project, bank)
    project.advance(days=2)
    assert (len(bank.requests), state(project)) == (6, "failed")
    assert len(set(bank.used_keys())) == 1
    assert project.query("payments:balance") == 0


def test_a_later_attempt_can_succeed(project: Deployment, web_server: WebServer) -> None:
    bank = Bank(web_server, DOWN, DOWN, PAID)
    start(project, bank)
    requests_reach(bank, 1)
    quiet(project)
    project.advance(minutes=3.5)
    assert project.query("payments:status", order="o1") == {"state": "paid", "receipt": "r-1"}
    project.advance(hours=2)
    assert (len(bank.requests), project.query("payments:balance")) == (3, 500)


def test_a_bank_that_cannot_be_reached_is_asked_again(project: Deployment, web_server: WebServer) -> None:
    project.mutation("payments:start", order="o1", amount=1, bankUrl=web_server.nobody)
    quiet(project)
    project.advance(minutes=30)
    assert state(project) == "pending"
    project.advance(minutes=2)
    assert state(project) == "failed"


def killed(project: Deployment) -> Respond:
    def respond(_: WebRequest) -> Reply:
        project.kill_actions()
        return PAID

    return respond


def test_an_attempt_that_is_killed_after_the_charge_is_repeated(project: Deployment, web_server: WebServer) -> None:
    bank = Bank(web_server, killed(project), PAID)
    start(project, bank)
    requests_reach(bank, 1)
    quiet(project)
    project.advance(minutes=5.5)
    assert (len(bank.requests), state(project)) == (1, "pending")
    project.advance(minutes=1)
    assert (len(bank.requests), state(project)) == (2, "paid")
    project.advance(hours=2)
    assert (len(bank.requests), len(set(bank.used_keys()))) == (2, 1)
    assert project.query("payments:balance") == 500


def test_attempts_can_die_again_and_again(project: Deployment, web_server: WebServer) -> None:
    bank = Bank(web_server, killed(project))
    start(project, bank)
    requests_reach(bank, 1)
    quiet(project)
    start_ms = project.now()
    for moment, count in ((5.5, 1), (6.5, 2), (12.5, 2), (13.5, 3), (34.5, 4), (35.5, 5), (55.5, 5), (60.5, 6)):
        pass_until(project, start_ms, moment)
        assert (len(bank.requests), state(project)) == (count, "pending"), f"after {moment} minutes"
    project.advance(minutes=1)
    assert (len(bank.requests), state(project)) == (6, "failed")


def test_a_restart_of_the_deployment_loses_no_payment(project: Deployment, web_server: WebServer) -> None:
    silence = Silence(PAID)
    bank = Bank(web_server, silence, PAID)
    start(project, bank)
    requests_reach(bank, 1)
    project.restart()
    silence.over.set()
    quiet(project)
    project.advance(minutes=5.5)
    assert (len(bank.requests), state(project)) == (1, "pending")
    project.advance(minutes=1)
    assert (len(bank.requests), state(project)) == (2, "paid")


def test_a_response_that_comes_late_counts_and_stops_the_attempts(project: Deployment, web_server: WebServer) -> None:
    silence = Silence(PAID)
    bank = Bank(web_server, silence, DOWN)
    start(project, bank)
    requests_reach(bank, 1)
    project.advance(minutes=6.5)
    assert (len(bank.requests), state(project)) == (2, "pending")
    silence.over.set()
    settled(project, "paid")
    project.advance(hours=2)
    assert (len(bank.requests), state(project)) == (2, "paid")
    assert project.query("payments:balance") == 500


def test_two_final_responses_count_once(project: Deployment, web_server: WebServer) -> None:
    silence = Silence(PAID)
    bank = Bank(web_server, silence, PAID)
    start(project, bank)
    requests_reach(bank, 1)
    project.advance(minutes=6.5)
    assert (len(bank.requests), state(project)) == (2, "paid")
    silence.over.set()
    quiet(project)
    project.advance(hours=2)
    assert (len(bank.requests), project.query("payments:balance")) == (2, 500)


def test_a_late_failure_does_not_begin_a_second_series_of_attempts(project: Deployment, web_server: WebServer) -> None:
    silence = Silence(DOWN)
    bank = Bank(web_server, silence, DOWN)
    start(project, bank)
    requests_reach(bank, 1)
    start_ms = project.now()
    project.advance(minutes=5.5)
    silence.over.set()
    quiet(project)
    for moment, count in ((6.5, 2), (7.5, 2), (8.5, 3), (12.5, 4), (20.5, 5), (35.5, 5)):
        pass_until(project, start_ms, moment)
        assert len(bank.requests) == count, f"after {moment} minutes"
    project.advance(hours=5)
    assert (len(bank.requests), state(project)) == (6, "failed")


def test_a_final_response_counts_even_when_the_payment_has_failed(project: Deployment, web_server: WebServer) -> None:
    silence = Silence(PAID)
    bank = Bank(web_server, silence, DOWN)
    start(project, bank)
    requests_reach(bank, 1)
    project.advance(hours=2)
    assert (len(bank.requests), state(project)) == (6, "failed")
    silence.over.set()
    settled(project, "paid")
    assert project.query("payments:balance") == 500


def test_an_order_that_is_started_by_many_clients_is_charged_once(project: Deployment, web_server: WebServer) -> None:
    bank = Bank(web_server, PAID)
    arguments = {"order": "o1", "amount": 500, "bankUrl": bank.url}
    with project.clients(6) as clients:
        at_once([partial(client.mutation, "payments:start", arguments) for client in clients])
    settled(project, "paid")
    project.advance(hours=2)
    assert (len(bank.requests), project.query("payments:balance")) == (1, 500)


def test_clients_can_call_three_functions_only(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {"payments:start": "mutation", "payments:status": "query", "payments:balance": "query"}


@pytest.mark.parametrize("wrong", [{"order": 1}, {"amount": "1"}, {"bankUrl": None}, {"more": 1}])
def test_arguments_are_checked(project: Deployment, wrong: dict[str, Any]) -> None:
    with project.fails("ArgumentValidationError"):
        project.mutation("payments:start", {"order": "o1", "amount": 1, "bankUrl": "http://localhost"} | wrong)
    with project.fails("ArgumentValidationError"):
        project.query("payments:status", order=1)
