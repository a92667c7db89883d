"""Views of a practice: what the compiler knows of them, and what each role learns at run time."""

# ruff: noqa: E501 (snippets of TypeScript)

import copy
import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, TypeChecks

Data = dict[str, Any]

HEAD = """
import { defineSchema, defineTable, type FunctionArgs, type FunctionReturnType } from "convex/server";
import { v, type GenericId } from "convex/values";
import { api } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";
import { defineViews, type ViewOf, type ViewReader, type ViewWriter } from "./lib/views";
import schema from "./schema";
import { views } from "./views";
type Exactly<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Keys<T> = T extends T ? keyof T : never;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? (0 extends 1 & A ? false : Exactly<Keys<A>, Keys<B>>) : false) : false;
type Insurance = { kind: "public"; number: string } | { kind: "private"; company: string; rate: number };
declare const reception: ViewReader<typeof views, "reception">;
declare const doctor: ViewReader<typeof views, "doctor">;
declare const patient: ViewReader<typeof views, "patient">;
declare const receptionist: ViewWriter<typeof views, "reception">;
declare const surgeon: ViewWriter<typeof views, "doctor">;
declare const sick: ViewWriter<typeof views, "patient">;
declare const ids: { patients: Id<"patients">; staff: Id<"staff">; visits: Id<"visits">; messages: Id<"messages"> };
declare const maybe: boolean;
export async function use() {
%s
}
"""


def same(actual: str, expected: str) -> str:
    return f"""
  type Actual = {actual};
  type Expected = {expected};
  const same: Same<Actual, Expected> = true;
  return same;"""


def returns(call: str, expected: str) -> str:
    return f"""
  const found = {call};
  const same: Same<typeof found, {expected}> = true;
  return same;"""


OWN = """
  const own = defineSchema({
    trees: defineTable(v.union(
      v.object({ kind: v.literal("oak"), height: v.number(), owner: v.optional(v.id("people")), parts: v.array(v.object({ kind: v.literal("leaf"), size: v.number(), secret: v.string() })) }),
      v.object({ kind: v.literal("fir"), height: v.optional(v.number()), code: v.union(v.string(), v.number()), cut: v.union(v.null(), v.object({ kind: v.literal("whole"), by: v.id("people") }), v.object({ kind: v.literal("part"), by: v.id("people"), where: v.object({ top: v.boolean(), note: v.string() }) })) }),
    )),
    people: defineTable({ name: v.string(), marks: v.record(v.string(), v.number()), level: v.optional(v.union(v.literal("a"), v.literal("b"), v.null())) }),
  });
  type Person = { role: "guest" } | { role: "ranger"; name: string };
  const who = (): Person | null => null;
  const woods = defineViews(own, who, {
    trees: {
      guest: %s,
      ranger: { see: "all", only: { "cut.kind": ["part"] }, rows: (tree, viewer) => tree.height !== viewer.name.length, filter: "all", sort: "all", write: "all", add: ["kind", "height", "parts", "code"] },
    },
    people: { guest: { see: ["name", "level"] }, ranger: "all" },
  });
  type Guest = ViewReader<typeof woods, "guest">;
  type Ranger = ViewWriter<typeof woods, "ranger">;
  const guest = null as unknown as Guest;
  const ranger = null as unknown as Ranger;
  const tree = null as unknown as GenericId<"trees">;
  const human = null as unknown as GenericId<"people">;
"""
GUEST = '{ see: ["kind", "height", "parts.size", "cut"], filter: ["height"], sort: ["height"], write: ["height"] }'


def own(body: str, guest: str = GUEST) -> str:
    return OWN % guest + "  " + body


def refuses(guest: str) -> str:
    return own("return guest;", guest)


def tree(actual: str, expected: str) -> str:
    return own(same(actual, expected))


VISIT_OF_PATIENT = """
    | { _id: Id<"visits">; kind: "consultation"; patientId: Id<"patients">; doctorId: Id<"staff">; at: number; entries: ({ kind: "note"; text: string } | { kind: "diagnosis"; code: string })[] }
    | { _id: Id<"visits">; kind: "surgery"; patientId: Id<"patients">; doctorId: Id<"staff">; at: number; outcome?: { kind: "success"; days: number } }"""
VISIT_OF_RECEPTION = """
    | { _id: Id<"visits">; kind: "consultation"; patientId: Id<"patients">; doctorId: Id<"staff">; at: number; reason: string; price?: number }
    | { _id: Id<"visits">; kind: "surgery"; patientId: Id<"patients">; doctorId: Id<"staff">; at: number; room: string; outcome?: { days: number }; price: number }
    | { _id: Id<"visits">; kind: "blocked"; doctorId: Id<"staff">; at: number; reason: string }"""

