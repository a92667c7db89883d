"""Tables for any paginated query: what the compiler knows of them, and what they show while things happen."""

# ruff: noqa: E501 (snippets of TypeScript)

import json
import random
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from convex_evals.pipeline.grading.kit import App, Deployment, Sources, TypeChecks, wait_until

HEAD = """
import type { FunctionReference, PaginationOptions, PaginationResult } from "convex/server";
import { api, internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { list, ListTable, useList, type RowOf } from "../src/lists";
import * as given from "../src/tables";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? (0 extends 1 & A ? false : true) : false) : false;
type Paginated<Args, Item> = FunctionReference<"query", "public", Args & { paginationOpts: PaginationOptions }, PaginationResult<Item>>;
type Mutation<Args extends Record<string, unknown>, Result> = FunctionReference<"mutation", "public", Args, Result>;
type Task =
  | { key: Id<"orders">; other: Id<"events">; kind: "call"; phone: string; due?: number; big: bigint; ok: boolean }
  | { key: Id<"orders">; other?: Id<"events">; kind: "mail"; to: string[]; due: null; code: string | null; urgent?: boolean };
declare const tasks: Paginated<{ owner?: Id<"customers">; near?: string; size?: 1 | "two" | true; flag?: boolean; side: "left" | "right"; limit: number }, Task>;
declare const hidden: FunctionReference<"query", "internal", { paginationOpts: PaginationOptions }, PaginationResult<Doc<"events">>>;
declare const plain: FunctionReference<"query", "public", { sort: "name" | "newest" }, PaginationResult<Doc<"events">>>;
declare const unpaged: FunctionReference<"query", "public", { paginationOpts: PaginationOptions }, Doc<"events">[]>;
declare const touch: Mutation<{ key: Id<"orders">; kind: "call" | "mail" | "visit"; note?: string; weight: number }, { at: bigint }>;
declare const ping: Mutation<{}, null>;
declare const secret: FunctionReference<"mutation", "internal", { key: Id<"orders"> }, null>;
declare const customerId: Id<"customers">;
declare const orderId: Id<"orders">;
const rest = { name: () => "", includes: () => true, compare: () => 1 };
const o = list(api.orders.list, { ...rest, id: "orderId" });
const c = list(api.customers.list, { ...rest, id: "_id" });
const t = list(tasks, { ...rest, id: "key" });
export function useIt() {
%s
}
"""

COMPILES = {
    "lists of paginated queries": """
  const made = list(api.orders.list, {
    id: "customerId",
    name: (row) => row.address.city.toUpperCase(),
    includes: (row, args) => row.customerId === args.customerId && args.sort !== "number" && args.status?.length === 4,
    compare: (a, b, args) => (args.sort === "total" ? a.total - b.total : a.number - b.number),
  });
  const row: Same<RowOf<typeof made>, { orderId: Id<"orders">; customerId: Id<"customers">; number: number; status: "open" | "paid" | "shipped"; total: number; address: { street: string; city: string } }> = true;
  const union: Same<RowOf<typeof given.events>, Doc<"events">> = true;
  const tasked: Same<RowOf<typeof t>, Task> = true;
  return [row, union, tasked, list(tasks, { ...rest, id: "key" })];""",
    "columns as text": """
  return [o.column("total", "A"), o.column("status", "B"), o.column("orderId", "C"), c.column("note", "D"), t.column("due", "E"), t.column("phone", "F"), t.column("code", "G")];""",
    "columns that are rendered": """
  return [
    o.column("address", "A", (address, row) => `${address.city} ${row.number.toFixed()}`),
    c.column("note", "B", (note) => note?.length),
    c.column("level", "C", (level) => { const same: Same<typeof level, 1 | 2 | 3> = true; return String(same); }),
    t.column("big", "D", (big) => { const same: Same<typeof big, bigint | undefined> = true; return String(same); }),
    t.column("ok", "E", (ok, row) => (row.kind === "call" ? row.phone : String(ok))),
    t.column("to", "F", (to) => to?.join()),
    t.column("due", "G", (due) => { const same: Same<typeof due, number | null | undefined> = true; return String(same); }),
    o.column("total", "H", () => null),
  ];""",
    "filters and sorts": """
  return [
    o.filter("status", "A", [["open", "a"], ["shipped", "b"], ["paid", "c"]]),
    t.filter("size", "B", [[true, "a"], [1, "b"], ["two", "c"]]),
    t.filter("flag", "C", [[true, "a"], [false, "b"]]).filter("size", "D", [[true, "a"], [1, "b"], ["two", "c"]]),
    t.sort("side", [["left", "a"], ["right", "b"]]).filter("flag", "E", [[true, "a"], [false, "b"]]),
    o.sort("status", [["open", "a"], ["paid", "b"], ["shipped", "c"]]),
    c.filter("level", "F", [[1, "a"], [2, "b"], [3, "c"]]).sort("sort", [["name", "a"], ["newest", "b"]]),
  ];""",
    "actions": """
  return [
    t.action("a", touch, { label: "A", change: (row) => row }),
    t.action("b", touch, { label: "B", pass: { key: "key", kind: "kind" }, change: () => null }),
    t.action("c", touch, { label: "C", pass: { key: "key" }, args: () => ({ kind: "visit" }), change: (row, args) => (args.weight > 5 && args.kind === "visit" ? null : row) }),
    t.action("d", touch, { label: "D", args: (row) => ({ key: row.key, weight: row.kind.length, note: "x" }), change: (row) => row }),
    t.action("e", ping, { label: "E", change: (row) => row }).action("f", ping, { label: "F", change: (row) => row }),
    c.action("g", touch, { label: "G", pass: { note: "note", weight: "level" }, change: (row) => row }),
    o.action("h", api.orders.setStatus, { label: "H", args: (row) => ({ status: row.total > 5 ? "paid" : "open" }), change: (row, { status, remark }) => ({ ...row, status, number: remark?.length ?? 0 }) }),
  ];""",
    "arguments that are left": """
  useList(o, { args: { customerId, sort: "total" }, pageSize: 1 });
  useList(o, { args: { customerId, sort: "total", status: "open" }, pageSize: 1 });
  useList(o.sort("sort", [["number", "a"], ["total", "b"]]), { args: { customerId, status: "open" }, pageSize: 1 });
  useList(o.filter("status", "A", [["open", "a"], ["shipped", "b"], ["paid", "c"]]), { args: { customerId, sort: "number" }, pageSize: 1 });
  useList(t.sort("side", [["left", "a"], ["right", "b"]]), { args: { limit: 5 }, pageSize: 1 });
  useList(t, { args: { limit: 5, side: "left", near: "x", flag: true, size: "two" }, pageSize: 1 });
  useList(given.events, { pageSize: 1 });
  useList(given.events, { args: {}, pageSize: 1 });
  useList(list(api.events.list, { ...rest, id: "_id" }), { pageSize: 1 });
  useList(list(api.events.list, { ...rest, id: "_id" }), { args: { pinned: true }, pageSize: 1 });
  useList(c.sort("sort", [["name", "a"], ["newest", "b"]]), { pageSize: 1 });
  useList(c.sort("sort", [["name", "a"], ["newest", "b"]]), { args: { level: 3 }, pageSize: 1 });""",
    "what a table says": """
  const table = useList(given.orders, { args: { customerId }, pageSize: 1 });
  const rows: Same<typeof table.rows, RowOf<typeof given.orders>[]> = true;
  const status: Same<typeof table.status, "LoadingFirstPage" | "CanLoadMore" | "LoadingMore" | "Exhausted"> = true;
  const sort: Same<typeof table.sort, "number" | "total"> = true;
  const filter: Same<typeof table.filters.status, "open" | "paid" | "shipped" | undefined> = true;
  const selected: Same<typeof table.selected, Id<"orders">[]> = true;
  const problem: Same<typeof table.problem, string | null> = true;
  const other: Same<ReturnType<typeof useOther>["selected"], Id<"customers">[]> = true;
  table.loadMore(); table.setSort("total"); table.setFilter("status", "paid"); table.setFilter("status", undefined); table.toggle(orderId); table.clear();
  return [rows, status, sort, filter, selected, problem, other];
}
function useOther() {
  return useList(given.customers, { pageSize: 1 });""",
    "filters of several kinds": """
  const table = useList(t.filter("flag", "C", [[true, "a"], [false, "b"]]).filter("size", "D", [[true, "a"], [1, "b"], ["two", "c"]]), { args: { limit: 1, side: "left" }, pageSize: 1 });
  const flag: Same<typeof table.filters.flag, boolean | undefined> = true;
  const size: Same<typeof table.filters.size, 1 | "two" | true | undefined> = true;
  table.setFilter("flag", false); table.setFilter("size", 1);
  return [flag, size];""",
    "running actions": """
  const table = useList(
    t.action("all", touch, { label: "A", change: (row) => row })
      .action("some", touch, { label: "B", pass: { key: "key" }, args: () => ({ kind: "visit" }), change: (row) => row })
      .action("rest", touch, { label: "C", pass: { key: "key", kind: "kind" }, args: () => ({ weight: 5 }), change: (row) => row })
      .action("none", ping, { label: "D", change: (row) => row }),
    { args: { limit: 5, side: "left" }, pageSize: 1 },
  );
  const [row] = table.rows;
  if (row === undefined) return;
  const result: Promise<{ at: bigint }> = table.run("all", row, { key: orderId, kind: "call", weight: 3, note: "x" });
  const same: Same<Awaited<typeof result>, { at: bigint }> = true;
  table.run("some", row, { weight: 5 }); table.run("some", row, { weight: 5, note: "x" });
  table.run("rest", row); table.run("rest", row, { note: "x" }); table.run("rest", row, {}); table.run("none", row); table.run("none", row, {});
  const run = () => useRow().run("discount", o_row, { amount: 5 });
  const total: Same<Awaited<ReturnType<typeof run>>, number> = true;
  return [same, total];
}
declare const o_row: RowOf<typeof given.orders>;
function useRow() {
  return useList(given.orders, { args: { customerId }, pageSize: 1 });""",
    "the component": """
  const table = useList(given.orders, { args: { customerId }, pageSize: 1 });
  const tasked = useList(t.action("all", touch, { label: "A", change: (row) => row }).action("none", ping, { label: "D", change: (row) => row }), { args: { limit: 5, side: "left" }, pageSize: 1 });
  ListTable({ table, label: "a" }); ListTable({ table, label: "a", buttons: ["pay", "remove"] }); ListTable({ table, label: "a", buttons: [] });
  ListTable({ table: tasked, label: "a", buttons: ["none"] }); ListTable({ table: useList(o, { args: { customerId, sort: "total" }, pageSize: 1 }), label: "a" });""",
    "old lists stay as they are": """
  const base = c.column("name", "A");
  const more = base.sort("sort", [["name", "a"], ["newest", "b"]]).action("touch", ping, { label: "A", change: (row) => row });
  useList(base, { args: { sort: "name" }, pageSize: 1 });
  useList(more, { pageSize: 1 });
  return base.action("touch", ping, { label: "B", change: (row) => row }).sort("sort", [["newest", "b"], ["name", "a"]]);""",
    "internal functions are there": "  return [internal];",
}

