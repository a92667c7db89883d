"""Forms for the arguments of any mutation: what the compiler knows of them, and what becomes of what the user enters."""

# ruff: noqa: E501 (snippets of TypeScript)

import json
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocket, WebSocketRoute, expect

from convex_evals.pipeline.grading.kit import App, Deployment, Int64, Sources, TypeChecks, wait_until

HEAD = """
import type { FunctionReference } from "convex/server";
import { v, type ObjectType } from "convex/values";
import { api } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { orderArgs, reviewArgs } from "./args";
import { isTemporary, useConvexForm, type CheckField, type ChoiceField, type FieldPath, type TextField } from "../src/forms";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? (0 extends 1 & A ? false : true) : false) : false;
const taskArgs = {
  requestId: v.string(),
  weeks: v.array(v.array(v.object({ day: v.number(), free: v.boolean() }))),
  grid: v.optional(v.array(v.array(v.int64()))),
  size: v.union(v.literal(1), v.literal("two")),
  place: v.optional(
    v.union(
      v.object({ at: v.literal("home"), key: v.optional(v.object({ owner: v.id("shops"), number: v.int64() })) }),
      v.object({ at: v.literal("work"), room: v.number(), seats: v.array(v.id("orders")) }),
    ),
  ),
  deep: v.object({ down: v.object({ there: v.optional(v.object({ it: v.union(v.literal("a"), v.literal("b")) })) }) }),
  marks: v.array(v.union(v.object({ is: v.literal("x"), x: v.string() }), v.object({ is: v.literal("y"), y: v.boolean() }))),
};
type Task = ObjectType<typeof taskArgs>;
declare const addTask: FunctionReference<"mutation", "public", Task, { at: bigint }>;
declare const hiddenTask: FunctionReference<"mutation", "internal", Task, null>;
declare const taskAction: FunctionReference<"action", "public", Task, null>;
declare const counted: FunctionReference<"mutation", "public", { requestId: number }, null>;
declare const taskRows: FunctionReference<"query", "public", { day?: number }, { _id: Id<"shops">; requestId: string; size: 1 | "two" }[]>;
declare const noRequests: FunctionReference<"query", "public", {}, { _id: Id<"shops">; size: 1 | "two" }[]>;
declare const oneRow: FunctionReference<"query", "public", {}, { _id: Id<"shops">; requestId: string }>;
declare const hiddenRows: FunctionReference<"query", "internal", {}, { _id: Id<"shops">; requestId: string }[]>;
declare const shopId: Id<"shops">;
declare const n: number;
const order = { validators: orderArgs, draft: "order" };
const review = { validators: reviewArgs, draft: "review" };
const task = { validators: taskArgs, draft: "task" };
export function useIt() {
%s
}
function useOrder() {
  return useConvexForm(api.orders.place, { ...order, fixed: { shopId } });
}
function useTask() {
  return useConvexForm(addTask, task);
}
export const used = [useOrder, useTask, isTemporary];
"""

COMPILES = {
    "fields by their types": """
  const form = useOrder();
  const name: TextField = form.field("customer.name");
  const floor: TextField = form.field("customer.address.floor");
  const limit: TextField = form.field("payment.limit");
  const kind: ChoiceField<"card" | "invoice"> = form.field("payment.kind");
  const days: ChoiceField<14 | 30> = form.field("payment.days");
  const size: ChoiceField<"S" | "M" | "L"> = form.field(`lines.${n}.size`);
  const extra: TextField = form.field("lines.0.extras.1");
  const wrapped: CheckField = form.field("gift.wrapped");
  const news: CheckField = form.field("newsletter");
  const all = form.field("lines.12.size").value;
  const exact: [Same<typeof all, "S" | "M" | "L" | null>, Same<typeof days.value, 14 | 30 | null>, Same<typeof name.value, string>, Same<typeof news.value, boolean>] = [true, true, true, true];
  form.field("payment.days").set(30); form.field("payment.days").set(null); form.field("newsletter").set(false); form.field("payment.limit").set("4"); form.field(`lines.${n}.size`).set("L");
  return [name, floor, limit, kind, days, size, extra, wrapped, news, exact];""",
    "what fields have": """
  const text = useOrder().field("customer.name"), choice = useOrder().field("payment.days"), check = useOrder().field("newsletter");
  const kinds: [Same<typeof text.kind, "text">, Same<typeof choice.kind, "choice">, Same<typeof check.kind, "check">] = [true, true, true];
  const errors: [Same<typeof text.error, string | null>, Same<typeof choice.error, string | null>, Same<typeof check.error, string | null>] = [true, true, true];
  const options: Same<(typeof choice.options)[number], 14 | 30> = true;
  const set: (value: 14 | 30 | null) => void = choice.set;
  return [kinds, errors, options, set];""",
    "fields in unions, arrays of arrays and optional objects": """
  const form = useTask();
  const fields: [TextField, CheckField, TextField, ChoiceField<1 | "two">, ChoiceField<"home" | "work">, TextField, TextField, TextField, TextField, ChoiceField<"a" | "b">, ChoiceField<"x" | "y">, TextField, CheckField] = [
    form.field(`weeks.${n}.${n}.day`), form.field("weeks.0.1.free"), form.field(`grid.${n}.3`), form.field("size"), form.field("place.at"), form.field("place.key.owner"),
    form.field("place.key.number"), form.field("place.room"), form.field(`place.seats.${n}`), form.field("deep.down.there.it"), form.field(`marks.${n}.is`), form.field("marks.1.x"), form.field("marks.1.y"),
  ];
  form.field("size").set("two"); form.field("size").set(1);
  return fields;""",
    "an ID that is not fixed": """
  const form = useConvexForm(api.orders.place, order);
  const shop: TextField = form.field("shopId");
  return shop;""",
    "arrays": """
  const form = useOrder(), other = useTask();
  const lines = form.array("lines");
  lines.add(); lines.add({}); lines.add({ product: "a", extras: ["b"], size: "S" }); lines.remove(0); lines.move(0, 1);
  form.array(`lines.${n}.extras`).add("x"); form.array("lines.0.extras").add();
  other.array("weeks").add([{ day: 1 }, {}]); other.array(`weeks.${n}`).add({ free: true }); other.array("grid").add([1n]); other.array(`grid.${n}`).add(2n);
  other.array("place.seats").add(); other.array("marks").add({ is: "x" });
  const has: [Same<typeof lines.length, number>, Same<typeof lines.error, string | null>] = [true, true];
  return has;""",
    "optional objects": """
  const gift = useOrder().optional("gift"), form = useTask();
  gift.set(true); form.optional("place").set(false); form.optional("place.key"); form.optional("deep.down.there");
  const has: [Same<typeof gift.value, boolean>, Same<typeof gift.error, string | null>] = [true, true];
  return has;""",
    "the form": """
  const form = useOrder();
  form.submit(); form.reset();
  const has: [Same<typeof form.pending, boolean>, Same<typeof form.error, string | null>] = [true, true];
  return has;""",
    "paths": """
  const paths: FieldPath<typeof api.orders.place>[] = ["shopId", "gift.to", "lines.3.amount", `lines.${n}.extras.${n}`, "payment.cardNumber", "payment.limit"];
  const others: FieldPath<typeof addTask>[] = ["size", `weeks.${n}.${n}.day`, "place.at", "deep.down.there.it"];
  return [paths, others];""",
    "parts to begin with": """
  useConvexForm(api.orders.place, { ...order, initial: { shopId, lines: [{ amount: 1 }, {}], payment: { kind: "card" }, gift: {} } });
  useConvexForm(api.orders.place, { ...order, fixed: { shopId }, initial: { payment: { limit: 5n, kind: "invoice" }, customer: { address: { floor: 3 } }, newsletter: true } });
  useConvexForm(addTask, { ...task, initial: { size: "two", weeks: [[{ day: 1 }], []], place: { at: "work" }, deep: { down: {} }, marks: [{ is: "y" }] } });
  useConvexForm(api.orders.place, { ...order, fixed: { shopId, newsletter: true, payment: { kind: "card", cardNumber: "1", name: "a" } } }).field("customer.name");""",
    "validators that are made elsewhere": """
  useConvexForm(api.reviews.add, { draft: "a", validators: { ...reviewArgs } });
  useConvexForm(api.reviews.add, { draft: "a", validators: { requestId: v.string(), orderId: v.id("orders"), stars: v.union(v.literal(1), v.literal(2), v.literal(3)), text: v.optional(v.string()), tags: v.optional(v.array(v.string())) } });
  useConvexForm(api.reviews.add, { ...review, fixed: {} });""",
    "rows": """
  useConvexForm(api.reviews.add, { ...review, insert: { list: api.reviews.list, row: (args, _id) => ({ ...args, _id, _creationTime: 1 }) } });
  useConvexForm(api.reviews.add, { ...review, insert: { list: api.reviews.list, args: () => ({}), row: (args, _id) => ({ ...args, _id, _creationTime: 1 }) } });
  useConvexForm(addTask, { ...task, insert: { list: taskRows, row: ({ size, requestId }, _id) => ({ size, requestId, _id }) } });
  useConvexForm(addTask, { ...task, insert: { list: taskRows, args: (args) => ({ day: args.weeks.length }), row: ({ size, requestId }, _id) => ({ size, requestId, _id }) } });
  useConvexForm(api.orders.place, {
    ...order,
    insert: {
      list: api.orders.list,
      args: (args) => ({ shopId: args.shopId }),
      row: (args, _id) => { const same: Same<typeof _id, Id<"orders">> = true; return { ...args, _id, _creationTime: Number(same) }; },
    },
  });""",
    "what it returns": """
  useConvexForm(api.orders.place, {
    ...order,
    onDone: (result, args) => {
      const same: Same<typeof result, { orderId: Id<"orders">; lines: number }> = true;
      const limit: bigint | null = args.payment.kind === "invoice" ? args.payment.limit : null;
      const text: string = args.requestId + args.lines.map(({ size }) => size ?? "").join();
      return void [same, limit, text];
    },
  });
  useConvexForm(addTask, { ...task, onDone: ({ at }) => void (at satisfies bigint) });
  return isTemporary("a") satisfies boolean;""",
}

