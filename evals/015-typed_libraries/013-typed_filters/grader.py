"""Filters as data: what they find, what is refused as an argument, and what the compiler knows about them."""

# ruff: noqa: E501 (snippets of TypeScript)

import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Int64, TypeChecks

Data = dict[str, Any]

HEAD = """
import type { FunctionArgs } from "convex/server";
import { api } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { filters, filterValidator, find, type Filter } from "./lib/filters";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? (0 extends 1 & A ? false : true) : false) : false;
type Event<Kind extends Doc<"events">["kind"]> = Extract<Doc<"events">, { kind: Kind }>;
declare const ctx: QueryCtx;
declare const received: Filter<"events">;
declare const person: Id<"people">;
declare const isLate: boolean;
const p = filters("people");
const f = filters("events");
const d = filters("drafts");
export async function use() {
%s
}
"""


def finds(table: str, made: str, expected: str) -> str:
    return f"""
  const found = await find(ctx, "{table}", {made});
  const same: Same<(typeof found)[number], {expected}> = true;
  return same;"""


def uses(table: str, made: str, use: str) -> str:
    return f"""
  const [found] = await find(ctx, "{table}", {made});
  return found?.{use};"""


COMPILES = {
    "comparisons with fitting values": """
  const role: "admin" | "guest" = isLate ? "admin" : "guest";
  return [p.eq("name", "a"), p.eq("role", "admin"), p.eq("role", role), p.eq("isActive", true), p.ne("age", 5), p.eq("visits", 3n),
    p.eq("boss", person), f.eq("code", "a"), f.eq("code", 1), d.eq("score", null), d.ne("score", 4), d.eq("version", 2)];""",
    "nested paths": """
  return [p.eq("address.city", "a"), p.ne("address.zip", "b"), p.gt("address.geo.lat", 5), f.lt("amount.value", 5),
    f.oneOf("amount.currency", ["EUR", "USD"]), p.missing("address.geo.lat"), p.missing("address.geo")];""",
    "system fields": """
  return [p.eq("_id", person), p.oneOf("_id", [person]), p.gt("_creationTime", 5), f.between("_creationTime", 1, 2)];""",
    "ordered comparisons": """
  return [p.lt("name", "a"), p.gte("age", 5), p.lte("visits", 5n), f.gt("code", 5), f.gt("code", "a"), d.lt("score", 4),
    f.between("code", 1, 2), f.between("code", "a", "b"), p.between("visits", 1n, 2n), p.between("age", 1, 2), d.between("score", 0.5, 1)];""",
    "some of several values": """
  const roles = ["admin", "guest"] as const;
  const names: string[] = [];
  const readonlyNames: readonly string[] = names;
  return [p.oneOf("role", roles), p.oneOf("role", ["member"]), p.oneOf("name", names), p.oneOf("name", readonlyNames), p.oneOf("age", []), f.oneOf("code", [1, "a"])];""",
    "arrays": """return [p.has("tags", "a"), d.has("body", "b")];""",
    "fields that can be missing": """
  return [p.missing("age"), p.missing("address"), p.missing("address.city"), f.missing("from"), f.missing("amount.value"), f.missing("person"), d.missing("score")];""",
    "made filters are of the type of all": """
  const some: Filter<"people">[] = [p.eq("role", "admin"), p.and(p.has("tags", "a"), p.not(p.missing("age"))), p.or()];
  const none: Filter<"events"> = f.and(f.eq("kind", "paid"), received);
  return [p.and(...some), none];""",
    "filters as literals": """
  const one: Filter<"people"> = { op: "eq", field: "role", value: "admin" };
  const two: Filter<"people"> = { op: "and", filters: [one, { op: "not", filter: { op: "missing", field: "age" } }, { op: "oneOf", field: "age", values: [1, 2] }] };
  const three: Filter<"events"> = { op: "between", field: "code", low: 1, high: 2 };
  const four: Filter<"people"> = { op: "has", field: "tags", value: "a" };
  const five: Filter<"drafts"> = { op: "gt", field: "score", value: 1 };
  return [two, three, four, five];""",
    "filters as arguments": """
  const args: FunctionArgs<typeof api.search.people> = { filter: p.and(p.eq("role", "admin"), p.gt("age", 3)) };
  const literal: FunctionArgs<typeof api.search.events> = { filter: { op: "eq", field: "kind", value: "paid" } };
  const back: Filter<"people"> = args.filter;
  return [await ctx.runQuery(api.search.people, { filter: p.or(p.lt("name", "b"), back) }), literal];""",
    "validators in other functions": """
  const validator = filterValidator("drafts");
  const same: Same<(typeof validator)["type"], Filter<"drafts">> = true;
  return same;""",
    "documents without members": finds("people", 'p.and(p.eq("role", "admin"), p.has("tags", "a"))', 'Doc<"people">'),
    "mutations find, too": """
  const found = (ctx: MutationCtx) => find(ctx, "events", f.eq("kind", "joined"));
  return found;""",
    "one member by its kind": finds("events", 'f.eq("kind", "paid")', 'Event<"paid">'),
    "one member by a number": finds("drafts", 'd.eq("version", 1)', 'Extract<Doc<"drafts">, { version: 1 }>'),
    "one member by a nested field": finds("events", 'f.eq("amount.currency", "EUR")', 'Event<"paid">'),
    "one member by null": finds("drafts", 'd.eq("score", null)', 'Extract<Doc<"drafts">, { version: 2 }>'),
    "two members by a field that they share": finds("events", 'f.eq("person", person)', 'Event<"joined" | "renamed">'),
    "two members by their kinds": finds("events", 'f.oneOf("kind", ["paid", "renamed"])', 'Event<"paid" | "renamed">'),
    "members by a value of a union type": finds(
        "events", 'f.eq("kind", isLate ? "paid" : "joined")', 'Event<"paid" | "joined">'
    ),
    "and with others": finds(
        "events", 'f.and(f.gt("at", 4), f.eq("kind", "paid"), f.not(f.eq("code", 3)))', 'Event<"paid">'
    ),
    "and of two that leave different members": finds(
        "events", 'f.and(f.eq("person", person), f.oneOf("kind", ["paid", "renamed"]))', 'Event<"renamed">'
    ),
    "and with a filter from outside": finds("events", 'f.and(f.eq("kind", "paid"), received)', 'Event<"paid">'),
    "or of two": finds("events", 'f.or(f.eq("kind", "paid"), f.eq("kind", "joined"))', 'Event<"paid" | "joined">'),
    "nested": finds(
        "events",
        'f.and(f.or(f.and(f.eq("kind", "renamed"), f.lt("at", 3)), f.eq("kind", "joined")), f.or(f.eq("kind", "paid"), f.eq("kind", "joined")))',
        'Event<"joined">',
    ),
    "either of two": finds(
        "events", 'isLate ? f.eq("kind", "paid") : f.eq("kind", "joined")', 'Event<"paid" | "joined">'
    ),
    "in a variable": """
  const paid = f.and(f.eq("kind", "paid"), f.between("at", 1, 2));
  const [found] = await find(ctx, "events", paid);
  return found?.amount.value.toFixed();""",
    "all members": finds("events", "received", 'Doc<"events">'),
}
NARROWING = {
    "ne leaves all members": uses("events", 'f.ne("kind", "paid")', "amount"),
    "not leaves all members": uses("events", 'f.not(f.eq("kind", "paid"))', "amount"),
    "not inside and leaves all members": uses("events", 'f.and(f.not(f.eq("kind", "paid")), f.gt("at", 1))', "amount"),
    "not of and leaves all members": uses("events", 'f.not(f.and(f.eq("kind", "paid"), f.gt("at", 1)))', "amount"),
    "or with another leaves all members": uses("events", 'f.or(f.eq("kind", "paid"), f.gt("at", 4))', "amount"),
    "or with a filter from outside leaves all members": uses(
        "events", 'f.or(f.eq("kind", "paid"), received)', "amount"
    ),
    "a shared field leaves two members": uses("events", 'f.eq("person", person)', "from"),
    "two kinds leave two members": uses("events", 'f.oneOf("kind", ["paid", "joined"])', "amount"),
    "either of two leaves two members": uses(
        "events", 'isLate ? f.eq("kind", "paid") : f.eq("kind", "joined")', "amount"
    ),
    "a filter from outside leaves all members": uses("events", "received", "amount"),
    "a member that is gone": uses("events", 'f.eq("kind", "joined")', "amount"),
    "a list in a document without it": uses("drafts", 'd.eq("version", 1)', "body"),
}
REFUSED = {
    "a field that is not there": 'return p.eq("nam", "a");',
    "a nested field that is not there": 'return p.eq("address.street", "a");',
    "a field of another table": 'return p.eq("kind", "paid");',
    "a table that is not there": 'return filters("person");',
    "a value of another type": 'return p.eq("name", 5);',
    "a literal that the field cannot have": 'return p.eq("role", "owner");',
    "one of several values of another type": 'return p.oneOf("role", ["admin", "owner"]);',
    "a number for a bigint": 'return p.lte("visits", 5);',
    "a bigint for a number": 'return p.gte("age", 5n);',
    "a string for an ID": 'return p.eq("boss", "a");',
    "undefined as a value": 'return p.eq("age", undefined);',
    "a nested value of another type": 'return p.gt("address.geo.lat", "5");',
    "equality of an object": 'return p.eq("address.geo", { lat: 1, lng: 2 });',
    "equality of an array": 'return p.eq("tags", ["a"]);',
    "the order of booleans": 'return p.lt("isActive", true);',
    "the order of IDs": 'return p.gt("boss", person);',
    "the order of null": 'return d.lt("score", null);',
    "bounds of two kinds": 'return f.between("code", 1, "b");',
    "bounds of two kinds, the other way": 'return f.between("code", "a", 2);',
    "has of a string": 'return p.has("name", "a");',
    "has of a value of another type": 'return p.has("tags", 5);',
    "missing of a field that is always there": 'return p.missing("name");',
    "missing of a field that all members have": 'return f.missing("at");',
    "and of two tables": 'return p.and(p.eq("role", "admin"), f.eq("kind", "paid"));',
    "not of another table": 'return p.not(f.eq("kind", "paid"));',
    "find with a filter of another table": 'return find(ctx, "people", f.eq("kind", "paid"));',
    "find with a received filter of another table": 'return find(ctx, "people", received);',
    "an argument of another table": 'return ctx.runQuery(api.search.people, { filter: f.eq("kind", "paid") });',
    "a filter of another table as the type of all": 'const one: Filter<"people"> = f.eq("kind", "paid");\n  return one;',
    "a literal filter with a wrong value": 'const one: Filter<"people"> = { op: "eq", field: "role", value: "owner" };\n  return one;',
    "a literal filter with a value of another field": 'const one: Filter<"people"> = { op: "eq", field: "age", value: "admin" };\n  return one;',
    "a literal filter with a wrong kind": 'const one: Filter<"people"> = { op: "lt", field: "isActive", value: true };\n  return one;',
    "a literal filter with bounds of two kinds": 'const one: Filter<"events"> = { op: "between", field: "code", low: 1, high: "b" };\n  return one;',
    "a wrong literal inside another": 'const one: Filter<"people"> = { op: "and", filters: [{ op: "not", filter: { op: "missing", field: "name" } }] };\n  return one;',
    "a wrong literal as an argument": 'return ctx.runQuery(api.search.events, { filter: { op: "eq", field: "kind", value: "left" } });',
} | NARROWING
COMPILES = {name: HEAD % body for name, body in COMPILES.items()}
REFUSED = {name: HEAD % f"  {body}" for name, body in REFUSED.items()}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES | REFUSED)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES | REFUSED)[name] != ()


