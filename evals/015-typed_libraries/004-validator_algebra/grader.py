"""Validators made from validators: what they accept, and what their types say."""

# ruff: noqa: E501 (snippets of TypeScript)

import random
from collections.abc import Callable
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, Int64, TypeChecks, same_function_spec

HEAD = """
import { v } from "convex/values";
import type { Infer } from "convex/values";
import { defineSchema, defineTable } from "convex/server";
import type { DataModelFromSchemaDefinition, DocumentByName, FunctionArgs, FunctionReturnType } from "convex/server";
import { api } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { brand, extend, literals, nullable, omit, partial, pick, required, variant, variants } from "./lib/validators";
import { contact, email, everything, node } from "./shapes";

type Flat<T> = T extends string | number | boolean | bigint | null | undefined | ArrayBuffer ? T
  : T extends readonly (infer E)[] ? Flat<E>[] : T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Same<A, B> = Equal<Flat<A>, Flat<B>>;
function yes<T extends true>(): T | undefined { return undefined; }
function is<T>(value: T): T { return value; }

const ROLES = ["reader", "owner"] as const;
const plain = v.object({ a: v.string(), b: v.optional(v.number()), c: v.object({ d: v.boolean(), e: v.optional(v.string()) }) });
const media = variants("kind", {
  text: { body: v.string(), lang: v.optional(v.string()) },
  image: { url: v.string(), size: v.object({ width: v.number(), height: v.number() }) },
});
const nested = v.union(media, v.object({ kind: v.literal("none"), lang: v.number() }));
type Size = { width: number; height: number };
"""