REFUSED = {
    "a query without pages": """list(plain, { ...rest, id: "_id" });""",
    "a query that returns no page": """list(unpaged, { ...rest, id: "_id" });""",
    "an internal query": """list(hidden, { ...rest, id: "_id" });""",
    "a mutation": """list(api.orders.remove, { ...rest, id: "orderId" });""",
    "an id that is a string": """list(api.customers.list, { ...rest, id: "name" });""",
    "an id that is a number": """list(api.orders.list, { ...rest, id: "number" });""",
    "an id that is not there": """list(api.orders.list, { ...rest, id: "_id" });""",
    "an id that some do not have": """list(api.events.list, { ...rest, id: "customerId" });""",
    "an id that is optional": """list(tasks, { ...rest, id: "other" });""",
    "without an id": """list(api.orders.list, rest);""",
    "without a name": """list(api.orders.list, { id: "orderId", includes: () => true, compare: () => 1 });""",
    "without includes": """list(api.orders.list, { id: "orderId", name: () => "", compare: () => 1 });""",
    "without compare": """list(api.orders.list, { id: "orderId", name: () => "", includes: () => true });""",
    "a name that is a number": """list(api.orders.list, { ...rest, id: "orderId", name: (row) => row.total });""",
    "includes with the pages": """list(api.orders.list, { ...rest, id: "orderId", includes: (row, args) => args.paginationOpts !== undefined });""",
    "includes with a wrong argument": """list(api.orders.list, { ...rest, id: "orderId", includes: (row, args) => args.sort === "newest" });""",
    "compare with a wrong field": """list(api.orders.list, { ...rest, id: "orderId", compare: (a, b) => a.amount - b.amount });""",
    "a column that is not there": """o.column("totals", "A");""",
    "a column that is not there, rendered": """o.column("totals", "A", () => null);""",
    "an object as text": """o.column("address", "A");""",
    "a bigint as text": """t.column("big", "A");""",
    "a boolean as text": """t.column("ok", "A");""",
    "an optional boolean as text": """t.column("urgent", "A");""",
    "an array as text": """t.column("to", "A");""",
    "a value of another type": """o.column("total", "A", (total) => total.length);""",
    "a value that may not be there": """c.column("note", "A", (note) => note.length);""",
    "a value that some do not have": """t.column("phone", "A", (phone) => phone.length);""",
    "a row of another type": """o.column("total", "A", (total, row) => row.amount);""",
    "something that is no node": """o.column("total", "A", (total) => ({ total }));""",
    "a filter that is required": """o.filter("sort", "A", [["number", "a"], ["total", "b"]]);""",
    "a filter of an id": """t.filter("owner", "A", [[customerId, "a"]]);""",
    "a filter of any string": """t.filter("near", "A", [["here", "a"]]);""",
    "a filter of pages": """o.filter("paginationOpts", "A", []);""",
    "a filter that is not there": """o.filter("city", "A", [["Rome", "a"]]);""",
    "a filter without a value": """o.filter("status", "A", [["open", "a"], ["paid", "b"]]);""",
    "a filter with another value": """o.filter("status", "A", [["open", "a"], ["paid", "b"], ["shipped", "c"], ["lost", "d"]]);""",
    "a filter with a value of another type": """c.filter("level", "A", [["1", "a"], [2, "b"], [3, "c"]]);""",
    "a filter without false": """t.filter("flag", "A", [[true, "a"]]);""",
    "a filter without options": """o.filter("status", "A", []);""",
    "a filter without labels": """o.filter("status", "A", ["open", "paid", "shipped"]);""",
    "a filter twice": """t.filter("flag", "A", [[true, "a"], [false, "b"]]).filter("flag", "B", [[true, "a"], [false, "b"]]);""",
    "a filter of what sorts": """o.sort("status", [["open", "a"], ["paid", "b"], ["shipped", "c"]]).filter("status", "B", [["open", "a"], ["paid", "b"], ["shipped", "c"]]);""",
    "a sort of what filters": """o.filter("status", "B", [["open", "a"], ["paid", "b"], ["shipped", "c"]]).sort("status", [["open", "a"], ["paid", "b"], ["shipped", "c"]]);""",
    "a second sort": """o.sort("status", [["open", "a"], ["paid", "b"], ["shipped", "c"]]).sort("sort", [["number", "a"], ["total", "b"]]);""",
    "a sort of an id": """o.sort("customerId", [[customerId, "a"]]);""",
    "a sort of numbers": """t.sort("limit", [[1, "a"]]);""",
    "a sort without a value": """o.sort("sort", [["number", "a"]]);""",
    "a sort with another value": """o.sort("sort", [["number", "a"], ["total", "b"], ["city", "c"]]);""",
    "a query as action": """o.action("a", api.orders.list, { label: "A", change: (row) => row });""",
    "an internal mutation": """o.action("a", secret, { label: "A", change: (row) => row });""",
    "an action without label": """t.action("a", ping, { change: (row) => row });""",
    "an action without change": """t.action("a", ping, { label: "A" });""",
    "an action with a name twice": """given.orders.action("pay", ping, { label: "A", change: (row) => row });""",
    "a field of another type": """o.action("a", api.orders.setStatus, { label: "A", pass: { orderId: "customerId" }, change: (row) => row });""",
    "a string as literal": """c.action("a", api.orders.setStatus, { label: "A", pass: { status: "name" }, change: (row) => row });""",
    "a field that is not there": """o.action("a", api.orders.setStatus, { label: "A", pass: { orderId: "_id" }, change: (row) => row });""",
    "a field that some do not have": """t.action("a", api.customers.rename, { label: "A", pass: { name: "phone" }, change: (row) => row });""",
    "a field that may not be there": """c.action("a", api.customers.rename, { label: "A", pass: { name: "note" }, change: (row) => row });""",
    "passing for an unknown argument": """o.action("a", api.orders.remove, { label: "A", pass: { orderId: "orderId", number: "number" }, change: (row) => row });""",
    "an unknown argument": """o.action("a", api.orders.setStatus, { label: "A", args: () => ({ status: "paid", total: 5 }), change: (row) => row });""",
    "an argument of a wrong type": """o.action("a", api.orders.setStatus, { label: "A", args: () => ({ status: "lost" }), change: (row) => row });""",
    "an argument twice": """o.action("a", api.orders.setStatus, { label: "A", pass: { orderId: "orderId" }, args: (row) => ({ orderId: row.orderId }), change: (row) => row });""",
    "arguments by a wrong field": """o.action("a", api.orders.setStatus, { label: "A", args: (row) => ({ orderId: row._id }), change: (row) => row });""",
    "a change by an unknown argument": """o.action("a", api.orders.remove, { label: "A", change: (row, args) => ({ ...row, total: args.total }) });""",
    "a change to something else": """o.action("a", api.orders.remove, { label: "A", change: (row) => ({ ...row, total: "5" }) });""",
    "a change to undefined": """o.action("a", api.orders.remove, { label: "A", change: () => undefined });""",
    "a required argument left out": """useList(o, { args: { customerId }, pageSize: 1 });""",
    "all arguments left out": """useList(given.orders, { pageSize: 1 });""",
    "an argument that sorts": """useList(given.orders, { args: { customerId, sort: "total" }, pageSize: 1 });""",
    "an argument that filters": """useList(given.orders, { args: { customerId, status: "open" }, pageSize: 1 });""",
    "an argument that filters, and no other": """useList(given.events, { args: { pinned: true }, pageSize: 1 });""",
    "pages as an argument": """useList(o, { args: { customerId, sort: "total", paginationOpts: { numItems: 1, cursor: null } }, pageSize: 1 });""",
    "an argument of a wrong table": """useList(given.orders, { args: { customerId: orderId }, pageSize: 1 });""",
    "an argument that the query does not have": """useList(given.orders, { args: { customerId, city: "Rome" }, pageSize: 1 });""",
    "an argument when there is none": """useList(given.customers, { args: { city: "Rome" }, pageSize: 1 });""",
    "without page size": """useList(given.orders, { args: { customerId } });""",
    "ids of another table": """const ids: Id<"customers">[] = useList(given.orders, { args: { customerId }, pageSize: 1 }).selected; return ids;""",
    "toggling an id of another table": """useList(given.orders, { args: { customerId }, pageSize: 1 }).toggle(customerId);""",
    "sorting by something else": """useList(given.orders, { args: { customerId }, pageSize: 1 }).setSort("newest");""",
    "sorting without a sort": """useList(given.events, { pageSize: 1 }).setSort("newest");""",
    "filtering by something else": """useList(given.orders, { args: { customerId }, pageSize: 1 }).setFilter("status", "lost");""",
    "filtering by what sorts": """useList(given.orders, { args: { customerId }, pageSize: 1 }).setFilter("sort", "total");""",
    "filtering by the value of another filter": """useList(t.filter("flag", "C", [[true, "a"], [false, "b"]]).filter("size", "D", [[true, "a"], [1, "b"], ["two", "c"]]), { args: { limit: 1, side: "left" }, pageSize: 1 }).setFilter("size", false);""",
    "a filter that is not one": """return useList(given.orders, { args: { customerId }, pageSize: 1 }).filters.sort;""",
}