def person(name: str, **fields: Any) -> Data:
    return {"name": name, "role": "member", "isActive": True, "visits": Int64(0), "tags": []} | fields


def place(city: str, lat: float = 0, **fields: Any) -> Data:
    return {"city": city, "geo": {"lat": lat, "lng": 1}} | fields


def names(project: Deployment, filter: Data) -> str:
    found: list[Data] = project.query("search:people", filter=filter)
    return "".join(each["name"] for each in found)


def seed_people(project: Deployment) -> list[str]:
    ada = project.insert(
        "people", person("a", role="admin", age=40, visits=Int64(12), tags=["x", "y"], address=place("Rome", 5))
    )
    others = [
        person("b", role="guest", age=30, isActive=False, boss=ada, address=place("Oslo", -3, zip="7")),
        person("c", visits=Int64(10), tags=["y"], boss=ada),
        person("d", age=30, address=place("Rome", 8)),
        person("e", role="admin", visits=Int64(9), tags=["x"]),
    ]
    return [ada, *(project.insert("people", each) for each in others)]


def eq(field: str, value: Any) -> Data:
    return {"op": "eq", "field": field, "value": value}


def test_comparisons(project: Deployment) -> None:
    ada, *_ = ids = seed_people(project)
    assert names(project, eq("role", "member")) == "cd"
    assert names(project, {"op": "ne", "field": "age", "value": 30}) == "ace"
    assert names(project, eq("visits", Int64(10))) == "c"
    assert names(project, eq("isActive", False)) == "b"
    assert names(project, eq("boss", ada)) == "bc"
    assert names(project, {"op": "ne", "field": "boss", "value": ada}) == "ade"
    assert names(project, {"op": "oneOf", "field": "role", "values": ["guest", "admin"]}) == "abe"
    assert names(project, {"op": "oneOf", "field": "role", "values": []}) == ""
    assert names(project, {"op": "oneOf", "field": "age", "values": [30, 31]}) == "bd"
    assert names(project, {"op": "has", "field": "tags", "value": "y"}) == "ac"
    assert names(project, {"op": "missing", "field": "age"}) == "ce"
    assert names(project, {"op": "missing", "field": "address.zip"}) == "acde"
    assert names(project, {"op": "missing", "field": "address"}) == "ce"
    assert names(project, eq("_id", ids[2])) == "c"


