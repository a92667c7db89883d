"""A shop whose wallets are a component, mounted twice: what fails leaves no trace on either side."""

import random
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, Sources, at_once

COST = {"currency": "coins", "amount": 1}
FUNCTIONS = {
    "shop:grant": ("mutation", {"user": "u", "currency": "coins", "amount": 1, "key": "k"}),
    "shop:restock": ("mutation", {"item": "i", "count": 1}),
    "shop:checkout": ("mutation", {"user": "u", "basket": []}),
    "shop:checkoutAll": ("mutation", {"user": "u", "basket": []}),
    "shop:reserve": ("mutation", {"user": "u", "item": "i", "currency": "coins", "amount": 1, "minutes": 1}),
    "shop:settle": ("mutation", {"id": "x"}),
    "shop:balance": ("query", {"user": "u", "currency": "coins"}),
    "shop:history": ("query", {"user": "u", "currency": "coins", "count": 1}),
    "shop:shelf": ("query", {"item": "i"}),
}
CURRENCIES = ("coins", "gems")
TICK_MINUTES = 4


def wish(item: str, coins: int = 0, gems: int = 0) -> dict[str, Any]:
    costs = [("coins", coins), ("gems", gems)]
    return {"item": item, "costs": [{"currency": name, "amount": amount} for name, amount in costs if amount]}


@dataclass
class Wallet:
    available: int = 0
    held: int = 0
    entries: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def note(self, amount: int, memo: str) -> None:
        owned = self.available + self.held
        self.entries.append({"number": len(self.entries) + 1, "amount": amount, "memo": memo, "owned": owned})


@dataclass
class Reservation:
    item: str
    wallet: Wallet
    amount: int
    ends: int


@dataclass
class Shop:
    """The app and the truth, side by side. `minutes` is how far the clock was moved."""

    project: Deployment
    wallets: dict[tuple[str, str], Wallet] = field(default_factory=dict)
    in_stock: dict[str, int] = field(default_factory=dict)
    sold: dict[str, int] = field(default_factory=dict)
    reservations: dict[str, Reservation] = field(default_factory=dict)
    minutes: int = 0

    def call(self, function: str, /, **arguments: Any) -> Any:
        return self.project.mutation(f"shop:{function}", arguments)

    def wallet(self, user: str, currency: str) -> Wallet:
        return self.wallets.setdefault((user, currency), Wallet())

    def grant(self, user: str, currency: str, amount: int, key: str) -> None:
        wallet = self.wallet(user, currency)
        if key not in wallet.keys:
            wallet.keys.add(key)
            wallet.available += amount
            wallet.note(amount, "grant")
        assert self.call("grant", user=user, currency=currency, amount=amount, key=key) == wallet.available

    def restock(self, item: str, count: int) -> None:
        self.in_stock[item] = self.in_stock.get(item, 0) + count
        assert self.call("restock", item=item, count=count) == self.in_stock[item]

    def refusal(self, user: str, each: dict[str, Any]) -> str | None:
        if not self.in_stock.get(each["item"]):
            return "SOLD_OUT"
        for currency in CURRENCIES:
            total = sum(cost["amount"] for cost in each["costs"] if cost["currency"] == currency)
            if total > self.wallet(user, currency).available:
                return "TOO_EXPENSIVE"
        return None

    def pay(self, user: str, each: dict[str, Any]) -> None:
        item = each["item"]
        self.in_stock[item] -= 1
        self.sold[item] = self.sold.get(item, 0) + 1
        for cost in each["costs"]:
            wallet = self.wallet(user, cost["currency"])
            wallet.available -= cost["amount"]
            wallet.note(-cost["amount"], item)

    def checkout(self, user: str, *basket: dict[str, Any]) -> None:
        bought, refused = [], []
        for each in basket:
            if reason := self.refusal(user, each):
                refused.append({"item": each["item"], "reason": reason})
            else:
                self.pay(user, each)
                bought.append(each["item"])
        assert self.call("checkout", user=user, basket=basket) == {"bought": bought, "refused": refused}

    def checkout_all(self, user: str, *basket: dict[str, Any]) -> None:
        """The truth is tried out on a copy of its numbers."""
        if first := self.first_refusal(user, basket):
            with self.project.fails(data=first):
                self.call("checkoutAll", user=user, basket=basket)
            return
        assert self.call("checkoutAll", user=user, basket=basket) is None
        for each in basket:
            self.pay(user, each)

    def first_refusal(self, user: str, basket: tuple[dict[str, Any], ...]) -> dict[str, Any] | None:
        money = {name: self.wallet(user, name).available for name in CURRENCIES}
        trial = Shop(self.project, in_stock=dict(self.in_stock))
        trial.wallets = {(user, name): Wallet(available=amount) for name, amount in money.items()}
        for each in basket:
            if reason := trial.refusal(user, each):
                return {"code": reason, "item": each["item"]}
            trial.pay(user, each)
        return None

    def reserve(self, user: str, item: str, currency: str, amount: int, minutes: int) -> str | None:
        reason = self.refusal(user, {"item": item, "costs": [{"currency": currency, "amount": amount}]})
        terms = {"user": user, "item": item, "currency": currency, "amount": amount, "minutes": minutes}
        if reason:
            with self.project.fails(data={"code": reason, "item": item}):
                self.call("reserve", **terms)
            return None
        id: str = self.call("reserve", **terms)
        wallet = self.wallet(user, currency)
        wallet.available -= amount
        wallet.held += amount
        self.in_stock[item] -= 1
        self.reservations[id] = Reservation(item, wallet, amount, self.minutes + minutes)
        return id

    def settle(self, id: str) -> None:
        found = self.reservations.pop(id, None)
        if found is None:
            with self.project.fails(data={"code": "NOT_RESERVED"}):
                self.call("settle", id=id)
            return
        assert self.call("settle", id=id) is None
        found.wallet.held -= found.amount
        found.wallet.note(-found.amount, found.item)
        self.sold[found.item] = self.sold.get(found.item, 0) + 1

    def wait(self, minutes: int) -> None:
        self.project.advance(minutes=minutes)
        self.minutes += minutes
        for id in [id for id, each in self.reservations.items() if each.ends <= self.minutes]:
            over = self.reservations.pop(id)
            over.wallet.held -= over.amount
            over.wallet.available += over.amount
            self.in_stock[over.item] += 1

    def check(self, user: str, item: str) -> None:
        for currency in CURRENCIES:
            wallet = self.wallet(user, currency)
            received = self.project.query("shop:balance", user=user, currency=currency)
            assert received == {"available": wallet.available, "held": wallet.held}
            received = self.project.query("shop:history", user=user, currency=currency, count=4)
            assert received == wallet.entries[::-1][:4]
        expected = {"inStock": self.in_stock.get(item, 0), "sold": self.sold.get(item, 0)}
        assert self.project.query("shop:shelf", item=item) == expected


