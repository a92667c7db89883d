"""Documents with states: what a transition needs and gives is known to the compiler, and kept at run time."""

# ruff: noqa: E501 (snippets of TypeScript)

import contextlib
import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, TypeChecks, without

Document = dict[str, Any]

HEAD = """
import { defineSchema, defineTable, type DataModelFromSchemaDefinition } from "convex/server";
import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { defineMachine } from "./lib/machine";
import { orders, tickets } from "./machines";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type IsAny<T> = 0 extends 1 & T ? true : false;
type Order = Doc<"orders">;
type In<State extends Order["state"]> = Extract<Order, { state: State }>;
type Payment = { method: "card" | "transfer"; cents: number };
declare const ctx: MutationCtx;
declare const reading: QueryCtx;
declare const order: Order;
declare const draft: In<"draft">;
declare const placed: In<"placed">;
declare const paid: In<"paid">;
declare const shipped: In<"shipped">;
declare const cancelled: In<"cancelled">;
declare const returned: In<"returned">;
declare const unpaid: In<"draft" | "placed">;
declare const payment: Payment;
declare const ticket: Doc<"tickets">;
declare const assigned: Extract<Doc<"tickets">, { state: "assigned" }>;
declare const person: Id<"people">;
"""


def snippet(body: str) -> str:
    return HEAD + body + "\nexport {};\n"


def snippet_machine(
    changes: str = "", transitions: str = 'switchOn: { from: ["off"], to: "on" }', initial: str = "off"
) -> str:
    return snippet(
        f"""
const lamps = defineMachine({{
  table: "lamps", audit: "lampChanges",
  fields: {{ room: v.string() }},
  states: {{ off: {{}}, on: {{ watts: v.number() }}, broken: {{ since: v.optional(v.number()) }} }},
  initial: "{initial}",
  transitions: {{ {transitions} }},
}});
{changes}
"""
    )


CASES = """
  draft: (doc) => doc.items.length,
  placed: (doc) => doc.placedAt,
  paid: (doc) => doc.payment.method,
  shipped: (doc) => doc.tracking,
  returned: (doc) => doc.reason,
"""

