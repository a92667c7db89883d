"""Billing that depends on which facts have arrived, and on nothing else."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, at_once

Fact = tuple[str, dict[str, Any]]
"""The name of a mutation or "event", and its arguments or body."""

FUNCTIONS = {
    "billing:recordUsage": ("mutation", {"customer": "a", "key": "k", "units": 1, "at": 1}),
    "billing:voidUsage": ("mutation", {"customer": "a", "key": "k"}),
    "billing:grantCredit": ("mutation", {"customer": "a", "key": "k", "units": 1, "from": 1, "until": 2}),
    "billing:closeMonth": ("mutation", {"customer": "a", "month": "2026-03"}),
    "billing:statement": ("query", {"customer": "a", "month": "2026-03"}),
    "billing:adjustments": ("query", {"customer": "a"}),
    "billing:credits": ("query", {"customer": "a"}),
    "billing:balance": ("query", {"customer": "a"}),
}


def at(day: int, month: int = 3, hour: int = 0) -> int:
    return int(datetime(2026, month, day, hour, tzinfo=UTC).timestamp() * 1000)


MARCH, APRIL = at(1), at(1, 4)
MONTHS = ("2026-02", "2026-03", "2026-04")


def usage(key: str, units: int, when: int, customer: str = "ada") -> Fact:
    return "recordUsage", {"customer": customer, "key": key, "units": units, "at": when}


def void(key: str, customer: str = "ada") -> Fact:
    return "voidUsage", {"customer": customer, "key": key}


def credit(key: str, units: int, start: int, until: int, customer: str = "ada") -> Fact:
    return "grantCredit", {"customer": customer, "key": key, "units": units, "from": start, "until": until}


def plan(id: str, price: int, included: int, since: int, version: int = 1, customer: str = "ada") -> Fact:
    terms = {"unitPrice": price, "includedUnits": included, "effectiveAt": since, "version": version}
    return "event", {"id": id, "type": "plan.changed", "customer": customer, **terms}


def paid(id: str, payment: str, amount: int, customer: str = "ada") -> Fact:
    return "event", {
        "id": id,
        "type": "payment.succeeded",
        "customer": customer,
        "payment": payment,
        "amount": amount,
    }


def refund(id: str, payment: str, amount: int, customer: str = "ada") -> Fact:
    return "event", {"id": id, "type": "payment.refunded", "customer": customer, "payment": payment, "amount": amount}


def deliver(project: Deployment, *facts: Fact) -> None:
    for name, values in facts:
        if name == "event":
            assert project.http.post("/webhooks/payments", json=values).status == 200
        else:
            assert project.mutation(f"billing:{name}", values) is None


def no_usage(month: str) -> dict[str, Any]:
    return {
        "month": month,
        "units": 0,
        "creditUnits": 0,
        "includedUnits": 0,
        "billedUnits": 0,
        "amount": 0,
        "closed": False,
    }


@dataclass
class Truth:
    """What one customer owes, from facts that may be repeated and in any order."""

    facts: Sequence[Fact]
    months: dict[str, dict[str, Any]] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        voided = {each["key"] for each in self.named("voidUsage")}
        self.left = {each["key"]: each["units"] for each in self.credits}
        used = [each for each in self.named("recordUsage") if each["key"] not in voided]
        for each in sorted(used, key=lambda each: (each["at"], each["key"])):
            self.price(each["units"], each["at"])

    def named(self, name: str, key: str = "key") -> list[dict[str, Any]]:
        return list({values[key]: values for called, values in self.facts if called == name}.values())

    def events(self, type: str) -> list[dict[str, Any]]:
        return [each for each in self.named("event", "id") if each["type"] == type]

    @property
    def credits(self) -> list[dict[str, Any]]:
        return sorted(self.named("grantCredit"), key=lambda each: (each["until"], each["key"]))

    def plan_at(self, when: int) -> Mapping[str, Any]:
        known = [each for each in self.events("plan.changed") if each["effectiveAt"] <= when]
        nothing = {"unitPrice": 0, "includedUnits": 0}
        return max(known, key=lambda each: (each["effectiveAt"], each["version"]), default=nothing)

    def price(self, units: int, when: int) -> None:
        month = datetime.fromtimestamp(when / 1000, UTC).strftime("%Y-%m")
        sums = self.months.setdefault(month, no_usage(month))
        rest = units
        for each in self.credits:
            if each["from"] <= when < each["until"]:
                taken = min(rest, self.left[each["key"]])
                self.left[each["key"]] -= taken
                rest -= taken
        sums["units"] += units
        sums["creditUnits"] += units - rest
        terms = self.plan_at(when)
        included = min(rest, max(0, terms["includedUnits"] - sums["includedUnits"]))
        sums["includedUnits"] += included
        sums["billedUnits"] += rest - included
        sums["amount"] += (rest - included) * terms["unitPrice"]

    def answers(self) -> dict[str, Any]:
        charged = sum(each["amount"] for each in self.months.values())
        refunds = self.events("payment.refunded")
        total = 0
        for each in self.events("payment.succeeded"):
            back = sum(refund["amount"] for refund in refunds if refund["payment"] == each["payment"])
            total += each["amount"] - min(back, each["amount"])
        return {
            "statements": [self.months.get(month, no_usage(month)) for month in MONTHS],
            "credits": [
                {"key": each["key"], "units": each["units"], "left": self.left[each["key"]]} for each in self.credits
            ],
            "balance": {"charged": charged, "paid": total, "due": charged - total},
        }


def answers(project: Deployment, customer: str = "ada") -> dict[str, Any]:
    return {
        "statements": [project.query("billing:statement", customer=customer, month=month) for month in MONTHS],
        "credits": project.query("billing:credits", customer=customer),
        "balance": project.query("billing:balance", customer=customer),
    }


def random_facts(chance: random.Random) -> list[Fact]:
    """Few different times and keys that differ in case, so that ties are common."""
    times = [at(27, 2), MARCH - 1, MARCH, at(5), at(5, hour=1), at(20), APRIL - 1, APRIL, at(9, 4)]
    names = ["a", "B", "c", "D", "e1", "E1", "10", "9"]
    facts = [usage(key, chance.randint(0, 30), chance.choice(times)) for key in names]
    for number in range(3):
        start, until = sorted(chance.sample(times, 2))
        facts.append(credit(names[number], chance.randint(1, 25), start, until))
    facts.append(credit("z", 9, MARCH, APRIL))
    facts.append(credit("Z", 9, MARCH, APRIL))
    for number in range(4):
        terms = (chance.randint(1, 9), chance.choice([0, 10, 40]), chance.choice(times[:3]))
        facts.append(plan(f"plan{number}", *terms, version=(number * 3) % 4))
    for number in range(3):
        facts.append(paid(f"paid{number}", f"p{number}", chance.randint(50, 100)))
        facts.extend(refund(f"r{number}{part}", f"p{number}", chance.randint(0, 60)) for part in range(2))
    return [*facts, *map(void, chance.sample(names, 2))]


@pytest.mark.parametrize("seed", range(3))
def test_the_results_follow_from_the_facts_in_whatever_order_they_arrive(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    facts = random_facts(chance)
    arriving = [*facts, *chance.choices(facts, k=len(facts) // 3)]
    chance.shuffle(arriving)
    for number, fact in enumerate(arriving, 1):
        deliver(project, fact)
        if number % 9 == 0 or number == len(arriving):
            assert answers(project) == Truth(arriving[:number]).answers(), f"after {arriving[:number]}"


def test_usage_that_comes_late_takes_credits_away_from_usage_that_came_first(project: Deployment) -> None:
    facts = [plan("e", 10, 0, MARCH), credit("c", 5, MARCH, APRIL), usage("late", 5, at(9)), usage("early", 5, at(8))]
    deliver(project, *facts, plan("f", 100, 0, at(9)))
    assert project.query("billing:balance", customer="ada")["charged"] == 500
    deliver(project, void("early"))
    assert project.query("billing:balance", customer="ada")["charged"] == 0
    assert project.query("billing:credits", customer="ada") == [{"key": "c", "units": 5, "left": 0}]


def test_usage_can_be_voided_before_it_is_recorded(project: Deployment) -> None:
    deliver(project, plan("e", 10, 0, MARCH), void("x"), usage("x", 5, at(2)), usage("y", 1, at(2)))
    assert project.query("billing:statement", customer="ada", month="2026-03")["units"] == 1
    deliver(project, usage("x", 5, at(2)))
    assert project.query("billing:balance", customer="ada") == {"charged": 10, "paid": 0, "due": 10}


def test_the_months_are_those_of_utc(project: Deployment) -> None:
    deliver(project, plan("e", 1, 0, 0), usage("a", 1, MARCH - 1), usage("b", 10, MARCH), usage("c", 100, APRIL - 1))
    amounts = [project.query("billing:statement", customer="ada", month=month)["amount"] for month in MONTHS]
    assert amounts == [1, 110, 0]


def test_refunds_may_overtake_their_payment_and_never_exceed_it(project: Deployment) -> None:
    def money() -> int:
        return project.query("billing:balance", customer="ada")["paid"]

    deliver(project, refund("r1", "p", 70), refund("r2", "p", 70))
    assert money() == 0
    deliver(project, paid("e1", "q", 40), paid("e2", "p", 100), paid("e2", "p", 100))
    assert money() == 40
    deliver(project, refund("r3", "q", 15), refund("r3", "q", 15), refund("r4", "q", 15))
    assert money() == 10


def test_an_event_that_is_delivered_many_times_at_once_counts_once(project: Deployment) -> None:
    _, body = refund("r", "p", 10)
    deliver(project, paid("e", "p", 100))
    with project.lockstep(4):
        sent = at_once([partial(project.http.post, "/webhooks/payments", json=body)] * 4)
    assert [response.status for response in sent] == [200] * 4
    assert project.query("billing:balance", customer="ada") == {"charged": 0, "paid": 90, "due": -90}


def test_other_values_under_a_known_key_are_refused(project: Deployment) -> None:
    first, held = usage("k", 5, at(2)), credit("k", 7, at(1), at(3))
    deliver(project, plan("e", 1, 0, 0), first, held, first, held)
    before = answers(project)
    for units, when in ((6, at(2)), (5, at(3))):
        with project.fails(data={"code": "KEY_REUSED"}):
            deliver(project, usage("k", units, when))
    for units, start, until in ((8, at(1), at(3)), (7, at(2), at(3)), (7, at(1), at(4))):
        with project.fails(data={"code": "KEY_REUSED"}):
            deliver(project, credit("k", units, start, until))
    deliver(project, void("gone"), usage("gone", 3, at(2)))
    with project.fails(data={"code": "KEY_REUSED"}):
        deliver(project, usage("gone", 4, at(2)))
    assert answers(project) == before
    deliver(project, usage("k", 9, at(5), "ben"))
    assert project.query("billing:statement", customer="ben", month="2026-03")["units"] == 9


def test_a_closed_month_stays_as_it_was_and_what_comes_later_is_an_adjustment(project: Deployment) -> None:
    deliver(project, plan("e", 10, 0, 0), usage("a", 3, at(2)), usage("b", 4, at(2, 4)), usage("c", 2, at(2, 2)))
    closed = {**no_usage("2026-03"), "units": 3, "billedUnits": 3, "amount": 30, "closed": True}
    assert project.mutation("billing:closeMonth", customer="ada", month="2026-03") == closed
    for month in ("2026-04", "2026-02", "2026-01"):
        assert project.mutation("billing:closeMonth", customer="ada", month=month)["closed"]
    assert project.query("billing:adjustments", customer="ada") == []
    deliver(project, usage("late", 2, at(3)), void("b"), usage("d", 1, at(5, 1)), credit("c", 1, 0, at(1)))
    assert project.query("billing:statement", customer="ada", month="2026-03") == closed
    assert project.mutation("billing:closeMonth", customer="ada", month="2026-03") == closed
    assert project.query("billing:adjustments", customer="ada") == [
        {"month": "2026-03", "closedAmount": 30, "amount": 50},
        {"month": "2026-04", "closedAmount": 40, "amount": 0},
    ]
    assert project.query("billing:balance", customer="ada") == {"charged": 70, "paid": 0, "due": 70}
    assert not project.query("billing:statement", customer="ben", month="2026-03")["closed"]
    deliver(project, void("late"))
    assert [each["month"] for each in project.query("billing:adjustments", customer="ada")] == ["2026-04"]


BROKEN = [
    "nonsense",
    "[]",
    "null",
    '{"type": "plan.changed", "customer": "ada"}',
    '{"id": "x", "type": "payment.succeeded", "customer": "ada", "payment": "p"}',
    '{"id": "x", "type": "payment.succeeded", "customer": "ada", "payment": "p", "amount": "5"}',
    '{"id": "x", "type": "payment.succeeded", "customer": "ada", "payment": 7, "amount": 5}',
    '{"id": 7, "type": "payment.succeeded", "customer": "ada", "payment": "p", "amount": 5}',
    '{"id": "x", "type": "payment.refunded", "payment": "p", "amount": 5}',
    '{"id": "x", "type": "plan.changed", "customer": "ada", "unitPrice": 1, "includedUnits": 1, "effectiveAt": 0}',
    '{"id": "x", "type": "plan.changed", "customer": "ada", "unitPrice": 1, "effectiveAt": 0, "version": 1}',
    '{"id": "x", "type": "plan.changed", "customer": "ada", "includedUnits": 1, "effectiveAt": 0, "version": 1}',
    '{"id": "x", "type": "plan.changed", "customer": "ada", "unitPrice": 1, "includedUnits": 1, "version": 1}',
    '{"id": "x", "customer": "ada", "payment": "p", "amount": 5}',
]


def test_malformed_events_are_refused_and_unknown_ones_ignored(project: Deployment) -> None:
    for body in BROKEN:
        response = project.http.post("/webhooks/payments", body=body.encode())
        assert response.status == 400, body
    event = {"id": "u", "type": "customer.created", "customer": "ada", "name": "Ada"}
    assert project.http.post("/webhooks/payments", json=event).status == 200
    assert answers(project) == Truth([]).answers()
    deliver(project, ("event", {**paid("x", "p", 5)[1], "currency": "EUR"}))
    assert project.query("billing:balance", customer="ada")["paid"] == 5


def test_queries_read_nothing_of_other_customers(project: Deployment) -> None:
    for number in range(12):
        deliver(project, usage(f"{number}", 1, at(2), "ben"), void(f"{number}", "ben"))
        deliver(project, credit(f"{number}", 1, 0, 1, "ben"), paid(f"e{number}", f"p{number}", 1, "ben"))
    deliver(project, usage("x", 1, at(2)))
    for path in ("statement", "adjustments", "credits", "balance"):
        month = {"month": "2026-03"} if path == "statement" else {}
        with project.trace() as work:
            project.query(f"billing:{path}", customer="ada", **month)
        assert work.documents_read < 10, path


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    for name, (kind, arguments) in FUNCTIONS.items():
        call = project.query if kind == "query" else project.mutation
        for argument, value in arguments.items():
            wrong = {**arguments, argument: "1" if isinstance(value, int) else 1}
            for rejected in (wrong, {key: arguments[key] for key in arguments if key != argument}):
                with project.fails("ArgumentValidationError"):
                    call(name, rejected)