RUN = "const table = useList(given.orders, { args: { customerId }, pageSize: 1 }); const row = table.rows[0]; if (row === undefined) return; "
REFUSED |= {
    "an unknown action": RUN + 'table.run("buy", row);',
    "an action of a longer list": 'const table = useList(given.someOrders, { args: { customerId, sort: "total" }, pageSize: 1 }); const row = table.rows[0]; if (row === undefined) return; table.run("remove", row);',
    "an action without its arguments": RUN + 'table.run("discount", row);',
    "an action with a wrong argument": RUN + 'table.run("discount", row, { amount: "5" });',
    "an action with an argument that is passed": RUN + 'table.run("discount", row, { amount: 5, orderId });',
    "an action with an argument that is given": RUN + 'table.run("pay", row, { status: "open" });',
    "an action with nothing left, and an argument": RUN + 'table.run("remove", row, { orderId });',
    "an action with an unknown argument": RUN + 'table.run("discount", row, { amount: 5, total: 5 });',
    "a row of another list": RUN
    + 'const [other] = useList(given.events, { pageSize: 1 }).rows; if (other !== undefined) table.run("pay", other);',
    "another result": RUN + 'const total: Promise<string> = table.run("discount", row, { amount: 5 }); return total;',
    "a button that needs arguments": 'const table = useList(given.orders, { args: { customerId }, pageSize: 1 }); ListTable({ table, label: "a", buttons: ["discount"] });',
    "a button for an unknown action": 'const table = useList(given.orders, { args: { customerId }, pageSize: 1 }); ListTable({ table, label: "a", buttons: ["buy"] });',
    "a button of a longer list": 'const table = useList(given.someOrders, { args: { customerId, sort: "total" }, pageSize: 1 }); ListTable({ table, label: "a", buttons: ["remove"] });',
    "a table without a label": "const table = useList(given.orders, { args: { customerId }, pageSize: 1 }); ListTable({ table });",
}
SNIPPETS = {name: HEAD.replace("%s", snippet) for name, snippet in (COMPILES | REFUSED).items()}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] != ()