@pytest.mark.parametrize(
    "op, field, value, expected",
    [
        ("lt", "age", 40, "bd"),
        ("lte", "age", 40, "abd"),
        ("gt", "age", 30, "a"),
        ("gte", "age", 30, "abd"),
        ("lt", "visits", Int64(10), "bde"),
        ("gte", "visits", Int64(10), "ac"),
        ("gt", "name", "c", "de"),
        ("lte", "address.city", "Oslo", "b"),
        ("gt", "address.geo.lat", 5, "d"),
        ("lt", "_creationTime", 1, ""),
        ("gt", "_creationTime", 1, "abcde"),
    ],
)
def test_order(project: Deployment, op: str, field: str, value: Any, expected: str) -> None:
    seed_people(project)
    assert names(project, {"op": op, "field": field, "value": value}) == expected


def test_between_includes_both_bounds(project: Deployment) -> None:
    seed_people(project)
    between = {"op": "between", "field": "visits", "low": Int64(9), "high": Int64(10)}
    assert names(project, between) == "ce"
    assert names(project, between | {"high": Int64(8)}) == ""
    assert names(project, {"op": "between", "field": "age", "low": 30, "high": 40}) == "abd"


def test_combinations(project: Deployment) -> None:
    seed_people(project)
    admins, rome = eq("role", "admin"), eq("address.city", "Rome")
    assert names(project, {"op": "and", "filters": [admins, rome]}) == "a"
    assert names(project, {"op": "or", "filters": [admins, rome]}) == "ade"
    assert names(project, {"op": "not", "filter": rome}) == "bce"
    assert names(project, {"op": "not", "filter": {"op": "or", "filters": [admins, rome]}}) == "bc"
    assert names(project, {"op": "and", "filters": [rome, {"op": "not", "filter": admins}]}) == "d"
    assert names(project, {"op": "and", "filters": []}) == "abcde"
    assert names(project, {"op": "or", "filters": []}) == ""