COMPILES = {
    "documents have the fields of their state": snippet(
        """
const states: Same<Order["state"], "draft" | "placed" | "paid" | "shipped" | "returned" | "cancelled"> = true;
const id: Id<"orders"> = order._id;
const customer: string = order.customer;
const note: string | undefined = order.note;
if (order.state === "paid") { const cents: number = order.payment.cents; const at: number = order.placedAt; }
if (order.state === "cancelled") { const none: Same<typeof order.payment, Payment | undefined> = true; }
const whole: In<"returned"> = { _id: order._id, _creationTime: 1, state: "returned", customer: "a", payment, reason: "b" };
"""
    ),
    "the result of a transition is known": snippet(
        'const done = await orders.transition(ctx, placed, "pay", { payment });\n'
        'const state: "paid" = done.state; const cents: number = done.payment.cents; const at: number = done.placedAt;\n'
        'const same: Same<typeof done, In<"paid">> = true; const any: IsAny<typeof done.payment> = false;'
    ),
    "one transition after another": snippet(
        'const one = await orders.transition(ctx, draft, "place", { placedAt: 1 });\n'
        'const two = await orders.transition(ctx, one, "pay", { payment: { method: "card", cents: 1 } });\n'
        'const three = await orders.transition(ctx, two, "ship", { tracking: "x" });\n'
        'const four = await orders.transition(ctx, three, "takeBack", { reason: "x" });\n'
        'const state: "returned" = four.state;'
    ),
    "a document whose state is not known": snippet(
        'const done = await orders.transition(ctx, order, "pay", { payment });\nconst state: "paid" = done.state;'
    ),
    "a document that is in one of two states": snippet(
        'const done = await orders.transition(ctx, unpaid, "pay", { payment });\nconst state: "paid" = done.state;'
    ),
    "no data where none is needed": snippet(
        'await orders.transition(ctx, order, "cancel");\nawait orders.transition(ctx, draft, "edit");\n'
        'await tickets.transition(ctx, assigned, "release");\nawait orders.transition(ctx, paid, "cancel", {});'
    ),
    "more data than is needed": snippet(
        'await orders.transition(ctx, placed, "pay", { payment, items: ["a"], customer: "b", note: "c" });\n'
        'await orders.transition(ctx, paid, "cancel", { reason: "a", payment });\n'
        'await orders.transition(ctx, draft, "edit", { items: [] });'
    ),
    "data that may be missing": snippet(
        'const carrier = "x" as string | undefined;\nawait orders.transition(ctx, paid, "ship", { tracking: "x", carrier });'
    ),
    "what the known state has need not be passed": snippet(
        'await orders.transition(ctx, placed, "reopen");\nawait orders.transition(ctx, shipped, "refuse", { reason: "a" });\n'
        'await tickets.transition(ctx, assigned, "close", { closedAt: 1 });\nawait tickets.transition(ctx, assigned, "assign");'
    ),
    "what not every possible state has is passed": snippet(
        'await orders.transition(ctx, order, "reopen", { items: [] });\n'
        'await orders.transition(ctx, cancelled, "refuse", { reason: "a", payment });\n'
        'await tickets.transition(ctx, ticket, "close", { closedAt: 1, assignee: person });'
    ),
    "a question narrows a document": snippet(
        """
if (orders.can(order, "cancel")) {
  const state: Same<typeof order.state, "draft" | "placed" | "paid"> = true;
  const items: string[] = order.items;
} else {
  const state: Same<typeof order.state, "shipped" | "returned" | "cancelled"> = true;
}
if (orders.is(order, "paid", "shipped")) { const cents: number = order.payment.cents; }
else { const state: Same<typeof order.state, "draft" | "placed" | "returned" | "cancelled"> = true; }
"""
    ),
    "a question about what is partly known": snippet(
        'if (orders.can(unpaid, "pay")) { const at: number = unpaid.placedAt; }\n'
        'if (orders.is(unpaid, "draft")) { const state: "draft" = unpaid.state; } else { const at: number = unpaid.placedAt; }'
    ),
    "a case for each state": snippet(
        f"const result = orders.match(order, {{ {CASES} cancelled: (doc) => doc.reason }});\n"
        "const same: Same<typeof result, number | string | undefined> = true;"
    ),
    "a case for each state that is possible": snippet(
        "const result = orders.match(unpaid, { draft: (doc) => doc.items, placed: (doc) => doc.placedAt });\n"
        "const same: Same<typeof result, string[] | number> = true;"
    ),
    "a new document": snippet(
        'const one = await orders.create(ctx, { customer: "a", items: ["b"] });\nconst same: Same<typeof one, In<"draft">> = true;\n'
        'const two = await tickets.create(ctx, { title: "a" });\nconst state: "open" = two.state; const id: Id<"tickets"> = two._id;'
    ),
    "the history of a document": snippet(
        """
const entries = await orders.history(reading, order._id);
for (const entry of entries) {
  const document: Id<"orders"> = entry.document;
  const at: number = entry.at;
  if (entry.transition === "cancel") {
    const from: Same<typeof entry.from, "draft" | "placed" | "paid"> = true;
    const to: "cancelled" = entry.to;
  } else if (entry.transition === "create") {
    const from: null = entry.from;
    const to: "draft" = entry.to;
  } else if (entry.transition === "pay") {
    const from: "placed" = entry.from;
  }
}
const stored: Doc<"orderChanges">[] = entries;
const names: Same<Doc<"ticketChanges">["transition"], "create" | "assign" | "release" | "close"> = true;
"""
    ),
    "another machine": snippet_machine(
        """
const schema = defineSchema({ lamps: defineTable(lamps.validator).index("by_room", ["room"]) });
type Lamp = DataModelFromSchemaDefinition<typeof schema>["lamps"]["document"];
declare const lamp: Lamp;
const states: Same<Lamp["state"], "off" | "on" | "broken"> = true;
if (lamps.is(lamp, "on")) { const watts: number = lamp.watts; }
const watts: number | null = lamps.match(lamp, { off: () => null, on: (doc) => doc.watts, broken: (doc) => doc.since ?? null });
"""
    ),
}

