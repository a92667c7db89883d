"""Rules of others, inside of one transaction, each with an allowance that it cannot exceed."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Sources

READS, WRITES, SCHEDULED = 200, 20, 3
RULES = ["history", "signals", "catalogue", "reminders", "blocklist", "size"]
Verdicts = dict[str, str | None]


def place(project: Deployment, *items: str, customer: str = "ada") -> tuple[str, Verdicts]:
    placed = project.mutation("orders:place", customer=customer, items=list(items))
    assert placed.keys() == {"orderId", "verdicts"}
    assert all(each.keys() == {"rule", "verdict"} for each in placed["verdicts"])
    assert [each["rule"] for each in placed["verdicts"]] == RULES
    return placed["orderId"], {each["rule"]: each["verdict"] for each in placed["verdicts"]}


def earlier_orders(project: Deployment, count: int, customer: str = "ada") -> None:
    project.insert_many("orders", [{"customer": customer, "items": []}] * count)


def signals(project: Deployment, count: int, customer: str = "ada") -> None:
    project.insert_many("signals", [{"customer": customer, "seen": 0}] * count)


def products(project: Deployment, kind: str, count: int) -> None:
    project.insert_many("products", [{"kind": kind, "name": str(number)} for number in range(count)])


def notes(project: Deployment, order_id: str) -> dict[tuple[str, str], int]:
    written = [(note["rule"], note["text"]) for note in project.documents("notes") if note["orderId"] == order_id]
    return dict(Counter(written))


def seen(project: Deployment, customer: str = "ada") -> set[int]:
    return {signal["seen"] for signal in project.documents("signals") if signal["customer"] == customer}


def pending(project: Deployment) -> list[str]:
    return [job.args["item"] for job in project.scheduled() if job.state == "pending"]


def test_all_rules_are_evaluated_in_their_order(project: Deployment) -> None:
    order_id, verdicts = place(project, "pen", "ink")
    assert verdicts == {
        "history": "new",
        "signals": "0 signals",
        "catalogue": "0 products",
        "reminders": "planned",
        "blocklist": "welcome",
        "size": "small",
    }
    stored = [(row["orderId"], row["rule"], row["verdict"]) for row in project.documents("verdicts")]
    assert stored == [(order_id, rule, verdicts[rule]) for rule in RULES]
    returned = project.query("orders:verdictsOf", orderId=order_id)
    assert returned == [{"rule": rule, "verdict": verdicts[rule]} for rule in RULES]
    order = project.get(order_id)
    assert order is not None and (order["customer"], order["items"]) == ("ada", ["pen", "ink"])
    assert notes(project, order_id) == {
        ("history", "order 1"): 1,
        ("catalogue", "pen"): 1,
        ("catalogue", "ink"): 1,
        ("blocklist", "ada"): 1,
    }
    assert pending(project) == ["pen", "ink"]
    project.advance(minutes=2)
    assert notes(project, order_id)["reminders", "pen"] == 1


def test_the_verdicts_of_one_order_are_read(project: Deployment) -> None:
    project.insert("blocked", customer="ben")
    placed = [place(project, *["pen"] * count, customer=who) for count, who in ((1, "ada"), (4, "ben"), (2, "ada"))]
    for order_id, verdicts in placed:
        with project.trace() as work:
            returned = project.query("orders:verdictsOf", orderId=order_id)
        assert returned == [{"rule": rule, "verdict": verdicts[rule]} for rule in RULES]
        assert work.documents_read <= len(RULES) + 1


def test_a_rule_may_use_its_allowance_to_the_full(project: Deployment) -> None:
    """Each of the rules reads the order itself, too."""
    earlier_orders(project, READS - 2)
    signals(project, WRITES)
    products(project, "pen", 99)
    products(project, "ink", 100)
    _, verdicts = place(project, "pen", "ink", "cap")
    assert verdicts == {
        "history": "regular",
        "signals": "20 signals",
        "catalogue": "199 products",
        "reminders": "planned",
        "blocklist": "welcome",
        "size": "large",
    }
    assert seen(project) == {1}
    assert len(pending(project)) == SCHEDULED


def test_one_more_document_read_is_too_many(project: Deployment) -> None:
    earlier_orders(project, READS - 1)
    products(project, "pen", READS)
    order_id, verdicts = place(project, "ink", "pen")
    assert verdicts == {
        "history": None,
        "signals": "0 signals",
        "catalogue": None,
        "reminders": "planned",
        "blocklist": "welcome",
        "size": "small",
    }
    assert notes(project, order_id) == {("blocklist", "ada"): 1}
    assert pending(project) == ["ink", "pen"]
    assert project.query("orders:verdictsOf", orderId=order_id)[0] == {"rule": "history", "verdict": None}


def test_one_more_document_written_is_too_many(project: Deployment) -> None:
    signals(project, WRITES + 1)
    order_id, verdicts = place(project, *["pen"] * 21)
    assert (verdicts["history"], verdicts["signals"], verdicts["catalogue"]) == ("new", None, None)
    assert (verdicts["blocklist"], verdicts["size"]) == ("welcome", "large")
    assert seen(project) == {0}
    assert notes(project, order_id) == {("history", "order 1"): 1, ("blocklist", "ada"): 1}
    _, verdicts = place(project, *["pen"] * 20, customer="ben")
    assert verdicts["catalogue"] == "0 products"


def test_one_more_function_scheduled_is_too_many(project: Deployment) -> None:
    _, verdicts = place(project, "pen", "ink", "cap", "nib")
    assert verdicts["reminders"] is None
    assert (verdicts["catalogue"], verdicts["size"]) == ("0 products", "large")
    assert pending(project) == []


def test_a_rule_that_throws_is_stopped(project: Deployment) -> None:
    project.insert("blocked", customer="eve")
    order_id, verdicts = place(project, "pen", customer="eve")
    assert verdicts == {
        "history": "new",
        "signals": "0 signals",
        "catalogue": "0 products",
        "reminders": "planned",
        "blocklist": None,
        "size": "small",
    }
    assert notes(project, order_id) == {("history", "order 1"): 1, ("catalogue", "pen"): 1}


def test_a_rule_that_reads_too_much_is_stopped_at_once(project: Deployment) -> None:
    for _ in range(2):
        earlier_orders(project, 2500)
        signals(project, 2500)
        products(project, "pen", 2500)
    with project.trace() as work:
        _, verdicts = place(project, "ink", "pen", "pen")
    assert [rule for rule, verdict in verdicts.items() if verdict is None] == ["history", "signals", "catalogue"]
    assert work.documents_read <= 3 * (READS + 1) + 3 + 10
    assert [call.function for call in work.calls] == ["orders:place"]


@pytest.mark.parametrize("seed", range(3))
def test_each_rule_has_its_own_allowance(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    customers, kinds = ["ada", "ben", "eve"], ["pen", "ink", "cap"]
    orders = {customer: chance.choice([0, 150, 194, 260]) for customer in customers}
    flags = {customer: chance.choice([0, 12, 20, 21, 150]) for customer in customers}
    stock = {kind: chance.choice([0, 30, 66, 90, 199]) for kind in kinds}
    blocked = {customer for customer in customers if chance.random() < 0.3}
    marks = dict.fromkeys(customers, 0)
    for customer in customers:
        earlier_orders(project, orders[customer], customer)
        signals(project, flags[customer], customer)
    for kind in kinds:
        products(project, kind, stock[kind])
    for customer in blocked:
        project.insert("blocked", customer=customer)
    planned: list[str] = []
    with project.stopped_clock():  # reminders stay pending for a minute
        for step in range(12):
            customer = chance.choice(customers)
            items = [chance.choice(kinds) for _ in range(chance.choice([1, 2, 3, 3, 5, 22]))]
            order_id, verdicts = place(project, *items, customer=customer)
            orders[customer] += 1
            found = sum(stock[kind] for kind in items)
            expected: Verdicts = {
                "history": None if orders[customer] >= READS else "regular" if orders[customer] > 3 else "new",
                "signals": None if flags[customer] > WRITES else f"{flags[customer]} signals",
                "catalogue": None if found >= READS or len(items) > WRITES else f"{found} products",
                "reminders": None if len(items) > SCHEDULED else "planned",
                "blocklist": None if customer in blocked else "welcome",
                "size": "large" if len(items) > 2 else "small",
            }
            assert verdicts == expected, f"in step {step}"
            marks[customer] += expected["signals"] is not None
            planned += items if expected["reminders"] else []
            left: Counter[tuple[str, str]] = Counter()
            left.update([("history", f"order {orders[customer]}")] if expected["history"] else [])
            left.update([("catalogue", item) for item in items] if expected["catalogue"] else [])
            left.update([("blocklist", customer)] if expected["blocklist"] else [])
            assert notes(project, order_id) == dict(left), f"in step {step}"
        assert pending(project) == planned
    for customer in customers:
        assert seen(project, customer) <= {marks[customer]}


def taken_from_the_registry(files: Sources) -> Iterator[str]:
    """The names of what modules import from it, or export again; `*` is everything."""
    for module in files.modules():
        yield from (each.name for each in module.imports if is_registry(each.source) and not each.is_type)
        for statement in module.node.find_all(kind="export_statement"):
            source = statement.field("source")
            if source is not None and is_registry(source.text().strip("'\"")):
                yield "*"


def is_registry(source: str) -> bool:
    return PurePosixPath(source).stem == "registry"


def test_the_rules_are_those_of_the_registry(files: Sources) -> None:
    """Partners change the registry whenever they want, so a list of today's rules is no substitute for it."""
    taken = set(taken_from_the_registry(files))
    assert taken & {"RULES", "*"}, "no module imports RULES from convex/registry.ts"


def test_clients_can_call_two_functions_only(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {"orders:place": "mutation", "orders:verdictsOf": "query"}
    assert project.crons() == {}
    order_id, _ = place(project)
    wrong: list[dict[str, Any]] = [
        {"customer": "ada"},
        {"items": []},
        {"customer": 1, "items": []},
        {"customer": "ada", "items": "pen"},
        {"customer": "ada", "items": [1]},
    ]
    for each in wrong:
        with project.fails("ArgumentValidationError"):
            project.mutation("orders:place", each)
    note_id = project.documents("notes")[0]["_id"]
    for asked in ({}, {"orderId": 1}, {"orderId": note_id}):
        with project.fails("ArgumentValidationError"):
            project.query("orders:verdictsOf", asked)
    assert len(project.query("orders:verdictsOf", orderId=order_id)) == len(RULES)