def seed_events(project: Deployment, who: str) -> None:
    paid = {"kind": "paid", "at": 3, "code": 7, "amount": {"value": 10, "currency": "EUR"}}
    for event in (
        {"kind": "renamed", "at": 9, "person": who, "from": "b", "to": "c"},
        {"kind": "joined", "at": 1, "person": who},
        paid | {"at": 8},
        {"kind": "renamed", "at": 2, "person": who, "from": "a", "to": "b"},
        paid | {"code": "7", "amount": {"value": 5, "currency": "USD"}},
        paid | {"code": "9", "amount": {"value": 1, "currency": "EUR"}},
    ):
        project.insert("events", event)


def times(project: Deployment, filter: Data) -> list[int]:
    return [each["at"] for each in project.query("search:events", filter=filter)]


def test_members_of_unions(project: Deployment) -> None:
    who = project.insert("people", person("a"))
    seed_events(project, who)
    assert times(project, eq("kind", "renamed")) == [9, 2]
    assert times(project, eq("person", who)) == [9, 1, 2]
    assert times(project, eq("amount.currency", "EUR")) == [8, 3]
    assert times(project, {"op": "missing", "field": "person"}) == [8, 3, 3]
    assert times(project, eq("code", "7")) == [3]
    assert times(project, {"op": "gte", "field": "code", "value": 7}) == [8]
    assert times(project, {"op": "gte", "field": "code", "value": "7"}) == [3, 3]
    assert times(project, {"op": "between", "field": "code", "low": "8", "high": "99"}) == [3]
    drafts = [{"version": 1, "text": "a"}] + [
        {"version": 2, "body": [str(score)], "score": score} for score in (None, 0, 2)
    ]
    for draft in drafts:
        project.insert("drafts", draft)

    def scores(filter: Data) -> list[Any]:
        return [each.get("score", "-") for each in project.query("search:drafts", filter=filter)]

    assert scores(eq("score", None)) == [None]
    assert scores({"op": "lt", "field": "score", "value": 1}) == [0]
    assert scores({"op": "ne", "field": "score", "value": 0}) == ["-", None, 2]
    assert scores(eq("version", 2)) == [None, 0, 2]
    assert scores({"op": "has", "field": "body", "value": "2"}) == [2]