BODIES: dict[str, str] = {
    "variants": """
yes<Same<Infer<typeof media>, { kind: "text"; body: string; lang?: string } | { kind: "image"; url: string; size: Size }>>();
export const f = (m: Infer<typeof media>) => (m.kind === "text" ? m.body : m.url);
is<Infer<typeof media>>({ kind: "text", body: "b" });
""",
    "pick from an object": """
const it = pick(plain, "a", "b");
yes<Same<Infer<typeof it>, { a: string; b?: number }>>();
export const again = v.object({ x: it.fields.a, y: it.fields.b });
yes<Same<Infer<typeof again>, { x: string; y?: number }>>();
""",
    "pick from a union": """
const it = pick(media, "kind", "lang");
yes<Same<Infer<typeof it>, { kind: "text"; lang?: string } | { kind: "image" }>>();
""",
    "pick from a nested union": """
const it = pick(nested, "kind", "lang");
yes<Same<Infer<typeof it>, { kind: "text"; lang?: string } | { kind: "image" } | { kind: "none"; lang: number }>>();
""",
    "omit from an object": """
const it = omit(plain, "a");
yes<Same<Infer<typeof it>, { b?: number; c: { d: boolean; e?: string } }>>();
""",
    "omit from a union": """
const it = omit(media, "body", "url");
yes<Same<Infer<typeof it>, { kind: "text"; lang?: string } | { kind: "image"; size: Size }>>();
export const f = (m: Infer<typeof it>) => (m.kind === "image" ? m.size.width : m.lang?.length);
""",
    "omit from a nested union": """
const it = omit(nested, "kind", "size");
yes<Same<Infer<typeof it>, { body: string; lang?: string } | { url: string } | { lang: number }>>();
""",
    "extend an object": """
const it = extend(plain, { z: v.optional(v.id("contacts")), y: v.null() });
yes<Same<Infer<typeof it>, { a: string; b?: number; c: { d: boolean; e?: string }; z?: Id<"contacts">; y: null }>>();
""",
    "extend a union": """
const it = extend(media, { owner: v.string(), lang: v.int64() });
yes<Same<Infer<typeof it>, { kind: "text"; body: string; owner: string; lang: bigint } | { kind: "image"; url: string; size: Size; owner: string; lang: bigint }>>();
""",
    "extend replaces fields": """
const it = extend(plain, { a: v.number(), b: v.string(), c: v.optional(v.object({ f: v.null() })) });
yes<Same<Infer<typeof it>, { a: number; b: string; c?: { f: null } }>>();
""",
    "partial of an object": """
const it = partial(plain);
yes<Same<Infer<typeof it>, { a?: string; b?: number; c?: { d: boolean; e?: string } }>>();
""",
    "partial of a union": """
const it = partial(omit(media, "kind"));
yes<Same<Infer<typeof it>, { body?: string; lang?: string } | { url?: string; size?: Size }>>();
""",
    "required of an object": """
const it = required(plain);
yes<Same<Infer<typeof it>, { a: string; b: number; c: { d: boolean; e?: string } }>>();
is<Infer<typeof it>>({ a: "", b: 1, c: { d: true } });
""",
    "required of a union": """
const it = required(nested);
yes<Same<Infer<typeof it>, { kind: "text"; body: string; lang: string } | { kind: "image"; url: string; size: Size } | { kind: "none"; lang: number }>>();
""",
    "required of every kind": """
const it = required(omit(everything, "whatever"));
yes<Same<Infer<typeof it>, {
  id: Id<"contacts">; nothing: null; number: number; bigint: bigint; boolean: boolean; text: string; bytes: ArrayBuffer; list: string[];
  object: { a?: string }; record: Record<string, number>; union: string | number; literal: 5;
}>>();
const back = partial(it);
yes<Same<Infer<typeof back>, Infer<ReturnType<typeof withoutAny>>>>();
function withoutAny() { return omit(everything, "whatever"); }
""",
    "an optional shape stays optional": """
const it = v.object({ s: partial(pick(v.optional(plain), "a", "c")), m: omit(v.optional(media), "size"), e: extend(v.optional(v.object({})), { x: v.null() }) });
yes<Same<Infer<typeof it>, {
  s?: { a?: string; c?: { d: boolean; e?: string } };
  m?: { kind: "text"; body: string; lang?: string } | { kind: "image"; url: string };
  e?: { x: null };
}>>();
""",
    "nullable": """
const it = v.object({ s: nullable(v.string()), o: nullable(v.optional(v.number())), m: nullable(media), n: nullable(nullable(v.id("contacts"))) });
yes<Same<Infer<typeof it>, { s: string | null; o?: number | null; m: Infer<typeof media> | null; n: Id<"contacts"> | null }>>();
""",
    "literals": """
const it = literals("a", 1, true, 5n);
yes<Equal<Infer<typeof it>, "a" | 1 | true | 5n>>();
const role = literals(...ROLES);
yes<Equal<Infer<typeof role>, "reader" | "owner">>();
const one = literals("only");
yes<Equal<Infer<typeof one>, "only">>();
export const o = v.object({ r: v.optional(role), l: v.array(it) });
yes<Same<Infer<typeof o>, { r?: "reader" | "owner"; l: ("a" | 1 | true | 5n)[] }>>();
""",
    "a brand": """
const sku = brand(v.string(), "Sku");
const cents = brand(v.number(), "Cents");
export const use = (s: Infer<typeof sku>, n: Infer<typeof cents>) => { is<string>(s); is<number>(n); is<Infer<typeof sku>>(s); return s.length + n; };
""",
    "a brand is the same brand everywhere": """
const one = brand(v.string(), "Sku");
const two = brand(v.string(), "Sku");
export const use = (s: Infer<typeof one>): Infer<typeof two> => s;
""",
    "a brand keeps the kind": """
const sku = brand(v.string(), "Sku");
const point = brand(v.object({ x: v.number(), y: v.number() }), "Point");
export const stock = v.record(sku, v.number());
export const x = v.object({ x: point.fields.x });
yes<Same<Infer<typeof x>, { x: number }>>();
export const use = (s: Infer<typeof sku>, p: Infer<typeof point>, all: Infer<typeof stock>) => (all[s] ?? 0) + p.x;
export const table = defineTable({ sku, point }).index("by_sku", ["sku", "point.x"]);
""",
    "a brand of an optional field": """
const it = v.object({ s: brand(v.optional(v.string()), "Sku"), t: v.optional(brand(v.string(), "Sku")) });
type It = Infer<typeof it>;
is<It>({});
export const use = (i: It): string => i.s ?? i.t ?? "";
export const same = (i: It): It => ({ s: i.t, t: i.s });
""",
    "brands survive partial and required": """
const it = required(partial(v.object({ s: brand(v.string(), "Sku") })));
export const use = (i: Infer<typeof it>): { s: Infer<typeof plainSku> } => i;
const plainSku = brand(v.string(), "Sku");
""",
    "a variant": """
const it = variant(media, "kind", "image");
yes<Same<Infer<typeof it>, { kind: "image"; url: string; size: Size }>>();
export const size = it.fields.size.fields.width;
yes<Same<Infer<typeof size>, number>>();
const none = variant(nested, "kind", "none");
yes<Same<Infer<typeof none>, { kind: "none"; lang: number }>>();
const changed = extend(variant(media, "kind", "text"), { body: v.null() });
yes<Same<Infer<typeof changed>, { kind: "text"; body: null; lang?: string }>>();
""",
    "an index on fields of a union": """
export const table = defineTable(extend(media, { owner: v.string() })).index("i", ["owner", "size.width", "lang"]);
const schema = defineSchema({ media: table });
type Row = DocumentByName<DataModelFromSchemaDefinition<typeof schema>, "media">;
export const f = (row: Row) => (row.kind === "image" ? row.size.width : row.body.length) + row.owner.length + row._creationTime;
""",
    "an index on fields of what was made from others": """
export const table = defineTable(partial(omit(extend(plain, { z: v.object({ y: v.string() }) }), "b"))).index("i", ["c.e", "z.y", "a"]);
export const other = defineTable(required(nested)).index("i", ["kind", "size.height"]);
""",
    "however deeply they are nested": """
const it = required(partial(omit(extend(extend(media, { x: v.optional(nullable(v.string())) }), { y: literals("p", "q") }), "lang", "size")));
yes<Same<Infer<typeof it>, { kind: "text"; body: string; x: string | null; y: "p" | "q" } | { kind: "image"; url: string; x: string | null; y: "p" | "q" }>>();
const list = v.array(v.object({ items: v.record(v.string(), nullable(pick(it, "kind", "body"))) }));
yes<Same<Infer<typeof list>, { items: Record<string, { kind: "text"; body: string } | { kind: "image" } | null> }[]>>();
""",
    "what results consist of": """
export const a = v.object({ x: pick(plain, "a", "b").fields.a });
export const b = v.object({ x: brand(v.object({ x: v.number() }), "Point").fields.x });
export const c = omit(nested, "kind").members.length;
""",
    "arguments that are right": """
export const a = literals("only");
export const b = variant(nested, "kind", "none");
export const c = variant(media, "kind", "text");
export const d = variant(extend(media, { owner: v.string() }), "kind", "image");
""",
    "only shapes": """
export const fs = [partial(v.union(plain, media)), pick(v.object({ a: v.string() }), "a"), required(v.optional(plain))];
""",
    "the backend's documents": """
export const f = (row: Doc<"contacts">): string => {
  is<string | null>(row.note); is<number | undefined>(row.rank);
  return row.kind === "person" ? row.address.city + row.email : (row.vat ?? row.size ?? row.owner);
};
export const g = (row: Doc<"contacts">): Infer<typeof email> | null => (row.kind === "person" ? row.email : null);
yes<Same<Infer<ReturnType<typeof bare>>, { type: "leaf" } | { type: "pair"; right: string } | { type: "none" }>>();
function bare() { return omit(node, "value", "left"); }
""",
    "the backend's functions": """
yes<Same<FunctionArgs<typeof api.contacts.brief>, { id: Id<"contacts"> }>>();
is<FunctionArgs<typeof api.contacts.change>["changes"]>({ vat: "v", size: "small", note: null });
is<FunctionArgs<typeof api.contacts.change>["changes"]>({ address: { city: "c" } });
is<FunctionArgs<typeof api.contacts.change>["changes"]>({});
is<FunctionArgs<typeof api.contacts.addOld>["contact"]>({ kind: "company", name: "n", owner: "o", rank: "5" });
is<FunctionArgs<typeof api.contacts.addComplete>["contact"]>({ kind: "company", name: "n", owner: "o", rank: 5, note: null, vat: "v", size: "large" });
export const f = (row: NonNullable<FunctionReturnType<typeof api.contacts.brief>>) => (row.kind === "company" ? row.vat : row.name);
export const p = (row: FunctionReturnType<typeof api.contacts.peopleIn>[number]): "person" => { is<Id<"contacts">>(row._id); return row.kind; };
""",
}