FORM = "const form = useOrder(); "
TASK = "const form = useTask(); "
FULL = "row: (args, _id) => ({ ...args, _id, _creationTime: 1 })"
REFUSED = {
    "an object as field": FORM + 'form.field("customer");',
    "a nested object as field": FORM + 'form.field("customer.address");',
    "an optional object as field": FORM + 'form.field("gift");',
    "a union of objects as field": FORM + 'form.field("payment");',
    "an array as field": FORM + 'form.field("lines");',
    "an inner array as field": FORM + "form.field(`lines.${n}.extras`);",
    "an item that is an object": FORM + "form.field(`lines.${n}`);",
    "a field that is not there": FORM + 'form.field("customer.age");',
    "a field of items without index": FORM + 'form.field("lines.size");',
    "a field of an item with a wrong index": FORM + 'form.field("lines.first.size");',
    "a part of a text": FORM + 'form.field("customer.name.length");',
    "a field of no member": FORM + 'form.field("payment.iban");',
    "a field that is fixed": FORM + 'form.field("shopId");',
    "the request": FORM + 'form.field("requestId");',
    "the length of an array": FORM + 'form.field("lines.length");',
    "an array of arrays with one index": TASK + "form.field(`grid.${n}`);",
    "a text for a check": FORM + 'form.field("newsletter").set("yes");',
    "null for a check": FORM + 'form.field("newsletter").set(null);',
    "another literal": FORM + 'form.field("payment.days").set(7);',
    "a literal as text": FORM + 'form.field("payment.days").set("14");',
    "a literal of another field": FORM + "form.field(`lines.${n}.size`).set(14);",
    "a bigint for a text": FORM + 'form.field("payment.limit").set(4n);',
    "null for a text": FORM + 'form.field("customer.name").set(null);',
    "a choice as text field": FORM + 'const field: TextField = form.field("payment.kind"); return field;',
    "fewer choices": FORM + 'const field: ChoiceField<14> = form.field("payment.days"); return field;',
    "a text as choice": FORM + 'const field: ChoiceField<string> = form.field("customer.name"); return field;',
    "an ID as choice": 'const field: ChoiceField<Id<"shops">> = useConvexForm(api.orders.place, order).field("shopId"); return field;',
    "a check as choice": TASK + 'const field: ChoiceField<"x"> = form.field("marks.1.y"); return field;',
    "an object as array": FORM + 'form.array("gift");',
    "an item as array": FORM + 'form.array("lines.0");',
    "a text as array": FORM + 'form.array("customer.name");',
    "an array that is not there": FORM + 'form.array("rows");',
    "an array of items without index": FORM + 'form.array("lines.extras");',
    "an item with a field of a wrong type": FORM + 'form.array("lines").add({ product: 4 });',
    "an item with an unknown field": FORM + 'form.array("lines").add({ name: "a" });',
    "an item with another literal": FORM + 'form.array("lines").add({ size: "XL" });',
    "a text item of a wrong type": FORM + 'form.array("lines.0.extras").add(5);',
    "an item of another array": TASK + 'form.array("grid").add(["a"]);',
    "an item of another member": TASK + 'form.array("marks").add({ is: "z" });',
    "a required union as optional": FORM + 'form.optional("payment");',
    "a required object as optional": FORM + 'form.optional("customer");',
    "an optional field as optional object": FORM + 'form.optional("customer.email");',
    "an optional check as optional object": FORM + 'form.optional("newsletter");',
    "an optional array as optional object": TASK + 'form.optional("grid");',
    "a nested object that is required": TASK + 'form.optional("deep.down");',
    "fixing what is not there": "useConvexForm(api.orders.place, { ...order, fixed: { shop: shopId } });",
    "fixing what is not there, too": "useConvexForm(api.orders.place, { ...order, fixed: { shopId, shop: shopId } });",
    "fixing a wrong value": 'useConvexForm(api.orders.place, { ...order, fixed: { shopId: "abc" } });',
    "fixing a wrong literal": 'useConvexForm(addTask, { ...task, fixed: { size: "three" } });',
    "fixing the request": 'useConvexForm(api.orders.place, { ...order, fixed: { shopId, requestId: "a" } });',
    "a field of what is fixed": 'useConvexForm(api.orders.place, { ...order, fixed: { payment: { kind: "card", cardNumber: "1", name: "a" } } }).field("payment.name");',
    "a mutation without requests": 'useConvexForm(api.orders.cancel, { draft: "a", validators: { orderId: v.id("orders") } });',
    "a request that is a number": 'useConvexForm(counted, { draft: "a", validators: { requestId: v.number() } });',
    "a query": 'useConvexForm(api.orders.list, { draft: "a", validators: { shopId: v.id("shops") } });',
    "an internal mutation": "useConvexForm(hiddenTask, task);",
    "an action": "useConvexForm(taskAction, task);",
    "no validators": 'useConvexForm(api.reviews.add, { draft: "a" });',
    "no draft": "useConvexForm(api.reviews.add, { validators: reviewArgs });",
    "validators of another mutation": "useConvexForm(api.reviews.add, order);",
    "one validator too few": 'const { stars: _, ...fewer } = reviewArgs; useConvexForm(api.reviews.add, { draft: "a", validators: fewer });',
    "one optional validator too few": 'const { text: _, ...fewer } = reviewArgs; useConvexForm(api.reviews.add, { draft: "a", validators: fewer });',
    "one validator too many": 'useConvexForm(api.reviews.add, { draft: "a", validators: { ...reviewArgs, more: v.string() } });',
    "one optional validator too many": 'useConvexForm(api.reviews.add, { draft: "a", validators: { ...reviewArgs, more: v.optional(v.string()) } });',
    "a validator that should be optional": 'useConvexForm(api.reviews.add, { draft: "a", validators: { ...reviewArgs, text: v.string() } });',
    "a validator that should not be optional": 'useConvexForm(api.reviews.add, { draft: "a", validators: { ...reviewArgs, orderId: v.optional(v.id("orders")) } });',
    "a validator for another table": 'useConvexForm(api.reviews.add, { draft: "a", validators: { ...reviewArgs, orderId: v.id("shops") } });',
    "a validator with fewer literals": 'useConvexForm(api.reviews.add, { draft: "a", validators: { ...reviewArgs, stars: v.union(v.literal(1), v.literal(2)) } });',
    "a validator with more literals": 'useConvexForm(api.reviews.add, { draft: "a", validators: { ...reviewArgs, stars: v.number() } });',
    "a part of a wrong type": 'useConvexForm(api.orders.place, { ...order, initial: { lines: [{ amount: "1" }] } });',
    "a part with a wrong literal": 'useConvexForm(api.orders.place, { ...order, initial: { payment: { kind: "cash" } } });',
    "a part with a number for a bigint": "useConvexForm(api.orders.place, { ...order, initial: { payment: { limit: 5 } } });",
    "a part that is not there": "useConvexForm(api.orders.place, { ...order, initial: { customer: { age: 5 } } });",
    "a part with the request": 'useConvexForm(api.orders.place, { ...order, initial: { requestId: "a" } });',
    "a part with what is fixed": "useConvexForm(api.orders.place, { ...order, fixed: { shopId }, initial: { shopId } });",
    "rows of a query with arguments, without them": f"useConvexForm(api.orders.place, {{ ...order, insert: {{ list: api.orders.list, {FULL} }} }});",
    "rows with wrong arguments": f'useConvexForm(api.orders.place, {{ ...order, insert: {{ list: api.orders.list, args: () => ({{ shopId: "a" }}), {FULL} }} }});',
    "rows that are not complete": "useConvexForm(api.orders.place, { ...order, insert: { list: api.orders.list, args: ({ shopId }) => ({ shopId }), row: (args, _id) => ({ ...args, _id }) } });",
    "rows without an id": "useConvexForm(api.orders.place, { ...order, insert: { list: api.orders.list, args: ({ shopId }) => ({ shopId }), row: (args) => ({ ...args, _creationTime: 1 }) } });",
    "rows with an id of another table": 'useConvexForm(api.orders.place, { ...order, insert: { list: api.orders.list, args: ({ shopId }) => ({ shopId }), row: (args, id) => { const _id: Id<"reviews"> = id; return { ...args, _id: id, _creationTime: _id.length }; } } });',
    "rows by unknown arguments": "useConvexForm(addTask, { ...task, insert: { list: taskRows, row: ({ length, requestId }, _id) => ({ size: length, requestId, _id }) } });",
    "rows without requests": "useConvexForm(addTask, { ...task, insert: { list: noRequests, row: ({ size }, _id) => ({ size, _id }) } });",
    "a query with a single row": "useConvexForm(addTask, { ...task, insert: { list: oneRow, row: ({ requestId }, _id) => ({ requestId, _id }) } });",
    "rows of an internal query": "useConvexForm(addTask, { ...task, insert: { list: hiddenRows, row: ({ requestId }, _id) => ({ requestId, _id }) } });",
    "rows of a mutation": f"useConvexForm(api.reviews.add, {{ ...review, insert: {{ list: api.reviews.add, {FULL} }} }});",
    "another result": "useConvexForm(api.orders.place, { ...order, onDone: (result) => void result.id });",
    "unknown arguments when it is done": "useConvexForm(api.orders.place, { ...order, onDone: (result, args) => void args.stars });",
    "an object as path": 'const path: FieldPath<typeof api.orders.place> = "gift"; return path;',
    "the request as path": 'const path: FieldPath<typeof api.orders.place> = "requestId"; return path;',
    "an array as path": 'const path: FieldPath<typeof api.orders.place> = "lines"; return path;',
}
SNIPPETS = {name: HEAD.replace("%s", snippet) for name, snippet in (COMPILES | REFUSED).items()}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] != ()


