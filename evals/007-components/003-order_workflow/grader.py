"""Orders that survive refusals, failures, killed actions, changes of mind and days of waiting."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Reply, WebRequest, WebServer, at_once, wait_until

FUNCTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "orders:place": ("mutation", {"item": "pen", "url": "http://x"}),
    "orders:state": ("query", {"order": "id"}),
    "orders:history": ("query", {"order": "id"}),
    "orders:decide": ("mutation", {"order": "id", "approved": True}),
    "orders:cancel": ("mutation", {"order": "id"}),
    "orders:resume": ("mutation", {"order": "id"}),
    "orders:archive": ("mutation", {"order": "id"}),
}
PATHS = ("stock", "payment", "carrier", "stock/release", "payment/refund")
UNDOING = {"stock/release": 1, "payment/refund": 1}
FINAL = ("shipped", "refused", "rejected", "expired", "canceled")
OK, REFUSED, DOWN = Reply.json({}), Reply.text("no", 409), Reply.text("down", 503)
TRIES = 4
patience = [10.0]
hanging: list[threading.Event] = []
Respond = Callable[[WebRequest], Reply]


class Silence:
    """A response that comes when the test says so."""

    def __init__(self, reply: Reply = OK) -> None:
        self.reply, self.over = reply, threading.Event()
        hanging.append(self.over)

    def __call__(self, _: WebRequest) -> Reply:
        self.over.wait(30.0)
        return self.reply


class Shop:
    """The project, and the companies it depends on. Each responds with its replies in turn, then with its last one."""

    def __init__(self, project: Deployment, server: WebServer) -> None:
        self.project, self.received = project, list[tuple[str, str, float]]()
        self.replies: dict[str, list[Reply | Respond]] = {path: [OK] for path in PATHS}
        for path in PATHS:
            url = server.reply("POST", f"/shop/{path}", partial(self._respond, path))
            self.url = url.removesuffix(f"/{path}")

    def _respond(self, path: str, request: WebRequest) -> Reply:
        body = request.json()
        assert body["item"] == "pen"
        self.received.append((path, body["order"], self.project.now()))
        replies = self.replies[path]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        return reply if isinstance(reply, Reply) else reply(request)

    def reply(self, path: str, *replies: Reply | Respond) -> None:
        self.replies[path] = list(replies)

    def count(self, order: str | None = None) -> Counter[str]:
        return Counter(path for path, of, _ in self.received if order in (None, of))

    def has_received(self, order: str, expected: Counter[str]) -> bool:
        return self.count(order) == expected

    def times(self, path: str) -> list[float]:
        return [at for received, _, at in self.received if received == path]

    # ------------------------------------------------------------------ what a client does

    def place(self) -> str:
        order: str = self.project.mutation("orders:place", item="pen", url=self.url)
        return order

    def place_and_wait(self) -> str:
        order = self.place()
        self.reaches(order, "waiting")
        return order

    def approve(self, order: str) -> None:
        assert self.decide(order) is True

    def decide(self, order: str, *, approved: bool = True) -> Any:
        return self.project.mutation("orders:decide", order=order, approved=approved)

    def ask(self, what: str, order: str) -> Any:
        return self.project.mutation(f"orders:{what}", order=order)

    def state(self, order: str) -> Any:
        return self.project.query("orders:state", order=order)

    def history(self, order: str) -> dict[str, str]:
        entries = self.project.query("orders:history", order=order)
        assert all(set(entry) == {"name", "state"} for entry in entries)
        names = [entry["name"] for entry in entries]
        assert names == [name for name in ("stock", "payment", "approval", "carrier") if name in names]
        return {entry["name"]: entry["state"] for entry in entries}

    # ------------------------------------------------------------------ what happens by itself

    def wait(self, condition: Callable[[], object], what: str) -> None:
        """Once something has not come, nothing else gets that much time: the answer is wrong anyway."""
        try:
            wait_until(condition, what, seconds=patience[0])
        except AssertionError:
            patience[0] = 1.0
            raise

    def reaches(self, order: str, state: str) -> None:
        self.wait(lambda: self.state(order) == state, f"the state {state}")

    def receives(self, path: str, count: int = 1) -> None:
        self.wait(lambda: self.count()[path] >= count, f"request {count} to /{path}")
        assert self.count()[path] == count

    def undone(self, order: str, expected: dict[str, int] | None = None) -> None:
        """Everything is undone by now, once, and it stays like that."""
        wanted = UNDOING if expected is None else expected

        def counted() -> dict[str, int]:
            return {path: count for path, count in self.count(order).items() if path in UNDOING}

        self.wait(lambda: counted() == wanted, f"the undoing {wanted}")
        self.settle()
        assert counted() == wanted

    def settle(self, minutes: int = 20) -> None:
        """So much time that all tries of a request have come to an end."""
        for _ in range(4):
            self.project.advance(minutes=minutes / 4)

    def archives(self, order: str) -> None:
        self.wait(lambda: self.ask("archive", order), "the order can be archived")

    def stored(self, table: str) -> list[Any]:
        return self.project.documents(table, component="workflow")

    def running_steps(self) -> list[Any]:
        return [entry["step"] for entry in self.stored("steps") if entry["step"]["inProgress"]]


@pytest.fixture
def shop(project: Deployment, web_server: WebServer) -> Iterator[Shop]:
    yield Shop(project, web_server)
    while hanging:
        hanging.pop().set()


def test_an_order_is_prepared_approved_and_shipped(shop: Shop) -> None:
    stock, payment, carrier = Silence(), Silence(), Silence()
    shop.reply("stock", stock)
    shop.reply("payment", payment)
    shop.reply("carrier", carrier)
    order = shop.place()
    for path in ("stock", "payment"):
        shop.receives(path)
    assert shop.state(order) == "preparing"
    assert shop.history(order) == {"stock": "running", "payment": "running"}
    assert [shop.decide(order), shop.ask("cancel", order), shop.ask("resume", order), shop.ask("archive", order)] == [
        False
    ] * 4
    stock.over.set()
    payment.over.set()
    shop.reaches(order, "waiting")
    prepared = {"stock": "succeeded", "payment": "succeeded"}
    shop.wait(lambda: shop.history(order) == {**prepared, "approval": "running"}, "the approval in the history")
    assert [shop.ask("resume", order), shop.ask("archive", order)] == [False] * 2
    with shop.project.subscribe("orders:state", order=order) as live:
        shop.approve(order)
        assert live.wait_until(lambda state: state != "waiting") == "shipping"
        shop.receives("carrier")
        expected = {**prepared, "approval": "succeeded", "carrier": "running"}
        shop.wait(lambda: shop.history(order) == expected, "the carrier in the history")
        assert [shop.decide(order), shop.ask("resume", order), shop.ask("archive", order)] == [False] * 3
        carrier.over.set()
        live.wait_until(lambda state: state == "shipped")
    assert shop.history(order) == {**prepared, "approval": "succeeded", "carrier": "succeeded"}
    assert [shop.decide(order), shop.ask("cancel", order), shop.ask("resume", order)] == [False] * 3
    shop.archives(order)
    assert (shop.state(order), shop.history(order)) == ("shipped", {})
    shop.settle(50 * 60)
    assert shop.state(order) == "shipped"
    assert shop.count() == {"stock": 1, "payment": 1, "carrier": 1}


@pytest.mark.parametrize(
    ("replies", "undoing", "history"),
    [
        ({"stock": REFUSED}, {"payment/refund": 1}, {"stock": "failed", "payment": "succeeded"}),
        ({"payment": REFUSED}, {"stock/release": 1}, {"stock": "succeeded", "payment": "failed"}),
        ({"stock": REFUSED, "payment": REFUSED}, {}, {"stock": "failed", "payment": "failed"}),
    ],
    ids=["stock", "payment", "both"],
)
def test_a_refusal_is_final_and_the_other_request_is_undone(
    shop: Shop, replies: dict[str, Reply], undoing: dict[str, int], history: dict[str, str]
) -> None:
    for path, reply in replies.items():
        shop.reply(path, reply)
    order = shop.place()
    shop.reaches(order, "refused")
    shop.undone(order, undoing)
    assert shop.history(order) == history
    assert shop.count() == {"stock": 1, "payment": 1, **undoing}
    assert [shop.decide(order), shop.ask("cancel", order), shop.ask("resume", order)] == [False] * 3
    shop.archives(order)


def test_a_request_is_made_four_times_in_all(shop: Shop) -> None:
    shop.reply("payment", DOWN)
    order = shop.place()
    shop.receives("payment")
    assert shop.state(order) == "preparing"
    shop.wait(
        lambda: shop.history(order) == {"stock": "succeeded", "payment": "running"}, "the end of the stock request"
    )
    shop.settle(30)
    shop.reaches(order, "refused")
    shop.undone(order, {"stock/release": 1})
    assert shop.history(order) == {"stock": "succeeded", "payment": "failed"}
    assert shop.count() == {"stock": 1, "payment": TRIES, "stock/release": 1}
    times = shop.times("payment")
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert all(9_900 <= pause <= 600_000 for pause in pauses), f"milliseconds between tries: {pauses}"


def test_the_last_try_may_succeed(shop: Shop) -> None:
    shop.reply("stock", DOWN, REFUSED)
    shop.reply("payment", DOWN, Reply.text("busy", 429), Reply.text("", 204), OK)
    order = shop.place()
    shop.receives("payment")
    shop.settle(30)
    shop.reaches(order, "refused")
    shop.undone(order, {"payment/refund": 1})
    assert shop.count() == {"stock": 2, "payment": TRIES, "payment/refund": 1}


def test_a_request_whose_action_was_killed_is_made_again(shop: Shop) -> None:
    def die(_: WebRequest) -> Reply:
        shop.project.kill_actions()
        return OK

    order = shop.place_and_wait()
    shop.reply("carrier", die, OK)
    shop.approve(order)
    shop.receives("carrier")
    assert shop.state(order) == "shipping"
    shop.settle(30)
    shop.reaches(order, "shipped")
    assert shop.count()["carrier"] == 2


def test_an_order_goes_on_when_the_deployment_restarts_between_two_tries(shop: Shop) -> None:
    order = shop.place_and_wait()
    shop.reply("carrier", DOWN, OK)
    shop.approve(order)
    shop.receives("carrier")
    shop.project.restart()
    assert shop.state(order) == "shipping"
    shop.settle(30)
    shop.reaches(order, "shipped")
    assert shop.count() == {"stock": 1, "payment": 1, "carrier": 2}


def test_requests_are_steps_that_the_component_repeats(shop: Shop) -> None:
    stock = Silence()
    shop.reply("stock", stock)
    shop.reply("payment", DOWN, OK)
    order = shop.place()
    for path in ("stock", "payment"):
        shop.receives(path)
    assert len(shop.stored("workflows")) >= 1
    assert [step.get("functionType") for step in shop.running_steps()].count("action") == 2
    stock.over.set()
    shop.settle()
    shop.reaches(order, "waiting")
    shop.reply("carrier", DOWN)
    shop.approve(order)
    shop.receives("carrier")

    def repeating() -> bool:
        work = shop.project.documents("work", component="workflow/workpool")
        return [item["attempts"] for item in work if item["fnType"] == "action"] == [1]

    shop.wait(repeating, "the failed request is with the component")
    assert [step.get("functionType") for step in shop.running_steps()].count("action") == 1


def test_one_decision_counts(shop: Shop) -> None:
    order = shop.place_and_wait()
    with shop.project.clients(6) as clients:
        calls = [
            partial(each.mutation, "orders:decide", order=order, approved=number % 2 == 0)
            for number, each in enumerate(clients)
        ]
        made = at_once(calls)
    assert sorted(made) == [False] * 5 + [True]
    approved = made.index(True) % 2 == 0
    shop.reaches(order, "shipped" if approved else "rejected")
    shop.undone(order, {} if approved else UNDOING)
    assert shop.count()["carrier"] == int(approved)
    shop.archives(order)
    assert shop.stored("events") == []


def test_a_rejected_order_is_undone_and_archived_only_then(shop: Shop) -> None:
    refund = Silence()
    shop.reply("payment/refund", refund)
    order = shop.place_and_wait()
    assert shop.decide(order, approved=False) is True
    assert shop.state(order) == "rejected"
    for path in UNDOING:
        shop.receives(path)
    assert shop.ask("archive", order) is False
    assert shop.decide(order) is False
    assert shop.history(order) == {"stock": "succeeded", "payment": "succeeded", "approval": "failed"}
    refund.over.set()
    shop.archives(order)
    assert (shop.state(order), shop.history(order)) == ("rejected", {})
    assert shop.ask("archive", order) is False
    shop.undone(order)


def test_undoing_is_tried_four_times_and_given_up(shop: Shop) -> None:
    shop.reply("stock/release", REFUSED, DOWN, DOWN, REFUSED, OK)
    order = shop.place_and_wait()
    shop.decide(order, approved=False)
    for path in UNDOING:
        shop.receives(path)
    assert shop.ask("archive", order) is False
    shop.settle(30)
    shop.archives(order)
    assert shop.count(order) == {"stock": 1, "payment": 1, "payment/refund": 1, "stock/release": TRIES}
    assert shop.state(order) == "rejected"


def test_an_order_expires_after_48_hours(shop: Shop) -> None:
    order, decided = shop.place_and_wait(), shop.place_and_wait()
    shop.project.advance(hours=47, minutes=58)
    assert shop.state(order) == "waiting"
    shop.approve(decided)
    shop.reaches(decided, "shipped")
    shop.project.advance(minutes=4)
    shop.reaches(order, "expired")
    assert [shop.decide(order), shop.ask("cancel", order), shop.ask("resume", order)] == [False] * 3
    shop.undone(order)
    assert shop.history(order) == {"stock": "succeeded", "payment": "succeeded", "approval": "failed"}
    assert shop.state(decided) == "shipped"
    assert shop.count(order) == {"stock": 1, "payment": 1, **UNDOING}
    shop.archives(order)


def test_a_waiting_order_is_canceled_and_undone(shop: Shop) -> None:
    refund = Silence()
    shop.reply("payment/refund", refund)
    order, other = shop.place_and_wait(), shop.place_and_wait()
    shop.wait(lambda: "approval" in shop.history(order) and "approval" in shop.history(other), "both approvals")
    both = len(shop.stored("workflows"))
    assert shop.ask("cancel", order) is True
    assert shop.state(order) == "canceled"
    assert [shop.ask("cancel", order), shop.decide(order), shop.ask("resume", order)] == [False] * 3
    assert shop.history(order) == {"stock": "succeeded", "payment": "succeeded", "approval": "canceled"}
    for path in UNDOING:
        shop.receives(path)
    assert shop.ask("archive", order) is False
    refund.over.set()
    shop.archives(order)
    assert shop.history(order) == {}
    assert len(shop.stored("workflows")) == both / 2
    shop.undone(order)
    shop.approve(other)
    shop.reaches(other, "shipped")
    assert shop.count() == {"stock": 2, "payment": 2, "carrier": 1, **UNDOING}


def test_the_carrier_is_not_requested_any_more_after_a_cancellation(shop: Shop) -> None:
    order = shop.place_and_wait()
    shop.reply("carrier", DOWN)
    shop.approve(order)
    shop.receives("carrier")
    assert shop.ask("cancel", order) is True
    assert shop.state(order) == "canceled"
    shop.undone(order)
    assert shop.count()["carrier"] == 1
    assert shop.history(order) == {
        "stock": "succeeded",
        "payment": "succeeded",
        "approval": "succeeded",
        "carrier": "canceled",
    }
    assert shop.state(order) == "canceled"
    shop.archives(order)
    assert [shop.stored(table) for table in ("workflows", "steps", "events")] == [[], [], []]


@pytest.mark.parametrize("reply", [OK, DOWN], ids=["success", "failure"])
def test_a_late_response_of_the_carrier_changes_nothing(shop: Shop, reply: Reply) -> None:
    carrier = Silence(reply)
    shop.reply("carrier", carrier)
    order = shop.place_and_wait()
    shop.approve(order)
    shop.receives("carrier")
    assert shop.ask("cancel", order) is True
    for path in UNDOING:
        shop.receives(path)
    carrier.over.set()
    shop.undone(order)
    assert (shop.state(order), shop.count()["carrier"]) == ("canceled", 1)
    assert shop.history(order)["carrier"] == "canceled"


def test_a_stuck_order_is_resumed_where_it_stopped(shop: Shop) -> None:
    shop.reply("carrier", *[REFUSED] * TRIES, DOWN, OK)
    order = shop.place_and_wait()
    shop.approve(order)
    shop.receives("carrier")
    shop.settle(30)
    shop.reaches(order, "stuck")
    prepared = {"stock": "succeeded", "payment": "succeeded", "approval": "succeeded"}
    assert shop.history(order) == {**prepared, "carrier": "failed"}
    assert [shop.decide(order), shop.ask("archive", order)] == [False] * 2
    assert shop.count()["carrier"] == TRIES
    with shop.project.clients(4) as clients:
        made = at_once([partial(each.mutation, "orders:resume", order=order) for each in clients])
    assert sorted(made) == [False] * 3 + [True]
    assert shop.state(order) == "shipping"
    shop.receives("carrier", TRIES + 1)
    assert shop.history(order) == {**prepared, "carrier": "running"}
    shop.settle(30)
    shop.reaches(order, "shipped")
    assert shop.history(order) == {**prepared, "carrier": "succeeded"}
    assert shop.count() == {"stock": 1, "payment": 1, "carrier": TRIES + 2}
    shop.archives(order)
    assert [shop.stored(table) for table in ("workflows", "steps", "events")] == [[], [], []]


def test_a_stuck_order_can_get_stuck_again_and_be_canceled(shop: Shop) -> None:
    shop.reply("carrier", DOWN)
    order = shop.place_and_wait()
    shop.approve(order)
    for round in (1, 2):
        shop.receives("carrier", TRIES * (round - 1) + 1)
        shop.settle(30)
        shop.reaches(order, "stuck")
        assert shop.count() == {"stock": 1, "payment": 1, "carrier": TRIES * round}
        assert round == 2 or shop.ask("resume", order)
    assert shop.ask("cancel", order) is True
    assert shop.state(order) == "canceled"
    assert shop.ask("resume", order) is False
    shop.undone(order)
    assert shop.history(order)["carrier"] == "failed"
    shop.archives(order)
    assert [shop.stored(table) for table in ("workflows", "steps", "events")] == [[], [], []]


@pytest.mark.parametrize("seed", range(2))
def test_states_and_requests_are_right_after_any_sequence(shop: Shop, seed: int) -> None:
    """The model knows what each order's state is when everything that goes on by itself has come to an end."""
    chance, done, states, expected = random.Random(seed), [], dict[str, str](), dict[str, Counter[str]]()
    for number in range(14):
        is_up = chance.random() < 0.5
        shop.reply("carrier", OK if is_up else DOWN)
        what = "place" if number < 3 else chance.choice(["approve", "approve", "deny", "cancel", "resume", "archive"])
        order = shop.place() if what == "place" else chance.choice(list(states))
        if what == "place":
            states[order], expected[order] = "waiting", Counter({"stock": 1, "payment": 1})
            shop.reaches(order, "waiting")
        else:
            before, is_archived = states[order].removesuffix(" archived"), states[order].endswith(" archived")
            allowed = {
                "approve": before == "waiting",
                "deny": before == "waiting",
                "cancel": before in ("waiting", "stuck"),
                "resume": before == "stuck",
                "archive": before in FINAL and not is_archived,
            }[what]
            done.append(f"{what} {before} with the carrier {'up' if is_up else 'down'}")
            decision = partial(shop.decide, order, approved=what == "approve")
            received = decision() if what in ("approve", "deny") else shop.ask(what, order)
            assert received is allowed, f"after {done}"
            if allowed and what in ("approve", "resume"):
                states[order] = "shipped" if is_up else "stuck"
                expected[order]["carrier"] += 1 if is_up else TRIES
            elif allowed and what == "archive":
                states[order] += " archived"
            elif allowed:
                states[order] = "rejected" if what == "deny" else "canceled"
                expected[order].update(UNDOING)
        shop.settle(30)
        for each, state in states.items():
            shop.reaches(each, state.removesuffix(" archived"))
            wait_until(partial(shop.has_received, each, expected[each]), f"the requests {expected[each]} after {done}")
            assert (shop.history(each) == {}) is state.endswith(" archived")


def test_an_order_that_is_gone_has_no_state(shop: Shop) -> None:
    order = shop.place_and_wait()
    shop.approve(order)
    shop.reaches(order, "shipped")
    shop.archives(order)
    shop.project.delete("orders", order)
    assert (shop.state(order), shop.history(order)) == (None, {})
    asked = [shop.ask(what, order) for what in ("cancel", "resume", "archive")]
    assert [shop.decide(order), *asked] == [False] * 4


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(shop: Shop) -> None:
    project = shop.project
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    order = shop.place_and_wait()
    calls = {"query": project.query, "mutation": project.mutation, "action": project.action}
    for name, (kind, example) in FUNCTIONS.items():
        arguments = {**example, **({"order": order} if "order" in example else {})}
        for argument in arguments:
            for rejected in (
                {**arguments, argument: 1},
                {**arguments, "more": 1},
                {key: arguments[key] for key in arguments if key != argument},
            ):
                with project.fails("ArgumentValidationError"):
                    calls[kind](name, rejected)