REFUSED = {
    "a transition from another state": snippet('await orders.transition(ctx, draft, "pay", { payment });'),
    "a transition from none of two states": snippet('await orders.transition(ctx, unpaid, "ship", { tracking: "x" });'),
    "a transition from the state that was left": snippet(
        'const one = await orders.transition(ctx, draft, "place", { placedAt: 1 });\n'
        'const two = await orders.transition(ctx, one, "place", { placedAt: 1 });'
    ),
    "a transition that is not there": snippet('await orders.transition(ctx, order, "payy", { payment });'),
    "a transition of another machine": snippet('await orders.transition(ctx, order, "close", {});'),
    "a document of another machine": snippet('await orders.transition(ctx, ticket, "cancel");'),
    "a transition in a query": snippet('await orders.transition(reading, order, "cancel");'),
    "a transition without its data": snippet('await orders.transition(ctx, placed, "pay");'),
    "a transition with too little data": snippet('await orders.transition(ctx, cancelled, "refuse", { reason: "a" });'),
    "too little data for one of the possible states": snippet('await orders.transition(ctx, order, "reopen", {});'),
    "no data though one of the possible states needs some": snippet('await orders.transition(ctx, order, "reopen");'),
    "an optional field is not enough for a required one": snippet(
        'await orders.transition(ctx, order, "refuse", { reason: "a" });'
    ),
    "data of the wrong type": snippet(
        'await orders.transition(ctx, placed, "pay", { payment: { method: "cash", cents: 1 } });'
    ),
    "other data of the wrong type": snippet('await orders.transition(ctx, placed, "pay", { payment, customer: 1 });'),
    "data that the new state does not have": snippet(
        'await orders.transition(ctx, placed, "pay", { payment, tracking: "x" });'
    ),
    "data that only the old state has": snippet('await orders.transition(ctx, paid, "cancel", { items: [] });'),
    "the state as data": snippet('await orders.transition(ctx, placed, "pay", { payment, state: "paid" });'),
    "a field that the result no longer has": snippet(
        'const done = await orders.transition(ctx, paid, "cancel");\nconst items: string[] = done.items;'
    ),
    "an optional field of the result as a required one": snippet(
        'const done = await orders.transition(ctx, paid, "cancel");\nconst cents: number = done.payment.cents;'
    ),
    "a question about a transition that is not there": snippet('orders.can(order, "payy");'),
    "a field of one state after a question about several": snippet(
        'if (orders.can(order, "cancel")) { const at: number = order.placedAt; }'
    ),
    "a state that is not there": snippet('orders.is(order, "paidd");'),
    "a state that is not possible": snippet('orders.is(unpaid, "paid");'),
    "a missing case": snippet(f"orders.match(order, {{ {CASES} }});"),
    "a case that is not possible": snippet("orders.match(unpaid, { draft: () => 1, placed: () => 2, paid: () => 3 });"),
    "a case with a field of another state": snippet(
        "orders.match(unpaid, { draft: (doc) => doc.placedAt, placed: (doc) => doc.placedAt });"
    ),
    "a new document without a field": snippet('await orders.create(ctx, { customer: "a" });'),
    "a new document with a field of another state": snippet(
        'await orders.create(ctx, { customer: "a", items: ["b"], placedAt: 1 });'
    ),
    "the history of another table": snippet("await orders.history(reading, ticket._id);"),
    "an entry from a state that the transition does not leave": snippet(
        'for (const entry of await orders.history(reading, order._id)) if (entry.transition === "pay") { const from: "draft" = entry.from; }'
    ),
    "a document without what its state has": snippet(
        'const whole: In<"returned"> = { _id: order._id, _creationTime: 1, state: "returned", customer: "a", payment };'
    ),
    "an initial state that is not there": snippet_machine(initial="dark"),
    "a transition from a state that is not there": snippet_machine(
        transitions='switchOn: { from: ["dark"], to: "on" }'
    ),
    "a transition to a state that is not there": snippet_machine(
        transitions='switchOn: { from: ["off"], to: "bright" }'
    ),
    "an index on a field that is not there": snippet_machine(
        'const schema = defineSchema({ lamps: defineTable(lamps.validator).index("by_room", ["floor"]) });'
    ),
}

SNIPPETS = COMPILES | REFUSED


def errors_of(type_checks: TypeChecks, name: str) -> tuple[str, ...]:
    return type_checks.errors(SNIPPETS)[name]


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert errors_of(type_checks, name) == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert errors_of(type_checks, name) != ()


def create(project: Deployment, **fields: Any) -> str:
    created = project.mutation("orders:create", {"customer": "ada", "items": ["pen"]} | fields)
    identifier: str = created["_id"]
    return identifier


def call(project: Deployment, name: str, order: str, **args: Any) -> Document:
    """What it returns is what is stored."""
    returned: Document = project.mutation(f"orders:{name}", id=order, **args)
    assert returned == project.get(order)
    return without(returned)


