"""Orders that are sent again are placed once: whatever happened since, for a week, and across the deployment."""

import random
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, GivenDeployment, at_once, wait_until

HOUR = 3_600_000
TABLES = ("customers", "products", "orders", "outbox")
REUSED = {"code": "REF_REUSED"}
SOLD_OUT = {"code": "OUT_OF_STOCK"}


def seed(deployment: Deployment, stock: int = 1000) -> tuple[list[str], list[str]]:
    customers = deployment.insert_many("customers", [{"name": name, "points": 0} for name in ("Ada", "Ben")])
    products = [{"name": f"p{number}", "cents": 150 * (number + 1), "stock": stock} for number in range(3)]
    return customers, deployment.insert_many("products", products)


def place(deployment: Deployment, customer: str, lines: Any, ref: str | None, http: bool = False) -> Any:
    order = {"customerId": customer, "lines": lines, **({} if ref is None else {"clientRef": ref})}
    if not http:
        return deployment.mutation("orders:place", order)
    response = deployment.http.post("/orders", json=order)
    assert response.status in (201, 409), response.text
    return response.json()


def state(deployment: Deployment) -> dict[str, Any]:
    return {table: deployment.documents(table) for table in TABLES}


def wait_for_mails(deployment: Deployment, count: int) -> None:
    wait_until(lambda: len(deployment.documents("outbox")) >= count, f"{count} mails")


def set_price(deployment: Deployment, product: str, cents: int) -> None:
    stored = deployment.get(product)
    assert stored is not None
    deployment.replace(product, {"name": stored["name"], "stock": stored["stock"], "cents": cents})


@dataclass
class First:
    """A first call: when it was made, its lines (none if they are not checked), and what it returned."""

    time: float
    lines: Any
    result: dict[str, Any]


class Shop:
    def __init__(self, deployment: Deployment, seed_number: int) -> None:
        self.deployment, self.chance = deployment, random.Random(seed_number)
        self.customers, self.products = seed(deployment)
        self.firsts: dict[tuple[str, str], First] = {}
        self.placed = 0

    def lines(self) -> list[dict[str, Any]]:
        products = self.chance.sample(self.products, self.chance.choice([1, 2, 2]))
        return [{"productId": each, "quantity": self.chance.randint(1, 2)} for each in products]

    def expected(self, lines: Any) -> dict[str, Any]:
        prices = {each["_id"]: each["cents"] for each in self.deployment.documents("products")}
        numbers = [each["number"] for each in self.deployment.documents("orders")]
        cents = sum(prices[each["productId"]] * each["quantity"] for each in lines)
        return {"number": max(numbers, default=1000) + 1, "cents": cents}

    def place_new(self) -> None:
        customer, lines = self.chance.choice(self.customers), self.lines()
        self.call(customer, f"r{self.chance.randrange(6)}", lines)

    def call(self, customer: str, ref: str, lines: Any) -> None:
        """A call that is a first one, a repetition, or a mistake: whatever the model says."""
        first, now = self.firsts.get((customer, ref)), self.deployment.now()
        if first and now - first.time < 168 * HOUR:
            same = first.lines is None or self.chance.random() < 0.7
            self.repeat(customer, ref, first, (first.lines or lines) if same else self.other(first.lines))
            return
        expected = self.expected(lines)
        result = place(self.deployment, customer, lines, ref, http=self.chance.random() < 0.3)
        assert result == {**expected, "orderId": result.get("orderId")}
        self.firsts[customer, ref] = First(now, lines, result)
        self.placed += 1
        wait_for_mails(self.deployment, self.placed)

    def other(self, lines: Any) -> Any:
        more = [*lines, {"productId": self.products[0], "quantity": 1}]
        edited = [{**lines[0], "quantity": lines[0]["quantity"] + 1}, *lines[1:]]
        return self.chance.choice([more, edited, *([lines[::-1], lines[:1]] if len(lines) > 1 else [])])

    def repeat(self, customer: str, ref: str, first: First, lines: Any) -> None:
        before = state(self.deployment)
        if first.lines in (None, lines):
            http = self.chance.random() < 0.3
            assert place(self.deployment, customer, lines, ref, http) == first.result
        else:
            with self.deployment.fails(data=REUSED):
                place(self.deployment, customer, lines, ref)
        self.deployment.advance(seconds=1)
        assert state(self.deployment) == before, "a repetition has no effect"

    def disturb(self) -> None:
        """Things happen to orders and products that must not matter."""
        orders = self.deployment.documents("orders")
        what = self.chance.choice(["price", "change", "cancel", "purge", "again", "wait", "wait"])
        if what == "price":
            set_price(self.deployment, self.chance.choice(self.products), self.chance.randint(1, 500))
        elif what == "wait":
            self.deployment.advance(hours=self.chance.choice([5, 30, 60]))
        elif orders:
            order = self.chance.choice(orders)
            if what == "change":
                product = order["lines"][0]["productId"]
                self.deployment.mutation("orders:changeQuantity", orderId=order["_id"], productId=product, quantity=3)
            elif what == "cancel":
                self.deployment.mutation("orders:cancel", orderId=order["_id"])
            elif what == "purge":
                self.deployment.admin.mutation("orders:purge", orderId=order["_id"])
            else:
                self.deployment.mutation("orders:placeAgain", orderId=order["_id"])


