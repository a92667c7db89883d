"""Goods that come back are in the books as if they had never been sold, with a few differences."""

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, GivenDeployment

SKUS = ("pen", "ink", "set", "lamp")
CARDS = ("G1", "G2")
DAY = 86_400_000


def up_to(amount: int, units: int, all_units: int) -> int:
    return amount * units // all_units


@dataclass
class Line:
    id: str
    sku: str
    quantity: int
    amount: int
    tax: int
    parts: list[dict[str, Any]] | None
    gone: int = 0

    def take_off(self, units: int) -> tuple[int, int]:
        before, self.gone = self.gone, self.gone + units
        amount, tax = (
            up_to(total, self.gone, self.quantity) - up_to(total, before, self.quantity)
            for total in (self.amount, self.tax)
        )
        return amount, tax


@dataclass
class Order:
    id: str
    customer: str
    day: str
    shipping: int
    by_card: int
    by_gift: int
    coupon: str | None
    gift: str | None
    lines: list[Line]
    status: str = "placed"
    to_card: int = 0
    to_gift: int = 0
    delivered: float = 0
    points: int = 0

    @property
    def kept(self) -> int:
        return sum(line.amount - up_to(line.amount, line.gone, line.quantity) for line in self.lines)


@dataclass
class Return:
    id: str
    order: Order
    items: dict[str, int]
    at: float
    status: str = "open"
    refunded: int = 0


@dataclass
class Books:
    """What must be in the books. Orders are read from the deployment when they have been placed, by the given code."""

    stock: dict[str, int] = field(default_factory=dict)
    sold: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SKUS, 0))
    revenue: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SKUS, 0))
    spent: dict[str, int] = field(default_factory=dict)
    points: dict[str, int] = field(default_factory=dict)
    balance: dict[str, int] = field(default_factory=dict)
    uses: int = 0
    report: dict[str, int] = field(default_factory=lambda: {"orders": 0, "units": 0, "amount": 0, "tax": 0})
    outbox: list[tuple[str, str, int]] = field(default_factory=list)
    audit: list[tuple[str, str]] = field(default_factory=list)

    def move(self, line: Line, units: int) -> None:
        for part in line.parts or [{"sku": line.sku, "quantity": 1}]:
            self.stock[part["sku"]] += part["quantity"] * units

    def sell(self, order: Order) -> None:
        self.report["orders"] += 1
        for line in order.lines:
            self.move(line, -line.quantity)
            self.count(line, line.quantity, line.amount, line.tax)
        self.uses += order.coupon is not None
        if order.gift is not None:
            self.balance[order.gift] -= order.by_gift
        self.spent[order.customer] += order.by_card + order.by_gift
        self.outbox.append(("order.placed", order.id, order.by_card + order.by_gift))

    def count(self, line: Line, units: int, amount: int, tax: int) -> None:
        self.sold[line.sku] += units
        self.revenue[line.sku] += amount
        self.report["units"] += units
        self.report["amount"] += amount
        self.report["tax"] += tax

    def take_back(self, order: Order, line: Line, units: int, into_stock: int) -> int:
        amount, tax = line.take_off(units)
        self.move(line, into_stock)
        self.count(line, -units, -amount, -tax)
        return amount

    def refund(self, order: Order, amount: int) -> None:
        to_card = min(amount, order.by_card - order.to_card)
        order.to_card += to_card
        order.to_gift += amount - to_card
        if order.gift is not None:
            self.balance[order.gift] += amount - to_card
        self.spent[order.customer] -= amount
        self.outbox.append(("order.refunded", order.id, amount))

    def add_points(self, order: Order, points: int) -> None:
        order.points += points
        self.points[order.customer] += points