# Each is one of the above with one detail changed: what is replaced, and by what.
CHANGES: dict[str, tuple[str, str, str]] = {
    "a variant with a field of another": (
        "variants",
        '{ kind: "text", body: "b" }',
        '{ kind: "text", body: "b", url: "u" }',
    ),
    "a tag of no variant": ("variants", '{ kind: "text", body: "b" }', '{ kind: "video", body: "b" }'),
    "a field of one variant without narrowing": (
        "variants",
        'm.kind === "text" ? m.body',
        "m.kind.length > 1 ? m.body",
    ),
    "pick a field that is not there": ("only shapes", 'v.string() }), "a")', 'v.string() }), "b")'),
    "pick a field that no member has": ("pick from a union", '"kind", "lang"', '"kind", "lang", "age"'),
    "omit a field that no member has": ("omit from a nested union", '"kind", "size"', '"kind", "size", "width"'),
    "a field that was omitted": ("omit from a union", "m.size.width", "m.url"),
    "fields of what was picked": ("what results consist of", 'b").fields.a', 'b").fields.c'),
    "partial of a string": ("only shapes", "required(v.optional(plain))", "required(v.string())"),
    "partial of an array": ("only shapes", "required(v.optional(plain))", "required(v.array(plain))"),
    "a union with a member that is no shape": ("only shapes", "v.union(plain, media)", "v.union(plain, v.string())"),
    "a union with null in it": ("only shapes", "v.union(plain, media)", "v.union(plain, v.null())"),
    "a union with a member that is no shape inside": (
        "only shapes",
        "v.union(plain, media)",
        "v.union(plain, v.union(media, v.number()))",
    ),
    "a required field left out": ("required of an object", 'a: "", b: 1', 'a: ""'),
    "literals without values": ("arguments that are right", 'literals("only")', "literals()"),
    "literals of no literals": ("arguments that are right", 'literals("only")', "literals(null)"),
    "a string for a brand": ("a brand", "is<Infer<typeof sku>>(s)", 'is<Infer<typeof sku>>("s")'),
    "a number for a brand": ("a brand", "is<Infer<typeof sku>>(s)", "is<Infer<typeof cents>>(5)"),
    "a brand of another name": (
        "a brand is the same brand everywhere",
        'two = brand(v.string(), "Sku")',
        'two = brand(v.string(), "Sk")',
    ),
    "a branded key that is none": ("a brand keeps the kind", "v.record(sku,", 'v.record(brand(v.number(), "N"),'),
    "a field of a branded object that is not there": (
        "what results consist of",
        '"Point").fields.x',
        '"Point").fields.z',
    ),
    "an index on a field of a branded object that is not there": ("a brand keeps the kind", '"point.x"', '"point.z"'),
    "a string for an optional brand": ("a brand of an optional field", "s: i.t,", 's: "x",'),
    "null for an optional brand": ("a brand of an optional field", "s: i.t,", "s: null,"),
    "a brand lost on the way": (
        "brands survive partial and required",
        'v.object({ s: brand(v.string(), "Sku") })',
        "v.object({ s: v.string() })",
    ),
    "a variant that is not there": ("arguments that are right", '"none"', '"nun"'),
    "a variant of a nested union that is not in this one": ("arguments that are right", '"text"', '"none"'),
    "a variant by a field that not all have": (
        "only shapes",
        "partial(v.union(plain, media))",
        'variant(v.union(v.object({ a: v.literal("x") }), v.object({ b: v.literal("y") })), "a", "x")',
    ),
    "a variant by a field that is no literal": ("arguments that are right", '"kind", "image"', '"owner", "image"'),
    "an index on a field that no member has": (
        "an index on fields of a union",
        '"size.width", "lang"',
        '"size.depth", "lang"',
    ),
    "an index on a field that was omitted": (
        "an index on fields of what was made from others",
        '"z.y", "a"',
        '"z.y", "b"',
    ),
    "a row of a table without narrowing": (
        "an index on fields of a union",
        'row.kind === "image" ? row.size',
        "row.kind.length > 1 ? row.size",
    ),
    "a contact's field without narrowing": (
        "the backend's documents",
        'row.kind === "person" ? row.address',
        'row.owner === "" ? row.address',
    ),
    "a name for an e-mail address": (
        "the backend's documents",
        '"person" ? row.email : null',
        '"person" ? row.name : null',
    ),
    "a change of what cannot be changed": (
        "the backend's functions",
        'is<FunctionArgs<typeof api.contacts.change>["changes"]>({})',
        'is<FunctionArgs<typeof api.contacts.change>["changes"]>({ owner: "o" })',
    ),
    "a complete contact without a field": ("the backend's functions", 'vat: "v", size: "large"', 'size: "large"'),
    "an old contact with a new rank": ("the backend's functions", 'rank: "5"', "rank: 5"),
}