def test_the_library_is_where_it_must_be(files: Sources) -> None:
    assert files.exists("src/lists.tsx")
    assert any("usePaginatedQuery" in files.text(path) for path in files.paths("src/**/*"))


STATE = """Object.fromEntries([...document.querySelectorAll('section')].map((section) => [
  section.getAttribute('aria-label') ?? document.getElementById(section.getAttribute('aria-labelledby') ?? '')?.textContent,
  [...section.querySelectorAll('table tr')].slice(1).map((row) => [...row.cells].slice(1, -1).map((cell) => cell.textContent.trim()).join(' | ').trim()),
]))"""


@dataclass
class SlowLine:
    """A page's connection: once the page has sent a mutation, whatever else it sends waits until it may go on."""

    is_slow: bool = True
    is_blocked: bool = False
    waiting: list[tuple[WebSocketRoute, str | bytes]] = field(default_factory=list)

    def connect(self, near: WebSocketRoute) -> None:
        far = near.connect_to_server()

        def send(message: str | bytes) -> None:
            if self.is_blocked:
                self.waiting.append((far, message))
            else:
                far.send(message)
                self.is_blocked = self.is_slow and json.loads(message)["type"] == "Mutation"

        near.on_message(send)

    def go_on(self) -> None:
        self.is_slow = self.is_blocked = False
        for far, message in self.waiting:
            far.send(message)


def region(page: Page, label: str) -> Locator:
    return page.get_by_role("region", name=label, exact=True)


def row(page: Page, label: str, name: str) -> Locator:
    box = page.get_by_role("checkbox", name=f"Select {name}", exact=True)
    return region(page, label).get_by_role("row").filter(has=box)


def box(page: Page, label: str, name: str) -> Locator:
    return region(page, label).get_by_role("checkbox", name=f"Select {name}", exact=True)


def button(page: Page, label: str, name: str, text: str) -> Locator:
    return row(page, label, name).get_by_role("button", name=text, exact=True)


def choose(page: Page, label: str, select: str, option: str) -> None:
    region(page, label).get_by_role("combobox", name=select, exact=True).select_option(label=option)


def enter(page: Page, label: str, text: str) -> None:
    page.get_by_label(label, exact=True).fill(text)
    page.get_by_label(label, exact=True).press("Enter")


def shown(page: Page, label: str) -> list[str]:
    rows: list[str] = page.evaluate(STATE)[label]
    return rows


def expect_rows(page: Page, label: str, *rows: str, selected: int = 0) -> None:
    expect(region(page, label).get_by_role("row")).to_have_count(len(rows) + 1)
    expect(region(page, label).get_by_role("status")).to_have_text(f"{len(rows)} shown, {selected} selected")

    def same() -> bool:
        assert shown(page, label) == list(rows)
        return True

    wait_until(same, f"the rows of {label}")


def create(project: Deployment) -> dict[str, str]:
    """Customers with the orders 1, 2, … of the statuses `o`, `p` and `s`, whose totals are given. The ids, by name."""
    ids = {}
    for name, level in (("Bob", 1), ("Ada", 3), ("Eve", 2), ("Dan", 1), ("Cid", 3)):
        ids[name] = project.insert("customers", name=name, level=level)
    return ids


STATUS = {"o": "open", "p": "paid", "s": "shipped"}


def order(project: Deployment, customer: str, number: int, total: int, status: str = "o", city: str = "Rome") -> str:
    fields = {"customerId": customer, "number": number, "total": total, "status": STATUS[status], "locked": False}
    return project.insert("orders", **fields, address={"street": "Via", "city": city})


def orders(project: Deployment, customer: str, *each: str) -> list[str]:
    """`5p` is a paid order of 5 €. They get the numbers 1, 2, …"""
    return [order(project, customer, number, int(text[:-1]), text[-1]) for number, text in enumerate(each, 1)]


def lock(project: Deployment, id: str) -> None:
    document = project.get(id)
    assert document is not None
    project.replace(id, {key: value for key, value in document.items() if not key.startswith("_")} | {"locked": True})


def open_orders(app: App, name: str = "Ada") -> Page:
    page = app.open()
    box(page, "Customers", name).check()
    expect(region(page, "All orders")).to_have_count(1)
    return page


def line(number: int, total: int, status: str, city: str = "Rome") -> str:
    return f"{number} | {STATUS[status]} | {total} € ({STATUS[status]}) | {city}"


def alert(page: Page, label: str) -> Locator:
    return region(page, label).get_by_role("alert")


MORE = """(section) => {
  const button = [...section.querySelectorAll('button')].find((each) => each.textContent.trim() === 'Load more');
  return button === undefined ? 'none' : button.disabled ? 'loading' : section.querySelectorAll('table tr').length;
}"""


def load_all(page: Page, label: str) -> None:
    section = region(page, label)
    expect(section.get_by_role("status")).not_to_have_text("Loading…")
    while (before := section.evaluate(MORE)) != "none":
        section.get_by_role("button", name="Load more", exact=True).click()
        wait_until(lambda: section.evaluate(MORE) not in ("loading", before), "more rows")


def test_rows_appear_when_they_are_loaded(app: App, project: Deployment) -> None:
    create(project)
    with app.opening() as page:
        customers = region(page, "Customers")
        expect(customers.get_by_role("status")).to_have_text("Loading…")
        expect(customers.get_by_role("row")).to_have_count(1)
        expect(customers.get_by_role("button")).to_have_count(0)
        expect(alert(page, "Customers")).to_have_count(0)
    expect_rows(page, "Customers", "Ada | *** |", "Bob | * |", "Cid | *** |")
    expect(region(page, "Events").get_by_role("status")).to_have_text("0 shown, 0 selected")
    expect(region(page, "Events").get_by_role("button", name="Load more")).to_have_count(0)