def test_filters_made_by_functions(project: Deployment) -> None:
    ada, *_ = seed_people(project)
    seed_events(project, ada)
    assert project.query("search:euros", {"from": 1, "to": 8}) == 11
    assert project.query("search:euros", {"from": 4, "to": 9}) == 10
    assert project.query("search:euros", {"from": 1, "to": 8, "also": eq("code", "9")}) == 1
    assert project.action("search:staff", boss=None) == ["a", "c", "d", "e"]
    assert project.action("search:staff", boss=ada) == ["a", "c"]
    assert project.mutation("search:forgetNames", person=ada) == ["b > c", "a > b"]
    assert [each["kind"] for each in project.documents("events")] == ["joined", "paid", "paid", "paid"]


def test_only_documents_with_the_first_value_are_read(project: Deployment) -> None:
    who = project.insert("people", person("boss", role="admin"))
    project.insert_many("people", [person(str(number), role="guest") for number in range(60)])
    project.insert_many("people", [person("r", role="admin", address=place("Rome")) for _ in range(3)])
    project.insert_many("events", [{"kind": "joined", "at": number, "person": who} for number in range(60)])
    amount = {"value": 1, "currency": "USD"}
    project.insert_many("events", [{"kind": "paid", "at": 5, "code": number, "amount": amount} for number in range(4)])
    later = {"op": "gt", "field": "name", "value": "a"}
    paid = eq("kind", "paid")
    code = {"op": "gt", "field": "code", "value": 1}
    cases: list[tuple[str, Data, int, int]] = [
        ("people", eq("role", "admin"), 4, 4),
        ("people", {"op": "and", "filters": [eq("role", "admin"), later]}, 4, 4),
        ("people", {"op": "and", "filters": [eq("address.city", "Rome"), eq("role", "guest")]}, 0, 3),
        ("events", paid, 4, 4),
        ("events", {"op": "and", "filters": [{"op": "and", "filters": [paid, code]}, eq("at", 5)]}, 2, 4),
        ("events", eq("amount.currency", "USD"), 4, 4),
        ("events", eq("amount.currency", "EUR"), 0, 0),
    ]
    for table, filter, found, read in cases:
        with project.trace() as work:
            assert len(project.query(f"search:{table}", filter=filter)) == found, filter
        assert work.documents_read <= read, filter
    assert len(project.query("search:events", filter={"op": "or", "filters": [paid, eq("at", 7)]})) == 5
    assert len(project.query("search:events", filter={"op": "not", "filter": paid})) == 60


