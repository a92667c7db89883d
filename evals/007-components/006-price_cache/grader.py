"""Prices that are fetched once for everyone, and orders that are sent until they arrive."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import (
    CallFailed,
    Deployment,
    Reply,
    WebRequest,
    WebServer,
    at_once,
    wait_until,
)

ITEM = {"shop": "http://x", "item": "pen"}
FUNCTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "shops:price": ("action", {**ITEM, "maxAge": 5}),
    "shops:refresh": ("action", ITEM),
    "shops:description": ("action", ITEM),
    "shops:forgetPrice": ("mutation", ITEM),
    "shops:forgetPrices": ("mutation", {}),
    "orders:place": ("mutation", {**ITEM, "delay": 5}),
    "orders:state": ("query", {"order": "id"}),
    "orders:cancel": ("mutation", {"order": "id"}),
}
OPTIONAL = ("maxAge", "delay")
DOWN, REFUSED = Reply.text("down", 503), Reply.text("no", 409)
TRIES = 4
patience = [10.0]
hanging: list[threading.Event] = []
Respond = Callable[[WebRequest], Reply]


def taken(receipt: str = "r1") -> Reply:
    return Reply.json({"receipt": receipt})


class Silence:
    """A response that comes when the test says so."""

    def __init__(self, reply: Reply) -> None:
        self.reply, self.over = reply, threading.Event()
        hanging.append(self.over)

    def __call__(self, _: WebRequest) -> Reply:
        self.over.wait(30.0)
        return self.reply


class Shop:
    """The project, and a shop. Each price is 1 higher than the last one that the shop gave for anything."""

    def __init__(self, project: Deployment, server: WebServer) -> None:
        self.project, self.server, self.given, self.is_open = project, server, 0, True
        self.received, self.orders = Counter[str](), list[tuple[dict[str, Any], float]]()
        self.replies: list[Reply | Respond] = [taken()]
        self.url = server.reply("POST", "/orders", self._order).removesuffix("/orders")
        self.offer("pen", "ink", "pad")

    def offer(self, *items: str) -> None:
        for item in items:
            self.server.reply("GET", f"/price/{item}", partial(self._price, item))
            self.server.reply("GET", f"/description/{item}", partial(self._description, item))

    def _price(self, item: str, _: WebRequest) -> Reply:
        self.received[item] += 1
        if not self.is_open:
            return DOWN
        self.given += 1
        return Reply.json({"price": self.given, "item": item})

    def _description(self, item: str, _: WebRequest) -> Reply:
        self.received[f"text of {item}"] += 1
        return Reply.text(f"{item} {self.received[f'text of {item}']}") if self.is_open else DOWN

    def _order(self, request: WebRequest) -> Reply:
        self.orders.append((request.json(), self.project.now()))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return reply if isinstance(reply, Reply) else reply(request)

    def reply(self, *replies: Reply | Respond) -> None:
        self.replies = list(replies)

    # ------------------------------------------------------------------ what a client does

    def price(self, item: str = "pen", **more: float) -> Any:
        return self.project.action("shops:price", {"shop": self.url, "item": item, **more})

    @staticmethod
    def limit(minutes: float | None) -> dict[str, float]:
        return {} if minutes is None else {"maxAge": minutes * 60}

    def refresh(self, item: str = "pen") -> Any:
        return self.project.action("shops:refresh", shop=self.url, item=item)

    def description(self, item: str = "pen") -> Any:
        return self.project.action("shops:description", shop=self.url, item=item)

    def forget(self, item: str = "pen") -> None:
        assert self.project.mutation("shops:forgetPrice", shop=self.url, item=item) is None

    def forget_all(self) -> None:
        assert self.project.mutation("shops:forgetPrices") is None

    def place(self, item: str = "pen", **more: float) -> str:
        order: str = self.project.mutation("orders:place", {"shop": self.url, "item": item, **more})
        return order

    def state(self, order: str) -> Any:
        return self.project.query("orders:state", order=order)

    def cancel(self, order: str) -> Any:
        return self.project.mutation("orders:cancel", order=order)

    # ------------------------------------------------------------------ what is stored, and what happens by itself

    def cached(self) -> int:
        return len(self.project.documents("values", component="actionCache"))

    def runs(self) -> list[Any]:
        return self.project.documents("runs", component="actionRetrier")

    def wait(self, condition: Callable[[], object], what: str) -> None:
        """Once something has not come, nothing else gets that much time: the answer is wrong anyway."""
        try:
            wait_until(condition, what, seconds=patience[0])
        except AssertionError:
            patience[0] = 1.0
            raise

    def reaches(self, order: str, state: str, receipt: str | None = None) -> None:
        self.wait(lambda: self.state(order)["state"] == state, f"the state {state}")
        assert self.state(order) == {"state": state, "receipt": receipt}

    def sent(self, count: int) -> None:
        self.wait(lambda: len(self.orders) >= count, f"try {count}")
        assert len(self.orders) == count

    def settle(self, minutes: int = 20) -> None:
        for _ in range(2):
            self.project.advance(minutes=minutes / 2)


@pytest.fixture
def shop(project: Deployment, web_server: WebServer) -> Iterator[Shop]:
    yield Shop(project, web_server)
    while hanging:
        hanging.pop().set()


def fails(shop: Shop, call: Callable[[], object]) -> None:
    with shop.project.fails(data={"code": "UNAVAILABLE"}):
        call()


def test_a_price_is_fetched_once_in_ten_minutes(shop: Shop) -> None:
    assert [shop.price(), shop.price("ink"), shop.price(), shop.price("ink")] == [1, 2, 1, 2]
    shop.project.advance(minutes=9, seconds=30)
    assert shop.price() == 1
    shop.project.advance(minutes=1)
    before = shop.given
    assert [shop.price(), shop.price()] == [before + 1] * 2
    shop.project.advance(minutes=9)
    assert shop.price() == before + 1


def test_items_and_shops_are_told_apart(shop: Shop) -> None:
    for path in ("a", "b"):
        shop.server.reply("GET", f"/{path}/price/pen", Reply.json({"price": 3 if path == "a" else 4}))
        shop.server.reply("GET", f"/{path}/price/ink", Reply.json({"price": 7.5 if path == "a" else 8}))
    asked = [
        shop.project.action("shops:price", shop=f"{shop.url}/{path}", item=item)
        for path in ("a", "b", "a", "b")
        for item in ("pen", "ink")
    ]
    assert asked == [3, 7.5, 4, 8, 3, 7.5, 4, 8]
    assert shop.cached() == 4


def test_whoever_wants_a_newer_price_gets_one_for_everyone(shop: Shop) -> None:
    assert shop.price(maxAge=60) == 1
    shop.project.advance(minutes=5)
    assert [shop.price(), shop.price(maxAge=400), shop.price(maxAge=3600)] == [1] * 3
    assert shop.price(maxAge=240) == 2
    assert [shop.price(), shop.price(maxAge=240)] == [2, 2]
    shop.project.advance(minutes=9)
    assert shop.price() == 2
    assert shop.price(maxAge=900) == 2
    shop.project.advance(minutes=2)
    assert shop.price(maxAge=3600) == 3
    assert shop.received == {"pen": 3}
    assert shop.cached() == 1


def test_a_price_for_the_hasty_is_fetched_once(shop: Shop) -> None:
    assert shop.price("ink", maxAge=0) == 1
    shop.project.advance(seconds=5)
    assert [shop.price("ink", maxAge=0), shop.price("ink")] == [2, 2]
    shop.project.advance(minutes=9)
    assert shop.price("ink") == 2
    assert shop.received == {"ink": 2}


def test_a_refreshed_price_counts_for_ten_minutes(shop: Shop) -> None:
    assert [shop.refresh(), shop.price(), shop.refresh(), shop.price()] == [1, 1, 2, 2]
    shop.project.advance(minutes=8)
    assert [shop.price(), shop.refresh(), shop.price()] == [2, 3, 3]
    shop.project.advance(minutes=8)
    assert shop.price() == 3
    shop.project.advance(minutes=3)
    assert shop.price() == 4
    assert shop.cached() == 1


def test_descriptions_are_kept_for_a_week(shop: Shop) -> None:
    assert [shop.description(), shop.description(), shop.description("ink")] == ["pen 1", "pen 1", "ink 1"]
    assert shop.price() == 1
    shop.project.advance(days=6, hours=23)
    assert (shop.description(), shop.price()) == ("pen 1", 2)
    shop.project.advance(hours=2)
    assert [shop.description(), shop.description()] == ["pen 2", "pen 2"]
    assert shop.cached() <= 3


def test_failures_are_not_kept_and_spoil_nothing(shop: Shop) -> None:
    shop.is_open = False
    for call in (shop.price, shop.refresh, shop.description, partial(shop.price, maxAge=5)):
        fails(shop, call)
    fails(shop, lambda: shop.project.action("shops:price", shop=shop.server.nobody, item="pen"))
    assert (shop.received, shop.cached()) == ({"pen": 3, "text of pen": 1}, 0)
    shop.is_open = True
    assert (shop.price(), shop.description()) == (1, "pen 2")
    shop.is_open = False
    shop.project.advance(minutes=5)
    fails(shop, shop.refresh)
    fails(shop, partial(shop.price, maxAge=60))
    assert (shop.price(), shop.price(maxAge=500), shop.description()) == (1, 1, "pen 2")
    shop.project.advance(minutes=6)
    fails(shop, shop.price)
    assert shop.description() == "pen 2"
    shop.is_open = True
    assert shop.price() == 2


def test_a_price_can_be_forgotten(shop: Shop) -> None:
    assert [shop.price(), shop.price("ink"), shop.description()] == [1, 2, "pen 1"]
    shop.forget()
    assert [shop.price("ink"), shop.description(), shop.price(), shop.price()] == [2, "pen 1", 3, 3]
    shop.forget("never seen")
    shop.forget()
    assert shop.price(maxAge=3600) == 4


def test_all_prices_can_be_forgotten_but_no_descriptions(shop: Shop) -> None:
    items = [f"item{number}" for number in range(20)]
    shop.offer(*items)
    for item in items:
        shop.price(item)
    assert shop.description() == "pen 1"
    assert shop.cached() == 21
    shop.forget_all()
    shop.wait(lambda: shop.cached() == 1, "only the description is left")
    assert shop.description() == "pen 1"
    assert shop.price("item7") == 21
    shop.forget_all()
    assert shop.price("item7") == 22


@pytest.mark.parametrize("seed", range(2))
def test_prices_are_right_after_any_sequence(shop: Shop, seed: int) -> None:
    chance, done = random.Random(seed), list[str]()
    known: dict[str, tuple[int, float]] = {}
    minute, given = 0.0, 0
    for _ in range(40):
        item = chance.choice(["pen", "ink"])
        what = chance.choice(["price"] * 4 + ["refresh", "forget", "all", "wait", "wait"])
        age = chance.choice([None, None, 1.5, 4.5, 8.5, 30.5])
        shop.is_open = chance.random() < 0.85
        done.append(f"{what} {item} {age} {'open' if shop.is_open else 'closed'}")
        if what == "wait":
            minutes = chance.choice([1, 2, 3, 5])
            shop.project.advance(minutes=minutes)
            minute += minutes + 0.01
        elif what == "forget":
            shop.forget(item)
            known.pop(item, None)
        elif what == "all":
            shop.forget_all()
            known.clear()
        else:
            call = partial(shop.refresh, item) if what == "refresh" else partial(shop.price, item, **shop.limit(age))
            price, fetched = known.get(item, (0, -1000.0))
            usable = what == "price" and minute - fetched < min(9.99, age or 100)
            if not usable and not shop.is_open:
                fails(shop, call)
                continue
            if not usable:
                given += 1
                price = given
                known[item] = (price, minute)
            assert call() == price, f"after {done}"
        assert shop.given == given, f"after {done}"


def test_an_order_is_sent_and_its_receipt_stays(shop: Shop) -> None:
    slow = Silence(taken("r7"))
    shop.reply(slow)
    order = shop.place("ink")
    shop.sent(1)
    assert shop.state(order) == {"state": "sending", "receipt": None}
    assert len(shop.runs()) == 1
    slow.over.set()
    shop.reaches(order, "sent", "r7")
    assert [body for body, _ in shop.orders] == [{"order": order, "item": "ink"}]
    assert shop.cancel(order) is False
    shop.project.advance(minutes=1)
    shop.wait(lambda: shop.runs() == [], "an empty component")
    shop.project.advance(days=60)
    assert shop.state(order) == {"state": "sent", "receipt": "r7"}
    assert len(shop.orders) == 1


def test_a_refused_order_is_not_sent_again(shop: Shop) -> None:
    shop.reply(REFUSED)
    order = shop.place()
    shop.reaches(order, "refused")
    shop.settle()
    assert (len(shop.orders), shop.runs(), shop.cancel(order)) == (1, [], False)


def test_an_order_is_sent_four_times_in_all(shop: Shop) -> None:
    shop.reply(DOWN)
    order = shop.place()
    shop.sent(1)
    shop.wait(lambda: [run["numFailures"] for run in shop.runs()] == [1], "a try that the component repeats")
    assert shop.state(order) == {"state": "sending", "receipt": None}
    shop.settle(30)
    shop.reaches(order, "failed")
    times = [at for _, at in shop.orders]
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert len(times) == TRIES
    assert all(9_900 <= pause <= 600_000 for pause in pauses), f"milliseconds between tries: {pauses}"
    shop.settle()
    assert (len(shop.orders), shop.runs(), shop.cancel(order)) == (TRIES, [], False)


def test_the_last_try_may_succeed(shop: Shop) -> None:
    shop.reply(DOWN, Reply.text("missing", 404), Reply.text("busy", 429), taken("r4"))
    order = shop.place()
    shop.sent(1)
    shop.settle(30)
    shop.reaches(order, "sent", "r4")
    assert {body["order"] for body, _ in shop.orders} == {order}
    assert len(shop.orders) == TRIES


def test_a_try_whose_action_was_killed_has_failed(shop: Shop) -> None:
    def die(_: WebRequest) -> Reply:
        shop.project.kill_actions()
        return taken("lost")

    shop.reply(die, taken("r2"))
    order = shop.place()
    shop.sent(1)
    assert shop.state(order)["state"] == "sending"
    shop.settle()
    shop.reaches(order, "sent", "r2")
    assert len(shop.orders) == 2


def test_an_order_can_wait(shop: Shop) -> None:
    order, other = shop.place(delay=2 * 3_600_000), shop.place("ink", delay=3 * 3_600_000)
    shop.project.advance(minutes=118)
    assert (shop.orders, shop.state(order)) == ([], {"state": "sending", "receipt": None})
    assert shop.cancel(other) is True
    shop.project.advance(minutes=4)
    shop.reaches(order, "sent", "r1")
    shop.settle(180)
    assert len(shop.orders) == 1
    assert (shop.state(other), shop.runs()) == ({"state": "canceled", "receipt": None}, [])


def test_a_canceled_order_is_not_sent_again(shop: Shop) -> None:
    shop.reply(DOWN, taken())
    order = shop.place()
    shop.sent(1)
    shop.wait(lambda: [run["numFailures"] for run in shop.runs()] == [1], "a try that the component repeats")
    with shop.project.clients(4) as clients:
        made = at_once([partial(each.mutation, "orders:cancel", order=order) for each in clients])
    assert sorted(made) == [False] * 3 + [True]
    assert shop.state(order) == {"state": "canceled", "receipt": None}
    shop.settle()
    assert (len(shop.orders), shop.runs()) == (1, [])
    assert shop.state(order) == {"state": "canceled", "receipt": None}


@pytest.mark.parametrize("reply", [taken("late"), DOWN, REFUSED], ids=["success", "failure", "refusal"])
def test_a_response_after_the_cancellation_changes_nothing(shop: Shop, reply: Reply) -> None:
    slow = Silence(reply)
    shop.reply(slow)
    order = shop.place()
    shop.sent(1)
    assert shop.cancel(order) is True
    assert shop.state(order) == {"state": "canceled", "receipt": None}
    slow.over.set()
    shop.settle()
    assert shop.state(order) == {"state": "canceled", "receipt": None}
    assert (len(shop.orders), shop.runs()) == (1, [])


def test_many_orders_are_told_apart(shop: Shop) -> None:
    def respond(request: WebRequest) -> Reply:
        item = request.json()["item"]
        return REFUSED if item == "ink" else DOWN if item == "pad" else taken(f"for {request.json()['order']}")

    shop.reply(respond)
    orders = [(shop.place(item), item) for item in ("pen", "ink", "pad") * 3]
    shop.settle(30)
    for order, item in orders:
        states = {"pen": ("sent", f"for {order}"), "ink": ("refused", None), "pad": ("failed", None)}
        shop.reaches(order, *states[item])
    assert Counter(body["order"] for body, _ in shop.orders) == {
        order: TRIES if item == "pad" else 1 for order, item in orders
    }
    shop.project.advance(minutes=1)
    assert shop.runs() == []


def test_an_order_that_is_gone_has_no_state(shop: Shop) -> None:
    order = shop.place()
    shop.reaches(order, "sent", "r1")
    shop.project.delete("orders", order)
    assert (shop.state(order), shop.cancel(order)) == (None, False)


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(shop: Shop) -> None:
    project = shop.project
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    order = shop.place()
    calls = {"query": project.query, "mutation": project.mutation, "action": project.action}
    for name, (kind, example) in FUNCTIONS.items():
        arguments: dict[str, Any] = {**example, **({"order": order} if "order" in example else {})}
        with project.fails("ArgumentValidationError"):
            calls[kind](name, {**arguments, "more": 1})
        for argument in arguments:
            wrong = [{**arguments, argument: "x" if argument in OPTIONAL else 1}]
            wrong += [] if argument in OPTIONAL else [{key: arguments[key] for key in arguments if key != argument}]
            for rejected in wrong:
                with project.fails("ArgumentValidationError"):
                    calls[kind](name, rejected)


def test_callers_at_the_same_time_get_a_price_each(shop: Shop) -> None:
    with shop.project.clients(5) as clients:
        made = at_once([partial(each.action, "shops:price", shop=shop.url, item="pen") for each in clients])
    assert not [each for each in made if isinstance(each, CallFailed)]
    assert shop.cached() == 1
    before = shop.given
    assert shop.price() in made
    assert shop.given == before