def test_each_table_has_the_cells_of_its_list(app: App, project: Deployment) -> None:
    ids = create(project)
    order(project, ids["Ada"], 1, 5, "p", city="Oslo")
    page = open_orders(app)
    expect_rows(page, "All orders", line(1, 5, "p", "Oslo"))
    expect_rows(page, "Paid orders", "1 | paid")
    cells = (
        "(table) => [...table.rows].map((row) => [...row.cells].map((cell) => [cell.tagName, cell.textContent.trim()]))"
    )
    for label, headers, first in (
        ("Customers", ["Name", "Level", "Note"], ["Ada", "***", ""]),
        ("All orders", ["No.", "Status", "Total", "City"], ["1", "paid", "5 € (paid)", "Oslo"]),
        ("Paid orders", ["No.", "Status"], ["1", "paid"]),
        ("Events", ["Kind", "Text", "Amount", "Pinned"], None),
    ):
        head, *rows = region(page, label).locator("table").evaluate(cells)
        assert head[1:-1] == [["TH", header] for header in headers]
        assert len(head) == len(headers) + 2
        if first is not None:
            assert rows[0][1:-1] == [["TD", text] for text in first]
            assert len(rows[0]) == len(headers) + 2
            assert {tag for tag, _ in rows[0]} == {"TD"}
    assert row(page, "All orders", "order 1").get_by_role("button").all_text_contents() == ["Pay", "Remove"]
    assert row(page, "Paid orders", "order 1").get_by_role("button").all_text_contents() == []
    cells_of_row = row(page, "All orders", "order 1").locator("td")
    expect(cells_of_row.first.get_by_role("checkbox")).to_have_count(1)
    expect(cells_of_row.last.get_by_role("button")).to_have_count(2)
    for label, selects in (
        ("Customers", {"Sort": ["By name", "Newest first"], "Level": ["All", "Gold", "Silver", "Bronze"]}),
        ("All orders", {"Sort": ["By number", "Largest first"], "Status": ["All", "Open", "Paid", "Shipped"]}),
        ("Paid orders", {}),
        ("Events", {"Pinned": ["All", "Pinned", "Not pinned"]}),
    ):
        expect(region(page, label).get_by_role("combobox")).to_have_count(len(selects))
        for name, options in selects.items():
            select = region(page, label).get_by_role("combobox", name=name, exact=True)
            assert select.locator("option").all_text_contents() == options
            assert select.evaluate("(select) => select.selectedOptions[0].textContent") == options[0]


def test_more_rows_are_loaded_page_by_page(app: App, project: Deployment) -> None:
    ids = create(project)
    orders(project, ids["Ada"], *["5p"] * 5)
    page = open_orders(app)
    more = region(page, "Paid orders").get_by_role("button", name="Load more", exact=True)
    expect_rows(page, "Paid orders", "1 | paid", "2 | paid")
    with app.holding(page):
        more.click()
        expect(more).to_be_disabled()
        expect(region(page, "Paid orders").get_by_role("status")).to_have_text("2 shown, 0 selected")
    expect_rows(page, "Paid orders", *[f"{number} | paid" for number in (1, 2, 3, 4)])
    expect(more).to_be_enabled()
    expect_rows(page, "All orders", *[line(number, 5, "p") for number in (1, 2, 3, 4)])
    more.click()
    expect_rows(page, "Paid orders", *[f"{number} | paid" for number in (1, 2, 3, 4, 5)])
    expect(more).to_have_count(0)


def test_the_user_chooses_what_is_shown(app: App, project: Deployment) -> None:
    ids = create(project)
    orders(project, ids["Ada"], "5o", "9p", "7s", "8p", "1p")
    page = open_orders(app)
    state = page.get_by_test_id("state")
    expect(state).to_have_text("number, any")
    expect_rows(page, "All orders", line(1, 5, "o"), line(2, 9, "p"), line(3, 7, "s"), line(4, 8, "p"))
    choose(page, "All orders", "Sort", "Largest first")
    expect_rows(page, "All orders", line(2, 9, "p"), line(4, 8, "p"), line(3, 7, "s"), line(1, 5, "o"))
    choose(page, "All orders", "Status", "Paid")
    expect_rows(page, "All orders", line(2, 9, "p"), line(4, 8, "p"), line(5, 1, "p"))
    expect(state).to_have_text("total, paid")
    choose(page, "All orders", "Sort", "By number")
    expect_rows(page, "All orders", line(2, 9, "p"), line(4, 8, "p"), line(5, 1, "p"))
    choose(page, "All orders", "Status", "All")
    expect(state).to_have_text("number, any")
    expect_rows(page, "All orders", line(1, 5, "o"), line(2, 9, "p"), line(3, 7, "s"), line(4, 8, "p"))


def test_the_page_chooses_what_is_shown(app: App, project: Deployment) -> None:
    create(project)
    page = app.open()
    level, sort = (
        region(page, "Customers").get_by_role("combobox", name=name, exact=True) for name in ("Level", "Sort")
    )
    chosen = "(select) => select.selectedOptions[0].textContent"
    expect_rows(page, "Customers", "Ada | *** |", "Bob | * |", "Cid | *** |")
    page.get_by_role("button", name="Gold only").click()
    expect_rows(page, "Customers", "Ada | *** |", "Cid | *** |")
    assert (level.evaluate(chosen), sort.evaluate(chosen)) == ("Gold", "By name")
    page.get_by_role("button", name="Newest customers").click()
    expect_rows(page, "Customers", "Cid | *** |", "Ada | *** |")
    page.get_by_role("button", name="All levels").click()
    expect_rows(page, "Customers", "Cid | *** |", "Dan | * |", "Eve | ** |")
    assert (level.evaluate(chosen), sort.evaluate(chosen)) == ("All", "Newest first")
    choose(page, "Customers", "Level", "Bronze")
    expect_rows(page, "Customers", "Dan | * |", "Bob | * |")


def test_filters_can_be_false(app: App, project: Deployment) -> None:
    for at in range(1, 5):
        project.insert("events", kind="note", at=at, pinned=at % 2 == 0, text=f"t{at}")
    page = app.open()
    notes = {at: f"note | t{at} |  | {'yes' if at % 2 == 0 else 'no'}" for at in range(1, 5)}
    expect_rows(page, "Events", *[notes[at] for at in (4, 3, 2, 1)])
    choose(page, "Events", "Pinned", "Not pinned")
    expect_rows(page, "Events", notes[3], notes[1])
    choose(page, "Events", "Pinned", "Pinned")
    expect_rows(page, "Events", notes[4], notes[2])
    with app.holding(page):
        button(page, "Events", "event 4", "Pin").click()
        expect_rows(page, "Events", notes[2])
    expect_rows(page, "Events", notes[2])
    choose(page, "Events", "Pinned", "All")
    expect_rows(page, "Events", notes[4].replace("yes", "no"), notes[3], notes[2], notes[1])


def test_rows_of_a_union_show_what_they_have(app: App, project: Deployment) -> None:
    ids = create(project)
    paid = order(project, ids["Ada"], 1, 5)
    project.insert("events", kind="login", at=3, pinned=False, customerId=ids["Ada"])
    project.insert("events", kind="payment", at=2, pinned=False, orderId=paid, amount=0)
    project.insert("events", kind="note", at=1, pinned=True, text="hello")
    page = app.open()
    first, second, third = "login | somebody |  | no", "payment | payment | 0 | no", "note | hello |  | yes"
    expect_rows(page, "Events", first, second, third)
    with app.holding(page):
        button(page, "Events", "event 2", "Pin").click()
        expect_rows(page, "Events", first, second.replace("no", "yes"), third)
        button(page, "Events", "event 2", "Pin").click()
        expect_rows(page, "Events", first, second, third)
        button(page, "Events", "event 1", "Pin").click()
        expect_rows(page, "Events", first, second, third.replace("yes", "no"))
    expect_rows(page, "Events", first, second, third.replace("yes", "no"))
    wait_until(lambda: [each["pinned"] for each in project.documents("events")] == [False] * 3, "the changes")


