"""Events that are defined once: what the ledger does with them, and what the types promise."""

# ruff: noqa: E501 (snippets of TypeScript)

import math
import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, TypeChecks

HEAD = """
import { v } from "convex/values";
import type { Infer } from "convex/values";
import { defineSchema, defineTable } from "convex/server";
import type { DataModelFromSchemaDefinition, DocumentByName, FunctionArgs, FunctionReturnType } from "convex/server";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { api } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { defineEvents, event } from "./lib/events";
import type { EventOf } from "./lib/events";
import { registry } from "./registry";

type Flat<T> = T extends string | number | boolean | bigint | null | undefined ? T
  : T extends readonly (infer E)[] ? Flat<E>[] : T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Same<A, B> = Equal<Flat<A>, Flat<B>>;
function yes<T extends true>(): T | undefined { return undefined; }
function is<T>(value: T): T { return value; }

const shop = defineEvents({
  "item.added": event(v.object({ sku: v.string() }))
    .next(v.object({ sku: v.string(), count: v.number() }), (old) => ({ ...old, count: 1 }))
    .next(v.object({ sku: v.string(), count: v.number(), gift: v.optional(v.boolean()) }), (old) => old),
  "cart.emptied": event(v.null()),
  paid: event(v.union(v.object({ by: v.literal("card"), last4: v.string() }), v.object({ by: v.literal("cash"), given: v.int64() }))),
});
type Added = { name: "item.added"; payload: { sku: string; count: number; gift?: boolean } };
type Emptied = { name: "cart.emptied"; payload: null };
type Paid = { name: "paid"; payload: { by: "card"; last4: string } | { by: "cash"; given: bigint } };
type ShopEvent = EventOf<typeof shop>;
const table = shop.stored({ cart: v.string(), seq: v.optional(v.number()) });
const bare = shop.stored();
type Stored = Infer<typeof bare>;
"""