@dataclass
class Shop:
    """Does the same in the shop and in the books."""

    project: Deployment
    books: Books = field(default_factory=Books)
    staff: str = ""
    boss: str = ""
    orders: list[Order] = field(default_factory=list)
    returns: list[Return] = field(default_factory=list)
    done: list[Any] = field(default_factory=list)

    @classmethod
    def open(cls, project: Deployment) -> "Shop":
        shop = cls(project)
        shop.staff = project.mutation("catalog:hire", name="sam", manager=False)
        shop.boss = project.mutation("catalog:hire", name="bea", manager=True)
        for sku, price, tax in (("pen", 333, 19), ("ink", 199, 7), ("lamp", 4999, 19)):
            project.mutation("catalog:addProduct", sku=sku, name=sku, price=price, taxPercent=tax)
            project.mutation("catalog:receive", staffId=shop.staff, sku=sku, quantity=100)
            shop.books.stock[sku] = 100
            shop.books.audit.append(("stock.receive", ""))
        parts = [{"sku": "pen", "quantity": 1}, {"sku": "ink", "quantity": 3}]
        project.mutation("catalog:addProduct", sku="set", name="set", price=801, taxPercent=19, parts=parts)
        shop.books.stock["set"] = 0
        for name in ("zoe", "yan"):
            customer = project.mutation("customers:signUp", name=name)
            shop.books.spent[customer] = shop.books.points[customer] = 0
        for code, amount in zip(CARDS, (700, 3000), strict=True):
            project.mutation("customers:sellGiftCard", code=code, amount=amount)
            shop.books.balance[code] = amount
        project.mutation("customers:addCoupon", code="TEN", percent=13, maxUses=50)
        return shop

    @property
    def customers(self) -> list[str]:
        return list(self.books.spent)

    def place(self, customer: int = 0, coupon: bool = False, gift: str | None = None, **items: int) -> Order:
        self.done.append(("place", customer, coupon, gift, items))
        codes = {"coupon": "TEN"} if coupon else {}
        codes |= {"giftCard": gift} if gift else {}
        listed = [{"sku": sku, "quantity": quantity} for sku, quantity in items.items()]
        id = self.project.mutation("orders:place", customerId=self.customers[customer], items=listed, **codes)
        seen = self.seen(self.customers[customer], id)
        parts = {each["sku"]: each.get("parts") for each in self.project.documents("products")}
        lines = [
            Line(line["lineId"], line["sku"], line["quantity"], line["amount"], line["tax"], parts[line["sku"]])
            for line in seen["lines"]
        ]
        paid = (seen["shipping"], seen["paidByCard"], seen["paidByGiftCard"])
        order = Order(id, self.customers[customer], seen["day"], *paid, "TEN" if coupon else None, gift, lines)
        self.orders.append(order)
        self.books.sell(order)
        return order

    def seen(self, customer: str, id: str) -> dict[str, Any]:
        return self.project.query("orders:get", customerId=customer, orderId=id)

    def cancel(self, order: Order, line: Line, units: int) -> None:
        self.done.append(("cancel", line.sku, units))
        items = [{"lineId": line.id, "quantity": units}]
        total = self.books.take_back(order, line, units, units)
        if all(each.gone == each.quantity for each in order.lines):
            order.status = "cancelled"
            self.books.report["orders"] -= 1
            self.books.uses -= order.coupon is not None
            total += order.shipping
        self.books.refund(order, total)
        received = self.project.mutation("orders:cancelItems", customerId=order.customer, orderId=order.id, items=items)
        assert received == total

    def deliver(self, order: Order) -> Order:
        for path, status in (("ship", "shipped"), ("deliver", "delivered")):
            self.project.mutation(f"orders:{path}", staffId=self.staff, orderId=order.id)
            self.books.outbox.append((f"order.{status}", order.id, 0))
            self.books.audit.append((f"order.{path}", order.id))
        order.status, order.delivered = "delivered", self.project.now()
        self.books.add_points(order, order.kept // 100)
        return order

    def request(self, order: Order, items: dict[str, int]) -> Return:
        self.done.append(("request", items))
        sent = [{"lineId": line, "quantity": quantity} for line, quantity in items.items()]
        id = self.project.mutation("returns:request", customerId=order.customer, orderId=order.id, items=sent)
        self.returns.append(Return(id, order, items, self.project.now()))
        return self.returns[-1]

    def free(self, order: Order, line: Line) -> int:
        open_ = [each for each in self.returns if each.order is order and each.status == "open"]
        return line.quantity - line.gone - sum(each.items.get(line.id, 0) for each in open_)

    def receive(self, found: Return, items: dict[str, tuple[int, int]]) -> None:
        self.done.append(("receive", items))
        sent = [{"lineId": line, "good": good, "damaged": damaged} for line, (good, damaged) in items.items()]
        refunded = 0
        for line in found.order.lines:
            good, damaged = items.get(line.id, (0, 0))
            if good + damaged:
                refunded += self.books.take_back(found.order, line, good + damaged, good)
        self.books.add_points(found.order, min(0, found.order.kept // 100 - found.order.points))
        self.books.refund(found.order, refunded)
        self.books.audit.append(("return.receive", found.order.id))
        found.status, found.refunded = "received", refunded
        assert self.project.mutation("returns:receive", staffId=self.staff, returnId=found.id, items=sent) == refunded

    def reject(self, found: Return) -> None:
        self.done.append(("reject",))
        assert self.project.mutation("returns:reject", staffId=self.boss, returnId=found.id) is None
        self.books.audit.append(("return.reject", found.order.id))
        found.status = "rejected"

    def advance(self, **duration: float) -> None:
        self.done.append(("advance", duration))
        self.project.advance(**duration)
        for each in self.returns:
            if each.status == "open" and each.at + 14 * DAY <= self.project.now():
                each.status = "expired"

    def check(self) -> None:
        after, books = f"after {self.done[-12:]}", self.books
        for order in self.orders:
            seen = self.seen(order.customer, order.id)
            paid = (seen["status"], seen["refundedToCard"], seen["refundedToGiftCard"])
            assert paid == (order.status, order.to_card, order.to_gift), after
            assert [line["gone"] for line in seen["lines"]] == [line.gone for line in order.lines], after
        for sku in SKUS:
            product = self.project.query("catalog:product", sku=sku)
            counted = (product["onHand"], product["sold"], product["revenue"])
            assert counted == (books.stock[sku], books.sold[sku], books.revenue[sku]), f"{sku} {after}"
        for customer in self.customers:
            seen = self.project.query("customers:get", customerId=customer)
            assert (seen["spent"], seen["points"]) == (books.spent[customer], books.points[customer]), after
            spent = books.spent[customer]
            assert seen["tier"] == ("gold" if spent >= 50_000 else "silver" if spent >= 20_000 else "basic"), after
            expected = [
                {"returnId": each.id, "orderId": each.order.id, "status": each.status, "refunded": each.refunded}
                for each in self.returns
                if each.order.customer == customer
            ]
            assert self.project.query("returns:list", customerId=customer) == expected, after
        for code in CARDS:
            assert self.project.query("customers:balance", code=code) == books.balance[code], after
        assert self.project.query("customers:coupon", code="TEN")["uses"] == books.uses, after

    def check_ledgers(self) -> None:
        """What adds up to what, and what other systems are told."""
        moves = self.project.documents("stockMoves")
        for sku in SKUS:
            assert sum(move["change"] for move in moves if move["sku"] == sku) == self.books.stock[sku], sku
        entries = self.project.documents("pointEntries")
        for customer, points in self.books.points.items():
            assert sum(entry["points"] for entry in entries if entry["customerId"] == customer) == points
        assert all(entry["points"] != 0 for entry in entries)
        cards = {card["_id"]: card["code"] for card in self.project.documents("giftCards")}
        amounts = self.project.documents("giftCardEntries")
        for id, code in cards.items():
            assert sum(each["amount"] for each in amounts if each["giftCardId"] == id) == self.books.balance[code]
        assert all(each["amount"] != 0 for each in amounts)
        told = self.project.query("reports:outbox", staffId=self.staff)
        assert [(each["type"], each["orderId"], each["amount"]) for each in told] == self.books.outbox
        recorded = self.project.documents("audit")
        assert [(each["action"], each.get("orderId", "")) for each in recorded] == self.books.audit
        days = {order.day for order in self.orders}
        reports = [self.project.query("reports:daily", staffId=self.staff, day=day) for day in sorted(days)]
        summed = {name: sum(report[name] for report in reports) for name in self.books.report}
        assert summed == self.books.report
        assert sum(len(self.project.documents(table)) for table in ("dailySales",)) == len(days)


def random_step(shop: Shop, chance: random.Random) -> None:
    placed = [order for order in shop.orders if order.status == "placed"]
    delivered = [order for order in shop.orders if order.status == "delivered"]
    open_ = [each for each in shop.returns if each.status == "open"]
    choice = chance.random()
    if choice < 0.2 or not shop.orders:
        skus = chance.sample(SKUS, chance.randint(1, 3))
        gift = chance.choice([None, None, *CARDS])
        shop.place(chance.randrange(2), chance.random() < 0.5, gift, **{sku: chance.randint(1, 4) for sku in skus})
    elif choice < 0.3 and placed:
        order = chance.choice(placed)
        line = chance.choice([line for line in order.lines if line.gone < line.quantity])
        shop.cancel(order, line, chance.randint(1, line.quantity - line.gone))
    elif choice < 0.5 and placed:
        shop.deliver(chance.choice(placed))
    elif choice < 0.72 and delivered:
        order = chance.choice(delivered)
        free = {line.id: shop.free(order, line) for line in order.lines}
        items = {line: chance.randint(1, units) for line, units in free.items() if units > 0 and chance.random() < 0.8}
        if items and shop.project.now() - order.delivered < 29 * DAY:
            shop.request(order, items)
    elif choice < 0.9 and open_:
        found = chance.choice(open_)
        items = {}
        for line, units in found.items.items():
            good = chance.randint(0, units)
            items[line] = (good, chance.randint(0, units - good))
        if any(map(sum, items.values())):
            shop.receive(found, items)
    elif choice < 0.94 and open_:
        shop.reject(chance.choice(open_))
    else:
        shop.advance(days=chance.choice([1, 4, 9]))


@pytest.mark.parametrize("seed", range(4))
def test_the_books_are_always_right(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    shop = Shop.open(project)
    for number in range(50):
        random_step(shop, chance)
        if number % 5 == 4:
            shop.check()
    shop.check_ledgers()


def test_no_cent_is_lost_however_goods_come_back(project: Deployment) -> None:
    shop = Shop.open(project)
    order = shop.place(coupon=True, gift="G1", pen=7, set=3)
    pens, sets = order.lines
    shop.cancel(order, pens, 2)
    shop.deliver(order)
    for items in ({pens.id: (1, 0), sets.id: (0, 1)}, {pens.id: (1, 1)}, {sets.id: (2, 0), pens.id: (0, 2)}):
        shop.receive(shop.request(order, {line: sum(units) for line, units in items.items()}), items)
        shop.check()
    assert order.to_card + order.to_gift == order.by_card + order.by_gift - order.shipping
    assert (order.status, order.points) == ("delivered", 0)
    shop.check_ledgers()


def test_bundles_come_back_as_what_they_were_when_they_were_sold(project: Deployment) -> None:
    shop = Shop.open(project)
    order = shop.deliver(shop.place(set=2, lamp=1))
    parts = [{"sku": "pen", "quantity": 5}]
    project.mutation("catalog:setParts", sku="set", parts=parts)
    shop.receive(shop.request(order, {order.lines[0].id: 2}), {order.lines[0].id: (1, 1)})
    shop.check()
    moves = [(move["sku"], move["change"]) for move in project.documents("stockMoves") if move["reason"] == "return"]
    assert moves == [("pen", 1), ("ink", 3)]


def test_what_did_not_arrive_can_be_returned_later(project: Deployment) -> None:
    shop = Shop.open(project)
    order = shop.deliver(shop.place(pen=5, ink=2))
    pens, inks = order.lines
    first = shop.request(order, {pens.id: 3, inks.id: 2})
    with project.fails(data={"code": "INVALID"}):
        shop.request(order, {pens.id: 3})
    second = shop.request(order, {pens.id: 2})
    shop.receive(first, {pens.id: (1, 0)})
    third = shop.request(order, {pens.id: 2, inks.id: 2})
    shop.reject(second)
    shop.receive(third, {pens.id: (1, 1), inks.id: (0, 0)})
    with project.fails(data={"code": "INVALID"}):
        shop.request(order, {pens.id: 3})
    shop.receive(shop.request(order, {pens.id: 2, inks.id: 2}), {inks.id: (2, 0), pens.id: (2, 0)})
    with project.fails(data={"code": "INVALID"}):
        shop.request(order, {pens.id: 1})
    shop.check()
    shop.check_ledgers()


def test_returns_expire_by_themselves(project: Deployment) -> None:
    shop = Shop.open(project)
    order = shop.deliver(shop.place(pen=2))
    pens = order.lines[0].id
    found = shop.request(order, {pens: 2})
    shop.advance(days=13, hours=23)
    with project.fails(data={"code": "INVALID"}):
        shop.request(order, {pens: 1})
    shop.check()
    shop.advance(hours=2)
    assert found.status == "expired"
    shop.check()
    for path, arguments in (("receive", {"items": [{"lineId": pens, "good": 1, "damaged": 0}]}), ("reject", {})):
        with project.fails(data={"code": "WRONG_STATUS"}):
            project.mutation(f"returns:{path}", staffId=shop.boss, returnId=found.id, **arguments)
    again = shop.request(order, {pens: 2})
    shop.receive(again, {pens: (2, 0)})
    shop.advance(days=15)
    shop.check()


def test_goods_can_be_returned_for_30_days(project: Deployment) -> None:
    shop = Shop.open(project)
    order = shop.deliver(shop.place(pen=2))
    shop.advance(days=29, hours=23)
    found = shop.request(order, {order.lines[0].id: 1})
    shop.advance(hours=2)
    with project.fails(data={"code": "WRONG_STATUS"}):
        shop.request(order, {order.lines[0].id: 1})
    shop.receive(found, {order.lines[0].id: (1, 0)})
    shop.check()


def test_the_last_moment_of_the_30_days_counts(project: Deployment) -> None:
    shop = Shop.open(project)
    order = shop.deliver(shop.place(pen=2))
    pens = order.lines[0].id
    last = project.documents("orders")[0]["deliveredAt"] + 30 * DAY
    with project.stopped_clock():
        for moment in (last - 1000, last):
            shop.advance(seconds=(moment - project.now()) / 1000)
        shop.request(order, {pens: 1})
        shop.advance(seconds=1)
        with project.fails(data={"code": "WRONG_STATUS"}):
            shop.request(order, {pens: 1})


def test_old_orders_can_be_returned_too(given: GivenDeployment) -> None:
    shop = Shop.open(given)
    order = shop.deliver(shop.place(pen=4, lamp=1))
    recent = shop.deliver(shop.place(1, coupon=True, gift="G2", ink=3))
    for line in given.documents("orderLines")[:2]:
        given.replace(line["_id"], {key: line[key] for key in ("orderId", "sku", "quantity", "amount", "tax")})
    given.replace(shop.customers[0], {"name": "zoe", "spent": shop.books.spent[shop.customers[0]], "tier": "basic"})
    entries = [each for each in given.documents("pointEntries") if each["orderId"] == order.id]
    given.delete("pointEntries", *(each["_id"] for each in entries))
    shop.books.points[order.customer] = order.points = 0
    shop.project = given.upgrade()
    for each in (order, recent):
        line = each.lines[0]
        shop.receive(shop.request(each, {line.id: 2}), {line.id: (1, 1)})
    shop.check()
    shop.check_ledgers()
    assert shop.books.points[order.customer] == 0


def test_calls_that_are_not_possible_are_refused(project: Deployment) -> None:
    shop = Shop.open(project)
    placed, other = shop.place(pen=2), shop.deliver(shop.place(1, ink=2))
    order = shop.deliver(shop.place(pen=3, ink=1))
    pens, inks = (line.id for line in order.lines)

    def refused(code: str, path: str, **arguments: Any) -> None:
        with project.fails(data={"code": code}):
            project.mutation(f"returns:{path}", **arguments)

    def request(code: str, items: list[tuple[str, float]], of: Order = order, customer: int = 0) -> None:
        sent = [{"lineId": line, "quantity": quantity} for line, quantity in items]
        refused(code, "request", customerId=shop.customers[customer], orderId=of.id, items=sent)

    request("NOT_FOUND", [(pens, 1)], customer=1)
    request("NOT_FOUND", [(pens, 1), (other.lines[0].id, 1)])
    request("NOT_FOUND", [(pens, 1)], of=placed)
    request("WRONG_STATUS", [(placed.lines[0].id, 9)], of=placed)
    for items in (
        [],
        [(pens, 0)],
        [(pens, 1.5)],
        [(pens, -1)],
        [(pens, 4)],
        [(pens, 1), (pens, 1)],
        [(pens, 1), (inks, 2)],
    ):
        request("INVALID", items)
    found = shop.request(order, {pens: 2})

    def receive(code: str, items: list[tuple[str, float, float]], staff: str = shop.staff) -> None:
        sent = [{"lineId": line, "good": good, "damaged": damaged} for line, good, damaged in items]
        refused(code, "receive", staffId=staff, returnId=found.id, items=sent)

    gone = project.mutation("catalog:hire", name="tim", manager=True)
    project.delete("staff", gone)
    receive("FORBIDDEN", [(inks, 1, 0)], gone)
    receive("NOT_FOUND", [(pens, 1, 0), (inks, 0, 1)])
    receive("NOT_FOUND", [(other.lines[0].id, 1, 0)])
    for counted in (
        [],
        [(pens, 0, 0)],
        [(pens, 2, 1)],
        [(pens, -1, 2)],
        [(pens, 0.5, 0.5)],
        [(pens, 1, 0), (pens, 1, 0)],
    ):
        receive("INVALID", counted)
    for staff in (shop.staff, gone):
        refused("FORBIDDEN", "reject", staffId=staff, returnId=found.id)
    shop.check()
    shop.receive(found, {pens: (1, 0)})
    receive("WRONG_STATUS", [(pens, 9, 0)])
    refused("WRONG_STATUS", "reject", staffId=shop.boss, returnId=found.id)
    shop.check()
    shop.check_ledgers()


def test_the_interface_is_what_it_was_and_returns(project: Deployment, given: GivenDeployment) -> None:
    def public(deployment: Deployment) -> dict[str, str]:
        return {name: spec.kind for name, spec in deployment.functions().items() if spec.is_public}

    new = dict.fromkeys(("returns:request", "returns:receive", "returns:reject"), "mutation")
    assert public(project) == public(given) | new | {"returns:list": "query"}
    shop = Shop.open(project)
    order = shop.deliver(shop.place(pen=1))
    found, line = shop.request(order, {order.lines[0].id: 1}), order.lines[0].id
    calls: dict[str, dict[str, Any]] = {
        "request": {"customerId": order.customer, "orderId": order.id, "items": [{"lineId": line, "quantity": 1}]},
        "receive": {"staffId": shop.staff, "returnId": found.id, "items": [{"lineId": line, "good": 1, "damaged": 0}]},
        "reject": {"staffId": shop.boss, "returnId": found.id},
        "list": {"customerId": order.customer},
    }
    for name, arguments in calls.items():
        call = project.query if name == "list" else project.mutation
        for argument in arguments:
            for wrong in ({**arguments, argument: "x"}, {key: arguments[key] for key in arguments if key != argument}):
                with project.fails("ArgumentValidationError"):
                    call(f"returns:{name}", wrong)