def test_what_others_do_appears(app: App, project: Deployment) -> None:
    ids = create(project)
    first, second = orders(project, ids["Ada"], "5o", "9p")
    page = open_orders(app)
    expect_rows(page, "All orders", line(1, 5, "o"), line(2, 9, "p"))
    order(project, ids["Ada"], 0, 4, "p")
    order(project, ids["Bob"], 3, 4, "p")
    expect_rows(page, "All orders", line(0, 4, "p"), line(1, 5, "o"), line(2, 9, "p"))
    expect_rows(page, "Paid orders", "0 | paid", "2 | paid")
    project.mutation("orders:setStatus", orderId=first, status="paid")
    expect_rows(page, "Paid orders", "0 | paid", "1 | paid", "2 | paid")
    project.mutation("orders:remove", orderId=second)
    expect_rows(page, "All orders", line(0, 4, "p"), line(1, 5, "p"))


def test_rows_stay_selected(app: App, project: Deployment) -> None:
    create(project)
    page = app.open()
    expect_rows(page, "Customers", "Ada | *** |", "Bob | * |", "Cid | *** |")
    for name in ("Cid", "Bob", "Ada"):
        box(page, "Customers", name).check()
    expect(region(page, "Customers").get_by_role("status")).to_have_text("3 shown, 3 selected")
    choose(page, "Customers", "Level", "Gold")
    expect_rows(page, "Customers", "Ada | *** |", "Cid | *** |", selected=3)
    for name in ("Ada", "Cid"):
        expect(box(page, "Customers", name)).to_be_checked()
    box(page, "Customers", "Ada").uncheck()
    expect(region(page, "Customers").get_by_role("status")).to_have_text("2 shown, 2 selected")
    choose(page, "Customers", "Level", "All")
    choose(page, "Customers", "Sort", "Newest first")
    expect_rows(page, "Customers", "Cid | *** |", "Dan | * |", "Eve | ** |", selected=2)
    region(page, "Customers").get_by_role("button", name="Load more").click()
    expect_rows(page, "Customers", "Cid | *** |", "Dan | * |", "Eve | ** |", "Ada | *** |", "Bob | * |", selected=2)
    assert [box(page, "Customers", name).is_checked() for name in ("Ada", "Bob", "Cid", "Dan", "Eve")] == [
        False,
        True,
        True,
        False,
        False,
    ]
    page.get_by_role("button", name="Select none").click()
    expect(region(page, "Customers").get_by_role("checkbox", checked=True)).to_have_count(0)
    expect(region(page, "Customers").get_by_role("status")).to_have_text("5 shown, 0 selected")
    assert region(page, "All orders").count() == 0


def test_ids_are_in_the_order_in_which_they_were_selected(app: App, project: Deployment) -> None:
    ids = create(project)
    orders(project, ids["Bob"], "7o")
    orders(project, ids["Ada"], "5o")
    page = app.open()
    box(page, "Customers", "Bob").check()
    box(page, "Customers", "Ada").check()
    expect_rows(page, "All orders", line(1, 7, "o"))
    box(page, "Customers", "Bob").uncheck()
    expect_rows(page, "All orders", line(1, 5, "o"))
    box(page, "Customers", "Bob").check()
    expect_rows(page, "All orders", line(1, 5, "o"))
    project.delete("customers", ids["Ada"])
    expect_rows(page, "Customers", "Bob | * |", "Cid | *** |", selected=2)
    expect_rows(page, "All orders", line(1, 5, "o"))


def test_a_row_is_no_longer_selected_when_an_action_has_removed_it(app: App, project: Deployment) -> None:
    ids = create(project)
    first, second, _ = orders(project, ids["Ada"], "5o", "9p", "7s")
    page = open_orders(app)
    status = region(page, "All orders").get_by_role("status")
    for number in (1, 2, 3):
        box(page, "All orders", f"order {number}").check()
    expect(status).to_have_text("3 shown, 3 selected")
    with app.holding(page):
        lock(project, second)
        for number in (1, 2):
            button(page, "All orders", f"order {number}", "Remove").click()
        expect(status).to_have_text("1 shown, 3 selected")
    expect(status).to_have_text("2 shown, 2 selected")
    expect(box(page, "All orders", "order 2")).to_be_checked()
    expect(alert(page, "All orders")).to_have_text("Remove order 2: order 2 is locked")
    assert project.get(first) is None
    with app.holding(page):
        button(page, "All orders", "order 3", "Pay").click()
        expect_rows(page, "All orders", line(2, 9, "p"), line(3, 7, "p"), selected=2)
    expect_rows(page, "All orders", line(2, 9, "p"), line(3, 7, "p"), selected=2)


def seen(states: list[dict[str, Any]], label: str) -> list[list[str]]:
    return [each for each, _ in groupby([state[label] for state in states if label in state])]


def test_an_action_takes_effect_at_once_in_all_tables(app: App, project: Deployment) -> None:
    ids = create(project)
    orders(project, ids["Ada"], "5o", "9p", "7o", "3o")
    orders(project, ids["Bob"], "4p")
    page = open_orders(app)
    before = [line(1, 5, "o"), line(2, 9, "p"), line(3, 7, "o"), line(4, 3, "o")]
    expect_rows(page, "All orders", *before)
    expect_rows(page, "Paid orders", "2 | paid")
    one, three = [*before], [*before]
    one[0] = three[0] = line(1, 5, "p")
    three[2] = line(3, 7, "p")
    with app.frames(page, STATE) as states:
        with app.holding(page):
            button(page, "All orders", "order 1", "Pay").click()
            expect_rows(page, "All orders", *one)
            expect_rows(page, "Paid orders", "1 | paid", "2 | paid")
            button(page, "All orders", "order 3", "Pay").click()
            expect_rows(page, "All orders", *three)
            expect_rows(page, "Paid orders", "1 | paid", "2 | paid", "3 | paid")
        wait_until(lambda: [each["status"] for each in project.documents("orders")].count("paid") == 4, "the mutations")
        expect_rows(page, "All orders", *three)
        choose(page, "Customers", "Level", "Gold")
        expect_rows(page, "Customers", "Ada | *** |", "Cid | *** |", selected=1)
        expect_rows(page, "Paid orders", "1 | paid", "2 | paid", "3 | paid")
    assert seen(states, "All orders") == [before, one, three]
    assert seen(states, "Paid orders") == [["2 | paid"], ["1 | paid", "2 | paid"], ["1 | paid", "2 | paid", "3 | paid"]]


def test_a_row_disappears_where_it_no_longer_belongs(app: App, project: Deployment) -> None:
    ids = create(project)
    orders(project, ids["Ada"], "5o", "9p", "7o")
    page = open_orders(app)
    choose(page, "All orders", "Status", "Open")
    expect_rows(page, "All orders", line(1, 5, "o"), line(3, 7, "o"))
    with app.frames(page, STATE) as states:
        with app.holding(page):
            button(page, "All orders", "order 1", "Pay").click()
            expect_rows(page, "All orders", line(3, 7, "o"))
            expect_rows(page, "Paid orders", "1 | paid", "2 | paid")
        wait_until(lambda: [each["status"] for each in project.documents("orders")].count("paid") == 2, "the mutation")
        box(page, "Customers", "Ada").focus()
        choose(page, "All orders", "Status", "Paid")
        expect_rows(page, "All orders", line(1, 5, "p"), line(2, 9, "p"))
    with app.holding(page):
        button(page, "All orders", "order 2", "Remove").click()
        expect_rows(page, "All orders", line(1, 5, "p"))
        expect_rows(page, "Paid orders", "1 | paid")
    expect_rows(page, "Paid orders", "1 | paid")
    assert seen(states, "Paid orders") == [["2 | paid"], ["1 | paid", "2 | paid"]]


