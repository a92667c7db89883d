"""Figures that an aggregate and a sharded counter keep, over sales that were stored before there were any figures."""

import random
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, GivenDeployment, at_once

PUBLIC = {
    "figures:ofShop": "query",
    "figures:ofCashier": "query",
    "figures:larger": "query",
    "figures:ranges": "query",
    "figures:everywhere": "query",
    "figures:roughly": "query",
    "sales:record": "mutation",
    "sales:correct": "mutation",
    "sales:cancel": "mutation",
    "transfers:move": "mutation",
}
INTERNAL = ("figures:tidy", "figures:catchUp", "transfers:forget")
RANGES = [{"from": 0, "to": 5}, {"from": 5, "to": 6}, {"from": 3, "to": 1000}, {"from": -5, "to": 0}]
SHOPS = ["north", "south"]
CASHIERS = ["kim", "kimberly", "lee"]


def sale(shop: str, amount: int, cashier: str = "kim") -> dict[str, Any]:
    return {"shop": shop, "cashier": cashier, "amount": amount}


class Shops:
    """What the figures have to be."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.sales: dict[str, dict[str, Any]] = {}

    def record(self, shop: str, amount: int, cashier: str = "kim") -> str:
        row = sale(shop, amount, cashier)
        made: str = self.deployment.mutation("sales:record", row)
        self.sales[made] = row
        return made

    def correct(self, made: str, amount: int) -> None:
        assert self.deployment.mutation("sales:correct", sale=made, amount=amount) is None
        self.sales[made]["amount"] = amount

    def move(self, made: str, shop: str) -> None:
        assert self.deployment.mutation("transfers:move", sale=made, shop=shop) is None
        self.sales[made]["shop"] = shop

    def cancel(self, made: str) -> None:
        assert self.deployment.mutation("sales:cancel", sale=made) is None
        del self.sales[made]

    def forget(self, cashier: str) -> None:
        assert self.deployment.admin.mutation("transfers:forget", cashier=cashier) is None
        self.sales = {made: row for made, row in self.sales.items() if row["cashier"] != cashier}

    def amounts(self, shop: str, *cashiers: str) -> list[int]:
        rows = [row for row in self.sales.values() if row["shop"] == shop]
        return sorted(row["amount"] for row in rows if not cashiers or row["cashier"] in cashiers)

    def check(self, when: object = "") -> None:
        query = self.deployment.query
        for shop in SHOPS:
            amounts = self.amounts(shop)
            expected = {
                "count": len(amounts),
                "total": sum(amounts),
                "median": amounts[(len(amounts) - 1) // 2] if amounts else None,
                "largest": amounts[-1] if amounts else None,
            }
            assert query("figures:ofShop", shop=shop) == expected, when
            inside = [[each for each in amounts if wanted["from"] <= each < wanted["to"]] for wanted in RANGES]
            received = query("figures:ranges", shop=shop, ranges=RANGES)
            assert received == [{"count": len(each), "total": sum(each)} for each in inside], when
            for cashier in CASHIERS[:1]:
                theirs = self.amounts(shop, cashier)
                expected = {"count": len(theirs), "total": sum(theirs), "largest": theirs[-1] if theirs else None}
                assert query("figures:ofCashier", shop=shop, cashier=cashier) == expected, when
        assert query("figures:everywhere") == len(self.sales), when
        for made in list(self.sales)[:1]:
            row = self.sales[made]
            larger = sum(each > row["amount"] for each in self.amounts(row["shop"]))
            assert query("figures:larger", sale=made) == larger, when


def catch_up(project: Deployment) -> int:
    calls = 1
    while not project.admin.mutation("figures:catchUp"):
        calls += 1
        assert calls < 20, "catchUp never returns true"
    return calls


@pytest.mark.parametrize("seed", range(2))
def test_figures_are_right_after_whatever_happens(project: Deployment, seed: int) -> None:
    chance, shops, done = random.Random(seed), Shops(project), []
    shops.check()
    for number in range(16):
        step = chance.random()
        known = list(shops.sales)
        if step < 0.45 or not known:
            done.append(shops.record(chance.choice(SHOPS), chance.randrange(8), chance.choice(CASHIERS)))
        elif step < 0.65:
            shops.correct(chance.choice(known), chance.randrange(8))
            done.append("correct")
        elif step < 0.8:
            shops.move(chance.choice(known), chance.choice(SHOPS))
            done.append("move")
        elif step < 0.92:
            shops.cancel(chance.choice(known))
            done.append("cancel")
        elif step < 0.96:
            shops.forget(chance.choice(CASHIERS))
            done.append("forget")
        else:
            assert project.admin.mutation("figures:tidy") is None
            assert project.admin.mutation("figures:catchUp") is True
            done.append("tidy")
        if number % 2:
            shops.check(done)


def test_old_sales_are_taken_in_once_whatever_happens_meanwhile(given: GivenDeployment) -> None:
    chance = random.Random(5)
    rows = [sale(chance.choice(SHOPS), chance.randrange(50), chance.choice(CASHIERS)) for _ in range(45)]
    ids = given.insert_many("sales", rows)
    project = given.upgrade()
    shops = Shops(project)
    shops.check("before anything is caught up with")
    old = dict(zip(ids, rows, strict=True))
    finished = False
    while not finished:
        for _ in range(5):
            made, step = chance.choice(list(old)), chance.random()
            shops.sales = {**old, **shops.sales}
            if step < 0.4:
                shops.correct(made, chance.randrange(50))
            elif step < 0.7:
                shops.move(made, chance.choice(SHOPS))
            else:
                shops.cancel(made)
            old = {each: shops.sales[each] for each in old if each in shops.sales}
        shops.record("north", 7)
        finished = project.admin.mutation("figures:catchUp")
        assert 0 <= project.query("figures:everywhere") <= len(project.documents("sales"))
    shops.check("after the last of them")
    shops.forget("lee")
    assert project.admin.mutation("figures:catchUp") is True
    shops.check("at the end")


def test_old_sales_can_be_changed_before_they_are_caught_up_with(given: GivenDeployment) -> None:
    rows = [sale("north", 10), sale("north", 20), sale("south", 30, "lee"), sale("south", 40), sale("north", 50)]
    ids = given.insert_many("sales", rows)
    project = given.upgrade()
    shops = Shops(project)
    shops.sales = dict(zip(ids, rows, strict=True))
    shops.cancel(ids[0])
    shops.correct(ids[1], 25)
    shops.forget("lee")
    shops.move(ids[3], "north")
    made = shops.record("north", 60)
    assert project.query("figures:everywhere") in range(1, 5)
    assert catch_up(project) == 1
    shops.check("after catching up")
    assert project.query("figures:larger", sale=ids[1]) == 3
    shops.cancel(made)
    shops.cancel(ids[1])
    shops.move(ids[4], "south")
    shops.check("after more changes")
    assert project.query("figures:larger", sale=made) is None


def test_twenty_old_sales_are_caught_up_with_per_call(given: GivenDeployment) -> None:
    rows = [sale("north", number) for number in range(50)]
    ids = given.insert_many("sales", rows)
    project = given.upgrade()
    assert project.query("figures:everywhere") == 0
    assert project.query("figures:ofShop", shop="north") == {"count": 0, "total": 0, "median": None, "largest": None}
    counts = []
    while not project.admin.mutation("figures:catchUp"):
        counts.append(project.query("figures:everywhere"))
        assert project.query("figures:ofShop", shop="north")["count"] == counts[-1]
        assert len(counts) < 10
    steps = [after - before for before, after in zip([0, *counts], [*counts, 50], strict=True)]
    assert all(0 <= step <= 20 for step in steps), steps
    assert len(counts) >= 2
    shops = Shops(project)
    shops.sales = dict(zip(ids, rows, strict=True))
    shops.check()
    assert project.admin.mutation("figures:catchUp") is True
    shops.check("after one more call")


def test_figures_are_in_the_components(project: Deployment) -> None:
    shops = Shops(project)
    for number in range(6):
        shops.record(SHOPS[number % 2], number)
    counters = project.documents("counters", component="shardedCounter")
    assert sum(each["value"] for each in counters) == 6
    assert len(counters) <= 10
    assert len(project.documents("btree", component="aggregate")) >= 1


def test_the_estimate_reads_two_documents_and_is_exact_after_tidy(project: Deployment) -> None:
    shops = Shops(project)
    made = [shops.record("north", number) for number in range(21)]
    assert project.admin.mutation("figures:tidy") is None
    for _ in range(3):
        with project.trace() as work:
            estimate = project.query("figures:roughly")
        assert abs(estimate - 21) < 0.001
        assert work.documents_read <= 2
    assert len(project.documents("counters", component="shardedCounter")) == 10
    assert project.query("figures:everywhere") == 21
    for each in made[:3]:
        shops.cancel(each)
    assert project.query("figures:everywhere") == 18
    with project.trace() as work:
        assert project.query("figures:everywhere") == 18
    assert work.documents_read <= 10


def test_catching_up_is_over_with_the_last_sale(given: GivenDeployment) -> None:
    given.insert_many("sales", [sale("north", number) for number in range(40)])
    project = given.upgrade()
    for _ in range(40):
        finished = project.admin.mutation("figures:catchUp")
        assert finished is (project.query("figures:everywhere") == 40)
        if finished:
            return
    pytest.fail("catchUp never returns true")


def test_figures_of_a_large_shop_read_few_documents(given: GivenDeployment) -> None:
    ids = given.insert_many("sales", [sale("north", number * 7 % 60) for number in range(80)])
    project = given.upgrade()
    catch_up(project)
    assert project.query("figures:ofShop", shop="north")["count"] == 80
    reads = {}
    for path, arguments in (
        ("ofShop", {"shop": "north"}),
        ("ofCashier", {"shop": "north", "cashier": "kim"}),
        ("larger", {"sale": ids[17]}),
        ("ranges", {"shop": "north", "ranges": RANGES[2:3]}),
    ):
        with project.trace() as work:
            project.query(f"figures:{path}", arguments)
        reads[path] = work.documents_read
    assert max(reads.values()) <= 60, reads


def test_another_shop_does_not_run_the_queries_again(project: Deployment) -> None:
    shops = Shops(project)
    mine = [shops.record("north", number) for number in range(12)]
    other = [shops.record("south", number) for number in range(12)]
    for path, arguments in (
        ("ofShop", {"shop": "north"}),
        ("ofCashier", {"shop": "north", "cashier": "kim"}),
        ("larger", {"sale": mine[3]}),
        ("ranges", {"shop": "north", "ranges": RANGES}),
    ):
        with project.subscribe(f"figures:{path}", arguments) as live:
            shops.record("south", 5)
            shops.correct(other[0], 9)
            shops.correct(other[1], 3)
            shops.cancel(other.pop())
            assert live.executions() == 1, path
    with project.subscribe("figures:ofShop", shop="north") as live:
        shops.cancel(mine[0])
        live.wait_until(lambda value: value["count"] == 11)


def test_sales_recorded_at_once_are_all_counted(project: Deployment) -> None:
    with project.clients(8) as clients:
        at_once([partial(each.mutation, "sales:record", sale("north", number)) for number, each in enumerate(clients)])
    assert project.query("figures:everywhere") == 8
    assert project.query("figures:ofShop", shop="north") == {"count": 8, "total": 28, "median": 3, "largest": 7}


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    functions = project.functions()
    assert {name: spec.kind for name, spec in functions.items() if spec.is_public} == PUBLIC
    assert all(functions[name].kind == "mutation" and not functions[name].is_public for name in INTERNAL)
    made = Shops(project).record("north", 1)
    for name, arguments in (
        ("figures:ofShop", {"shop": 1}),
        ("figures:ofShop", {}),
        ("figures:ofCashier", {"shop": "north"}),
        ("figures:ofCashier", {"cashier": "kim"}),
        ("figures:ofCashier", {"shop": "north", "cashier": 1}),
        ("figures:ofCashier", {"shop": 1, "cashier": "kim"}),
        ("figures:larger", {"sale": "x"}),
        ("figures:larger", {}),
        ("figures:ranges", {"shop": "north"}),
        ("figures:ranges", {"shop": 1, "ranges": []}),
        ("figures:ranges", {"shop": "north", "ranges": [{"from": 1}]}),
        ("figures:ranges", {"shop": "north", "ranges": [{"from": "1", "to": 2}]}),
        ("figures:ranges", {"shop": "north", "ranges": [{"from": 1, "to": "2"}]}),
        ("figures:everywhere", {"shop": "north"}),
        ("figures:roughly", {"shop": "north"}),
    ):
        with project.fails("ArgumentValidationError"):
            project.query(name, arguments)
    for name, arguments in (
        ("sales:record", {"shop": "north", "cashier": "kim"}),
        ("sales:record", {**sale("north", 1), "counted": True}),
        ("sales:correct", {"sale": made, "amount": "1"}),
        ("sales:cancel", {"sale": "x"}),
        ("transfers:move", {"sale": made}),
    ):
        with project.fails("ArgumentValidationError"):
            project.mutation(name, arguments)