def step(shop: Shop, chance: random.Random, ids: list[str]) -> str:
    user, item, currency = chance.choice(["ada", "ben"]), chance.choice("xyz"), chance.choice(CURRENCIES)
    basket = [
        wish(chance.choice("xyz"), chance.randint(0, 6), chance.randint(0, 6)) for _ in range(chance.randint(1, 3))
    ]
    name = chance.choice(
        ["grant", "grant", "restock", "checkout", "checkout", "all", "reserve", "reserve", "settle", "wait"]
    )
    match name:
        case "grant":
            shop.grant(user, currency, chance.randint(1, 12), chance.choice("abcdefgh"))
        case "restock":
            shop.restock(item, chance.randint(1, 3))
        case "checkout":
            shop.checkout(user, *basket)
        case "all":
            shop.checkout_all(user, *basket)
        case "reserve":
            id = shop.reserve(user, item, currency, chance.randint(1, 6), chance.choice([3, 6, 90]))
            ids += [id] if id else []
        case "settle" if ids:
            shop.settle(chance.choice(ids))
        case "wait":
            shop.wait(TICK_MINUTES)
    return f"{name} {user} {item} {currency} {basket}"


@pytest.mark.parametrize("seed", range(3))
def test_wallets_and_shelves_are_exact_whatever_is_bought_and_refused(project: Deployment, seed: int) -> None:
    chance, shop, done, ids = random.Random(seed), Shop(project), [], list[str]()
    for item in "xyz":
        shop.restock(item, 2)
    for _ in range(22):
        done.append(step(shop, chance, ids))
        try:
            shop.check(chance.choice(["ada", "ben"]), chance.choice("xyz"))
        except AssertionError as wrong:
            raise AssertionError(f"after {'; '.join(done)}: {wrong}") from None


def test_an_item_that_is_refused_costs_nothing_in_either_currency(project: Deployment) -> None:
    shop = Shop(project)
    shop.grant("ada", "coins", 10, "a")
    shop.grant("ada", "gems", 1, "a")
    for item in "xyz":
        shop.restock(item, 1)
    shop.checkout("ada", wish("x", 4, 2), wish("y", 4, 1), wish("z", 7), wish("none", 1), wish("z", 6))
    for item in "xyz":
        shop.check("ada", item)
    assert project.query("shop:balance", user="ada", currency="coins") == {"available": 0, "held": 0}


def test_a_basket_is_bought_as_a_whole_or_not_at_all(project: Deployment) -> None:
    shop = Shop(project)
    shop.grant("ada", "coins", 10, "a")
    shop.restock("x", 2)
    shop.checkout_all("ada", wish("x", 4), wish("x", 7))
    shop.checkout_all("ada", wish("x", 1), wish("x", 1), wish("x", 99))
    shop.checkout_all("ada", wish("x", 99), wish("none"))
    shop.check("ada", "x")
    shop.checkout_all("ada", wish("x", 4), wish("x", 6))
    shop.check("ada", "x")
    shop.checkout_all("ada")
    shop.restock("y", 1)
    shop.checkout("ada", {"item": "y", "costs": []})
    shop.check("ada", "y")