COMPILES = {name: HEAD + body for name, body in BODIES.items()}
REFUSED: dict[str, str] = {}
for _name, (_of, _old, _new) in CHANGES.items():
    assert BODIES[_of].count(_old) == 1, _name
    REFUSED[_name] = HEAD + BODIES[_of].replace(_old, _new)
ALL = COMPILES | REFUSED


def errors(type_checks: TypeChecks, name: str) -> tuple[str, ...]:
    return type_checks.errors(ALL)[name]


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert errors(type_checks, name) == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert errors(type_checks, name) != ()


PERSON: dict[str, Any] = {
    "kind": "person",
    "name": "Ada",
    "email": "ada@x.org",
    "address": {"city": "London", "zip": "W1"},
    "owner": "o",
    "note": "n",
    "rank": 1,
}
COMPANY: dict[str, Any] = {
    "kind": "company",
    "name": "Acme",
    "vat": "V1",
    "size": "small",
    "owner": "o",
    "note": None,
    "rank": 2,
}
Check = Callable[[Any], bool]


def text(value: Any) -> bool:
    return isinstance(value, str)


def number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool | Int64)


def one_of(*values: Any) -> Check:
    return lambda value: any(type(value) is type(each) and value == each for each in values)


def text_or_null(value: Any) -> bool:
    return value is None or text(value)