def test_a_row_takes_its_place_in_the_order(app: App, project: Deployment) -> None:
    ids = create(project)
    orders(project, ids["Ada"], "50o", "90p", "70o", "30o")
    page = open_orders(app)
    choose(page, "All orders", "Sort", "Largest first")
    load_all(page, "All orders")
    expect_rows(page, "All orders", line(2, 90, "p"), line(3, 70, "o"), line(1, 50, "o"), line(4, 30, "o"))
    box(page, "All orders", "order 2").check()
    with app.frames(page, STATE) as states:
        with app.holding(page):
            enter(page, "Discount", "30")
            expect_rows(
                page, "All orders", line(3, 70, "o"), line(2, 60, "p"), line(1, 50, "o"), line(4, 30, "o"), selected=1
            )
            enter(page, "Discount", "35")
            expect_rows(
                page, "All orders", line(3, 70, "o"), line(1, 50, "o"), line(4, 30, "o"), line(2, 25, "p"), selected=1
            )
            expect_rows(page, "Paid orders", "2 | paid")
        wait_until(lambda: project.documents("orders")[1]["total"] == 25, "the discounts")
        button(page, "All orders", "order 3", "Pay").click()
        expect_rows(
            page, "All orders", line(3, 70, "p"), line(1, 50, "o"), line(4, 30, "o"), line(2, 25, "p"), selected=1
        )
    places = [[each.split(" ")[0] for each in rows] for rows in seen(states, "All orders")]
    assert [each for each, _ in groupby(places)] == [list("2314"), list("3214"), list("3142")]


def test_names_move_rows_between_the_pages_that_are_loaded(app: App, project: Deployment) -> None:
    create(project)
    page = app.open()
    expect_rows(page, "Customers", "Ada | *** |", "Bob | * |", "Cid | *** |")
    box(page, "Customers", "Cid").check()
    with app.holding(page):
        enter(page, "New name", "Abe")
        expect_rows(page, "Customers", "Abe | *** |", "Ada | *** |", "Bob | * |", selected=1)
        expect(box(page, "Customers", "Abe")).to_be_checked()
    expect_rows(page, "Customers", "Abe | *** |", "Ada | *** |", "Bob | * |", selected=1)
    expect(page.get_by_test_id("result")).to_have_text("3 characters")
    region(page, "Customers").get_by_role("button", name="Load more").click()
    expect_rows(page, "Customers", "Abe | *** |", "Ada | *** |", "Bob | * |", "Dan | * |", "Eve | ** |", selected=1)
    with app.holding(page):
        enter(page, "New name", "Dora")
        expect_rows(
            page, "Customers", "Ada | *** |", "Bob | * |", "Dan | * |", "Dora | *** |", "Eve | ** |", selected=1
        )
        enter(page, "New name", "Zoe")
        expect_rows(page, "Customers", "Ada | *** |", "Bob | * |", "Dan | * |", "Eve | ** |", "Zoe | *** |", selected=1)
    expect_rows(page, "Customers", "Ada | *** |", "Bob | * |", "Dan | * |", "Eve | ** |", "Zoe | *** |", selected=1)


def test_a_row_behind_all_that_are_loaded_is_not_shown(app: App, project: Deployment) -> None:
    create(project)
    page = app.open()
    expect_rows(page, "Customers", "Ada | *** |", "Bob | * |", "Cid | *** |")
    box(page, "Customers", "Bob").check()
    with app.holding(page):
        enter(page, "New name", "Zoe")
        expect_rows(page, "Customers", "Ada | *** |", "Cid | *** |", selected=1)
    expect_rows(page, "Customers", "Ada | *** |", "Cid | *** |", selected=1)


def test_the_last_row_that_is_loaded_stays_where_it_is(app: App, project: Deployment) -> None:
    ids = create(project)
    orders(project, ids["Ada"], "1o", "2o", "3o", "4o", "5o")
    page = open_orders(app)
    rows = [line(1, 1, "o"), line(2, 2, "o"), line(3, 3, "o"), line(4, 4, "o")]
    expect_rows(page, "All orders", *rows)
    with app.frames(page, STATE) as states:
        with app.holding(page):
            button(page, "All orders", "order 4", "Pay").click()
            expect_rows(page, "All orders", *rows[:3], line(4, 4, "p"))
        wait_until(lambda: project.documents("orders")[3]["status"] == "paid", "the mutation")
        expect_rows(page, "Paid orders", "4 | paid")
    assert seen(states, "All orders") == [rows, [*rows[:3], line(4, 4, "p")]]


def test_a_table_without_room_for_the_row_stays_as_it_is(app: App, project: Deployment) -> None:
    ids = create(project)
    orders(project, ids["Ada"], "1p", "2p", "3o", "4o", "5p")
    page = open_orders(app)
    expect_rows(page, "Paid orders", "1 | paid", "2 | paid")
    rows = [line(1, 1, "p"), line(2, 2, "p"), line(3, 3, "o"), line(4, 4, "o")]
    expect_rows(page, "All orders", *rows)
    with app.holding(page):
        button(page, "All orders", "order 4", "Pay").click()
        expect_rows(page, "All orders", *rows[:3], line(4, 4, "p"))
        expect_rows(page, "Paid orders", "1 | paid", "2 | paid")
    expect_rows(page, "Paid orders", "1 | paid", "2 | paid")


def test_failures_are_taken_back_and_told(app: App, project: Deployment) -> None:
    ids = create(project)
    made = orders(project, ids["Ada"], "5o", "9p", "7o", "3o")
    page = open_orders(app)
    rejections: list[str] = []
    page.on("pageerror", lambda error: rejections.append(str(error)))
    before = [line(1, 5, "o"), line(2, 9, "p"), line(3, 7, "o"), line(4, 3, "o")]
    expect_rows(page, "All orders", *before)
    box(page, "All orders", "order 1").check()
    with app.frames(page, STATE) as states:
        with app.holding(page):
            lock(project, made[2])
            button(page, "All orders", "order 3", "Pay").click()
            button(page, "All orders", "order 4", "Pay").click()
            enter(page, "Discount", "1")
            button(page, "All orders", "order 2", "Remove").click()
            expect_rows(page, "All orders", line(1, 4, "o"), line(3, 7, "p"), line(4, 3, "p"), selected=1)
            expect_rows(page, "Paid orders", "3 | paid", "4 | paid")
            expect(alert(page, "All orders")).to_have_count(0)
        expect_rows(page, "All orders", line(1, 4, "o"), line(3, 7, "o"), line(4, 3, "p"), selected=1)
        expect_rows(page, "Paid orders", "4 | paid")
    expect(alert(page, "All orders")).to_have_text("Pay order 3: order 3 is locked")
    expect(alert(page, "Paid orders")).to_have_count(0)
    expect(alert(page, "Customers")).to_have_count(0)
    for rows in (seen(states, "All orders"), seen(states, "Paid orders")):
        for number in "124":
            kept = [next((each for each in those if each.startswith(f"{number} ")), "") for those in rows]
            assert len([*groupby(kept)]) <= 2, f"order {number} flickers: {kept}"
    button(page, "All orders", "order 4", "Remove").click()
    expect_rows(page, "All orders", line(1, 4, "o"), line(3, 7, "o"), selected=1)
    expect(alert(page, "All orders")).to_have_count(0)
    assert rejections == []