def test_the_library_is_where_it_must_be(files: Sources) -> None:
    assert files.exists("src/forms.ts")
    assert any("convex/react" in files.text(path) for path in files.paths("src/**/*"))


@dataclass
class Sent:
    """The mutations that a page calls: what the client sends again after a lost connection has the same number."""

    numbers: list[int] = field(default_factory=list)

    def listen(self, socket: WebSocket) -> None:
        socket.on("framesent", lambda payload: self.note(payload))

    def note(self, payload: str | bytes) -> None:
        message = json.loads(payload)
        if message["type"] == "Mutation":
            self.numbers.append(message["requestId"])


def open_listening(app: App) -> tuple[Page, Sent]:
    page, sent = app.blank(), Sent()
    page.on("websocket", sent.listen)
    page.goto(app.url)
    return page, sent


@dataclass
class LostMutations:
    """A connection on which mutations get lost for a time."""

    is_losing: bool = True
    lost: int = 0

    def connect(self, near: WebSocketRoute) -> None:
        far = near.connect_to_server()

        def send(message: str | bytes) -> None:
            if self.is_losing and json.loads(message)["type"] == "Mutation":
                self.lost += 1
            else:
                far.send(message)

        near.on_message(send)


def shop(project: Deployment, name: str = "Corner", is_closed: bool = False) -> str:
    return project.insert("shops", name=name, isClosed=is_closed)