def address(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and text(value.get("city"))
        and text(value.get("zip", ""))
        and value.keys() <= {"city", "zip"}
    )


Fields = dict[str, tuple[Check, bool]]  # whether it is optional
BOTH: Fields = {"name": (text, False), "owner": (text, False), "note": (text_or_null, False), "rank": (number, True)}
CONTACT: list[Fields] = [
    {"kind": (one_of("person"), False), "email": (text, False), "address": (address, False), **BOTH},
    {"kind": (one_of("company"), False), "vat": (text, True), "size": (one_of("small", "large"), True), **BOTH},
]


def accepts(shape: list[Fields], value: dict[str, Any]) -> bool:
    return any(
        all(name in each and each[name][0](value[name]) for name in value)
        and all(optional or name in value for name, (_, optional) in each.items())
        for each in shape
    )


COMPLETE = [{name: (check, False) for name, (check, _) in each.items()} for each in CONTACT]
OLD = [{**each, "rank": (text, False), "note": (text, True)} for each in CONTACT]
CHANGED: list[Fields] = [
    {name: (check, True) for name, (check, _) in each.items() if name not in ("kind", "owner")} for each in CONTACT
]


def own(row: dict[str, Any] | None) -> dict[str, Any]:
    assert row is not None
    return {name: row[name] for name in row if not name.startswith("_")}


def accepted(project: Deployment, name: str, **args: Any) -> bool:
    """Whether the arguments pass the validator."""
    call = project.query if name.startswith("checks:") else project.mutation
    try:
        call(name, args)
    except CallFailed as failure:
        assert "ArgumentValidationError" in failure.message
        return False
    return True


def random_value(chance: random.Random, rank: Any) -> dict[str, Any]:
    value = dict(chance.choice([PERSON, COMPANY])) | {"rank": rank}
    for name in chance.sample(sorted(value), chance.choice([0, 0, 1, 1, 2, 4])):
        del value[name]
    for name in chance.sample(sorted({**PERSON, **COMPANY, "more": 1}), chance.choice([0, 0, 0, 1, 1, 2])):
        value[name] = chance.choice(
            [
                1,
                "x",
                None,
                "small",
                "large",
                "company",
                {"city": "c"},
                {"city": "c", "zip": None},
                {},
                Int64(1),
                "7",
                "8",
            ]
        )
    return value


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("name", "shape"), [("add", CONTACT), ("addComplete", COMPLETE), ("addOld", OLD)])
def test_functions_accept_exactly_what_is_described(
    project: Deployment, name: str, shape: list[Fields], seed: int
) -> None:
    chance = random.Random(f"{name} {seed}")
    truth: list[dict[str, Any]] = []
    for step in range(70):
        value = random_value(chance, "7" if name == "addOld" else 7)
        if name == "addOld" and text(value.get("rank")) and not value["rank"].isdigit():
            value["rank"] = "9"
        expected = accepts(shape, value)
        assert accepted(project, f"contacts:{name}", contact=value) == expected, f"step {step}: {value}"
        if expected:
            old = {"rank": int(value["rank"]), "note": value.get("note")} if name == "addOld" else {}
            truth.append(value | old)
    assert truth != []
    assert [own(row) for row in project.documents("contacts")] == truth