def paid_order(project: Deployment, **fields: Any) -> str:
    order = create(project, **fields)
    call(project, "place", order, at=5)
    call(project, "pay", order, cents=100)
    return order


PAYMENT = {"method": "card", "cents": 100}


def test_documents_are_created_in_the_initial_state(project: Deployment) -> None:
    created = project.mutation("orders:create", customer="ada", items=["pen"], note="soon")
    assert created == project.get(created["_id"])
    assert without(created) == {"state": "draft", "customer": "ada", "items": ["pen"], "note": "soon"}
    assert without(project.query("orders:get", id=create(project))) == {
        "state": "draft",
        "customer": "ada",
        "items": ["pen"],
    }


def test_fields_are_carried_over_and_dropped(project: Deployment) -> None:
    order = create(project, note="soon")
    common = {"customer": "ada", "note": "soon"}
    items = {"items": ["pen"]}
    assert call(project, "place", order, at=5) == {"state": "placed", **common, **items, "placedAt": 5}
    assert call(project, "pay", order, cents=100) == {
        "state": "paid",
        **common,
        **items,
        "placedAt": 5,
        "payment": PAYMENT,
    }
    shipped = {"state": "shipped", **common, **items, "payment": PAYMENT, "tracking": "t", "carrier": "c"}
    assert call(project, "ship", order, tracking="t", carrier="c") == shipped
    returned = {"state": "returned", **common, "payment": PAYMENT, "carrier": "c", "reason": "broken"}
    assert call(project, "takeBack", order, reason="broken") == returned


def test_optional_fields_of_the_new_state_are_carried_over(project: Deployment) -> None:
    order = paid_order(project)
    assert call(project, "cancel", order) == {"state": "cancelled", "customer": "ada", "payment": PAYMENT}
    draft = create(project)
    assert call(project, "cancel", draft) == {"state": "cancelled", "customer": "ada"}
    assert call(project, "reopen", draft, items=["ink"]) == {"state": "draft", "customer": "ada", "items": ["ink"]}


def test_given_data_takes_the_place_of_what_was_there(project: Deployment) -> None:
    order = create(project, note="soon")
    changed = {"state": "draft", "customer": "ben", "items": ["pen"], "note": "late"}
    assert call(project, "edit", order, customer="ben", note="late") == changed
    assert call(project, "edit", order, items=[]) == changed | {"items": []}
    assert call(project, "edit", order) == changed | {"items": []}
    call(project, "place", order, at=1)
    assert call(project, "reopen", order, items=["ink"]) == changed | {"items": ["ink"]}


def test_data_that_is_undefined_is_not_given(project: Deployment) -> None:
    """`edit` passes on everything that it was not told as undefined."""
    order = create(project, note="soon")
    before = {"state": "draft", "customer": "ada", "items": ["pen"], "note": "soon"}
    assert call(project, "edit", order) == before
    assert call(project, "edit", order, items=["ink"]) == before | {"items": ["ink"]}


def test_illegal_transitions_are_refused(project: Deployment) -> None:
    order = create(project)
    before = project.documents("orders"), project.documents("orderChanges")
    for name, args in (
        ("pay", {"cents": 1}),
        ("ship", {"tracking": "t"}),
        ("takeBack", {"reason": "r"}),
        ("reopen", {"items": []}),
    ):
        with project.fails(data={"code": "ILLEGAL", "transition": name, "state": "draft"}):
            project.mutation(f"orders:{name}", id=order, **args)
    assert (project.documents("orders"), project.documents("orderChanges")) == before
    call(project, "cancel", order)
    with project.fails(data={"code": "ILLEGAL", "transition": "cancel", "state": "cancelled"}):
        project.mutation("orders:cancel", id=order)
    with project.fails(data={"code": "ILLEGAL", "transition": "edit", "state": "cancelled"}):
        project.mutation("orders:edit", id=order)


def test_what_counts_is_the_stored_document(project: Deployment) -> None:
    order = create(project)
    with project.fails(data={"code": "STALE", "expected": "draft", "actual": "placed"}):
        project.mutation("orders:cancelTooLate", id=order, meanwhile="placed")
    with project.fails(data={"code": "STALE", "expected": "draft", "actual": "cancelled"}):
        project.mutation("orders:cancelTooLate", id=order, meanwhile="cancelled")
    with project.fails(data={"code": "NOT_FOUND", "id": order}):
        project.mutation("orders:cancelTooLate", id=order, meanwhile="deleted")
    assert project.query("orders:get", id=order)["state"] == "draft"
    edited = project.mutation("orders:cancelTooLate", id=order, meanwhile="edited")
    assert without(edited) == {"state": "cancelled", "customer": "ada", "note": "edited"}