BODIES: dict[str, str] = {
    "the types of events": """
yes<Same<ShopEvent, Added | Emptied | Paid>>();
yes<Same<EventOf<typeof shop, "item.added">, Added>>();
yes<Same<EventOf<typeof shop, "item.added" | "paid">, Added | Paid>>();
export const f = (e: ShopEvent) => (e.name === "paid" && e.payload.by === "card" ? e.payload.last4 : e.name === "item.added" ? e.payload.sku : null);
""",
    "the validators of events": """
const current = shop.current;
yes<Same<Infer<typeof current>, Added | Emptied | Paid>>();
const name = shop.name;
yes<Equal<Infer<typeof name>, "item.added" | "cart.emptied" | "paid">>();
const all = v.object({ names: v.array(shop.name), event: v.optional(shop.current) });
yes<Same<Infer<typeof all>, { names: ("item.added" | "cart.emptied" | "paid")[]; event?: Added | Emptied | Paid }>>();
""",
    "the names of a registry": """
export const f = (): ("item.added" | "cart.emptied" | "paid")[] => [...shop.names];
const first = shop.names[0];
if (first !== undefined) is<"item.added" | "cart.emptied" | "paid">(first);
""",
    "stored events": """
yes<Same<Stored,
  | { name: "item.added"; version: 1; payload: { sku: string } }
  | { name: "item.added"; version: 2; payload: { sku: string; count: number } }
  | { name: "item.added"; version: 3; payload: Added["payload"] }
  | { name: "cart.emptied"; version: 1; payload: null }
  | { name: "paid"; version: 1; payload: Paid["payload"] }>>();
export const f = (e: Stored) => (e.name === "item.added" && e.version === 2 ? e.payload.count : 0);
is<Stored>({ name: "item.added", version: 1, payload: { sku: "s" } });
""",
    "stored events with more fields": """
yes<Same<Infer<typeof table>,
  | { name: "item.added"; version: 1; payload: { sku: string }; cart: string; seq?: number }
  | { name: "item.added"; version: 2; payload: { sku: string; count: number }; cart: string; seq?: number }
  | { name: "item.added"; version: 3; payload: Added["payload"]; cart: string; seq?: number }
  | { name: "cart.emptied"; version: 1; payload: null; cart: string; seq?: number }
  | { name: "paid"; version: 1; payload: Paid["payload"]; cart: string; seq?: number }>>();
""",
    "a table of stored events": """
const schema = defineSchema({ log: defineTable(table).index("i", ["cart", "seq", "name", "version"]).index("j", ["payload.sku", "payload.last4"]) });
type Row = DocumentByName<DataModelFromSchemaDefinition<typeof schema>, "log">;
export const f = (row: Row) => (row.name === "item.added" && row.version === 3 ? row.payload.gift : row.cart + row._id);
export const g = (row: Row) => shop.load(row).name;
""",
    "versions": """
yes<Equal<ReturnType<typeof three>, 3>>();
function three() { return shop.version("item.added"); }
is<1>(shop.version("paid"));
""",
    "payloads of versions": """
const one = shop.payload("item.added", 1);
const two = shop.payload("item.added", 2);
const three = shop.payload("item.added", 3);
yes<Same<[Infer<typeof one>, Infer<typeof two>, Infer<typeof three>][0], { sku: string }>>();
yes<Same<Infer<typeof two>, { sku: string; count: number }>>();
yes<Same<Infer<typeof three>, Added["payload"]>>();
export const args = { sku: two.fields.sku, paid: v.optional(shop.payload("paid", 1)) };
""",
    "versions that there are": """
export const a = shop.payload("item.added", 3);
export const b = shop.payload("cart.emptied", 1);
export const c = shop.version("paid");
""",
    "upgrades": """
export const e = event(v.object({ a: v.optional(v.string()) }))
  .next(v.union(v.null(), v.object({ b: v.number() })), (old) => (old.a === undefined ? null : { b: old.a.length }))
  .next(v.array(v.string()), (old) => (old === null ? [] : [String(old.b)]));
""",
    "store": """
const it = shop.store({ name: "item.added", payload: { sku: "s", count: 1 } });
is<Stored>(it);
if (it.name === "item.added") { is<3>(it.version); is<number>(it.payload.count); }
export const f = (e: ShopEvent) => shop.store(e);
yes<Same<ReturnType<typeof f>,
  | { name: "item.added"; version: 3; payload: Added["payload"] }
  | { name: "cart.emptied"; version: 1; payload: null }
  | { name: "paid"; version: 1; payload: Paid["payload"] }>>();
""",
    "store something": """
export const a = shop.store({ name: "item.added", payload: { sku: "s", count: 1 } });
export const b = shop.store({ name: "cart.emptied", payload: null });
""",
    "load": """
export const f = (e: Stored) => shop.load(e);
yes<Same<ReturnType<typeof f>, Added | Emptied | Paid>>();
""",
    "load what has been narrowed": """
export const f = (e: Extract<Stored, { name: "item.added" }>) => shop.load(e);
yes<Same<ReturnType<typeof f>, Added>>();
export const g = (e: Stored) => (e.name === "paid" ? is<Paid>(shop.load(e)) : is<Added | Emptied>(shop.load(e)));
""",
    "load something": """
export const a = shop.load({ name: "item.added", version: 2, payload: { sku: "s", count: 1 } });
""",
    "only some events": """
export const f = (all: ShopEvent[]) => shop.only(all, "item.added", "paid");
yes<Same<ReturnType<typeof f>, (Added | Paid)[]>>();
export const g = (all: readonly ShopEvent[]) => shop.only(all, "item.added").map((e) => e.payload.count);
""",
    "match all": """
export const f = (e: ShopEvent) => shop.match(e, {
  "item.added": (added) => { yes<Same<typeof added, Added>>(); return added.payload.count; },
  "cart.emptied": ({ payload }) => payload,
  paid: (paid) => (paid.payload.by === "card" ? paid.payload.last4 : paid.payload.given),
});
yes<Same<ReturnType<typeof f>, number | null | string | bigint>>();
""",
    "match all, plainly": """
export const f = (e: ShopEvent) => shop.match(e, { "item.added": (added) => added.payload.count, "cart.emptied": () => 0, paid: () => 1 });
""",
    "match some": """
export const f = (e: ShopEvent) => shop.match(e, { paid: (paid) => paid.payload.by.length > 1 }, (rest) => {
  yes<Same<typeof rest, Added | Emptied>>();
  return rest.name === "item.added" ? rest.payload.sku : rest.name;
});
yes<Same<ReturnType<typeof f>, boolean | string>>();
""",
    "match some, plainly": """
export const f = (e: ShopEvent) => shop.match(e, { paid: (paid) => paid.payload.by, "cart.emptied": () => 1 }, (rest) => rest.payload.sku);
export const n = (e: ShopEvent): number => shop.match(e, { paid: () => 1 }, () => 2);
""",
    "match what has been narrowed": """
export const f = (e: Added | Paid) => shop.match(e, { "item.added": (a) => a.payload.sku, paid: (p) => p.payload.by });
yes<Same<ReturnType<typeof f>, string>>();
export const g = (e: ShopEvent) => (e.name === "paid" ? null : shop.match(e, { "cart.emptied": () => 1 }, (rest) => is<Added>(rest).payload.sku));
""",
    "match what has been narrowed, plainly": """
export const f = (e: Added | Paid) => shop.match(e, { "item.added": () => 1, paid: () => 2 });
""",
    "replay": """
export const total = (all: Stored[]) => shop.replay(all, 0, {
  "item.added": (sum, e) => sum + e.payload.count,
  "cart.emptied": () => 0,
  paid: (sum, e) => sum - (e.payload.by === "cash" ? Number(e.payload.given) : 0),
});
yes<Equal<ReturnType<typeof total>, number>>();
export const last = (all: readonly Stored[]) => shop.replay<string | null>(all, null, {
  "item.added": (state, e) => state ?? e.payload.sku, "cart.emptied": () => null, paid: (state) => state && state + "!",
});
yes<Equal<ReturnType<typeof last>, string | null>>();
""",
    "replay documents": """
export const f = (rows: Doc<"events">[]) => registry.replay(rows, { cents: 0 }, {
  "account.opened": (state) => state,
  "money.deposited": (state, { payload }) => ({ cents: state.cents + payload.cents + payload.source.kind.length }),
  "money.withdrawn": (state, { payload }) => ({ cents: state.cents - payload.cents }),
  "account.closed": (state, { payload }) => (payload.reason === undefined ? state : { cents: 0 }),
});
""",
    "subscribers": """
const one = shop.on(["item.added", "paid"], async (ctx: MutationCtx, e) => {
  yes<Same<typeof e, Added | Paid>>();
  await ctx.db.insert("notices", { stream: "s", text: e.name === "paid" ? e.payload.by : e.payload.sku });
});
const two = shop.on(["cart.emptied"], (ctx: { log: string[] }, e) => { ctx.log.push(e.name); });
const three = shop.on(shop.names, async (ctx: QueryCtx, e) => { await ctx.db.normalizeId("events", e.name); });
export const f = async (ctx: MutationCtx, e: ShopEvent) => { await shop.publish({ ...ctx, log: [] as string[] }, e, [one, two, three]); };
export const g = async (ctx: QueryCtx) => { await shop.publish(ctx, { name: "item.added", payload: { sku: "s", count: 1 } }, [three]); };
""",
    "a subscriber in a mutation": """
const one = shop.on(["item.added", "paid"], async (ctx: MutationCtx, e) => { await ctx.db.insert("notices", { stream: e.name, text: "" }); });
export const f = async (ctx: MutationCtx) => { await shop.publish(ctx, { name: "cart.emptied", payload: null }, [one]); };
""",
    "subscribers of different contexts": """
const one = shop.on(["paid"], (ctx: { log: string[] }) => { ctx.log.push(""); });
const two = shop.on(["paid"], (ctx: { seen: number }) => { ctx.seen += 1; });
export const f = async (e: ShopEvent) => { await shop.publish({ seen: 0, log: [] }, e, [one, two]); };
""",
    "the ledger's documents": """
export const f = (row: Doc<"events">) =>
  row.name === "money.deposited" ? (row.version === 1 ? row.payload.amount : row.payload.cents) : row.stream.length + row.seq;
is<EventOf<typeof registry>>({ name: "account.closed", payload: {} });
is<EventOf<typeof registry, "money.deposited">["payload"]>({ cents: 1, source: { kind: "card", last4: "1" } });
is<2>(registry.version("account.opened"));
""",
    "the ledger's functions": """
is<FunctionArgs<typeof api.ledger.record>>({ stream: "s", event: { name: "account.opened", payload: { owner: "o", currency: "USD" } } });
is<FunctionArgs<typeof api.ledger.history>>({ stream: "s", names: ["money.withdrawn"] });
is<FunctionArgs<typeof api.ledger.history>>({ stream: "s" });
export const f = (all: FunctionReturnType<typeof api.ledger.history>) => all.map((e) => (e.name === "money.withdrawn" ? e.payload.cents : 0));
export const g = (state: FunctionReturnType<typeof api.ledger.state>): "EUR" | "USD" | undefined => state?.currency;
""",
}

