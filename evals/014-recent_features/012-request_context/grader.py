"""Notes from branches that run at the same time, each with the label of its own branch."""

import random
from collections import defaultdict
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, at_once

Dish = tuple[int, list[str]]
MENU: dict[str, Dish] = {
    "water": (0, []),
    "stock": (20, ["water", "bones"]),
    "bones": (1, []),
    "soup": (10, ["stock", "herbs"]),
    "herbs": (2, []),
    "pie": (30, ["dough", "herbs", "filling"]),
    "dough": (5, ["water"]),
    "filling": (7, ["stock"]),
    "odd": (3, ["water", "phlogiston", "herbs"]),
}
Notes = dict[str | None, list[str]]


def learn(project: Deployment) -> None:
    for name, (minutes, parts) in MENU.items():
        project.mutation("kitchen:learn", name=name, minutes=minutes, parts=parts)


def by_label(notes: list[dict[str, Any]]) -> Notes:
    """Texts by label, in their order. Labels must be different for that."""
    found: Notes = defaultdict(list)
    for each in notes:
        assert each.keys() == {"label", "text"}
        found[each["label"]].append(each["text"])
    return dict(found)


class Failed(Exception):
    pass


def expect_dish(name: str, label: str, notes: Notes) -> int:
    mine = notes.setdefault(label, [])
    mine.append("begun")
    if name not in MENU:
        mine.append("unknown")
        raise Failed
    minutes, parts = MENU[name]
    for part in parts:
        minutes += expect_dish(part, f"{label}/{part}", notes)
        mine.append(f"has {part}")
    mine.append(f"{minutes} minutes")
    return minutes


def expect_order(table: str, dishes: list[str], notes: Notes) -> int | None:
    mine = notes.setdefault(table, [])
    mine.append(f"{len(dishes)} dishes")
    times: list[int] = []
    has_failed = False
    for dish in dishes:
        try:
            times.append(expect_dish(dish, f"{table}/{dish}", notes))
        except Failed:
            has_failed = True
    if has_failed:
        return None
    mine.append("served")
    return max(times, default=0)


def any_orders(chance: random.Random, choices: list[str]) -> list[dict[str, Any]]:
    return [
        {"table": f"table {number}", "dishes": chance.sample(choices, chance.randrange(5))}
        for number in range(chance.randrange(2, 7))
    ]


@pytest.mark.parametrize("seed", range(3))
def test_every_note_has_the_label_of_its_branch(project: Deployment, seed: int) -> None:
    learn(project)
    chance = random.Random(seed)
    for _ in range(3):
        orders = any_orders(chance, [name for name in MENU if name != "odd"])
        notes: Notes = {None: ["open", "closed"]}
        result = [expect_order(order["table"], order["dishes"], notes) for order in orders]
        found = project.query("kitchen:estimate", orders=orders)
        assert found.keys() == {"result", "notes"}
        assert found["result"] == result
        assert by_label(found["notes"]) == notes
        written = [each["text"] for each in found["notes"]]
        assert (written[0], written[-1]) == ("open", "closed")


def test_branches_run_at_the_same_time(project: Deployment) -> None:
    learn(project)
    orders = [{"table": table, "dishes": ["soup", "pie"]} for table in ("a", "b", "c")]
    notes = project.query("kitchen:estimate", orders=orders)["notes"]
    begun = [each["label"] for each in notes[:10]]
    assert begun == [None, "a", "a/soup", "a/pie", "b", "b/soup", "b/pie", "c", "c/soup", "c/pie"]


def test_a_failure_leaves_the_labels_of_others_alone(project: Deployment) -> None:
    learn(project)
    orders: list[dict[str, Any]] = [
        {"table": "a", "dishes": ["soup"]},
        {"table": "b", "dishes": ["odd"]},
        {"table": "c", "dishes": ["phlogiston"]},
        {"table": "d", "dishes": ["pie", "water"]},
    ]
    notes: Notes = {None: ["open", "closed"]}
    result = [expect_order(order["table"], order["dishes"], notes) for order in orders]
    assert (result[1], result[2]) == (None, None)
    found = project.query("kitchen:estimate", orders=orders)
    assert found["result"] == result
    assert by_label(found["notes"]) == notes