def test_several_transitions_in_one_transaction(project: Deployment) -> None:
    order = create(project)
    assert project.mutation("orders:checkOut", id=order, at=7, cents=50) == {"state": "paid", "cents": 50}
    stored = project.query("orders:get", id=order)
    assert (stored["state"], stored["placedAt"], stored["payment"]) == ("paid", 7, {"method": "transfer", "cents": 50})
    history = project.query("orders:history", id=order)
    assert [entry["transition"] for entry in history] == ["create", "place", "pay"]
    with project.fails(data={"code": "ILLEGAL", "transition": "place", "state": "paid"}):
        project.mutation("orders:checkOut", id=order, at=7, cents=50)


def test_all_transitions_are_recorded(project: Deployment) -> None:
    with project.stopped_clock():
        times = [project.now()]
        order = create(project)
        create(project)
        project.advance(minutes=1)
        times.append(project.now())
        call(project, "edit", order)
        project.advance(minutes=1)
        times.append(project.now())
        call(project, "cancel", order)
    history = project.query("orders:history", id=order)
    steps = [(entry["transition"], entry["from"], entry["to"]) for entry in history]
    assert steps == [("create", None, "draft"), ("edit", "draft", "draft"), ("cancel", "draft", "cancelled")]
    assert all(entry["document"] == order for entry in history)
    assert all(0 <= entry["at"] - time < 1000 for entry, time in zip(history, times, strict=True))
    stored = [row for row in project.documents("orderChanges") if row["document"] == order]
    assert without(stored) == history
    assert project.documents("ticketChanges") == []


def test_only_the_history_of_the_document_is_read(project: Deployment) -> None:
    order = create(project)
    for _ in range(20):
        call(project, "edit", create(project))
    with project.trace() as work:
        assert len(project.query("orders:history", id=order)) == 1
    assert work.documents_read <= 2


def test_questions_about_documents(project: Deployment) -> None:
    order = create(project)
    seen = []
    for name, args in (
        ("edit", {}),
        ("place", {"at": 1}),
        ("pay", {"cents": 100}),
        ("ship", {"tracking": "t"}),
        ("takeBack", {"reason": "r"}),
    ):
        call(project, name, order, **args)
        seen.append((project.query("orders:available", id=order), project.query("orders:describe", id=order)))
    assert seen == [
        (["edit", "place", "cancel"], "1 items, not paid"),
        (["pay", "cancel", "reopen"], "1 items, not paid"),
        (["ship", "cancel"], "paid 100"),
        (["takeBack", "refuse"], "shipped as t"),
        ([], "returned: r"),
    ]
    other = create(project)
    call(project, "cancel", other)
    assert project.query("orders:describe", id=other) == "cancelled: no reason"
    assert project.query("orders:available", id=other) == ["refuse", "reopen"]


def test_the_second_machine(project: Deployment) -> None:
    person = project.insert("people", name="Ada")
    ticket = project.mutation("tickets:open", title="t")
    assert without(ticket) == {"state": "open", "title": "t"}
    assert project.mutation("tickets:close", id=ticket["_id"], at=1) is None
    with project.fails(data={"code": "ILLEGAL", "transition": "release", "state": "open"}):
        project.mutation("tickets:release", id=ticket["_id"])
    project.mutation("tickets:assign", id=ticket["_id"], assignee=person)
    assert without(project.mutation("tickets:release", id=ticket["_id"])) == {"state": "open", "title": "t"}
    project.mutation("tickets:assign", id=ticket["_id"], assignee=person)
    closed = project.mutation("tickets:close", id=ticket["_id"], at=1)
    assert without(closed) == {"state": "closed", "title": "t", "assignee": person, "closedAt": 1}
    names = [row["transition"] for row in project.documents("ticketChanges")]
    assert names == ["create", "assign", "release", "assign", "close"]
    assert project.documents("orderChanges") == []