@pytest.mark.parametrize("seed", range(3))
def test_changes_are_made_if_a_contact_remains_one(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    rows = {project.mutation("contacts:add", contact=each): dict(each) for each in (PERSON, COMPANY)}
    outcomes = set()
    for step in range(60):
        one = chance.choice([*rows])
        values = random_value(chance, 3)
        names = chance.sample(sorted(values), min(len(values), chance.choice([0, 1, 1, 2, 3])))
        changes = {name: values[name] for name in names if chance.random() < 0.2 or name not in ("kind", "owner")}
        described = accepts(CHANGED, changes)
        fits = described and accepts(CONTACT, rows[one] | changes)
        outcomes.add((described, fits))
        if fits:
            assert project.mutation("contacts:change", id=one, changes=changes) is None, f"step {step}: {changes}"
            rows[one] |= changes
        else:
            with project.fails("" if described else "ArgumentValidationError"):
                project.mutation("contacts:change", id=one, changes=changes)
        assert own(project.get(one)) == rows[one], f"step {step}: {changes}"
    assert len(outcomes) == 3


def test_a_contact_in_brief(project: Deployment) -> None:
    ada = project.mutation("contacts:add", contact=PERSON)
    acme = project.mutation("contacts:add", contact=COMPANY)
    bare = project.mutation("contacts:add", contact={"kind": "company", "name": "B", "owner": "o", "note": None})
    assert project.query("contacts:brief", id=ada) == {"kind": "person", "name": "Ada"}
    assert project.query("contacts:brief", id=acme) == {"kind": "company", "name": "Acme", "vat": "V1"}
    assert project.query("contacts:brief", id=bare) == {"kind": "company", "name": "B"}
    project.delete("contacts", ada)
    assert project.query("contacts:brief", id=ada) is None


def test_people_are_found_by_city(project: Deployment) -> None:
    for name, city in (("a", "Rome"), ("b", "Oslo"), ("c", "Rome"), ("d", "Roma")):
        project.mutation("contacts:add", contact=PERSON | {"name": name, "address": {"city": city}})
        project.mutation("contacts:add", contact=COMPANY | {"name": city})
    with project.trace() as work:
        found = project.query("contacts:peopleIn", city="Rome")
    assert found == [row for row in project.documents("contacts") if row.get("address") == {"city": "Rome"}]
    assert [row["name"] for row in found] == ["a", "c"]
    assert work.documents_read <= 2
    assert project.query("contacts:peopleIn", city="Paris") == []


def everything(project: Deployment) -> dict[str, Any]:
    return {
        "id": project.mutation("contacts:add", contact=PERSON),
        "nothing": None,
        "number": 1.5,
        "bigint": Int64(5),
        "boolean": True,
        "text": "t",
        "bytes": b"b",
        "list": ["a"],
        "object": {},
        "record": {"a": 1},
        "union": 1,
        "literal": 5,
        "whatever": [None],
    }


def test_fields_of_every_kind_become_required(project: Deployment) -> None:
    right = everything(project)
    assert accepted(project, "checks:full", value=right)
    assert accepted(project, "checks:full", value=right | {"union": "u", "object": {"a": "b"}, "whatever": Int64(1)})
    for name in right:
        assert not accepted(project, "checks:full", value={key: right[key] for key in right if key != name}), name
        if name not in ("nothing", "whatever"):
            assert not accepted(project, "checks:full", value=right | {name: None}), name
    wrong: dict[str, Any] = {"nothing": 0, "list": [1], "object": {"b": "c"}, "record": {"a": "b"}, "union": True}
    wrong |= {"literal": 6, "id": "x", "bigint": 5, "number": Int64(5), "text": 5, "bytes": "b", "boolean": "t"}
    for name, value in wrong.items():
        assert not accepted(project, "checks:full", value=right | {name: value}), name
        assert not accepted(project, "checks:loose", value={name: value}), name


def test_fields_of_every_kind_become_optional(project: Deployment) -> None:
    right = everything(project)
    assert accepted(project, "checks:loose", value={})
    assert accepted(project, "checks:loose", value=right)
    for name in right:
        assert accepted(project, "checks:loose", value={name: right[name]}), name
    assert not accepted(project, "checks:loose", value={"more": 1})
    assert not accepted(project, "checks:loose")


LEAF, PAIR, NONE = {"type": "leaf", "value": 1}, {"type": "pair", "left": "l", "right": "r"}, {"type": "none"}
NODES: list[Any] = [
    *(
        LEAF,
        PAIR,
        NONE,
        {"type": "none", "value": "v"},
        {"type": "none", "value": 1},
        {"type": "leaf"},
        {"type": "pair"},
    ),
    *({"type": "leaf", "value": "v"}, {"type": "pair", "value": 1}, {"type": "pair", "right": "r"}, {"value": 1}),
    *(
        {"value": "v"},
        {"right": "r"},
        {"left": "l"},
        {"left": "l", "right": "r"},
        {},
        {"type": "more"},
        {"value": True},
    ),
    *(
        {"type": "leaf", "value": True},
        {"type": "none", "value": True},
        {**PAIR, "value": True},
        {"type": "pair", "value": True},
    ),
    *({"value": 1, "right": "r"}, {"type": "leaf", "right": "r"}, {"value": None}, None, "leaf", 1),
]
TYPE: dict[str, Fields] = {name: {"type": (one_of(name), False)} for name in ("leaf", "pair", "none")}
SHAPES: dict[str, list[Fields]] = {
    "picked": [
        TYPE["leaf"] | {"value": (number, False)},
        TYPE["pair"],
        TYPE["none"] | {"value": (text, True)},
    ],
    "omitted": [{"value": (number, False)}, {"right": (text, False)}, {"value": (text, True)}],
    "extended": [
        TYPE["leaf"] | {"value": (one_of(True, False), False)},
        TYPE["pair"] | {"left": (text, False), "right": (text, False), "value": (one_of(True, False), False)},
        TYPE["none"] | {"value": (one_of(True, False), False)},
    ],
    "maybe": [
        {"type": (one_of("leaf"), True), "value": (number, True)},
        {"type": (one_of("pair"), True), "left": (text, True), "right": (text, True)},
        {"type": (one_of("none"), True), "value": (text, True)},
    ],
}


@pytest.mark.parametrize("name", SHAPES)
def test_nested_unions_are_changed_at_every_depth(project: Deployment, name: str) -> None:
    for value in NODES:
        expected = isinstance(value, dict) and accepts(SHAPES[name], value)
        assert accepted(project, f"checks:{name}", value=value) == expected, value
    assert accepted(project, f"checks:{name}") == (name == "maybe")


def test_null_is_accepted_besides(project: Deployment) -> None:
    for right in ({"a": None, "b": None, "c": None}, {"a": "a", "b": PAIR, "c": 1}, {"b": NONE, "c": 1}):
        assert accepted(project, "checks:nullables", **right), right
    for wrong in (
        {"a": 1, "b": None, "c": 1},
        {"a": "a", "b": {"type": "pair"}, "c": 1},
        {"a": "a", "b": None},
        {"a": "a", "c": 1},
    ):
        assert not accepted(project, "checks:nullables", **wrong), wrong


def test_literals_are_accepted_and_nothing_else(project: Deployment) -> None:
    for right in ("a", 1, True, Int64(5)):
        assert accepted(project, "checks:several", value=right), right
    for wrong in ("b", 2, False, 5, Int64(1), "1", "true", None, ["a"]):
        assert not accepted(project, "checks:several", value=wrong), wrong


def test_contacts_are_validated_by_the_schema(project: Deployment) -> None:
    assert [own(project.get(project.insert("contacts", each))) for each in (PERSON, COMPANY)] == [PERSON, COMPANY]
    assert project.schema().tables.keys() == {"contacts"}


def test_functions_are_declared_as_described(project: Deployment, answer: Deployment) -> None:
    names = [f"contacts:{name}" for name in ("add", "addComplete", "addOld", "change", "peopleIn")]
    same_function_spec(project, answer, names, returns=True)
    for name, spec in project.functions().items():
        if spec.is_public:
            assert spec.returns is not None, name