def test_the_same_currency_may_be_charged_twice_for_an_item(project: Deployment) -> None:
    shop = Shop(project)
    shop.grant("ada", "coins", 5, "a")
    shop.restock("x", 2)
    costs = [{"currency": "coins", "amount": 3}, {"currency": "coins", "amount": 3}]
    shop.checkout("ada", {"item": "x", "costs": costs})
    shop.check("ada", "x")
    shop.grant("ada", "coins", 1, "b")
    shop.checkout("ada", {"item": "x", "costs": costs})
    shop.check("ada", "x")


def test_a_reservation_ends_by_itself_and_only_if_it_was_not_settled(project: Deployment) -> None:
    shop = Shop(project)
    shop.grant("ada", "gems", 10, "a")
    shop.restock("x", 3)
    first, second = shop.reserve("ada", "x", "gems", 4, 30), shop.reserve("ada", "x", "gems", 5, 30)
    assert first and second
    shop.check("ada", "x")
    shop.wait(28)
    shop.check("ada", "x")
    shop.settle(first)
    shop.wait(4)
    shop.check("ada", "x")
    for id in (first, second, "nothing"):
        shop.settle(id)
    shop.wait(24 * 60)
    shop.check("ada", "x")


def test_of_what_is_held_nothing_can_be_spent(project: Deployment) -> None:
    shop = Shop(project)
    shop.grant("ada", "coins", 10, "a")
    shop.restock("x", 3)
    shop.reserve("ada", "x", "coins", 8, 10)
    shop.checkout("ada", wish("x", 3))
    shop.reserve("ada", "x", "coins", 3, 10)
    shop.reserve("ada", "none", "coins", 99, 10)
    shop.check("ada", "x")


def test_one_key_works_once_for_each_user_and_currency(project: Deployment) -> None:
    shop = Shop(project)
    for user in ("ada", "ben"):
        for currency in CURRENCIES:
            shop.grant(user, currency, 5, "welcome")
            shop.grant(user, currency, 7, "welcome")
            shop.check(user, "x")


def test_people_who_buy_the_last_one_at_once_get_one(project: Deployment) -> None:
    shop = Shop(project)
    shop.restock("x", 1)
    shop.grant("ada", "coins", 10, "a")
    basket = [wish("x", 3)]
    with project.clients(5) as clients:
        calls = [partial(each.mutation, "shop:checkoutAll", user="ada", basket=basket) for each in clients]
        made = at_once(calls)
    assert sum(isinstance(each, CallFailed) for each in made) == 4
    assert project.query("shop:balance", user="ada", currency="coins") == {"available": 7, "held": 0}


def test_history_goes_back_page_by_page_without_reading_all_of_it(project: Deployment) -> None:
    shop = Shop(project)
    for number in range(60):
        shop.grant("ada", "coins", number + 1, f"{number}")
    entries = shop.wallet("ada", "coins").entries[::-1]
    for before, expected in ((31, entries[30:35]), (4, entries[57:]), (1, []), (1000, entries[:5])):
        with project.trace() as work:
            received = project.query("shop:history", user="ada", currency="coins", count=5, before=before)
        assert received == expected
        assert work.documents_read < 20
    assert project.query("shop:history", user="ada", currency="gems", count=5) == []


def test_the_app_stores_nothing_about_what_users_own(project: Deployment, files: Sources) -> None:
    shop = Shop(project)
    shop.grant("ada", "coins", 5, "a")
    shop.grant("ada", "gems", 5, "a")
    assert [document for table in project.tables() for document in project.documents(table)] == []
    shop.check("ada", "x")
    assert files.exists("convex/wallet/convex.config.ts")
    for currency in CURRENCIES:
        project.documents("any", component=currency)  # fails unless it is mounted there
    shop.grant("ada", "coins", 9000, "b")
    shop.restock("x", 1)
    shop.reserve("ada", "x", "coins", 3571, 10)
    kept = [document for table in project.tables() for document in project.documents(table)]
    assert not any(3571 in document.values() for document in kept)


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    for name, (kind, arguments) in FUNCTIONS.items():
        call = project.query if kind == "query" else project.mutation
        for argument, value in arguments.items():
            wrong = {**arguments, argument: 1 if isinstance(value, str) else "1"}
            for rejected in (wrong, {key: arguments[key] for key in arguments if key != argument}):
                with project.fails("ArgumentValidationError"):
                    call(name, rejected)
    for wrong in ({"item": "i"}, {"item": 1, "costs": []}, wish("i") | {"costs": [{**COST, "currency": "dollars"}]}):
        with project.fails("ArgumentValidationError"):
            project.mutation("shop:checkout", user="u", basket=[wrong])
    with project.fails("ArgumentValidationError"):
        project.query("shop:history", user="u", currency="coins", count=1, before="x")