def test_what_was_done_after_a_failure_still_counts(app: App, project: Deployment) -> None:
    create(project)
    page, wire = app.blank(), SlowLine()
    page.route_web_socket("**/sync", wire.connect)
    page.goto(app.url)
    expect_rows(page, "Customers", "Ada | *** |", "Bob | * |", "Cid | *** |")
    box(page, "Customers", "Bob").check()
    long = "Barbara the Third of Austria"
    with app.holding(page):
        enter(page, "New name", long)
        expect_rows(page, "Customers", "Ada | *** |", f"{long} | * |", "Cid | *** |", selected=1)
        button(page, "Customers", long, "Promote").click()
        expect_rows(page, "Customers", "Ada | *** |", f"{long} | ** |", "Cid | *** |", selected=1)
    expect_rows(page, "Customers", "Ada | *** |", "Bob | ** |", "Cid | *** |", selected=1)
    assert project.documents("customers")[0]["level"] == 1
    wire.go_on()
    wait_until(lambda: project.documents("customers")[0]["level"] == 2 or page.evaluate("0"), "the promotion")
    expect_rows(page, "Customers", "Ada | *** |", "Bob | ** |", "Cid | *** |", selected=1)


def test_a_failure_without_a_text_is_told_too(app: App, project: Deployment) -> None:
    ids = create(project)
    first, *_ = orders(project, ids["Ada"], "5o", "9p")
    page = open_orders(app)
    expect_rows(page, "All orders", line(1, 5, "o"), line(2, 9, "p"))
    box(page, "All orders", "order 1").check()
    with app.holding(page):
        project.delete("orders", first)
        button(page, "All orders", "order 1", "Remove").click()
        expect_rows(page, "All orders", line(2, 9, "p"), selected=1)
    expect(alert(page, "All orders")).to_have_text("Remove order 1: failed")
    expect_rows(page, "All orders", line(2, 9, "p"), selected=1)


def test_what_run_returns_is_what_the_mutation_does(app: App, project: Deployment) -> None:
    create(project)
    page = app.open()
    box(page, "Customers", "Bob").check()
    enter(page, "New name", "Barbara")
    expect(page.get_by_test_id("result")).to_have_text("7 characters")
    expect(alert(page, "Customers")).to_have_count(0)
    with app.holding(page):
        enter(page, "New name", "Barbara the Third of Austria")
        expect_rows(page, "Customers", "Ada | *** |", "Barbara the Third of Austria | * |", "Cid | *** |", selected=1)
    expect(page.get_by_test_id("result")).to_have_text("not renamed")
    expect(alert(page, "Customers")).to_have_text("Rename Barbara: Barbara the Third of Austria is too long")
    expect_rows(page, "Customers", "Ada | *** |", "Barbara | * |", "Cid | *** |", selected=1)


def test_arguments_come_from_the_row_and_from_the_call(app: App, project: Deployment) -> None:
    create(project)
    page = app.open()
    expect_rows(page, "Customers", "Ada | *** |", "Bob | * |", "Cid | *** |")
    with app.holding(page):
        button(page, "Customers", "Bob", "Promote").click()
        expect_rows(page, "Customers", "Ada | *** |", "Bob | ** |", "Cid | *** |")
    wait_until(lambda: project.documents("customers")[0]["level"] == 2, "the promotion")
    expect_rows(page, "Customers", "Ada | *** |", "Bob | ** |", "Cid | *** |")
    button(page, "Customers", "Bob", "Promote").click()
    wait_until(lambda: project.documents("customers")[0]["level"] == 3, "the promotion")


def test_rows_that_others_remove_do_not_come_back(app: App, project: Deployment) -> None:
    ids = create(project)
    made = orders(project, ids["Ada"], "5o", "9p", "7o")
    page = open_orders(app)
    expect_rows(page, "All orders", line(1, 5, "o"), line(2, 9, "p"), line(3, 7, "o"))
    with app.frames(page, STATE) as states:
        with app.holding(page):
            project.delete("orders", made[0])
            button(page, "All orders", "order 1", "Pay").click()
            expect_rows(page, "All orders", line(1, 5, "p"), line(2, 9, "p"), line(3, 7, "o"))
        expect_rows(page, "All orders", line(2, 9, "p"), line(3, 7, "o"))
        expect_rows(page, "Paid orders", "2 | paid")
    there = [any(each.startswith("1 ") for each in rows) for rows in seen(states, "All orders")]
    assert there == sorted(there, reverse=True), "order 1 came back"


@pytest.mark.parametrize("seed", range(3))
def test_whatever_the_user_does_the_tables_show_it(app: App, project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    ids = create(project)
    truth: dict[int, tuple[int, str]] = {}
    for number, total in enumerate(chance.sample(range(100, 999), 8), 1):
        truth[number] = (total, chance.choice("oos"))
    for number, (total, status) in truth.items():
        order(project, ids["Ada"], number, total, status)
    page = open_orders(app)
    load_all(page, "All orders")
    sort, status, done = "By number", "All", []
    selected: list[int] = []
    for _ in range(3):
        with app.holding(page):
            for _ in range(4):
                rows = sorted(truth, key=lambda each: -truth[each][0] if sort == "Largest first" else each)
                visible = [each for each in rows if status in ("All", STATUS[truth[each][1]].capitalize())]
                kind = chance.choice(["Pay", "Pay", "Remove", "Discount", "Discount"])
                if visible and kind == "Pay":
                    number = chance.choice(visible)
                    button(page, "All orders", f"order {number}", "Pay").click()
                    truth[number] = (truth[number][0], "p")
                elif len(visible) > 3 and kind == "Remove":
                    number = chance.choice([each for each in visible if each not in selected] or [0])
                    if number == 0:
                        continue
                    button(page, "All orders", f"order {number}", "Remove").click()
                    del truth[number]
                elif visible and kind == "Discount":
                    number = chance.choice(visible)
                    check = box(page, "All orders", f"order {number}")
                    if number not in selected:
                        check.check()
                        selected.append(number)
                    amount = chance.randrange(1, 400) + 0.5
                    enter(page, "Discount", str(amount))
                    for each in selected:
                        if each in visible:
                            truth[each] = (truth[each][0] - amount, truth[each][1])
                done.append((kind, visible))
                rows = sorted(truth, key=lambda each: -truth[each][0] if sort == "Largest first" else each)
                visible = [each for each in rows if status in ("All", STATUS[truth[each][1]].capitalize())]
                expected = [
                    f"{each} | {STATUS[truth[each][1]]} | {truth[each][0]:g} € ({STATUS[truth[each][1]]}) | Rome"
                    for each in visible
                ]
                expect_rows(page, "All orders", *expected, selected=len(selected))
                expect_rows(page, "Paid orders", *[f"{each} | paid" for each in sorted(truth) if truth[each][1] == "p"])
        wait_until(
            lambda: (
                {each["number"]: (each["total"], each["status"][0]) for each in project.documents("orders")} == truth
            ),
            f"all that was done: {done}",
        )
        sort, status = chance.choice(["By number", "Largest first"]), chance.choice(["All", "All", "Open", "Paid"])
        choose(page, "All orders", "Sort", sort)
        choose(page, "All orders", "Status", status)
        load_all(page, "All orders")