@pytest.mark.parametrize("seed", range(2))
def test_records_do_not_mix(project: Deployment, seed: int) -> None:
    learn(project)
    orders = any_orders(random.Random(seed), ["soup", "pie", "water", "dough"])
    found = project.query("kitchen:separately", orders=orders)
    assert by_label(found["notes"]) == {None: ["before", "after"]}
    assert len(found["result"]) == len(orders)
    for order, each in zip(orders, found["result"], strict=True):
        notes: Notes = {}
        minutes = expect_order(order["table"], order["dishes"], notes)
        assert (each["result"], by_label(each["notes"])) == (minutes, notes)


def test_a_record_fails_as_its_work_fails(project: Deployment) -> None:
    learn(project)
    orders = [{"table": "a", "dishes": ["soup"]}, {"table": "b", "dishes": ["phlogiston"]}]
    with project.fails("Nobody knows phlogiston"):
        project.query("kitchen:separately", orders=orders)


def test_a_kept_callback_has_the_label_and_the_record_of_its_origin(project: Deployment) -> None:
    learn(project)
    lists = [["soup", "gold"], ["pie"], [], ["water", "silver", "stock"]]
    found = project.query("kitchen:audit", lists=lists)
    assert found["result"]["count"] == 6
    assert by_label(found["result"]["report"]) == {"report": ["now", "done"]}
    notes: Notes = {}
    for number, names in enumerate(lists):
        notes |= {f"list {number}/{name}": ["known" if name in MENU else "missing"] for name in names}
    assert by_label(found["notes"]) == notes


def test_mutations_keep_a_journal_too(project: Deployment) -> None:
    tables: dict[str, list[str]] = {"a": ["soup", "pie"], "b": ["water"], "c": []}
    orders = [{"table": table, "dishes": dishes} for table, dishes in tables.items()]
    found = project.mutation("kitchen:order", orders=orders)
    counted = found["result"]
    assert sorted(row["dish"] for row in project.documents("tickets")) == ["pie", "soup", "water"]
    notes = by_label(found["notes"])
    assert notes.pop(None) == ["3 tables"]
    for (table, dishes), count in zip(tables.items(), counted, strict=True):
        assert notes.pop(table) == [*dishes, "ordered"]
        tickets = notes.pop(f"{table}/count", [])
        assert len(tickets) == count
        assert set(tickets) <= {"ticket for soup", "ticket for pie", "ticket for water"}
    assert notes == {}
    again = by_label(project.mutation("kitchen:order", orders=[{"table": "d", "dishes": ["pie"]}])["notes"])
    assert again.keys() == {None, "d", "d/count"}
    assert sorted(again["d/count"]) == ["ticket for pie", "ticket for pie", "ticket for soup", "ticket for water"]


def test_calls_at_the_same_time_do_not_mix(project: Deployment) -> None:
    with project.clients(4) as clients:
        calls = [
            partial(client.mutation, "kitchen:order", orders=[{"table": f"t{number}", "dishes": ["soup", "pie"]}])
            for number, client in enumerate(clients)
        ]
        for number, found in enumerate(at_once(calls)):
            assert not isinstance(found, CallFailed)
            notes = by_label(found["notes"])
            assert notes.keys() == {None, f"t{number}", f"t{number}/count"}
            assert notes[f"t{number}"] == ["soup", "pie", "ordered"]


def test_clients_can_call_the_given_functions_only(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    queries = dict.fromkeys(("kitchen:estimate", "kitchen:separately", "kitchen:audit"), "query")
    assert public == queries | {"kitchen:learn": "mutation", "kitchen:order": "mutation"}