COMPILES = {
    "fields and nested fields": same(
        'ViewOf<typeof views, "doctor", "messages">',
        '{ _id: Id<"messages">; patientId: Id<"patients">; visitId?: Id<"visits">; text: string; flag?: { urgent: boolean } | null }',
    ),
    "fields of some members of a union": same(
        'ViewOf<typeof views, "reception", "patients">',
        '{ _id: Id<"patients">; _creationTime: number; name: string; born: number; contact: Doc<"patients">["contact"]; insurance: null | { kind: "public"; number: string } | { kind: "private" } }',
    ),
    "a record, an array and whole members": same(
        'ViewOf<typeof views, "patient", "patients">',
        '{ _id: Id<"patients">; name: string; contact: { phone: string; email?: string }; insurance: null | Insurance; vitals?: Record<string, number>; allergies: string[] }',
    ),
    "everything": same('ViewOf<typeof views, "doctor", "patients">', 'Doc<"patients">'),
    "the short form of everything": same('ViewOf<typeof views, "reception", "messages">', 'Doc<"messages">'),
    "hidden documents": same('ViewOf<typeof views, "doctor", "visits">', 'Exclude<Doc<"visits">, { kind: "blocked" }>'),
    "hidden documents, elements and fields": same('ViewOf<typeof views, "patient", "visits">', VISIT_OF_PATIENT),
    "hidden members whose kind is not seen": same('ViewOf<typeof views, "reception", "visits">', VISIT_OF_RECEPTION),
    "a hidden part of an array of objects": tree(
        'Extract<ViewOf<typeof woods, "guest", "trees">, { kind: "oak" }>',
        '{ kind: "oak"; height: number; parts: { size: number }[] }',
    ),
    "a null beside a hidden member": tree(
        'Extract<ViewOf<typeof woods, "ranger", "trees">, { kind: "fir" }>["cut"]',
        '{ kind: "part"; by: GenericId<"people">; where: { top: boolean; note: string } } | null | undefined',
    ),
    "a list is what the role sees": returns('await patient.list("visits")', f"({VISIT_OF_PATIENT})[]"),
    "get may return null": returns('await patient.get("staff", ids.staff)', "{ name: string } | null"),
    "a page": returns(
        'await patient.page("staff", { size: 5, cursor: null })', "{ page: { name: string }[]; cursor: string | null }"
    ),
    "a count": returns('await doctor.count("visits", { where: { kind: "surgery" } })', "number"),
    "a join": returns(
        'await doctor.get("messages", ids.messages, { with: { who: "patientId" } })',
        '{ _id: Id<"messages">; patientId: Id<"patients">; visitId?: Id<"visits">; text: string; flag?: { urgent: boolean } | null; who: Doc<"patients"> | null } | null',
    ),
    "a join through an optional field": returns(
        '(await patient.list("messages", { with: { visit: "visitId" } }))[0].visit', f"({VISIT_OF_PATIENT}) | null"
    ),
    "a join through a nested field": returns(
        '(await doctor.list("patients", { with: { by: "risk.by" } }))[0].by',
        '{ _id: Id<"staff">; name: string; role: "reception" | "doctor"; phone?: string } | null',
    ),
    "a join of some members of a union": """
  const [visit] = await reception.list("visits", { with: { patient: "patientId", doctor: "doctorId" } });
  if (visit.kind === "blocked") return [visit.reason, visit.doctor?.phone, visit.patient?.born];
  return [visit.price, visit.patient?.contact.address?.city, visit.kind === "surgery" && visit.outcome?.days];""",
    "a join that replaces a field": returns(
        '(await patient.page("messages", { size: 1, cursor: null, with: { visitId: "visitId", text: "patientId" } })).page[0].text',
        'ViewOf<typeof views, "patient", "patients"> | null',
    ),
    "filters": """
  return [
    await reception.list("patients", { where: { name: "a", "contact.address.city": { in: ["b"] }, "insurance.kind": "public" } }),
    await reception.list("patients", { where: { "insurance.kind": { in: ["public", "private"] }, name: maybe ? "a" : undefined } }),
    await reception.list("visits", { where: { at: { from: 1 }, price: { to: 5 }, "outcome.days": 3, patientId: ids.patients } }),
    await doctor.list("visits", { where: { "outcome.text": "a", "outcome.severity": { from: 1, to: 2 }, "outcome.kind": "success", room: "a", kind: { in: ["surgery"] }, at: {} } }),
    await doctor.count("patients", { where: { "insurance.rate": 1, "risk.by": ids.staff, _id: ids.patients, _creationTime: { to: 5 }, born: { in: [1, 2] } } }),
    await doctor.count("messages", { where: { "flag.urgent": true } }),
    await patient.count("visits", { where: { "outcome.days": { from: 5 }, "outcome.kind": "success" } }),
  ];""",
    "orders": """
  return [
    await reception.list("patients", { sort: "-name" }), await reception.list("patients", { sort: "contact.email", limit: 4 }),
    await doctor.list("visits", { sort: "-outcome.severity" }), await doctor.list("visits", { sort: "kind" }),
    await doctor.page("patients", { sort: "insurance.company", size: 3, cursor: "a" }), await doctor.list("patients", { sort: "_creationTime" }),
  ];""",
    "null as a value": own('return ranger.list("people", { where: { level: null }, sort: "level" });'),
    "values of scalar unions": own(
        'return ranger.list("trees", { where: { code: { in: ["a", 5] }, "cut.where.top": true } });'
    ),
    "patches": """
  await receptionist.patch("patients", ids.patients, { name: "a", "contact.phone": "b", "contact.address": { street: "a", city: "b" } });
  await receptionist.patch("patients", ids.patients, { "contact.address": undefined, "insurance.number": "5" });
  await receptionist.patch("visits", ids.visits, { at: 5, room: "a", price: undefined, "outcome.days": 4 });
  await surgeon.patch("visits", ids.visits, { team: [ids.staff], "outcome.text": "a", "outcome.reportedBy": undefined, entries: [{ kind: "internal", text: "a" }] });
  await surgeon.patch("patients", ids.patients, { vitals: { pulse: 60 }, "risk.score": 1, "contact.address.city": "a" });
  await receptionist.patch("messages", ids.messages, { flag: null });
  await surgeon.patch("messages", ids.messages, { "flag.urgent": true });""",
    "additions": """
  const id: Id<"visits"> = await receptionist.insert("visits", { kind: "blocked", doctorId: ids.staff, at: 5, reason: "a" });
  await receptionist.insert("visits", { kind: "consultation", patientId: ids.patients, doctorId: ids.staff, at: 5, reason: "a", entries: [{ kind: "internal", text: "a" }] });
  await receptionist.insert("messages", { patientId: ids.patients, from: "practice", text: "a", sentAt: 5, flag: null });
  await surgeon.insert("visits", { kind: "surgery", patientId: ids.patients, doctorId: ids.staff, at: 5, room: "a", team: [], outcome: { kind: "success", days: 1 }, price: 4 });
  await sick.insert("messages", { patientId: ids.patients, from: "patient", text: "a", sentAt: 5 });
  return id;""",
    "removals": 'return [await receptionist.remove("visits", id()), await sick.remove("messages", ids.messages)];\n  function id() { return ids.visits; }',
    "a writer is a reader": """
  const reader: ViewReader<typeof views, "doctor"> = surgeon;
  const count = async (db: ViewReader<typeof views, "reception">) => await db.count("visits");
  return [reader, await count(receptionist)];""",
    "the context of one role": """
  return views.query("patient")({ args: { n: v.number() }, handler: async ({ db, viewer, role, auth }, { n }) => {
    const me: "patient" = role;
    const id: Id<"patients"> = viewer.patientId;
    return { me, id, who: await auth.getUserIdentity(), more: n.toFixed(), found: await db.get("patients", id) };
  } });""",
    "the context of several roles": """
  return views.mutation("doctor", "patient")({ args: {}, handler: (ctx) => {
    if (ctx.role === "doctor") return ctx.db.patch("patients", ids.patients, { "risk.score": ctx.viewer.staffId.length });
    return ctx.db.patch("patients", ctx.viewer.patientId, { "contact.phone": "5" });
  } });""",
    "results for clients": same(
        'FunctionReturnType<typeof api.records.mine>["me"]', 'ViewOf<typeof views, "patient", "patients"> | null'
    ),
    "results for clients of several roles": same(
        "FunctionReturnType<typeof api.records.timeline>",
        """| { page: ViewOf<typeof views, "reception", "visits">[]; cursor: string | null }
    | { page: ViewOf<typeof views, "doctor", "visits">[]; cursor: string | null }
    | { page: ViewOf<typeof views, "patient", "visits">[]; cursor: string | null }""",
    ),
    "arguments for clients": same(
        "FunctionArgs<typeof api.reception.inCity>", '{ city: string; insurance?: "public" | "private" }'
    ),
    "another schema": own("return [guest, ranger];"),
    "another declaration": own(
        "return guest;",
        '{ see: ["parts", "cut.by", "cut.where.note", "cut.kind", "_id"], only: { kind: ["fir"], "cut.kind": ["whole", "part"] }, filter: ["cut.by", "cut.kind"], sort: ["cut.where.note"], write: ["cut.where.note"] }',
    ),
    "an empty declaration of a table": """
  return defineViews(defineSchema({ a: defineTable({ b: v.string() }) }), () => ({ role: "x" as const }), { a: {} });""",
    "writing what is inside of what is seen": own("return guest;", '{ see: ["cut"], write: ["cut.where", "cut.by"] }'),
    "parameters of conditions": own(
        "return guest;",
        '{ see: "all", rows: (tree, viewer) => { const who: "guest" = viewer.role; return tree.kind === "fir" ? tree.cut !== null : tree.parts.length > who.length; } }',
    ),
    "additions to members that they suffice for": own(
        'return ranger.insert("trees", { kind: "oak", height: 5, parts: [] });'
    ),
}
REFUSED = {
    "a table without a view": 'return await patient.list("audits");',
    "a table that is not there": 'return await doctor.list("visit");',
    "an ID of another table": 'return await doctor.get("visits", ids.staff);',
    "a hidden field": 'return (await reception.list("patients"))[0].allergies;',
    "a hidden nested field": 'return (await patient.list("patients"))[0].contact.address;',
    "a hidden field of a member": """const { insurance } = (await reception.list("patients"))[0];
  return insurance?.kind === "private" ? insurance.company : 0;""",
    "a hidden field of an element": """const [visit] = await patient.list("visits");
  return visit.kind === "consultation" ? visit.entries.map((entry) => entry.kind === "note" && entry.by) : 0;""",
    "a hidden element": """const [visit] = await patient.list("visits");
  return visit.kind === "consultation" ? visit.entries.filter((entry) => entry.kind === "internal") : 0;""",
    "a hidden document": 'return (await doctor.list("visits"))[0].kind === "blocked";',
    "a hidden member that is there": """const [visit] = await patient.list("visits");
  return visit.kind === "surgery" ? visit.outcome.days : 0;""",
    "a hidden field of a joined document": 'return (await patient.list("visits", { with: { doctor: "doctorId" } }))[0].doctor?.phone;',
    "a joined document that is there": 'return (await reception.list("visits", { with: { doctor: "doctorId" } }))[0].doctor.name;',
    "a join through a hidden field": 'return await doctor.list("messages", { with: { by: "flag.by" } });',
    "a join through what is no ID": 'return await patient.list("messages", { with: { by: "text" } });',
    "a join to a table without a view": own(
        'const none = defineViews(own, who, { trees: { guest: "all" }, people: {} });\n  return (null as unknown as ViewReader<typeof none, "guest">).list("trees", { with: { x: "owner" } });'
    ),
    "a join through an array": 'return await doctor.list("visits", { with: { team: "team" } });',
    "a filter that is not declared": 'return await reception.list("patients", { where: { born: 5 } });',
    "a filter by a hidden field": 'return await reception.list("patients", { where: { "insurance.rate": 5 } });',
    "a filter by a hidden member": 'return await patient.list("visits", { where: { "outcome.severity": 5 } });',
    "a filter by a hidden kind": 'return await patient.count("visits", { where: { kind: "blocked" } });',
    "a filter by what is no scalar": 'return await doctor.list("patients", { where: { contact: { phone: "a" } } });',
    "a filter through an array": 'return await doctor.list("visits", { where: { "entries.text": "a" } });',
    "a filter through a record": 'return await doctor.list("patients", { where: { "vitals.pulse": 5 } });',
    "a filter with a wrong value": 'return await reception.list("patients", { where: { name: 5 } });',
    "a filter with a wrong literal": 'return await reception.list("visits", { where: { kind: { in: ["surgery", "visit"] } } });',
    "a filter with a wrong ID": 'return await reception.list("visits", { where: { doctorId: ids.patients } });',
    "a range of strings": 'return await reception.list("patients", { where: { name: { from: "a" } } });',
    "a range of strings with numbers": 'return await reception.list("patients", { where: { name: { from: 5 } } });',
    "undefined as one of several values": 'return await reception.list("visits", { where: { price: { in: [undefined] } } });',
    "an order that is not declared": 'return await reception.list("patients", { sort: "contact.phone" });',
    "an order by a hidden field": 'return await doctor.list("messages", { sort: "-sentAt" });',
    "an order by booleans": 'return await doctor.list("messages", { sort: "flag.urgent" });',
    "an order by IDs": 'return await doctor.list("patients", { sort: "risk.by" });',
    "an order by strings and numbers": own('return ranger.list("trees", { sort: "code" });'),
    "another option": 'return await reception.list("patients", { limit: 5, offset: 5 });',
    "a limit of a page": 'return await reception.page("patients", { limit: 5, size: 5, cursor: null });',
    "a page without a cursor": 'return await reception.page("patients", { size: 5 });',
    "an order of a count": 'return await reception.count("patients", { sort: "name" });',
    "a join of a count": 'return await reception.count("visits", { with: { patient: "patientId" } });',
    "a filter of get": 'return await reception.get("patients", ids.patients, { where: { name: "a" } });',
    "a patch of what is not declared": 'return await receptionist.patch("patients", ids.patients, { born: 5 });',
    "a patch of a hidden field": 'return await surgeon.patch("messages", ids.messages, { "flag.remark": "a" });',
    "a patch with a wrong value": 'return await receptionist.patch("patients", ids.patients, { "contact.phone": 5 });',
    "a patch of a system field": 'return await receptionist.patch("messages", ids.messages, { _creationTime: 5 });',
    "a patch of something that is partly hidden": own('return ranger.patch("trees", tree as never, { cut: null });'),
    "a patch of an element": 'return await surgeon.patch("visits", ids.visits, { "entries.text": "a" });',
    "a patch of a table without write": 'return await surgeon.patch("staff", ids.staff, {});',
    "an addition to a table without add": 'return await surgeon.insert("messages", { patientId: ids.patients, from: "practice", text: "a", sentAt: 5 });',
    "an addition with another field": 'return await receptionist.insert("visits", { kind: "consultation", patientId: ids.patients, doctorId: ids.staff, at: 5, reason: "a", entries: [], price: 5 });',
    "an addition without a required field": 'return await receptionist.insert("visits", { kind: "blocked", doctorId: ids.staff, at: 5 });',
    "an addition of a member that cannot be made": 'return await receptionist.insert("visits", { kind: "surgery", patientId: ids.patients, doctorId: ids.staff, at: 5, room: "a", team: [], outcome: { kind: "success", days: 1 }, price: 4 });',
    "an addition of a hidden member": 'return await surgeon.insert("visits", { kind: "blocked", doctorId: ids.staff, at: 5, reason: "a" });',
    "an addition of a member whose fields do not suffice": own(
        'return ranger.insert("trees", { kind: "fir", code: 5 });'
    ),
    "an addition with a system field": 'return await receptionist.insert("messages", { _creationTime: 5, patientId: ids.patients, from: "practice", text: "a", sentAt: 5 });',
    "a removal in a table without remove": 'return await receptionist.remove("patients", ids.patients);',
    "a reader as a writer": 'return await reception.remove("visits", ids.visits);',
    "a reader where a writer is expected": 'const writer: ViewWriter<typeof views, "reception"> = reception;\n  return writer;',
    "a role that is not there": 'return views.query("nurse");',
    "the viewer of another role": 'return views.query("doctor", "patient")({ args: {}, handler: (ctx) => ctx.viewer.patientId });',
    "the reader of another role": """
  return views.query("doctor", "patient")({ args: {}, handler: (ctx) => (ctx.role === "doctor" ? ctx.db.list("patients", { sort: "name" }) : ctx.db.list("patients", { sort: "name" })) });""",
    "a query that writes": 'return views.query("reception")({ args: {}, handler: (ctx) => ctx.db.remove("visits", ids.visits) });',
    "the database itself": 'return views.query("reception")({ args: {}, handler: (ctx) => ctx.db.query("visits") });',
    "a declaration without a table": 'return defineViews(schema, (): null | { role: "x" } => null, { staff: {}, patients: {}, visits: {}, messages: {} });',
    "a declaration with another table": 'return defineViews(schema, (): null | { role: "x" } => null, { staff: {}, patients: {}, visits: {}, messages: {}, audits: {}, bills: {} });',
    "a declaration with another role": 'return defineViews(schema, (): null | { role: "x" } => null, { staff: { x: "all", y: "all" }, patients: {}, visits: {}, messages: {}, audits: {} });',
    "a declaration without see": refuses('{ filter: ["height"] }'),
    "a declaration with another property": refuses('{ see: ["height"], order: ["height"] }'),
    "a field that is not there": refuses('{ see: ["kind", "width"] }'),
    "a nested field that is not there": refuses('{ see: ["kind", "cut.where.side"] }'),
    "a path into a record": own(
        'return defineViews(own, who, { trees: {}, people: { guest: { see: ["marks.a"] } } });'
    ),
    "only of what is no kind": refuses('{ see: ["kind"], only: { height: [5] } }'),
    "only of what is no kind beside a kind": refuses('{ see: ["kind"], only: { kind: ["oak"], height: [5] } }'),
    "only of another kind": refuses('{ see: ["kind"], only: { "cut.kind": ["half"] } }'),
    "only of another kind beside one that is there": refuses('{ see: ["kind"], only: { kind: ["oak", "elm"] } }'),
    "a condition that returns something else": refuses('{ see: ["kind"], rows: (tree) => tree.height }'),
    "a condition with a property of another role": refuses(
        '{ see: ["kind"], rows: (tree, viewer) => viewer.name === tree.kind }'
    ),
    "a declared filter by a hidden field": refuses('{ see: ["kind"], filter: ["kind", "height"] }'),
    "a declared filter by a hidden nested field": refuses('{ see: ["cut.kind"], filter: ["cut.by"] }'),
    "a declared filter by a field of a hidden member": refuses(
        '{ see: "all", only: { kind: ["oak"] }, filter: ["height", "code"] }'
    ),
    "a declared filter by a field of a hidden nested member": refuses(
        '{ see: ["cut"], only: { "cut.kind": ["whole"] }, filter: ["cut.where.top"] }'
    ),
    "a declared filter by an object": refuses('{ see: "all", filter: ["cut"] }'),
    "a declared filter through an array": refuses('{ see: "all", filter: ["parts.size"] }'),
    "a declared order by a hidden field": refuses('{ see: ["kind"], sort: ["height"] }'),
    "a declared order by booleans": refuses('{ see: "all", sort: ["cut.where.top"] }'),
    "a declared order by strings and numbers": refuses('{ see: "all", sort: ["code"] }'),
    "a declared write of a hidden field": refuses('{ see: ["kind"], write: ["height"] }'),
    "a declared write of something that is partly seen": refuses('{ see: ["cut.by"], write: ["cut"] }'),
    "a declared write of something with hidden members": refuses(
        '{ see: ["cut"], only: { "cut.kind": ["whole"] }, write: ["cut"] }'
    ),
    "a declared write of a system field": refuses('{ see: "all", write: ["_id"] }'),
    "a declared write of elements": refuses('{ see: "all", write: ["parts.size"] }'),
    "a declared addition of a system field": refuses('{ see: "all", add: ["kind", "_id"] }'),
    "a declared addition of a nested field": refuses('{ see: "all", add: ["kind", "cut.by"] }'),
    "another word for everything": refuses('"everything"'),
}
COMPILES = {name: HEAD % body for name, body in COMPILES.items()}
REFUSED = {name: HEAD % f"  {body}" for name, body in REFUSED.items()}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES | REFUSED)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES | REFUSED)[name] != ()