# Each is one of the above with one detail changed: what is replaced, and by what.
CHANGES: dict[str, tuple[str, str, str]] = {
    "a payload without narrowing": (
        "the types of events",
        'e.name === "item.added" ? e.payload.sku',
        "e.payload !== null ? e.payload.sku",
    ),
    "a name that there is not": ("the types of events", 'e.name === "paid"', 'e.name === "payed"'),
    "an index on a field that no payload has": (
        "a table of stored events",
        '"payload.sku", "payload.last4"',
        '"payload.sku", "payload.last5"',
    ),
    "an index on a field that is not stored": ("a table of stored events", '"cart", "seq"', '"shop", "seq"'),
    "a field of a later version": (
        "stored events",
        "e.version === 2 ? e.payload.count",
        "e.version === 1 ? e.payload.count",
    ),
    "a stored event in a version that there is not": (
        "stored events",
        'version: 1, payload: { sku: "s" } }',
        'version: 4, payload: { sku: "s" } }',
    ),
    "a stored event with the payload of another version": (
        "stored events",
        'version: 1, payload: { sku: "s" } }',
        'version: 2, payload: { sku: "s" } }',
    ),
    "a document's payload without its version": ("a table of stored events", " && row.version === 3", ""),
    "the wrong number of versions": ("versions", "is<1>", "is<2>"),
    "the versions of a name that there is not": ("versions that there are", 'version("paid")', 'version("pay")'),
    "a version after the latest": ("versions that there are", '"item.added", 3', '"item.added", 4'),
    "a version before the first": ("versions that there are", '"item.added", 3', '"item.added", 0'),
    "a version that another event has": ("versions that there are", '"cart.emptied", 1', '"cart.emptied", 2'),
    "an upgrade to something else": ("upgrades", "[String(old.b)]", "[old.b]"),
    "an upgrade that forgets a case": ("upgrades", "old === null ? [] : [String(old.b)]", "[String(old.b)]"),
    "an upgrade from the version before the last": ("upgrades", "old === null ? []", "old.a === undefined ? []"),
    "a payload of an older version stored": ("store something", 'sku: "s", count: 1', 'sku: "s"'),
    "a payload of another event stored": ("store something", '"cart.emptied"', '"paid"'),
    "an unknown property stored": ("store something", "count: 1 }", "count: 1, color: 1 }"),
    "a stored event loaded in a version that there is not": ("load something", "version: 2", "version: 4"),
    "a stored event loaded with the payload of another version": ("load something", "count: 1", "amount: 1"),
    "a name that there is not among others": (
        "only some events",
        '(all, "item.added").map',
        '(all, "item.added", "gone").map',
    ),
    "a field that not all of them have": (
        "only some events",
        '(all, "item.added").map',
        '(all, "item.added", "paid").map',
    ),
    "a handler missing": ("match all, plainly", '"cart.emptied": () => 0, ', ""),
    "a handler too many": ("match all, plainly", "paid: () => 1", "paid: () => 1, gone: () => 1"),
    "a handler that wants another event": ("match all, plainly", "added.payload.count", "added.payload.given"),
    "the others without narrowing": ("match some, plainly", ', "cart.emptied": () => 1', ""),
    "a handler too many besides the others": (
        "match some, plainly",
        '"cart.emptied": () => 1',
        '"cart.emptied": () => 1, gone: () => 1',
    ),
    "the result of the others forgotten": ("match some, plainly", "() => 2", '() => "2"'),
    "the result of a handler forgotten": ("match some, plainly", "paid: () => 1 }", 'paid: () => "1" }'),
    "a handler missing for what is left": ("match what has been narrowed, plainly", '"item.added": () => 1, ', ""),
    "a handler for what is not left": (
        "match what has been narrowed, plainly",
        "paid: () => 2",
        'paid: () => 2, "cart.emptied": () => 3',
    ),
    "a reducer missing": ("replay documents", '"account.opened": (state) => state,', ""),
    "a reducer too many": (
        "replay documents",
        '"account.opened":',
        '"account.lost": (state) => state, "account.opened":',
    ),
    "a reducer that gives another state": ("replay documents", "? state : { cents: 0 }", '? state : { cents: "0" }'),
    "a reducer that reads an older payload": (
        "replay documents",
        "payload.cents + payload.source",
        "payload.amount + payload.source",
    ),
    "a state that is not the initial one's": ("replay documents", "{ cents: 0 }, {", "{ total: 0 }, {"),
    "a subscriber to a name that there is not": (
        "a subscriber in a mutation",
        '["item.added", "paid"]',
        '["item.added", "pay"]',
    ),
    "a subscriber that wants more of the event": (
        "a subscriber in a mutation",
        "stream: e.name",
        "stream: e.payload.sku",
    ),
    "a subscriber that writes in a query": (
        "a subscriber in a mutation",
        "f = async (ctx: MutationCtx)",
        "f = async (ctx: QueryCtx)",
    ),
    "a context that fits only one of them": (
        "subscribers of different contexts",
        "{ seen: 0, log: [] }",
        "{ log: [] }",
    ),
    "a context that fits only the other": ("subscribers of different contexts", "{ seen: 0, log: [] }", "{ seen: 0 }"),
    "an event that there is not published": (
        "a subscriber in a mutation",
        '{ name: "cart.emptied", payload: null }',
        '{ name: "cart.emptied", payload: 0 }',
    ),
    "a currency that there is not": ("the ledger's functions", '"USD" } }', '"GBP" } }'),
    "an old event recorded": ("the ledger's functions", ', currency: "USD"', ""),
    "a name that there is not asked for": ("the ledger's functions", '["money.withdrawn"]', '["money.lost"]'),
    "a document's payload of another version": ("the ledger's documents", "row.version === 1 ?", "row.version === 2 ?"),
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


Event = dict[str, Any]
LATEST = {"account.opened": 2, "money.deposited": 3, "money.withdrawn": 1, "account.closed": 2}


def opened(owner: str = "Ada", currency: str = "USD") -> Event:
    return {"name": "account.opened", "payload": {"owner": owner, "currency": currency}}


def deposited(cents: float, last4: str | None = None) -> Event:
    source = {"kind": "cash"} if last4 is None else {"kind": "card", "last4": last4}
    return {"name": "money.deposited", "payload": {"cents": cents, "source": source}}


def withdrawn(cents: float) -> Event:
    return {"name": "money.withdrawn", "payload": {"cents": cents}}


def closed(reason: str | None = None) -> Event:
    return {"name": "account.closed", "payload": {} if reason is None else {"reason": reason}}


def upgraded(name: str, version: int, payload: Any) -> Event:
    if name == "account.opened" and version == 1:
        payload = payload | {"currency": "EUR"}
    if name == "money.deposited" and version == 1:
        payload = {"cents": math.floor(payload["amount"] * 100 + 0.5)}
    if name == "money.deposited" and version < 3:
        payload = payload | {"source": {"kind": "cash"}}
    if name == "account.closed" and version == 1:
        payload = {}
    return {"name": name, "payload": payload}


def folded(events: list[Event]) -> dict[str, Any] | None:
    state: dict[str, Any] | None = None
    for each in events:
        name, payload = each["name"], each["payload"]
        if name == "account.opened":
            state = state or {**payload, "cents": 0, "open": True}
        elif state is not None and name == "account.closed":
            state = state | {"open": False}
        elif state is not None:
            sign = 1 if name == "money.deposited" else -1
            state = state | {"cents": state["cents"] + sign * payload["cents"]}
    return state


def described(each: Event) -> str:
    payload = each["payload"]
    match each["name"]:
        case "account.opened":
            return f"opened for {payload['owner']}"
        case "money.deposited":
            source = payload["source"]
            return f"+{payload['cents']} " + (f"by card {source['last4']}" if source["kind"] == "card" else "in cash")
        case "money.withdrawn":
            return f"-{payload['cents']}"
    return f"closed: {payload.get('reason', 'no reason')}"


def own(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in row if not name.startswith("_")}


def accounts(project: Deployment) -> dict[str, Any]:
    rows = [own(row) for row in project.documents("accounts")]
    found = {row.pop("stream"): row for row in rows}
    assert len(found) == len(rows)
    return found


def texts(project: Deployment, stream: str = "s") -> list[str]:
    return [row["text"] for row in project.documents("notices") if row["stream"] == stream]


def record(project: Deployment, *events: Event, stream: str = "s") -> list[int]:
    return [project.mutation("ledger:record", stream=stream, event=each) for each in events]


def test_events_are_stored_in_their_latest_version(project: Deployment) -> None:
    events = [opened(), deposited(5, "1234"), deposited(7), withdrawn(2), closed("moved"), closed()]
    assert record(project, *events) == [1, 2, 3, 4, 5, 6]
    assert record(project, withdrawn(1), stream="t") == [1]
    assert [own(row) for row in project.documents("events")[:6]] == [
        {**each, "version": LATEST[each["name"]], "stream": "s", "seq": number} for number, each in enumerate(events, 1)
    ]


def test_the_state_is_replayed_and_remembered(project: Deployment) -> None:
    assert project.query("ledger:state", stream="s") is None
    record(project, deposited(9), withdrawn(1), closed())
    assert project.query("ledger:state", stream="s") is None
    assert accounts(project) == {}
    record(project, opened(), deposited(500), withdrawn(120), opened("Bob", "EUR"), deposited(1, "1111"))
    expected = {"owner": "Ada", "currency": "USD", "cents": 381, "open": True}
    assert project.query("ledger:state", stream="s") == expected
    assert accounts(project) == {"s": expected}
    record(project, closed("moved"), deposited(100))
    expected |= {"open": False, "cents": 481}
    assert project.query("ledger:state", stream="s") == expected
    record(project, opened("Cleo"), stream="t")
    assert accounts(project) == {"s": expected, "t": {"owner": "Cleo", "currency": "USD", "cents": 0, "open": True}}


def test_older_versions_are_upgraded(project: Deployment) -> None:
    old: list[tuple[str, int, Any]] = [
        ("account.opened", 1, {"owner": "Ada"}),
        ("money.deposited", 1, {"amount": 12.345}),
        ("money.deposited", 2, {"cents": 5}),
        ("money.deposited", 3, {"cents": 6, "source": {"kind": "card", "last4": "9999"}}),
        ("money.withdrawn", 1, {"cents": 3}),
        ("account.closed", 1, None),
        ("account.closed", 2, {"reason": "gone"}),
    ]
    for seq, (name, version, payload) in enumerate(old, 1):
        project.insert("events", name=name, version=version, payload=payload, stream="s", seq=seq)
    events = [upgraded(*each) for each in old]
    assert project.query("ledger:history", stream="s") == events
    assert project.query("ledger:statement", stream="s") == [
        *(
            "opened for Ada",
            "+1235 in cash",
            "+5 in cash",
            "+6 by card 9999",
            "-3",
            "closed: no reason",
            "closed: gone",
        ),
    ]
    expected = {"owner": "Ada", "currency": "EUR", "cents": 1243, "open": False}
    assert project.query("ledger:state", stream="s") == expected
    assert record(project, deposited(7)) == [8]
    assert accounts(project) == {"s": expected | {"cents": 1250}}


def test_events_are_ordered_by_their_number(project: Deployment) -> None:
    for seq, cents in ((10, 1), (33, 3), (2, 2)):
        project.insert("events", name="money.withdrawn", version=1, payload={"cents": cents}, stream="s", seq=seq)
    assert record(project, withdrawn(4)) == [34]
    assert project.query("ledger:statement", stream="s") == ["-2", "-1", "-3", "-4"]


def test_history_can_be_limited_to_names(project: Deployment) -> None:
    events = [opened(), deposited(1), withdrawn(2), deposited(3), closed()]
    record(project, *events)
    for names in (["money.deposited"], ["account.closed", "account.opened"], [], list(LATEST), ["money.withdrawn"] * 2):
        expected = [each for each in events if each["name"] in names]
        assert project.query("ledger:history", stream="s", names=names) == expected, names
    assert project.query("ledger:history", stream="other") == []


def test_notices_are_written(project: Deployment) -> None:
    record(project, closed(), opened(), opened("Bob"), deposited(99_999), deposited(100_000, "1"), withdrawn(200_000))
    record(project, closed("done"), deposited(100_001))
    assert texts(project) == [
        *("closed: no reason", "opened for Ada", "opened for Bob", "large deposit: 100000", "closed: done"),
        "large deposit: 100001",
    ]


def test_the_number_of_versions(project: Deployment) -> None:
    for name, version in LATEST.items():
        assert project.query("ledger:version", name=name) == version
    with project.fails("ArgumentValidationError"):
        project.query("ledger:version", name="money.lost")


WRONG: list[Any] = [
    {"name": "account.opened", "payload": {"owner": "Ada"}},
    {"name": "account.opened", "payload": {"owner": "Ada", "currency": "GBP"}},
    {"name": "money.deposited", "payload": {"amount": 1}},
    {"name": "money.deposited", "payload": {"cents": 1}},
    {"name": "money.deposited", "payload": {"cents": 1, "source": {"kind": "card"}}},
    {"name": "money.deposited", "payload": {"cents": 1, "source": {"kind": "cash", "last4": "1"}}},
    {"name": "money.withdrawn", "payload": {"cents": "1"}},
    {"name": "money.withdrawn", "payload": deposited(1)["payload"]},
    {"name": "account.closed", "payload": None},
    {"name": "account.closed", "payload": {"reason": None}},
    {"name": "account.lost", "payload": {}},
    {"name": "account.closed"},
    {"payload": {}},
    {**closed(), "version": 2},
    None,
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_only_events_of_the_latest_version_are_recorded(project: Deployment, wrong: Any) -> None:
    with project.fails("ArgumentValidationError"):
        project.mutation("ledger:record", stream="s", event=wrong)


def test_other_arguments_are_validated(project: Deployment) -> None:
    for args in ({"event": closed()}, {"stream": 1, "event": closed()}, {"stream": "s", "event": closed(), "more": 1}):
        with project.fails("ArgumentValidationError"):
            project.mutation("ledger:record", args)
    for names in (["money.lost"], "money.deposited", None):
        with project.fails("ArgumentValidationError"):
            project.query("ledger:history", stream="s", names=names)
    assert project.documents("events") == []


def test_results_and_tables_are_declared(project: Deployment) -> None:
    public = {name: spec for name, spec in project.functions().items() if spec.is_public}
    kinds = {"record": "mutation", "history": "query", "state": "query", "statement": "query", "version": "query"}
    assert {name: spec.kind for name, spec in public.items()} == {
        f"ledger:{name}": kind for name, kind in kinds.items()
    }
    for name, spec in public.items():
        assert spec.returns is not None, name
    assert project.schema().tables.keys() >= {"events", "accounts", "notices"}


def members(validator: Any) -> list[Any]:
    return (
        [each for one in validator["value"] for each in members(one)] if validator["type"] == "union" else [validator]
    )


def test_the_table_takes_all_versions_and_nothing_else(project: Deployment) -> None:
    found = set()
    for member in members(project.schema().table("events").document_type):
        fields = member["value"]
        assert fields.keys() == {"name", "version", "payload", "stream", "seq"}
        found.add((fields["name"]["fieldType"]["value"], fields["version"]["fieldType"]["value"]))
    assert found == {(name, version) for name, latest in LATEST.items() for version in range(1, latest + 1)}


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_replaying_gives_the_state(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    truth: dict[str, list[Event]] = {"a": [], "b": []}
    notices: dict[str, list[str]] = {"a": [], "b": []}
    for stream, past in truth.items():  # what was stored long ago
        for seq in range(1, chance.randrange(8) + 1):
            name = chance.choice([*LATEST])
            version = chance.randrange(LATEST[name]) + 1
            payload: Any = {
                ("account.opened", 1): {"owner": f"o{seq}"},
                ("account.opened", 2): opened(f"o{seq}", chance.choice(["EUR", "USD"]))["payload"],
                ("money.deposited", 1): {"amount": chance.choice([1, 0.5, 10.25, 3])},
                ("money.deposited", 2): {"cents": seq},
                ("money.deposited", 3): deposited(seq, chance.choice([None, "42"]))["payload"],
                ("money.withdrawn", 1): {"cents": seq},
                ("account.closed", 1): None,
                ("account.closed", 2): closed(chance.choice([None, "r"]))["payload"],
            }[name, version]
            project.insert("events", name=name, version=version, payload=payload, stream=stream, seq=seq)
            past.append(upgraded(name, version, payload))
    touched = set()
    for step in range(25):
        stream = chance.choice([*truth])
        cents = chance.choice([1, 20, 99_999, 100_000, 250_000])
        each = chance.choice(
            [
                opened(f"n{step}", chance.choice(["EUR", "USD"])),
                deposited(cents),
                deposited(cents, "77"),
                withdrawn(cents),
            ]
            + [closed(), closed(f"r{step}")] * (chance.random() < 0.3)
        )
        truth[stream].append(each)
        touched.add(stream)
        assert record(project, each, stream=stream) == [len(truth[stream])]
        if each["name"].startswith("account."):
            notices[stream].append(described(each))
        elif each["name"] == "money.deposited" and cents >= 100_000:
            notices[stream].append(f"large deposit: {cents}")
        assert project.query("ledger:state", stream=stream) == folded(truth[stream]), f"step {step}"
    states = {stream: folded(truth[stream]) for stream in touched}
    assert accounts(project) == {stream: state for stream, state in states.items() if state is not None}
    for stream, events in truth.items():
        assert project.query("ledger:history", stream=stream) == events
        assert project.query("ledger:statement", stream=stream) == [described(each) for each in events]
        assert texts(project, stream) == notices[stream]