def reopen(project: Deployment, id: str, is_closed: bool) -> None:
    project.replace(id, {"name": "Corner", "isClosed": is_closed})


def part(page: Page, label: str = "Order") -> Locator:
    return page.get_by_role("region", name=label, exact=True)


def line(page: Page, index: int) -> Locator:
    return page.get_by_role("group", name=f"Line {index}", exact=True)


def box(where: Locator, label: str) -> Locator:
    return where.get_by_role("textbox", name=label, exact=True)


def choice(where: Locator, label: str) -> Locator:
    return where.get_by_role("combobox", name=label, exact=True)


def check(where: Locator, label: str) -> Locator:
    return where.get_by_role("checkbox", name=label, exact=True)


def click(where: Locator, text: str) -> None:
    where.get_by_role("button", name=text, exact=True).click()


def choose(where: Locator, label: str, option: str) -> None:
    choice(where, label).select_option(label=option)


def fill(where: Locator, **texts: str) -> None:
    for label, text in texts.items():
        box(where, label.replace("_", " ")).fill(text)


def fill_order(page: Page, name: str = "Ada", product: str = "ink") -> None:
    """All that an order needs, besides what the form begins with."""
    fill(part(page), Name=name)
    fill(line(page, 0), Product=product)
    choose(part(page), "Days", "14")


def problems(where: Locator) -> list[str]:
    return where.get_by_role("alert").all_text_contents()


def expect_problems(where: Locator, *texts: str) -> None:
    expect(where.get_by_role("alert")).to_have_text([*texts])


def status(page: Page, label: str = "Order status") -> Locator:
    return page.get_by_role("status", name=label, exact=True)


def place(page: Page) -> None:
    click(part(page), "Place order")


def expect_placed(page: Page, text: str) -> None:
    expect(status(page)).to_have_text(text)


def place_first_order(page: Page) -> None:
    """What is placed after this is shown at once, because the list is loaded."""
    fill_order(page, "Eve")
    place(page)
    listed(page, "Eve: ink")
    expect_placed(page, "1 for Eve")


def listed(page: Page, *rows: str) -> None:
    expect(page.get_by_role("list", name="Orders").locator("li span")).to_have_text([*rows])


def stored(project: Deployment, table: str = "orders") -> list[dict[str, Any]]:
    system = ("_id", "_creationTime", "requestId", "shopId")
    return [{key: value for key, value in each.items() if key not in system} for each in project.documents(table)]


def wanted(**other: Any) -> dict[str, Any]:
    """What `fill_order` orders."""
    return {
        "customer": {"name": "Ada", "address": {"street": "", "floor": 0}},
        "lines": [{"product": "ink", "amount": 1, "extras": []}],
        "payment": {"kind": "invoice", "name": "", "days": 14, "limit": Int64(100)},
    } | other


BEGINNING = {"Name": "", "Email": "", "Street": "", "Floor": "0", "Payer": "", "Limit": "100"}


def expect_beginning(page: Page) -> None:
    for label, text in BEGINNING.items():
        expect(box(part(page), label)).to_have_value(text)
    expect(page.get_by_role("group")).to_have_count(1)
    expect(box(line(page, 0), "Product")).to_have_value("")
    expect(box(line(page, 0), "Amount")).to_have_value("1")
    expect(choice(line(page, 0), "Size")).to_have_value("")
    expect(choice(part(page), "Payment")).to_have_value("invoice")
    expect(choice(part(page), "Days")).to_have_value("")
    for label in ("Gift", "Newsletter"):
        expect(check(part(page), label)).not_to_be_checked()
    assert problems(part(page)) == []