# ---------------------------------------------------------------- the practice, with the rules written once more in Python

ROLES = ("reception", "doctor", "patient")
TABLES = ("staff", "patients", "visits", "messages", "audits")
ANY: Any = lambda document, viewer: True  # noqa: E731


def view(see: Any, **more: Any) -> Data:
    return {
        "see": see,
        "only": {},
        "rows": ANY,
        "filter": [],
        "sort": [],
        "write": None,
        "add": None,
        "remove": False,
    } | more


MESSAGE = ["patientId", "visitId", "from", "text", "sentAt", "flag", "flag.urgent", "flag.by", "flag.remark"]
VISIT = ["patientId", "doctorId", "at", "reason", "price", "room"]
OUTCOME = ["outcome.kind", "outcome.days", "outcome.text", "outcome.severity", "outcome.reportedBy"]
VIEWS: dict[str, dict[str, Data]] = {
    "staff": {
        "reception": view(["_id", "name", "role", "phone"], filter=["role"], sort=["name"], write=["phone"]),
        "doctor": view(
            ["_id", "name", "role", "phone"], filter=["_id", "name", "role", "phone"], sort=["name", "role", "phone"]
        ),
        "patient": view(["name"], rows=lambda member, viewer: member["role"] == "doctor", sort=["name"]),
    },
    "patients": {
        "reception": view(
            ["_id", "_creationTime", "name", "born", "contact", "insurance.kind", "insurance.number"],
            filter=["name", "contact.address.city", "insurance.kind"],
            sort=["name", "born", "contact.email"],
            write=["name", "contact.phone", "contact.address", "insurance.number"],
            add=["name", "born", "contact", "insurance", "allergies"],
        ),
        "doctor": view(
            "all",
            filter=[
                "_id",
                "_creationTime",
                "subject",
                "name",
                "born",
                "contact.phone",
                "contact.email",
                "contact.address.street",
                "contact.address.city",
                "insurance.kind",
                "insurance.number",
                "insurance.company",
                "insurance.rate",
                "risk.score",
                "risk.by",
            ],
            sort=[
                "_creationTime",
                "subject",
                "name",
                "born",
                "contact.phone",
                "contact.email",
                "contact.address.street",
                "contact.address.city",
                "insurance.kind",
                "insurance.number",
                "insurance.company",
                "insurance.rate",
                "risk.score",
            ],
            write=["allergies", "vitals", "risk.score", "contact.address.city"],
        ),
        "patient": view(
            ["_id", "name", "contact.phone", "contact.email", "insurance", "vitals", "allergies"],
            rows=lambda patient, viewer: patient["_id"] == viewer,
            write=["contact.phone", "contact.email"],
        ),
    },
    "visits": {
        "reception": view(
            ["_id", "kind", "patientId", "doctorId", "at", "reason", "room", "price", "outcome.days"],
            only={"outcome.kind": ["success"]},
            filter=["kind", "patientId", "doctorId", "at", "price", "outcome.days"],
            sort=["at", "price", "outcome.days"],
            write=["at", "room", "price", "outcome.days"],
            add=["kind", "patientId", "doctorId", "at", "reason", "entries"],
            remove=True,
        ),
        "doctor": view(
            "all",
            only={"kind": ["consultation", "surgery"]},
            rows=lambda visit, viewer: viewer == visit["doctorId"] or viewer in visit.get("team", []),
            filter=["_id", "_creationTime", "kind", *VISIT, *OUTCOME],
            sort=["_creationTime", "kind", "at", "reason", "price", "room", *OUTCOME[:-1]],
            write=["kind", "entries", "team", "outcome", *VISIT, *OUTCOME],
            add=["kind", "entries", "team", "outcome", *VISIT],
        ),
        "patient": view(
            ["_id", "kind", "patientId", "doctorId", "at", "entries.kind", "entries.text", "entries.code", "outcome"],
            only={
                "kind": ["consultation", "surgery"],
                "entries.kind": ["note", "diagnosis"],
                "outcome.kind": ["success"],
            },
            rows=lambda visit, viewer: visit["kind"] != "blocked" and visit["patientId"] == viewer,
            filter=["_id", "kind", "patientId", "doctorId", "at", "outcome.kind", "outcome.days"],
            sort=["at"],
        ),
    },
    "messages": {
        "reception": view(
            "all",
            filter=["_id", "_creationTime", *(path for path in MESSAGE if path != "flag")],
            sort=["_creationTime", "from", "text", "sentAt", "flag.remark"],
            write=MESSAGE,
            add=["patientId", "visitId", "from", "text", "sentAt", "flag"],
            remove=True,
        ),
        "doctor": view(
            ["_id", "patientId", "visitId", "text", "flag.urgent"],
            filter=["_id", "patientId", "visitId", "text", "flag.urgent"],
            sort=["text"],
            write=["flag.urgent"],
        ),
        "patient": view(
            ["_id", "from", "text", "sentAt", "visitId", "patientId"],
            rows=lambda message, viewer: message["patientId"] == viewer,
            filter=["from", "visitId"],
            sort=["sentAt"],
            write=["text", "patientId"],
            add=["patientId", "visitId", "from", "text", "sentAt", "flag"],
            remove=True,
        ),
    },
    "audits": {},
}
IDS = {
    "staff": {"_id": "staff"},
    "patients": {"_id": "patients", "risk.by": "staff"},
    "visits": {"_id": "visits", "patientId": "patients", "doctorId": "staff", "outcome.reportedBy": "staff"},
    "messages": {"_id": "messages", "patientId": "patients", "visitId": "visits", "flag.by": "staff"},
}
PATHS = {
    "staff": ["_id", "name", "role", "phone", "salary", "subject", "wage"],
    "patients": [
        "_id",
        "_creationTime",
        "name",
        "born",
        "contact",
        "contact.phone",
        "contact.email",
        "contact.address.city",
        "insurance.kind",
        "insurance.rate",
        "insurance.company",
        "allergies",
        "vitals.pulse",
        "risk.score",
        "risk.by",
        "subject",
        "age",
    ],
    "visits": [
        "_id",
        "_creationTime",
        "kind",
        *VISIT,
        *OUTCOME,
        "entries",
        "entries.text",
        "team",
        "outcome",
        "doctor",
    ],
    "messages": ["_id", "_creationTime", *MESSAGE, "flag.to"],
    "audits": ["_id", "text"],
}