def test_the_oldest_come_first_whatever_the_index(project: Deployment) -> None:
    for name in "cab":
        project.insert("people", person(name, role="admin"))
    assert names(project, eq("role", "admin")) == "cab"
    assert (
        names(project, {"op": "and", "filters": [eq("role", "admin"), {"op": "gt", "field": "name", "value": "a"}]})
        == "cb"
    )


WRONG: dict[str, list[Any]] = {
    "people": [
        "a",
        {},
        {"op": "equal", "field": "name", "value": "a"},
        eq("nam", "a"),
        eq("kind", "paid"),
        eq("name", 5),
        eq("role", "owner"),
        eq("age", "5"),
        eq("age", None),
        eq("visits", 5),
        eq("boss", "a"),
        eq("address.street", "a"),
        eq("address.geo", {"lat": 1, "lng": 2}),
        eq("tags", ["a"]),
        eq("name", "a") | {"table": "people"},
        {"op": "eq", "field": "name"},
        {"op": "eq", "field": "name", "values": ["a"]},
        {"op": "lt", "field": "isActive", "value": True},
        {"op": "gt", "field": "boss", "value": "a"},
        {"op": "gt", "field": "address.geo.lat", "value": "a"},
        {"op": "gt", "field": "tags", "value": "a"},
        {"op": "oneOf", "field": "role", "values": ["admin", "owner"]},
        {"op": "oneOf", "field": "role", "values": "admin"},
        {"op": "between", "field": "age", "low": 1},
        {"op": "between", "field": "age", "low": 1, "high": "a"},
        {"op": "has", "field": "name", "value": "a"},
        {"op": "has", "field": "tags", "value": 5},
        {"op": "missing", "field": "name"},
        {"op": "missing", "field": "_id"},
        {"op": "missing", "field": "age", "value": 5},
        {"op": "not", "filter": eq("nam", "a")},
        {"op": "not", "filter": [eq("name", "a")]},
        {"op": "not", "filters": [eq("name", "a")]},
        *({"op": op} for op in ("not", "and", "or", "missing")),
        {"op": "and", "filters": eq("name", "a")},
        {"op": "and", "filters": [eq("name", "a"), eq("name", 5)]},
        {"op": "or", "filters": [eq("name", "a"), {"op": "not", "filter": eq("role", "owner")}]},
    ],
    "events": [
        eq("kind", "left"),
        eq("name", "a"),
        eq("code", None),
        eq("amount.currency", "GBP"),
        eq("amount", {"value": 1, "currency": "EUR"}),
        {"op": "missing", "field": "at"},
        {"op": "missing", "field": "kind"},
        {"op": "between", "field": "code", "low": 1, "high": "b"},
        {"op": "lt", "field": "person", "value": "a"},
    ],
    "drafts": [
        eq("version", 3),
        {"op": "lt", "field": "score", "value": None},
        {"op": "has", "field": "text", "value": "a"},
        {"op": "missing", "field": "version"},
    ],
}


@pytest.mark.parametrize("table", WRONG)
def test_what_is_not_a_filter_is_refused(project: Deployment, table: str) -> None:
    assert project.query(f"search:{table}", filter={"op": "and", "filters": []}) == []
    for each in WRONG[table]:
        with project.fails("ArgumentValidationError"):
            pytest.fail(f"accepted {each}: {project.query(f'search:{table}', filter=each)}")