def test_the_validators_allow_what_the_definition_says_and_nothing_else(project: Deployment) -> None:
    order = create(project)
    base: Document = {"customer": "ada"}
    right: list[Document] = [
        {"state": "draft", "items": []},
        {"state": "placed", "items": [], "placedAt": 1, "note": "n"},
        {"state": "cancelled"},
        {"state": "cancelled", "payment": PAYMENT, "reason": "r"},
        {"state": "returned", "payment": PAYMENT, "reason": "r", "carrier": "c"},
    ]
    wrong: list[Document] = [
        {"state": "draft"},
        {"state": "lost", "items": []},
        {"state": "placed", "items": []},
        {"state": "draft", "items": [], "placedAt": 1},
        {"state": "returned", "payment": PAYMENT},
        {"state": "cancelled", "payment": {"method": "cash", "cents": 1}},
        {"state": "draft", "items": [], "customer": 1},
    ]
    for document in right:
        project.insert("orders", base | document)
    for document in wrong:
        assert refuses(project, "orders", base | document), f"the schema allows {document}"
    entry = {"document": order, "transition": "cancel", "from": "paid", "to": "cancelled", "at": 1}
    created = {"document": order, "transition": "create", "from": None, "to": "draft", "at": 1}
    for row in (entry, created, entry | {"from": "draft"}):
        project.insert("orderChanges", row)
    for change in (
        {"from": "shipped"},
        {"to": "paid"},
        {"transition": "pay"},
        {"transition": "x"},
        {"from": None},
        {"at": "x"},
        {"document": "x"},
        {"document": project.insert("people", name="Ada")},
    ):
        assert refuses(project, "orderChanges", entry | change), f"the schema allows {entry | change}"
    for name in entry:
        part = {key: value for key, value in entry.items() if key != name}
        assert refuses(project, "orderChanges", part), f"the schema allows {part}"
    assert refuses(project, "orderChanges", created | {"to": "placed"})


def refuses(project: Deployment, table: str, document: Document) -> bool:
    """Whether the schema does not let this document in, however that is reported."""
    before = len(project.documents(table))
    with contextlib.suppress(Exception):
        project.insert(table, document)
    return len(project.documents(table)) == before


@pytest.mark.parametrize("seed", range(4))
def test_random_walks(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    sources = {
        "edit": ["draft"],
        "place": ["draft"],
        "pay": ["placed"],
        "ship": ["paid"],
        "takeBack": ["shipped"],
        "cancel": ["draft", "placed", "paid"],
        "reopen": ["placed", "cancelled"],
    }
    targets = {
        "edit": "draft",
        "place": "placed",
        "pay": "paid",
        "ship": "shipped",
        "takeBack": "returned",
        "cancel": "cancelled",
        "reopen": "draft",
    }
    fields = {
        "draft": {"items"},
        "placed": {"items", "placedAt"},
        "paid": {"items", "placedAt", "payment"},
        "shipped": {"items", "payment", "tracking", "carrier"},
        "returned": {"payment", "carrier", "reason"},
        "cancelled": {"payment", "reason"},
    }
    order = create(project)
    model: Document = {"state": "draft", "customer": "ada", "items": ["pen"]}
    steps: list[tuple[str, str | None, str]] = [("create", None, "draft")]
    for step in range(30):
        name = chance.choice(list(sources))
        options: dict[str, Document] = {
            "edit": chance.choice([{"customer": f"c{step}"}, {"note": f"n{step}"}, {"items": [str(step)]}, {}]),
            "place": {"at": step},
            "pay": {"cents": step},
            "ship": {"tracking": f"t{step}", **({"carrier": "c"} if chance.random() < 0.5 else {})},
            "takeBack": {"reason": f"r{step}"},
            "cancel": {},
            "reopen": {"items": [f"i{step}"]},
        }
        args = options[name]
        if model["state"] not in sources[name]:
            with project.fails(data={"code": "ILLEGAL", "transition": name, "state": model["state"]}):
                project.mutation(f"orders:{name}", id=order, **args)
            continue
        data = {"placedAt": args["at"]} if name == "place" else args
        data = {"payment": {"method": "card", "cents": args["cents"]}} if name == "pay" else data
        steps.append((name, model["state"], targets[name]))
        kept = {"customer", "note"} | fields[targets[name]]
        model = {key: value for key, value in (model | data).items() if key in kept} | {"state": targets[name]}
        assert call(project, name, order, **args) == model, f"after {steps}"
        if model["state"] == "returned":
            order, model = create(project), {"state": "draft", "customer": "ada", "items": ["pen"]}
            steps = [("create", None, "draft")]
        history = project.query("orders:history", id=order)
        assert [(entry["transition"], entry["from"], entry["to"]) for entry in history] == steps