class Refused(Exception):
    pass


def refuse(code: str, table: str, **more: Any) -> Any:
    raise Refused({"code": code, "table": table} | more)


MISSING: Any = object()


def value_at(document: Any, path: str) -> Any:
    for step in path.split("."):
        document = document.get(step, MISSING) if isinstance(document, dict) else MISSING
    return document


def shown(rules: Data, value: Any, prefix: str = "", whole: bool = False) -> Any:
    if isinstance(value, list):
        parts = [shown(rules, each, prefix, whole) for each in value]
        return [each for each in parts if each is not MISSING]
    if not isinstance(value, dict):
        return value
    if value.get("kind") not in rules["only"].get(f"{prefix}kind", [value.get("kind")]):
        return MISSING
    result = {}
    for name, each in value.items():
        path = prefix + name
        covered = whole or rules["see"] == "all" or path in rules["see"]
        if covered or any(other.startswith(f"{path}.") for other in rules["see"]):
            part = shown(rules, each, f"{path}.", covered)
            if part is not MISSING:
                result[name] = part
    return result


class Practice:
    """What there is, and what the caller of a role may learn of it."""

    def __init__(self, project: Deployment, chance: random.Random) -> None:
        self.project, self.chance = project, chance
        people = [{"subject": f"s{n}", "name": name, "role": role, "salary": n} for n, (name, role) in enumerate(
            [("Rita", "reception"), ("Dana", "doctor"), ("Dora", "doctor"), ("Rolf", "reception")]
        )]  # fmt: skip
        people[2]["phone"] = "22"
        people[3]["phone"] = "11"
        self.staff = project.insert_many("staff", people)
        self.patients = project.insert_many("patients", [self.patient(n) for n in range(5)])
        self.visits = project.insert_many("visits", [self.visit() for _ in range(14)])
        self.messages = project.insert_many("messages", [self.message() for _ in range(10)])
        project.insert("audits", text="a", patientId=self.patients[0])

    def maybe(self, **fields: Any) -> Data:
        return {name: value for name, value in fields.items() if self.chance.random() < 0.6}

    def patient(self, n: int) -> Data:
        chance = self.chance
        address = {"street": "Main", "city": chance.choice(["Oslo", "Rome"])}
        insurance = chance.choice(
            [
                None,
                {"kind": "public", "number": "7"},
                {"kind": "private", "company": "Care", "rate": chance.randrange(3)},
            ]
        )
        return {
            "subject": f"p{n}",
            "name": chance.choice(["Ada", "Ben"]),
            "born": chance.randrange(3),
            "contact": {"phone": str(n)} | self.maybe(email=chance.choice("xyz"), address=address),
            "insurance": insurance,
            "allergies": chance.sample(["nuts", "cats"], chance.randrange(3)),
        } | self.maybe(vitals={"pulse": 60 + n}, risk={"score": chance.randrange(3), "by": chance.choice(self.staff)})

    def entries(self) -> list[Data]:
        kinds: list[Data] = [
            {"kind": "note", "text": "n", "by": self.staff[1]},
            {"kind": "diagnosis", "code": "c", "certainty": 1},
            {"kind": "internal", "text": "i"},
        ]
        return [self.chance.choice(kinds) for _ in range(self.chance.randrange(4))]

    def outcome(self) -> Data:
        chance = self.chance
        bad = {"kind": "complication", "text": "bad", "severity": chance.randrange(3)} | self.maybe(
            reportedBy=self.staff[1]
        )
        return chance.choice([{"kind": "success", "days": chance.randrange(3)}, bad])

    def visit(self) -> Data:
        chance = self.chance
        base = {"doctorId": chance.choice(self.staff[1:3]), "at": chance.randrange(6)}
        who = {"patientId": chance.choice(self.patients)}
        consultation = {"kind": "consultation", "reason": chance.choice("ab"), "entries": self.entries()} | base | who
        surgery = {
            "kind": "surgery",
            "room": chance.choice("AB"),
            "team": chance.sample(self.staff[1:3], chance.randrange(3)),
        }
        return chance.choice(
            [
                consultation | self.maybe(price=chance.randrange(3)),
                surgery | base | who | {"outcome": self.outcome(), "price": chance.randrange(3)},
                surgery | base | who | {"outcome": self.outcome(), "price": chance.randrange(3)},
                {"kind": "blocked", "reason": "break"} | base,
            ]
        )

    def message(self) -> Data:
        chance = self.chance
        flag = chance.choice(
            [None, {"urgent": chance.random() < 0.5, "by": chance.choice(self.staff), "remark": chance.choice("uv")}]
        )
        return {
            "patientId": chance.choice(self.patients),
            "from": chance.choice(["patient", "practice"]),
            "text": chance.choice("abc"),
            "sentAt": chance.randrange(4),
        } | self.maybe(flag=flag, visitId=chance.choice(self.visits))

    def caller(self, role: str) -> tuple[Any, str]:
        subject, viewer = self.chance.choice(
            {
                "reception": [("s0", self.staff[0])],
                "doctor": [("s1", self.staff[1]), ("s2", self.staff[2])],
                "patient": [(f"p{n}", self.patients[n]) for n in range(2)],
            }[role]
        )
        return self.project.as_user(subject), viewer

    # What a role may do, and what comes of it.

    def rules(self, role: str, table: str) -> Data:
        return VIEWS.get(table, {}).get(role) or refuse("NOT_IN_VIEW", table)

    def show(self, role: str, viewer: str, table: str, document: Data | None) -> Any:
        rules = VIEWS[table][role]
        if document is None or not rules["rows"](document, viewer):
            return None
        result = shown(rules, document)
        return None if result is MISSING else result

    def check(self, role: str, table: str, options: Data) -> None:
        rules = self.rules(role, table)
        sort = options.get("sort", "").removeprefix("-")
        for path in sorted(options.get("where", {})):
            if path not in rules["filter"]:
                refuse("NOT_IN_VIEW", table, path=path)
        if sort and sort not in rules["sort"]:
            refuse("NOT_IN_VIEW", table, path=sort)
        for path in sorted(options.get("with", {}).values()):
            target = IDS[table].get(path)
            covered = rules["see"] == "all" or any(path == each or path.startswith(f"{each}.") for each in rules["see"])
            if (
                target is None
                or not covered
                or (path, role) in {("outcome.reportedBy", "reception"), ("outcome.reportedBy", "patient")}
            ):
                refuse("NOT_IN_VIEW", table, path=path)

    def joined(self, role: str, viewer: str, table: str, document: Data, options: Data) -> Data:
        result = dict(document)
        for name, path in options.get("with", {}).items():
            id = value_at(document, path)
            other = self.project.get(id) if isinstance(id, str) else None
            result[name] = self.show(role, viewer, IDS[table][path], other)
        return result

    def single(self, role: str, viewer: str, table: str, document: Data | None, options: Data) -> Any:
        self.check(role, table, options)
        found = self.show(role, viewer, table, document)
        return found and self.joined(role, viewer, table, found, options)

    def select(self, role: str, viewer: str, table: str, options: Data) -> list[Data]:
        self.check(role, table, options)
        found = [self.show(role, viewer, table, each) for each in self.project.documents(table)]
        found = [
            each
            for each in found
            if each is not None
            and all(meets(value_at(each, path), test) for path, test in options.get("where", {}).items())
        ]
        if "sort" in options:
            sort = options["sort"]
            path = sort.removeprefix("-")
            found.sort(key=lambda each: rank(value_at(each, path)), reverse=sort.startswith("-"))  # stable either way
        return [self.joined(role, viewer, table, each, options) for each in found]

    def expected(self, role: str, viewer: str, method: str, table: str, options: Data) -> Any:
        if method == "count":
            return len(self.select(role, viewer, table, options))
        found = self.select(role, viewer, table, options)
        return found[: options.get("limit", len(found))]