@pytest.mark.parametrize("seed_number", range(2))
def test_repetitions_have_no_effect_whatever_happens_in_between(project: Deployment, seed_number: int) -> None:
    shop = Shop(project, seed_number)
    for _ in range(28):
        shop.place_new()
        if shop.chance.random() < 0.5:
            shop.disturb()
    assert len(project.documents("outbox")) == shop.placed, "a mail for each order that was placed"


def test_calls_from_before_the_deployment_are_recognized(given: GivenDeployment) -> None:
    (ada, ben), (pen, ink, _) = seed(given)
    pens, inks = [{"productId": pen, "quantity": 2}], [{"productId": ink, "quantity": 1}]
    first = place(given, ada, pens, "a")
    place(given, ada, pens, "a")  # the given code's mistake
    changed = place(given, ada, pens, "b")
    given.mutation("orders:changeQuantity", orderId=changed["orderId"], productId=pen, quantity=1)
    purged = place(given, ben, pens, "c")
    given.admin.mutation("orders:purge", orderId=purged["orderId"])
    place(given, ada, pens, None)
    wait_for_mails(given, 5)
    given.advance(days=2)
    project = given.upgrade()
    before = state(project)
    assert place(project, ada, pens, "a") == first
    assert place(project, ada, inks, "a", http=True) == first
    assert place(project, ada, pens, "b") == {**changed, "cents": 150}
    project.advance(seconds=1)
    assert state(project) == before
    assert place(project, ben, pens, "a")["number"] == 1005
    assert place(project, ben, pens, "c")["number"] == 1006
    assert place(project, ada, pens, None)["number"] == 1007


def test_old_calls_are_forgotten_after_a_week_too(given: GivenDeployment) -> None:
    (ada, _), (pen, *_) = seed(given)
    pens = [{"productId": pen, "quantity": 2}]
    oldest = place(given, ada, pens, "a")
    given.advance(days=6)
    second = place(given, ada, pens, "a")
    copied = place(given, ada, pens, "b")
    given.advance(days=6, hours=12)
    given.mutation("orders:placeAgain", orderId=copied["orderId"])
    project = given.upgrade()
    assert place(project, ada, pens, "a") == second != oldest
    assert place(project, ada, pens, "b") == copied
    project.advance(hours=13)
    new = place(project, ada, pens, "a")
    assert new["number"] == 1005, "both old orders are more than a week old"
    assert place(project, ada, pens, "b")["number"] == 1006, "an order that was placed again is not a call of place"
    project.advance(days=6, hours=23, minutes=59)
    assert place(project, ada, pens, "a") == new
    project.advance(minutes=2)
    assert place(project, ada, pens, "a")["number"] == 1007


def test_a_reference_is_forgotten_a_week_after_the_first_call(project: Deployment) -> None:
    (ada, _), (pen, ink, _) = seed(project)
    pens, inks = [{"productId": pen, "quantity": 2}], [{"productId": ink, "quantity": 1}]
    first = place(project, ada, pens, "a")
    project.advance(days=6, hours=23, minutes=59)
    assert place(project, ada, pens, "a") == first
    copy = project.get(project.mutation("orders:placeAgain", orderId=first["orderId"]))
    assert copy is not None
    assert (copy["copyOf"], copy["number"], copy["lines"]) == (first["orderId"], 1002, pens)
    project.advance(minutes=2)
    second = place(project, ada, inks, "a")
    assert second["number"] == 1003
    project.advance(days=3)
    assert place(project, ada, inks, "a", http=True) == second
    with project.fails(data=REUSED):
        place(project, ada, pens, "a")
    project.advance(days=4)
    assert place(project, ada, pens, "a")["number"] == 1004