def test_a_form_begins_with_the_parts_that_it_is_given(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    expect_beginning(page)
    expect(page.get_by_test_id("address")).to_have_text(", 0")
    assert choice(line(page, 0), "Size").locator("option").all_text_contents() == ["–", "S", "M", "L"]
    assert choice(part(page), "Payment").locator("option").all_text_contents() == ["–", "card", "invoice"]
    assert choice(part(page), "Days").locator("option").all_text_contents() == ["–", "14", "30"]
    assert choice(part(page, "Review"), "Stars").locator("option").all_text_contents() == ["–", "1", "2", "3"]
    for label in ("Order ID", "Text"):
        expect(box(part(page, "Review"), label)).to_have_value("")
    expect(status(page)).to_have_text("")


def test_the_mutation_gets_what_was_entered(app: App, project: Deployment) -> None:
    shop_id = shop(project)
    page = app.open()
    order = part(page)
    fill(order, Name=" Ada ", Email="a@b", Street="Via 1", Floor=" -1.5 ", Payer="Bob", Limit="9007199254740993")
    fill(line(page, 0), Product="ink", Amount="2")
    choose(line(page, 0), "Size", "M")
    for index, text in enumerate(("red", "blue")):
        click(line(page, 0), "Add extra")
        fill(line(page, 0), **{f"Extra_{index}": text})
    click(order, "Add pens")
    click(order, "Add line")
    fill(line(page, 2), Product="cap", Amount="0.5")
    choose(order, "Days", "30")
    check(order, "Gift").check()
    fill(order, To="Eve")
    check(order, "Newsletter").check()
    place(page)
    expect_placed(page, "3 for  Ada ")
    assert stored(project) == [
        {
            "customer": {"name": " Ada ", "email": "a@b", "address": {"street": "Via 1", "floor": -1.5}},
            "lines": [
                {"product": "ink", "amount": 2, "size": "M", "extras": ["red", "blue"]},
                {"product": "pen", "amount": 2, "extras": ["ink", "cap"]},
                {"product": "cap", "amount": 0.5, "extras": []},
            ],
            "payment": {"kind": "invoice", "name": "Bob", "days": 30, "limit": Int64(9007199254740993)},
            "gift": {"to": "Eve", "wrapped": False},
            "newsletter": True,
        }
    ]
    assert project.documents("orders")[0]["shopId"] == shop_id


def test_what_is_optional_and_empty_is_absent(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    fill_order(page)
    fill(part(page), Floor="  ", Email="a")
    fill(part(page), Email="")
    choose(line(page, 0), "Size", "M")
    choose(line(page, 0), "Size", "–")
    check(part(page), "Newsletter").check()
    check(part(page), "Newsletter").uncheck()
    check(part(page), "Gift").check()
    check(part(page), "Gift").uncheck()
    place(page)
    expect_placed(page, "1 for Ada")
    assert stored(project) == [wanted(customer={"name": "Ada", "address": {"street": ""}})]


def test_all_errors_are_shown_at_once_and_nothing_is_sent(app: App, project: Deployment) -> None:
    shop(project)
    page, sent = open_listening(app)
    order = part(page)
    fill(order, Floor="high", Limit=" ")
    click(order, "Add pens")
    click(order, "Add line")
    fill(line(page, 1), Amount="two")
    place(page)
    expect_problems(line(page, 0))
    expect_problems(line(page, 1), "Amount: Not a number")
    expect_problems(line(page, 2), "Amount: Required")
    expect_problems(
        order, "Floor: Not a number", "Amount: Not a number", "Amount: Required", "Days: Required", "Limit: Required"
    )
    choose(order, "Days", "14")
    expect_problems(order, "Floor: Not a number", "Amount: Not a number", "Amount: Required", "Limit: Required")
    expect(status(page)).to_have_text("")
    fill(order, Name="Ada", Floor="1", Limit="5")
    fill(line(page, 1), Amount="5")
    expect_problems(order, "Amount: Required")
    place(page)
    expect_problems(order, "Amount: Required")
    fill(line(page, 2), Amount="1")
    expect_problems(order)
    assert sent.numbers == []
    place(page)
    expect_placed(page, "3 for Ada")
    assert len(sent.numbers) == 1


NUMBERS = {
    "4.5": 4.5,
    " -2 ": -2,
    "1e1": 10,
    ".5": 0.5,
    "0": 0,
    "": "Required",
    "   ": "Required",
    "x": "Not a number",
    "1,5": "Not a number",
    "5 €": "Not a number",
    "Infinity": "Not a number",
    "1e999": "Not a number",
    "NaN": "Not a number",
}
BIGINTS = {
    "-5": -5,
    " 7 ": 7,
    "007": 7,
    "9223372036854775807": 2**63 - 1,
    "-9223372036854775808": -(2**63),
    "": "Required",
    "  ": "Required",
    "1.5": "Not a whole number",
    "1e3": "Not a whole number",
    "0x10": "Not a whole number",
    "+5": "Not a whole number",
    "-": "Not a whole number",
    "- 5": "Not a whole number",
    "1_000": "Not a whole number",
    "5n": "Not a whole number",
    "9223372036854775808": "Not a whole number",
    "-9223372036854775809": "Not a whole number",
}


def test_numbers_are_what_javascript_makes_of_the_text(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    for text, result in NUMBERS.items():
        fill_order(page)
        fill(line(page, 0), Amount=text)
        place(page)
        if isinstance(result, str):
            expect_problems(part(page), f"Amount: {result}")
        elif result > 9:
            expect_problems(part(page), "Amount: Only 9 left of ink")
        else:
            expect(box(part(page), "Name")).to_have_value("")
            assert stored(project)[-1]["lines"] == [{"product": "ink", "amount": result, "extras": []}], text


def test_bigints_are_whole_numbers_of_64_bits(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    for text, result in BIGINTS.items():
        fill_order(page)
        fill(part(page), Limit=text)
        place(page)
        if isinstance(result, str):
            expect_problems(part(page), f"Limit: {result}")
        else:
            expect(box(part(page), "Name")).to_have_value("")
            assert stored(project)[-1]["payment"]["limit"] == Int64(result), text


def test_only_the_member_that_is_chosen_counts(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    order = part(page)
    fill_order(page)
    fill(order, Payer="Bob", Limit="many")
    choose(order, "Days", "–")
    choose(order, "Payment", "card")
    expect(box(order, "Payer")).to_have_value("Bob")
    expect(box(order, "Limit")).to_have_count(0)
    fill(order, Card_number="4711", Payer="Cid")
    choose(order, "Payment", "–")
    place(page)
    expect_problems(order, "Payment: Required")
    choose(order, "Payment", "invoice")
    expect_problems(order)
    expect(box(order, "Payer")).to_have_value("Cid")
    expect(box(order, "Limit")).to_have_value("many")
    place(page)
    expect_problems(order, "Days: Required", "Limit: Not a whole number")
    choose(order, "Payment", "card")
    expect(box(order, "Card number")).to_have_value("4711")
    place(page)
    expect_placed(page, "1 for Ada")
    assert stored(project) == [wanted(payment={"kind": "card", "cardNumber": "4711", "name": "Cid"})]


def test_an_optional_object_can_be_switched_on_and_off(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    order = part(page)
    fill_order(page)
    check(order, "Gift").check()
    fill(order, To="Eve")
    check(order, "Wrapped").check()
    check(order, "Gift").uncheck()
    expect(box(order, "To")).to_have_count(0)
    check(order, "Gift").check()
    expect(box(order, "To")).to_have_value("Eve")
    expect(check(order, "Wrapped")).to_be_checked()
    place(page)
    expect_placed(page, "1 for Ada")
    expect(check(order, "Gift")).not_to_be_checked()
    check(order, "Gift").check()
    expect(box(order, "To")).to_have_value("")
    fill_order(page)
    place(page)
    expect(box(order, "Name")).to_have_value("")
    assert stored(project) == [wanted(gift={"to": "Eve", "wrapped": True}), wanted(gift={"to": "", "wrapped": False})]


def test_several_changes_in_one_event_all_count(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    fill_order(page)
    click(part(page), "Gift for myself")
    expect(check(part(page), "Gift")).to_be_checked()
    expect(box(part(page), "To")).to_have_value("Ada")
    expect(check(part(page), "Wrapped")).to_be_checked()
    place(page)
    expect_problems(part(page), "Gift: Not for yourself")
    fill(part(page), To="Bob")
    place(page)
    expect_placed(page, "1 for Ada")
    assert stored(project) == [wanted(gift={"to": "Bob", "wrapped": True})]


def products(page: Page) -> list[str]:
    return [box(line(page, index), "Product").input_value() for index in range(page.get_by_role("group").count())]


def test_items_are_added_removed_and_moved(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    fill_order(page, product="a")
    for index, name in enumerate("bcd", 1):
        click(part(page), "Add line")
        expect(box(line(page, index), "Amount")).to_have_value("")
        fill(line(page, index), Product=name, Amount=str(index + 1))
        click(line(page, index), "Add extra")
        fill(line(page, index), Extra_0=f"{name}{name}")
    click(line(page, 2), "To the top")
    assert products(page) == list("cabd")
    click(line(page, 1), "Remove line")
    assert products(page) == list("cbd")
    click(line(page, 2), "To the top")
    assert products(page) == list("dcb")
    click(line(page, 0), "To the top")
    click(line(page, 1), "Add extra")
    fill(line(page, 1), Extra_1="more")
    click(line(page, 1), "Remove extra")
    place(page)
    expect_placed(page, "3 for Ada")
    assert stored(project)[0]["lines"] == [
        {"product": "d", "amount": 4, "extras": ["dd"]},
        {"product": "c", "amount": 3, "extras": ["more"]},
        {"product": "b", "amount": 2, "extras": ["bb"]},
    ]
    expect_beginning(page)


def test_errors_stay_with_their_items(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    fill_order(page, product="a")
    for index, name in enumerate("bcd", 1):
        click(part(page), "Add line")
        fill(line(page, index), Product=name)
    fill(line(page, 0), Amount="")
    fill(line(page, 2), Amount="x")
    fill(line(page, 3), Amount="1")
    place(page)

    def expect_errors(**errors: str) -> None:
        expect(page.get_by_role("group")).to_have_count(len(errors))
        assert products(page) == list(errors)
        for index, error in enumerate(errors.values()):
            expect_problems(line(page, index), *([f"Amount: {error}"] if error else []))

    required, wrong = "Required", "Not a number"
    expect_errors(a=required, b=required, c=wrong, d="")
    click(line(page, 2), "To the top")
    expect_errors(c=wrong, a=required, b=required, d="")
    fill(line(page, 1), Amount="1")
    expect_errors(c=wrong, a="", b=required, d="")
    click(line(page, 3), "To the top")
    expect_errors(d="", c=wrong, a="", b=required)
    click(line(page, 0), "Remove line")
    expect_errors(c=wrong, a="", b=required)
    click(line(page, 0), "Remove line")
    expect_errors(a="", b=required)
    click(part(page), "Add pens")
    expect(page.get_by_role("group")).to_have_count(3)
    expect_problems(part(page), "Amount: Required")
    click(line(page, 1), "Remove line")
    expect_problems(part(page))


def test_errors_of_items_in_items_stay_with_them(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    fill_order(page)
    click(part(page), "Add pens")
    click(line(page, 1), "Add extra")
    click(line(page, 1), "Add extra")
    place(page)
    expect_problems(line(page, 1), "Extra 2: Which one?")
    click(line(page, 1), "To the top")
    expect_problems(line(page, 0), "Extra 2: Which one?")
    expect_problems(line(page, 1))
    click(line(page, 1), "Add extra")
    expect_problems(part(page), "Extra 2: Which one?")
    click(line(page, 0), "Remove extra")
    expect_problems(line(page, 0), "Extra 1: Which one?")
    fill(line(page, 0), Extra_0="x")
    expect_problems(line(page, 0), "Extra 1: Which one?")
    fill(line(page, 0), Extra_1="x")
    expect_problems(part(page))


def test_errors_of_the_mutation_are_shown_where_they_belong(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    order = part(page)
    choose(order, "Days", "14")
    click(line(page, 0), "Remove line")
    place(page)
    expect_problems(order, "Lines: Nothing ordered")
    click(order, "Add pens")
    expect_problems(order)
    fill(line(page, 0), Amount="10")
    place(page)
    expect_problems(line(page, 0), "Amount: Only 9 left of pen")
    fill(line(page, 0), Product="cap")
    expect_problems(order, "Amount: Only 9 left of pen")
    fill(line(page, 0), Amount="9")
    expect_problems(order)
    check(order, "Gift").check()
    place(page)
    expect_problems(order, "Gift: Not for yourself")
    check(order, "Gift").uncheck()
    expect_problems(order)
    choose(order, "Payment", "card")
    place(page)
    expect_problems(order, "Card number: Number?")
    fill(order, Card_number="1")
    expect_problems(order)
    place(page)
    expect_problems(order, "Name: Name is missing")
    expect(box(line(page, 0), "Product")).to_have_value("cap")
    assert stored(project) == []
    fill(order, Name="Ada")
    place(page)
    expect_placed(page, "1 for Ada")
    assert len(stored(project)) == 1


PLACES = {
    "customer.email": "Email: Refused",
    "lines": "Lines: Refused",
    "lines.0.extras.0": "Extra 0: Refused",
    "gift": "Gift: Refused",
    "gift.to": "To: Refused",
    "payment.kind": "Payment: Refused",
    "customer": "Order: Refused",
    "customer.address": "Order: Refused",
    "customer.record": "Order: Refused",
    "customer.name.length": "Order: Refused",
    "lines.0": "Order: Refused",
    "lines.1.amount": "Order: Refused",
    "lines.0.extras.1": "Order: Refused",
    "lines.first.amount": "Order: Refused",
    "lines.length": "Order: Refused",
    "payment": "Order: Refused",
    "shopId": "Order: Refused",
    "requestId": "Order: Refused",
    "toString": "Order: Refused",
    "": "Order: Refused",
}


def test_errors_for_other_paths_are_those_of_the_form(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    fill_order(page)
    click(line(page, 0), "Add extra")
    fill(line(page, 0), Extra_0="x")
    check(part(page), "Gift").check()
    for path, problem in PLACES.items():
        fill(part(page), Name=f"refuse {path}")
        place(page)
        expect_problems(part(page), problem)
    fill(part(page), Name="Ada")
    expect_problems(part(page), "Order: Refused")
    fill(line(page, 0), Amount="x")
    place(page)
    expect_problems(part(page), "Amount: Not a number")


def test_other_failures_are_told_too(app: App, project: Deployment) -> None:
    shop_id = shop(project, is_closed=True)
    page = app.open()
    fill_order(page)
    place(page)
    expect_problems(part(page), "Order: Corner is closed")
    expect(status(page)).to_have_text("")
    reopen(project, shop_id, False)
    with app.holding(page):
        project.delete("shops", shop_id)
        place(page)
        expect(status(page)).to_have_text("sending")
        expect_problems(part(page))
    page.reload()
    shop_id = shop(project)
    review = part(page, "Review")
    fill(review, Order_ID="no such id")
    choose(review, "Stars", "2")
    click(review, "Send review")
    expect_problems(review, "Review: Something went wrong")
    fill(review, Order_ID="")
    click(review, "Send review")
    expect_problems(review, "Order ID: Required")
    expect(box(review, "Order ID")).to_have_value("")


def twice(page: Page, label: str, button: str) -> None:
    """Two clicks before anything is rendered."""
    found = part(page, label).get_by_role("button", name=button, exact=True)
    found.evaluate("(button) => { button.click(); button.click(); }")


def test_nothing_is_sent_twice_and_nothing_changes_meanwhile(app: App, project: Deployment) -> None:
    shop(project)
    page, sent = open_listening(app)
    order = part(page)
    fill_order(page)
    with app.holding(page):
        twice(page, "Order", "Place order")
        expect(status(page)).to_have_text("sending")
        place(page)
        for text in ("Start again", "Add line", "Gift for myself"):
            click(order, text)
        click(line(page, 0), "Remove line")
        click(line(page, 0), "Add extra")
        box(order, "Name").press_sequentially("x")
        check(order, "Newsletter").dispatch_event("click")
        choice(order, "Days").select_option(label="30")
        expect(status(page)).to_have_text("sending")
        expect(box(order, "Name")).to_have_value("Ada")
        expect(choice(order, "Days")).to_have_value("14")
        expect(page.get_by_role("group")).to_have_count(1)
        expect(box(line(page, 0), "Product")).to_have_value("ink")
        expect(box(line(page, 0), "Extra 0")).to_have_count(0)
        expect(check(order, "Gift")).not_to_be_checked()
        expect(check(order, "Newsletter")).not_to_be_checked()
    expect_placed(page, "1 for Ada")
    assert len(sent.numbers) == 1
    assert stored(project) == [wanted()]


def test_the_form_begins_again_after_success(app: App, project: Deployment) -> None:
    shop_id = shop(project)
    page = app.open()
    for name in ("Ada", "Ada", "Bob"):
        fill_order(page, name)
        click(part(page), "Add pens")
        place(page)
        expect_beginning(page)
        assert page.evaluate("(key) => sessionStorage.getItem(key)", f"order {shop_id}") is None
    assert len({each["requestId"] for each in project.documents("orders")}) == 3
    assert "" not in {each["requestId"] for each in project.documents("orders")}
    page.reload()
    expect_beginning(page)


def test_a_form_can_be_reset(app: App, project: Deployment) -> None:
    shop_id = shop(project)
    page = app.open()
    fill_order(page)
    click(part(page), "Add pens")
    click(part(page), "Gift for myself")
    fill(part(page), Floor="x")
    place(page)
    expect_problems(part(page), "Floor: Not a number")
    click(part(page), "Start again")
    expect_beginning(page)
    assert page.evaluate("(key) => sessionStorage.getItem(key)", f"order {shop_id}") is None
    page.reload()
    expect_beginning(page)
    reopen(project, shop_id, True)
    fill_order(page)
    place(page)
    expect_problems(part(page), "Order: Corner is closed")
    click(part(page), "Start again")
    expect_beginning(page)


def enter_draft(page: Page) -> None:
    order = part(page)
    fill(order, Name="Ada", Floor="high", Email=' "a" \\ €')
    choose(order, "Payment", "card")
    fill(order, Card_number="47")
    click(order, "Add pens")
    click(line(page, 1), "Add extra")
    click(line(page, 0), "Remove line")
    choose(line(page, 0), "Size", "L")
    check(order, "Gift").check()
    check(order, "Wrapped").check()
    check(order, "Newsletter").check()


def expect_draft(page: Page) -> None:
    order = part(page)
    for label, text in {"Name": "Ada", "Floor": "high", "Email": ' "a" \\ €', "Card number": "47", "To": ""}.items():
        expect(box(order, label)).to_have_value(text)
    expect(page.get_by_role("group")).to_have_count(1)
    for label, text in {"Product": "pen", "Amount": "2", "Extra 0": "ink", "Extra 1": "cap", "Extra 2": ""}.items():
        expect(box(line(page, 0), label)).to_have_value(text)
    expect(choice(line(page, 0), "Size")).to_have_value("L")
    for label in ("Gift", "Wrapped", "Newsletter"):
        expect(check(order, label)).to_be_checked()
    assert problems(order) == []
    expect(status(page)).to_have_text("")


def test_what_was_entered_survives_a_reload(app: App, project: Deployment) -> None:
    shop_id = shop(project)
    page = app.open()
    enter_draft(page)
    assert page.evaluate("(key) => sessionStorage.getItem(key)", f"order {shop_id}") is not None
    review = part(page, "Review")
    fill(review, Text="good")
    choose(review, "Stars", "2")
    page.reload()
    expect_draft(page)
    expect(box(review, "Text")).to_have_value("good")
    expect(choice(review, "Stars")).to_have_value("2")
    place(page)
    expect_problems(part(page), "Floor: Not a number")
    page.reload()
    expect_draft(page)
    fill(part(page), Floor="5", To="Bob")
    fill(line(page, 0), Extra_2="x")
    place(page)
    expect_placed(page, "1 for Ada")
    assert stored(project) == [
        {
            "customer": {"name": "Ada", "email": ' "a" \\ €', "address": {"street": "", "floor": 5}},
            "lines": [{"product": "pen", "amount": 2, "size": "L", "extras": ["ink", "cap", "x"]}],
            "payment": {"kind": "card", "cardNumber": "47", "name": ""},
            "gift": {"to": "Bob", "wrapped": True},
            "newsletter": True,
        }
    ]
    expect(box(review, "Text")).to_have_value("good")


def test_what_was_entered_survives_that_the_form_is_removed(app: App, project: Deployment) -> None:
    shop(project, "Corner")
    shop(project, "Other")
    page = app.open()
    enter_draft(page)
    page.get_by_role("button", name="Close").click()
    expect(part(page)).to_have_count(0)
    page.get_by_role("button", name="Open").click()
    expect_draft(page)
    page.get_by_role("button", name="Other shop").click()
    expect_beginning(page)
    fill(part(page), Name="Eve")
    page.get_by_role("button", name="Other shop").click()
    expect_draft(page)
    page.get_by_role("button", name="Other shop").click()
    expect(box(part(page), "Name")).to_have_value("Eve")


def test_other_visitors_do_not_see_the_draft(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    enter_draft(page)
    expect_beginning(app.open())


@pytest.mark.parametrize("garbage", ["", "x", "null", "5", '"x"', "[]", "{}", '{"a": 1}', "[[]]", "{"])
def test_something_else_in_the_storage_is_no_draft(app: App, project: Deployment, garbage: str) -> None:
    shop_id = shop(project)
    page = app.open()
    fill(part(page), Name="Eve")
    page.evaluate("([key, value]) => sessionStorage.setItem(key, value)", [f"order {shop_id}", garbage])
    page.reload()
    expect_beginning(page)
    fill_order(page)
    place(page)
    expect_placed(page, "1 for Ada")


def requests(project: Deployment) -> list[str]:
    return [each["requestId"] for each in project.documents("orders")]


def test_a_submission_goes_on_after_a_reload(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    fill_order(page)
    with app.holding(page):
        place(page)
        wait_until(lambda: len(requests(project)) == 1, "the order")
        page.reload()
    expect_placed(page, "1 for Ada")
    expect_beginning(page)
    listed(page, "Ada: ink")
    assert stored(project) == [wanted()]
    fill_order(page, "Bob")
    place(page)
    expect_placed(page, "1 for Bob")
    assert len(set(requests(project))) == 2


def test_a_submission_that_never_arrived_goes_on_after_a_reload(app: App, project: Deployment) -> None:
    shop(project)
    page, wire = app.blank(), LostMutations()
    page.route_web_socket("**/sync", wire.connect)
    page.goto(app.url)
    fill_order(page)
    place(page)
    expect(status(page)).to_have_text("sending")
    wait_until(lambda: wire.lost >= 1 or page.evaluate("0"), "the mutation")
    page.reload()
    expect(status(page)).to_have_text("sending")
    expect(box(part(page), "Name")).to_have_value("Ada")
    wait_until(lambda: wire.lost >= 2 or page.evaluate("0"), "the mutation")
    wire.is_losing = False
    page.reload()
    expect_placed(page, "1 for Ada")
    expect_beginning(page)
    assert stored(project) == [wanted()]


def test_a_submission_that_goes_on_can_fail(app: App, project: Deployment) -> None:
    shop_id = shop(project, is_closed=True)
    page = app.open()
    fill_order(page)
    with app.holding(page):
        place(page)
        expect(status(page)).to_have_text("sending")
        page.reload()
    expect_problems(part(page), "Order: Corner is closed")
    expect(status(page)).to_have_text("")
    expect(box(part(page), "Name")).to_have_value("Ada")
    page.reload()
    expect(box(part(page), "Name")).to_have_value("Ada")
    expect_problems(part(page))
    reopen(project, shop_id, False)
    assert stored(project) == []
    fill(part(page), Name="Bob")
    place(page)
    expect_placed(page, "1 for Bob")
    assert [each["customer"]["name"] for each in stored(project)] == ["Bob"]


def test_a_submission_goes_on_when_the_form_comes_back(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    fill_order(page)
    with app.holding(page):
        place(page)
        expect(status(page)).to_have_text("sending")
        page.get_by_role("button", name="Close").click()
        page.get_by_role("button", name="Open").click()
        expect(status(page)).to_have_text("sending")
        expect(box(part(page), "Name")).to_have_value("Ada")
        click(part(page), "Add line")
        expect(page.get_by_role("group")).to_have_count(1)
    expect_placed(page, "1 for Ada")
    expect_beginning(page)
    assert stored(project) == [wanted()]


def test_a_lost_connection_makes_no_difference(app: App, project: Deployment) -> None:
    shop(project)
    page, sent = open_listening(app)
    place_first_order(page)
    fill_order(page)
    with app.offline(page):
        place(page)
        expect(status(page)).to_have_text("sending")
        place(page)
        listed(page, "Eve: ink", "Ada: ink")
    expect_placed(page, "1 for Ada")
    assert len(set(sent.numbers)) == 2
    fill_order(page, "Bob")
    with app.holding(page):
        place(page)
        wait_until(lambda: len(requests(project)) == 3, "the order")
        with app.offline(page):
            expect(status(page)).to_have_text("sending")
    expect_placed(page, "1 for Bob")
    assert len(set(sent.numbers)) == 3
    assert len(requests(project)) == 3


ROWS = """[...document.querySelectorAll('ul')].map((list) => [...list.querySelectorAll('li')].map((item) => (item.querySelector('span') ?? item).textContent))"""


def lists(states: list[list[list[str]]], index: int) -> list[list[str]]:
    return [each for each, _ in groupby([state[index] for state in states if len(state) > index])]


def test_the_row_is_there_at_once_and_stays(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    fill_order(page, "Ada")
    place(page)
    expect_placed(page, "1 for Ada")
    listed(page, "Ada: ink")
    fill_order(page, "Bob")
    cancel = page.get_by_role("list", name="Orders").get_by_role("button", name="Cancel")
    with app.frames(page, ROWS) as states:
        with app.holding(page):
            place(page)
            listed(page, "Ada: ink", "Bob: ink")
            expect(cancel.first).to_be_enabled()
            expect(cancel.last).to_be_disabled()
            item = page.get_by_role("list", name="Orders").locator("li").last.element_handle()
        expect(cancel.last).to_be_enabled()
        expect_placed(page, "1 for Bob")
        listed(page, "Ada: ink", "Bob: ink")
    assert lists(states, 0) == [["Ada: ink"], ["Ada: ink", "Bob: ink"]]
    assert item.evaluate("(item) => item.isConnected")
    cancel.last.click()
    listed(page, "Ada: ink")


def test_the_row_disappears_if_the_mutation_fails(app: App, project: Deployment) -> None:
    shop_id = shop(project)
    page = app.open()
    place_first_order(page)
    reopen(project, shop_id, True)
    fill_order(page)
    with app.holding(page):
        place(page)
        listed(page, "Eve: ink", "Ada: ink")
        expect(page.get_by_role("button", name="Cancel").last).to_be_disabled()
    listed(page, "Eve: ink")
    expect_problems(part(page), "Order: Corner is closed")


def test_a_row_that_is_there_already_is_not_added(app: App, project: Deployment) -> None:
    shop(project)
    page, wire = app.blank(), LostMutations(is_losing=False)
    page.route_web_socket("**/sync", wire.connect)
    page.goto(app.url)
    fill_order(page)
    with app.holding(page):
        place(page)
        wait_until(lambda: len(requests(project)) == 1 or page.evaluate("0"), "the order")
        wire.is_losing = True
        page.reload()
    expect(status(page)).to_have_text("sending")
    wait_until(lambda: wire.lost >= 1 or page.evaluate("0"), "the mutation")
    listed(page, "Ada: ink")
    expect(page.get_by_role("button", name="Cancel")).to_be_enabled()
    wire.is_losing = False
    page.reload()
    expect_placed(page, "1 for Ada")
    listed(page, "Ada: ink")
    assert stored(project) == [wanted()]


def test_rows_of_other_shops_are_not_touched(app: App, project: Deployment) -> None:
    shop(project, "Corner")
    shop(project, "Other")
    page = app.open()
    place_first_order(page)
    fill_order(page)
    with app.holding(page):
        place(page)
        listed(page, "Eve: ink", "Ada: ink")
        page.get_by_role("button", name="Other shop").click()
        listed(page)
    listed(page)
    expect_beginning(page)
    page.get_by_role("button", name="Other shop").click()
    listed(page, "Eve: ink", "Ada: ink")
    assert [order["customer"]["name"] for order in stored(project)] == ["Eve", "Ada"]


def test_another_form_works_the_same_way(app: App, project: Deployment) -> None:
    shop(project)
    page = app.open()
    fill_order(page)
    place(page)
    expect_placed(page, "1 for Ada")
    order_id = project.documents("orders")[0]["_id"]
    review = part(page, "Review")
    rows = page.get_by_role("list", name="Reviews").get_by_role("listitem")
    click(review, "Send review")
    expect_problems(review, "Order ID: Required", "Stars: Required")
    fill(review, Order_ID=order_id)
    choose(review, "Stars", "3")
    expect_problems(review)
    with app.frames(page, ROWS) as states:
        with app.holding(page):
            click(review, "Send review")
            expect(rows).to_have_text(["3: no text"])
            expect(status(page, "Review status")).to_have_text("sending")
            expect(status(page)).to_have_text("1 for Ada")
        expect(status(page, "Review status")).to_have_text("")
        expect(rows).to_have_text(["3: no text"])
    assert lists(states, 1) == [[], ["3: no text"]]
    assert stored(project, "reviews") == [{"orderId": order_id, "stars": 3}]
    expect(box(review, "Order ID")).to_have_value("")
    expect(choice(review, "Stars")).to_have_value("")
    click(review, "Add tag")
    expect(box(review, "Tag 0")).to_have_value("new")
    click(review, "Add tag")
    click(review, "Remove tag")
    fill(review, Order_ID=order_id, Text="fine", Tag_0="old")
    choose(review, "Stars", "1")
    click(review, "Send review")
    expect(rows).to_have_text(["3: no text", "1: fine"])
    expect(box(review, "Tag 0")).to_have_count(0)
    click(review, "Add tag")
    click(review, "Remove tag")
    project.delete("orders", order_id)
    fill(review, Order_ID=order_id)
    choose(review, "Stars", "2")
    click(review, "Send review")
    expect_problems(review, "Order ID: No such order")
    expect(rows).to_have_text(["3: no text", "1: fine"])
    assert stored(project, "reviews")[1:] == [{"orderId": order_id, "stars": 1, "text": "fine", "tags": ["old"]}]