FIELDS: dict[str, list[Any]] = {
    "name": ["a", "b", "c"],
    "role": ["admin", "member", "guest"],
    "isActive": [True, False],
    "age": [1, 2, 3],
    "visits": [Int64(1), Int64(2), Int64(3)],
    "address.city": ["Oslo", "Rome"],
    "address.zip": ["1", "2"],
    "address.geo.lat": [-1, 0.5],
}
ORDERED = [field for field in FIELDS if field not in ("role", "isActive")]
OPTIONAL = ["age", "boss", "address", "address.city", "address.zip", "address.geo", "address.geo.lng"]


def any_filter(chance: random.Random, depth: int) -> Data:
    op = chance.choice(
        ["eq", "ne", "lt", "lte", "gt", "gte", "between", "oneOf", "has", "missing"] + ["not", "and", "or"] * 4
    )
    if op == "not" and depth > 0:
        return {"op": op, "filter": any_filter(chance, depth - 1)}
    if op in ("and", "or") and depth > 0:
        return {"op": op, "filters": [any_filter(chance, depth - 1) for _ in range(chance.randrange(4))]}
    if op == "has":
        return {"op": op, "field": "tags", "value": chance.choice("xyz")}
    if op == "missing":
        return {"op": op, "field": chance.choice(OPTIONAL)}
    if op in ("oneOf", "eq", "ne", "not", "and", "or"):
        field = chance.choice(list(FIELDS))
        if op == "oneOf":
            return {"op": op, "field": field, "values": chance.sample(FIELDS[field], chance.randrange(3))}
        return {"op": "ne" if op == "ne" else "eq", "field": field, "value": chance.choice(FIELDS[field])}
    field = chance.choice(ORDERED)
    low, high = chance.choice(FIELDS[field]), chance.choice(FIELDS[field])
    return {"op": op, "field": field} | ({"low": low, "high": high} if op == "between" else {"value": low})


def matches(document: Data, filter: Data) -> bool:
    op = filter["op"]
    if op == "not":
        return not matches(document, filter["filter"])
    if op in ("and", "or"):
        return (all if op == "and" else any)(matches(document, each) for each in filter["filters"])
    value: Any = document
    for name in filter["field"].split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if op == "missing" or value is None:
        return value is None and op in ("missing", "ne")
    tests = {
        "eq": lambda: bool(value == filter["value"]),
        "ne": lambda: bool(value != filter["value"]),
        "lt": lambda: bool(value < filter["value"]),
        "lte": lambda: bool(value <= filter["value"]),
        "gt": lambda: bool(value > filter["value"]),
        "gte": lambda: bool(value >= filter["value"]),
        "between": lambda: bool(filter["low"] <= value <= filter["high"]),
        "oneOf": lambda: value in filter["values"],
        "has": lambda: filter["value"] in value,
    }
    return tests[op]()


@pytest.mark.parametrize("seed", range(4))
def test_random_filters_find_what_they_should(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    documents = []
    for _ in range(25):
        each = person(
            chance.choice("abc"),
            role=chance.choice(FIELDS["role"]),
            isActive=chance.random() < 0.5,
            visits=chance.choice(FIELDS["visits"]),
            tags=chance.sample("xyz", chance.randrange(3)),
        )
        if chance.random() < 0.6:
            each["age"] = chance.choice(FIELDS["age"])
        if chance.random() < 0.7:
            each["address"] = place(chance.choice(FIELDS["address.city"]), chance.choice(FIELDS["address.geo.lat"]))
            if chance.random() < 0.5:
                each["address"]["zip"] = chance.choice("12")
        documents.append(each)
    ids = project.insert_many("people", documents)
    for _ in range(40):
        filter = any_filter(chance, 2)
        received = [each["_id"] for each in project.query("search:people", filter=filter)]
        expected = [each for each, document in zip(ids, documents, strict=True) if matches(document, filter)]
        assert received == expected, filter