def test_a_call_that_failed_can_succeed_later(project: Deployment) -> None:
    (ada, ben), (pen, ink, _) = seed(project, stock=2)
    three = [{"productId": ink, "quantity": 1}, {"productId": pen, "quantity": 3}]
    before = state(project)
    with project.fails(data=SOLD_OUT):
        place(project, ada, three, "a")
    assert place(project, ada, three, "a", http=True) == SOLD_OUT
    assert state(project) == before
    two = [{"productId": pen, "quantity": 2}]
    placed = place(project, ada, two, "a")
    assert (placed["number"], placed["cents"]) == (1001, 300)
    assert place(project, ada, two, "a") == placed, "although the product is sold out"
    with project.fails(data=SOLD_OUT):
        place(project, ben, two, "a")
    assert place(project, ada, three, "a", http=True) == REUSED


def test_calls_without_a_reference_are_always_new(project: Deployment) -> None:
    (ada, _), (pen, *_) = seed(project)
    pens = [{"productId": pen, "quantity": 1}]
    assert [place(project, ada, pens, None)["number"] for _ in range(3)] == [1001, 1002, 1003]
    assert [place(project, ada, pens, "")["number"] for _ in range(2)] == [1004, 1004], "an empty string is a reference"


def test_of_many_calls_at_the_same_time_one_places_the_order(project: Deployment) -> None:
    (ada, ben), (pen, *_) = seed(project)
    pens = [{"productId": pen, "quantity": 2}]
    with project.clients(6) as clients:
        order = {"customerId": ada, "lines": pens, "clientRef": "a"}
        results = at_once([partial(each.mutation, "orders:place", order) for each in clients])
    assert not [result for result in results if isinstance(result, CallFailed)]
    assert [result for result in results if result != results[0]] == []
    wait_for_mails(project, 1)
    project.advance(seconds=1)
    stored = state(project)
    assert [len(stored[table]) for table in ("orders", "outbox")] == [1, 1]
    assert [each["points"] for each in stored["customers"]] == [3, 0]
    assert [each["stock"] for each in stored["products"]] == [998, 1000, 1000]
    assert project.query("orders:ofCustomer", customerId=ben) == []


def test_a_repetition_is_recognized_without_reading_other_orders(given: GivenDeployment) -> None:
    (ada, ben), (pen, *_) = seed(given)
    pens = [{"productId": pen, "quantity": 1}]
    old = place(given, ada, pens, "old")
    fields = {"lines": pens, "cents": 1, "status": "placed"}
    others = given.insert_many("customers", [{"name": f"c{number}", "points": 0} for number in range(100)])
    orders = [{"customerId": ada if i % 2 else ben, "clientRef": f"r{i}"} for i in range(300)]
    orders += [{"customerId": other, "clientRef": "old"} for other in others]
    given.insert_many("orders", [{**fields, **order, "number": i} for i, order in enumerate(orders)])
    project = given.upgrade()
    new = place(project, ada, pens, "new")
    assert new["number"] == 1002
    for number in range(15):
        place(project, ben, pens, f"new {number}")
    for ref, result in (("old", old), ("new", new)):
        with project.trace() as work:
            assert place(project, ada, pens, ref) == result
        assert work.documents_read <= 10, f"for a repetition it read {work.documents_read} documents"
    with project.trace() as work:
        place(project, ada, pens, "another")
    assert work.documents_read <= 20, f"for an order with one line it read {work.documents_read} documents"


def test_the_functions_are_those_of_the_given_project(project: Deployment, given: GivenDeployment) -> None:
    functions = project.functions()
    for name, spec in given.functions().items():
        assert name in functions, f"{name} is gone"
        new = functions[name]
        assert (new.kind, new.visibility, new.arguments) == (spec.kind, spec.visibility, spec.arguments), name