def meets(value: Any, test: Any) -> bool:
    if not isinstance(test, dict):
        return value is not MISSING and value == test and isinstance(value, bool) == isinstance(test, bool)
    if "in" in test:
        return any(meets(value, each) for each in test["in"])
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return bool(test.get("from", value) <= value <= test.get("to", value))


def rank(value: Any) -> tuple[int, Any]:
    if value is MISSING:
        return (0, 0)
    return (1, 0) if value is None else (2, value) if isinstance(value, int | float) else (3, value)


def outcome_of(call: Any) -> Any:
    try:
        return call()
    except Refused as refused:
        return {"refused": refused.args[0]}
    except CallFailed as failed:
        return {"refused": failed.data if failed.data is not None else failed.message}


VALUES: dict[str, list[Any]] = {
    "kind": ["consultation", "surgery", "blocked"],
    "insurance.kind": ["public", "private"],
    "outcome.kind": ["success", "complication"],
    "name": ["Ada", "Ben", "Dana"],
    "from": ["patient", "practice"],
    "role": ["doctor", "reception"],
    "contact.address.city": ["Oslo", "Rome"],
    "flag.urgent": [True, False],
    "text": ["a", "b", "bad"],
    "outcome.text": ["bad", "good"],
    "room": ["A", "B"],
}
NUMBERS = {"at", "price", "born", "outcome.days", "outcome.severity", "sentAt", "risk.score", "insurance.rate"}


def any_where(practice: Practice, table: str) -> Data:
    chance, where = practice.chance, {}
    for path in chance.sample(PATHS[table], chance.choice([0, 1, 1, 2])):
        ids = {
            "staff": practice.staff,
            "patients": practice.patients,
            "visits": practice.visits,
            "messages": practice.messages,
        }
        values: list[Any] = (
            ids[IDS[table][path]]
            if path in IDS.get(table, {})
            else VALUES.get(path, [0, 1, 2] if path in NUMBERS else ["a", "x"])
        )
        tests: list[Any] = [chance.choice(values), {"in": chance.sample(values, chance.randrange(len(values)))}]
        if path in NUMBERS:
            tests += [{"from": 1}, {"to": 1}, {"from": 1, "to": 3}]
        where[path] = chance.choice(tests)
    return where


@pytest.mark.parametrize("seed", range(5))
def test_readers_show_what_the_role_sees_and_nothing_else(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    practice = Practice(project, chance)
    for _ in range(50):
        role = chance.choice(ROLES)
        table = chance.choice((*TABLES[:4], *TABLES[:4], "audits", "bills"))
        caller, viewer = practice.caller(role)
        method = chance.choice(["list", "list", "count"])
        options: Data = {"where": any_where(practice, table)} if table in PATHS else {}
        if method == "list" and table in PATHS:
            allowed = VIEWS[table].get(role, {}).get("sort", [])
            if chance.random() < 0.6:
                options["sort"] = chance.choice(["", "-"]) + chance.choice([*PATHS[table], *allowed * 4])
            if chance.random() < 0.4 and table in IDS:
                paths = [*IDS[table]] * 3 + [chance.choice(PATHS[table])]
                options["with"] = {
                    name: chance.choice(paths)
                    for name in chance.sample(["one", "two", "patientId"], chance.choice([1, 1, 2]))
                }
            if chance.random() < 0.2:
                options["limit"] = chance.randrange(4)
        asked = f"{role} {method} {table} {options}"
        received = outcome_of(lambda: caller.query("ask:read", method=method, args=[table, options]))  # noqa: B023
        assert received == outcome_of(lambda: practice.expected(role, viewer, method, table, options)), asked  # noqa: B023


@pytest.mark.parametrize("seed", range(2))
def test_pages_are_full_and_complete(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    practice = Practice(project, chance)
    cases: list[tuple[str, str, Data]] = [
        ("reception", "visits", {"sort": "-outcome.days", "with": {"patient": "patientId"}}),
        ("reception", "messages", {"where": {"from": "patient"}}),
        ("doctor", "visits", {"sort": "outcome.severity"}),
        ("doctor", "patients", {"sort": "-born", "where": {"insurance.kind": {"in": ["private", "public"]}}}),
        ("patient", "visits", {"sort": "-at", "where": {"at": {"from": 1}}}),
        ("patient", "staff", {"sort": "-name"}),
    ]
    for role, table, options in cases:
        for size in (1, 3, 50):
            caller, viewer = practice.caller(role)
            expected = practice.select(role, viewer, table, options)
            cursor: Any = None
            for start in range(0, max(len(expected), 1), size):
                received = caller.query(
                    "ask:read", method="page", args=[table, options | {"size": size, "cursor": cursor}]
                )
                assert received["page"] == expected[start : start + size], (role, table, options, size)
                cursor = received["cursor"]
                assert (cursor is None) == (start + size >= len(expected)), (role, table, options, size)
                assert cursor is None or isinstance(cursor, str)
                assert not any(id in str(cursor) for id in practice.staff), "a cursor contains an ID that is not seen"


def test_pages_refuse_what_lists_refuse(project: Deployment) -> None:
    practice = Practice(project, random.Random(1))
    rita, sick = project.as_user("s0"), project.as_user("p0")
    page = {"size": 2, "cursor": None}
    for caller, table, options, data in (
        (rita, "patients", {"where": {"born": 1}, "sort": "contact.phone"}, {"table": "patients", "path": "born"}),
        (
            rita,
            "patients",
            {"where": {"name": "a"}, "sort": "-contact.phone"},
            {"table": "patients", "path": "contact.phone"},
        ),
        (rita, "visits", {"sort": "reason", "with": {"a": "team"}}, {"table": "visits", "path": "reason"}),
        (
            rita,
            "visits",
            {"with": {"a": "team", "b": "outcome.reportedBy"}},
            {"table": "visits", "path": "outcome.reportedBy"},
        ),
        (rita, "visits", {"with": {"a": "doctorId", "b": "kind"}}, {"table": "visits", "path": "kind"}),
        (sick, "audits", {}, {"table": "audits"}),
        (sick, "bills", {}, {"table": "bills"}),
        (
            sick,
            "visits",
            {"where": {"outcome.severity": 1, "price": 1, "at": 5}},
            {"table": "visits", "path": "outcome.severity"},
        ),
    ):
        with project.fails(data={"code": "NOT_IN_VIEW"} | data):
            caller.query("ask:read", method="page", args=[table, options | page])
    assert practice.visits


@pytest.mark.parametrize("seed", range(2))
def test_single_documents(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    practice = Practice(project, chance)
    ids = [*practice.staff, *practice.patients, *practice.visits, *practice.messages]
    gone = practice.visits[0]
    project.delete("visits", gone)
    for _ in range(40):
        role = chance.choice(ROLES)
        table = chance.choice(TABLES[:4])
        caller, viewer = practice.caller(role)
        own = {
            "staff": practice.staff,
            "patients": practice.patients,
            "visits": practice.visits,
            "messages": practice.messages,
        }[table]
        id = chance.choice([chance.choice(own)] * 6 + [chance.choice(ids), "nonsense", "", gone])
        options: Data = chance.choice(
            [
                {},
                {},
                {"with": {"other": chance.choice(PATHS[table])}},
                {"with": {"other": chance.choice([*IDS[table]])}},
            ]
        )
        document = project.get(id) if id in own else None

        received = outcome_of(lambda: caller.query("ask:read", method="get", args=[table, id, options]))  # noqa: B023
        expected = outcome_of(lambda: practice.single(role, viewer, table, document, options))  # noqa: B023
        assert received == expected, f"{role} {table} {id} {options}"


def test_a_view_is_empty_where_nothing_of_it_is_there(project: Deployment) -> None:
    practice = Practice(project, random.Random(0))
    surgery = {
        "kind": "surgery",
        "patientId": practice.patients[0],
        "doctorId": practice.staff[1],
        "at": 1,
        "room": "A",
        "team": [],
        "price": 1,
    }
    bad = project.insert("visits", surgery | {"outcome": {"kind": "complication", "text": "a", "severity": 1}})
    good = project.insert("visits", surgery | {"outcome": {"kind": "success", "days": 1}})
    private = project.insert(
        "patients", practice.patient(9) | {"insurance": {"kind": "private", "company": "a", "rate": 1}}
    )
    rita = project.as_user("s0")
    assert "outcome" not in rita.query("ask:read", method="get", args=["visits", bad])
    assert rita.query("ask:read", method="get", args=["visits", good])["outcome"] == {"days": 1}
    assert rita.query("ask:read", method="get", args=["patients", private])["insurance"] == {"kind": "private"}
    assert "outcome" not in project.as_user("p0").query("ask:read", method="get", args=["visits", bad])
    assert "days" in project.as_user("p0").query("ask:read", method="get", args=["visits", good])["outcome"]


PATCHES: dict[str, dict[str, Any]] = {
    "staff": {"phone": "9", "name": "New", "salary": 9, "role": "doctor"},
    "patients": {
        "name": "Cy",
        "contact.phone": "9",
        "contact.email": "e",
        "contact.address": {"street": "S", "city": "Bern"},
        "contact.address.city": "Bonn",
        "insurance.number": "8",
        "insurance.rate": 8,
        "allergies": ["dogs"],
        "vitals": {"pulse": 1},
        "risk.score": 8,
        "born": 8,
        "_id": "x",
        "nothing": 1,
    },
    "visits": {
        "at": 9,
        "room": "C",
        "price": 9,
        "reason": "r",
        "outcome.days": 9,
        "outcome.severity": 9,
        "outcome.text": "t",
        "entries": [{"kind": "internal", "text": "j"}],
        "_creationTime": 5,
        "entries.text": "t",
        "nothing": 1,
    },
    "messages": {
        "text": "z",
        "flag.urgent": True,
        "flag.remark": "w",
        "flag": None,
        "sentAt": 9,
        "flag.nothing": 1,
        "_id": "x",
    },
    "audits": {"text": "b"},
    "bills": {"text": "b"},
}
# Which member of a union has a field.
MEMBERS = {
    "room": {"surgery"},
    "reason": {"consultation", "blocked"},
    "price": {"consultation", "surgery"},
    "entries": {"consultation"},
    "outcome.days": {"success"},
    "outcome.severity": {"complication"},
    "outcome.text": {"complication"},
    "insurance.number": {"public"},
}


def patched(practice: Practice, role: str, viewer: str, table: str, document: Data | None, changes: Data) -> Data:
    rules = practice.rules(role, table)
    if rules["write"] is None:
        refuse("NOT_IN_VIEW", table)
    for path in sorted(changes):
        if path not in rules["write"]:
            refuse("NOT_IN_VIEW", table, path=path)
    seen = practice.show(role, viewer, table, document)
    if document is None or seen is None:
        return refuse("NOT_FOUND", table)  # type: ignore[no-any-return]
    for path in sorted(changes):
        parent, _, _ = path.rpartition(".")
        inside = value_at(seen, parent) if parent else seen
        raw = value_at(document, parent) if parent else document
        if not isinstance(inside, dict) or raw.get("kind") not in MEMBERS.get(path, {raw.get("kind")}):
            refuse("NO_PLACE", table, path=path)
    after = copy.deepcopy(document)
    for path, value in changes.items():
        parent, _, name = path.rpartition(".")
        (value_at(after, parent) if parent else after)[name] = value
    if practice.show(role, viewer, table, after) is None:
        refuse("OUT_OF_VIEW", table)
    return after


@pytest.mark.parametrize("seed", range(4))
def test_patches_change_what_the_role_may_write_and_nothing_else(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    practice = Practice(project, chance)
    for _ in range(40):
        role = chance.choice(ROLES)
        table = chance.choice((*TABLES[:4], *TABLES[1:4], *TABLES[1:3], "audits", "bills"))
        caller, viewer = practice.caller(role)
        documents = {each["_id"]: each for each in project.documents(table)}
        id = chance.choice([*documents] * 3 + [practice.staff[0], "nonsense"])
        allowed = VIEWS.get(table, {}).get(role, {}).get("write") or []
        possible = [path for path in PATCHES[table] if path in allowed] * 8 + [*PATCHES[table]]
        changes = {
            path: PATCHES[table][path]
            for path in chance.sample(possible, min(chance.choice([1, 1, 2, 3]), len(possible)))
        }
        if table == "messages" and chance.random() < 0.3:
            changes["patientId"] = chance.choice(practice.patients)
        if table == "visits" and role == "doctor" and chance.random() < 0.3:
            changes["doctorId"] = chance.choice(practice.staff[1:3])
        if any(one != other and other.startswith(f"{one}.") for one in changes for other in changes):
            continue
        asked = f"{role} {table} {documents.get(id)} {changes}"
        call = {"method": "patch", "args": [table, id, changes]}
        received = outcome_of(lambda: caller.mutation("ask:write", calls=[call], goOn=False))  # noqa: B023
        try:
            documents[id] = patched(practice, role, viewer, table, documents.get(id), changes)
            assert received == [None], asked
        except Refused as refused:
            assert received == {"refused": refused.args[0]}, asked
        assert project.documents(table) == [*documents.values()], asked


def stored(project: Deployment, id: str) -> Data:
    document = project.get(id)
    assert document is not None
    return document


def call_of(method: str, *args: Any) -> Data:
    return {"method": method, "args": [*args]}


def test_removals(project: Deployment) -> None:
    practice = Practice(project, random.Random(3))
    rita, dana, sick = (project.as_user(subject) for subject in ("s0", "s1", "p0"))
    own = project.insert("messages", practice.message() | {"patientId": practice.patients[0]})
    other = project.insert("messages", practice.message() | {"patientId": practice.patients[1]})
    gone = project.insert("messages", practice.message())
    project.delete("messages", gone)
    before = project.documents("messages")
    for caller, args, data in (
        (dana, ("messages", own), {"code": "NOT_IN_VIEW", "table": "messages"}),
        (dana, ("messages", gone), {"code": "NOT_IN_VIEW", "table": "messages"}),
        (sick, ("patients", practice.patients[0]), {"code": "NOT_IN_VIEW", "table": "patients"}),
        (sick, ("audits", own), {"code": "NOT_IN_VIEW", "table": "audits"}),
        (sick, ("messages", other), {"code": "NOT_FOUND", "table": "messages"}),
        (sick, ("messages", gone), {"code": "NOT_FOUND", "table": "messages"}),
        (sick, ("messages", "nonsense"), {"code": "NOT_FOUND", "table": "messages"}),
        (rita, ("messages", practice.visits[0]), {"code": "NOT_FOUND", "table": "messages"}),
        (rita, ("visits", own), {"code": "NOT_FOUND", "table": "visits"}),
    ):
        with project.fails(data=data):
            caller.mutation("ask:write", calls=[call_of("remove", *args)], goOn=False)
    assert project.documents("messages") == before
    assert sick.mutation("ask:write", calls=[call_of("remove", "messages", own)], goOn=False) == [None]
    assert rita.mutation("ask:write", calls=[call_of("remove", "messages", other)], goOn=False) == [None]
    assert project.documents("messages") == before[:-2]


def test_additions(project: Deployment) -> None:
    practice = Practice(project, random.Random(4))
    rita, dana, sick = (project.as_user(subject) for subject in ("s0", "s1", "p0"))
    ada, ben = practice.patients[:2]
    message = {"patientId": ada, "from": "patient", "text": "t", "sentAt": 1}
    block = {"kind": "blocked", "doctorId": practice.staff[1], "at": 1, "reason": "r"}
    surgery = {
        "kind": "surgery",
        "patientId": ada,
        "doctorId": practice.staff[2],
        "at": 1,
        "room": "A",
        "team": [],
        "price": 1,
    }
    surgery |= {"outcome": {"kind": "complication", "text": "t", "severity": 1}}
    counts = {table: len(project.documents(table)) for table in TABLES}
    for caller, table, fields, data in (
        (dana, "messages", message, {"code": "NOT_IN_VIEW", "table": "messages"}),
        (dana, "audits", {"text": "t", "patientId": ada}, {"code": "NOT_IN_VIEW", "table": "audits"}),
        (dana, "bills", {"text": "t"}, {"code": "NOT_IN_VIEW", "table": "bills"}),
        (
            sick,
            "messages",
            message | {"zone": 1, "lang": 1},
            {"code": "NOT_IN_VIEW", "table": "messages", "path": "lang"},
        ),
        (rita, "visits", block | {"price": 1}, {"code": "NOT_IN_VIEW", "table": "visits", "path": "price"}),
        (
            rita,
            "patients",
            {"name": "a", "vitals": {}, "subject": "s"},
            {"code": "NOT_IN_VIEW", "table": "patients", "path": "subject"},
        ),
        (rita, "messages", message | {"_id": "a"}, {"code": "NOT_IN_VIEW", "table": "messages", "path": "_id"}),
        (
            rita,
            "messages",
            message | {"_creationTime": 1},
            {"code": "NOT_IN_VIEW", "table": "messages", "path": "_creationTime"},
        ),
        (dana, "visits", surgery | {"more": 1}, {"code": "NOT_IN_VIEW", "table": "visits", "path": "more"}),
        (sick, "messages", message | {"patientId": ben}, {"code": "OUT_OF_VIEW", "table": "messages"}),
        (dana, "visits", surgery, {"code": "OUT_OF_VIEW", "table": "visits"}),
        (dana, "visits", block, {"code": "OUT_OF_VIEW", "table": "visits"}),
    ):
        with project.fails(data=data):
            caller.mutation("ask:write", calls=[call_of("insert", table, fields)], goOn=False)
    assert {table: len(project.documents(table)) for table in TABLES} == counts

    (id,) = sick.mutation("ask:write", calls=[call_of("insert", "messages", message | {"flag": None})], goOn=False)
    assert {**project.documents("messages")[-1], "_creationTime": 0} == message | {
        "flag": None,
        "_id": id,
        "_creationTime": 0,
    }
    (id,) = rita.mutation("ask:write", calls=[call_of("insert", "visits", block)], goOn=False)
    assert project.documents("visits")[-1]["_id"] == id
    mine = surgery | {"team": [practice.staff[1]]}
    (id,) = dana.mutation("ask:write", calls=[call_of("insert", "visits", mine)], goOn=False)
    assert project.documents("visits")[-1]["_id"] == id


def test_a_failed_call_has_written_nothing(project: Deployment) -> None:
    practice = Practice(project, random.Random(5))
    sick, dana = project.as_user("p0"), project.as_user("s1")
    ada, ben = practice.patients[:2]
    message = {"patientId": ada, "from": "patient", "text": "t", "sentAt": 1}
    own = project.insert("messages", message)
    before = project.documents("messages")
    calls = [
        call_of("insert", "messages", message | {"patientId": ben}),
        call_of("patch", "messages", own, {"patientId": ben, "text": "u"}),
        call_of("patch", "messages", own, {"text": "u", "sentAt": 5}),
        call_of("insert", "messages", message | {"text": "new"}),
    ]
    *failed, id = sick.mutation("ask:write", calls=calls, goOn=True)
    assert failed == ["failed"] * 3
    *same, new = project.documents("messages")
    assert same == before
    assert (new["_id"], new["text"]) == (id, "new")

    flagged = project.insert("messages", message | {"flag": {"urgent": False, "by": practice.staff[0], "remark": "r"}})
    empty = project.insert("messages", message | {"flag": None})
    calls = [
        call_of("patch", "messages", flagged, {"flag.urgent": True}),
        call_of("patch", "messages", empty, {"flag.urgent": True}),
    ]
    assert dana.mutation("ask:write", calls=calls, goOn=True) == [None, "failed"]
    assert stored(project, flagged)["flag"] == {"urgent": True, "by": practice.staff[0], "remark": "r"}
    assert stored(project, empty)["flag"] is None


# ---------------------------------------------------------------- the given functions


def test_only_viewers_of_the_role_may_call(project: Deployment) -> None:
    practice = Practice(project, random.Random(6))
    calls: list[tuple[Any, str, Data]] = [
        (project, "records:mine", {}),
        (project, "ask:read", {"method": "count", "args": ["staff"]}),
        (project.as_user("nobody"), "ask:read", {"method": "count", "args": ["staff"]}),
        (project.as_user("s0"), "records:mine", {}),
        (project.as_user("p0"), "reception:find", {"name": "Ada"}),
        (project.as_user("s1"), "reception:find", {"name": "Ada"}),
    ]
    for caller, path, args in calls:
        with project.fails(data={"code": "FORBIDDEN"}):
            caller.query(path, args)
    with project.fails(data={"code": "FORBIDDEN"}):
        project.as_user("s1").mutation("records:contact", patientId=practice.patients[0], phone="1")
    with project.fails(data={"code": "FORBIDDEN"}):
        project.mutation("records:write", text="t")
    with project.fails("ArgumentValidationError"):
        project.as_user("s0").query("reception:find", name=5)
    with project.fails("ArgumentValidationError"):
        project.as_user("p0").mutation("records:write", text="t", more=5)
    assert project.as_user("s3").query("ask:read", method="count", args=["staff"]) == 4


def test_the_given_functions(project: Deployment) -> None:
    rita = project.insert("staff", subject="rita", name="Rita", role="reception", salary=1, phone="11")
    dana = project.insert("staff", subject="dana", name="Dana", role="doctor", salary=2)
    contact = {"phone": "1", "email": "e", "address": {"street": "S", "city": "Oslo"}}
    public, private = {"kind": "public", "number": "n"}, {"kind": "private", "company": "c", "rate": 5}
    person = {"name": "Ada", "contact": contact, "insurance": public, "allergies": ["nuts"]}
    old = project.insert("patients", person | {"born": 1, "subject": "ada", "risk": {"score": 1, "by": dana}})
    young = project.insert("patients", person | {"born": 2, "insurance": private})
    desk, doctor, ada = (project.as_user(subject) for subject in ("rita", "dana", "ada"))
    surgery = {"kind": "surgery", "patientId": old, "doctorId": dana, "at": 2, "room": "R", "team": [], "price": 3}
    healed = project.insert("visits", surgery | {"outcome": {"kind": "success", "days": 4}})
    hurt = project.insert(
        "visits", surgery | {"at": 3, "outcome": {"kind": "complication", "text": "oh", "severity": 2}}
    )
    project.insert("visits", kind="blocked", doctorId=dana, at=1, reason="break")

    assert desk.query("reception:find", name="Ada") == [
        {"id": young, "phone": "1", "insured": "private"},
        {"id": old, "phone": "1", "insured": "public"},
    ]
    assert [each["_id"] for each in desk.query("reception:inCity", city="Oslo")] == [old, young]
    assert [each["_id"] for each in desk.query("reception:inCity", city="Oslo", insurance="private")] == [young]
    assert desk.query("reception:day", {"from": 1, "to": 2}) == [
        {"kind": "blocked", "where": "practice", "doctor": "Dana", "patient": None},
        {"kind": "surgery", "where": "R", "doctor": "Dana", "patient": "Ada"},
    ]
    project.insert(
        "messages",
        patientId=old,
        text="t",
        sentAt=1,
        flag={"urgent": True, "by": dana, "remark": "r"},
        **{"from": "patient"},
    )
    assert desk.query("reception:workload", doctors=[dana, rita]) == {"visits": 3, "unread": 1, "own": "11"}
    assert desk.query("reception:workload", doctors=[]) == {"visits": 0, "unread": 1, "own": "11"}
    assert desk.mutation("reception:moved", phone="5", born=1) == 2
    assert stored(project, old)["contact"] == {"phone": "5", "email": "e"}
    assert stored(project, young)["contact"] == contact
    booked = desk.mutation("reception:book", patientId=old, doctorId=dana, at=9, reason="cough")
    assert stored(project, booked)["entries"] == []
    assert desk.mutation("reception:cancel", id=healed) == "healed in 4 days"
    assert desk.mutation("reception:cancel", id=booked) == "cancelled"
    assert project.get(booked) is None

    mine = ada.query("records:mine")
    assert mine["me"] == {
        "_id": old,
        "name": "Ada",
        "contact": {"phone": "5", "email": "e"},
        "insurance": public,
        "allergies": ["nuts"],
    }
    assert [(each["_id"], each["doctor"], each.get("outcome")) for each in mine["visits"]] == [
        (hurt, {"name": "Dana"}, None),
        (healed, {"name": "Dana"}, {"kind": "success", "days": 4}),
    ]
    assert [each["at"] for each in desk.query("records:timeline", cursor=None, size=2)["page"]] == [1, 2]
    assert [each["at"] for each in doctor.query("records:timeline", cursor=None, size=5)["page"]] == [3, 2]
    assert [each["at"] for each in ada.query("records:timeline", cursor=None, size=5)["page"]] == [2, 3]
    assert doctor.query("records:complications", worst=2) == ["oh"]
    assert doctor.query("records:complications", worst=1) == []
    assert doctor.mutation("records:assess", id=old, score=9) == "Dana"
    assert stored(project, old)["risk"] == {"score": 9, "by": dana}
    with project.fails(data={"code": "NO_PLACE", "table": "patients", "path": "risk.score"}):
        doctor.mutation("records:assess", id=young, score=9)
    written = ada.mutation("records:write", text="hi", visitId=hurt)
    assert written["visit"] == {"_id": hurt, "kind": "surgery", "patientId": old, "doctorId": dana, "at": 3}
    assert "flag" not in written
    assert desk.mutation("records:contact", patientId=young, phone="7") == "reception"
    assert ada.mutation("records:contact", patientId=young, phone="8") == "patient"
    assert [stored(project, each)["contact"]["phone"] for each in (old, young)] == ["8", "7"]
