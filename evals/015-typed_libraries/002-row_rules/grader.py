"""A guard around ctx.db: rules for each table, types as precise as before, and no way to read around it."""

import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, TypeChecks, without

TOGETHER = 10  # so many refused snippets are compiled at once: what the compiler says about more might be cut off
HEAD = """\
import type { FunctionArgs, FunctionReturnType, GenericDatabaseReader } from "convex/server";
import { v } from "convex/values";
import { api } from "./_generated/api";
import type { DataModel, Doc, Id } from "./_generated/dataModel";
import { internalMutation, internalQuery, type DatabaseReader, type DatabaseWriter } from "./_generated/server";
import { memberMutation, memberQuery, type MemberMutationCtx, type MemberQueryCtx } from "./lib/functions";
import { defineRules, guardReader, guardWriter } from "./lib/rules";
import { rules } from "./rules";

type IsAny<T> = 0 extends 1 & T ? true : false;
type Same<A, B> = IsAny<A> extends true ? false : [A] extends [B] ? ([B] extends [A] ? true : false) : false;

declare const db: DatabaseReader;
declare const writer: DatabaseWriter;
declare const viewer: Doc<"users">;
declare const userId: Id<"users">;
declare const noteId: Id<"notes">;
declare const auditId: Id<"audit">;
declare const entryId: Id<"activity">;
"""
OPEN = dict.fromkeys(("users", "teams", "notes", "activity", "announcements", "audit"), '"all"')


def ruled(viewer: str = 'Doc<"users">', **entries: str | None) -> str:
    """A module with rules: everything is open but what is stated here."""
    stated = {name: entry for name, entry in (OPEN | entries).items() if entry is not None}
    lines = "".join(f"  {name}: {entry},\n" for name, entry in stated.items())
    return HEAD + f"export const mine = defineRules<{viewer}>()({{\n{lines}}});\n"


def reads(body: str, result: str = "null") -> str:
    """A module with a query that has this body."""
    return HEAD + (
        "export const test = memberQuery({\n  args: {},\n  returns: v.any(),\n"
        f"  handler: async (ctx) => {{\n    {body}\n    return {result};\n  }},\n}});\n"
    )


def writes(body: str, result: str = "null") -> str:
    return reads(body, result).replace("memberQuery({", "memberMutation({")


def gives(expression: str, expected: str) -> str:
    """A module that compiles if the expression has exactly this type in a query."""
    return reads(f"const found = await {expression};\n    const same: Same<typeof found, {expected}> = true;", "same")


def same(a: str, b: str) -> str:
    return HEAD + f"export const same: Same<{a}, {b}> = true;\n"


def defined(args: str, returns: str, handler: str, builder: str = "memberQuery") -> str:
    return HEAD + f"export const test = {builder}({{ {args}{returns}handler: {handler} }});\n"


ARGS, RETURNS = "args: { id: v.id('notes'), n: v.optional(v.number()) }, ", "returns: v.nullable(v.string()), "
BY_OWNER = 'ctx.db.query("notes").withIndex("by_owner", (q) => q'
RULE_NOTES = "{ read: ({ viewer }, note) => note.ownerId === viewer._id"
COMPILES = {
    "rules for all tables": ruled(),
    "no access to a table": ruled(notes='"none"'),
    "rules for a table": ruled(notes=f"{RULE_NOTES} }}"),
    "a rule that reads the database": ruled(
        notes='{ read: async ({ db }, note) => (await db.get("users", note.ownerId))?.admin ?? false }'
    ),
    "a rule for what is inserted": ruled(notes=f'{RULE_NOTES}, insert: (_, fields) => fields.title !== "" }}'),
    "a rule for what is updated": ruled(
        notes=f"{RULE_NOTES}, update: (_, before, after) => before.rank < after.rank && before._id === after._id }}"
    ),
    "a rule for what is deleted": ruled(notes=f"{RULE_NOTES}, delete: (_, note) => note.place?.city === 'Rome' }}"),
    "a rule for a union": ruled(
        activity="{ read: () => true, insert: (_, entry) => entry.kind === 'vote' && entry.value > 0 }"
    ),
    "rules for another viewer": ruled("string", notes="{ read: (context, note) => note.title === context.viewer }"),
    "a guard for another viewer": ruled("string", notes="{ read: ({ viewer }, note) => note.title === viewer }")
    + 'export const guarded = guardReader(db, "ada", mine).query("notes");\n',
    "a guarded reader is a reader": ruled(notes=f"{RULE_NOTES} }}")
    + "export const guarded: DatabaseReader = guardReader(db, viewer, mine);\n",
    "a guarded writer is a writer": ruled(notes=f"{RULE_NOTES} }}")
    + "export const guarded: DatabaseWriter = guardWriter(writer, viewer, mine);\n",
    "a writer can be guarded as a reader": ruled()
    + "export const guarded: DatabaseReader = guardReader(writer, viewer, mine);\n",
    "a table without access is missing": ruled(notes='"none"', audit='"none"')
    + "const guarded = guardReader(db, viewer, mine);\n"
    + 'type Rest = GenericDatabaseReader<Omit<DataModel, "notes" | "audit">>;\n'
    + "export const rest: Rest = guarded;\n",
    "the other tables are there": ruled(notes='"none"')
    + 'export const found = guardReader(db, viewer, mine).query("audit").withIndex("by_subject");\n',
    "in a plain query": HEAD
    + "export const test = internalQuery({\n  args: {},\n  handler: async (ctx) => {\n"
    + '    const found = await guardReader(ctx.db, viewer, rules).get("notes", noteId);\n'
    + "    return found?.title ?? null;\n  },\n});\n",
    "in a plain mutation": HEAD
    + "export const test = internalMutation({\n  args: {},\n  handler: async (ctx) => {\n"
    + '    await guardWriter(ctx.db, viewer, rules).patch("notes", noteId, { rank: 5 });\n  },\n});\n',
    "get": gives('ctx.db.get("notes", noteId)', 'Doc<"notes"> | null'),
    "get by ID": gives("ctx.db.get(noteId)", 'Doc<"notes"> | null'),
    "get one of a union": gives('ctx.db.get("activity", entryId)', 'Doc<"activity"> | null'),
    "collect": gives('ctx.db.query("teams").collect()', 'Doc<"teams">[]'),
    "an index": gives(f'{BY_OWNER}.eq("ownerId", userId)).first()', 'Doc<"notes"> | null'),
    "an index with a range": gives(
        f'{BY_OWNER}.eq("ownerId", ctx.viewer._id).gt("rank", 5)).order("desc").take(3)', 'Doc<"notes">[]'
    ),
    "a filter": gives(
        'ctx.db.query("notes").order("desc").filter((q) => q.eq(q.field("place.city"), "Rome")).unique()',
        'Doc<"notes"> | null',
    ),
    "a search": gives(
        'ctx.db.query("notes").withSearchIndex("search_text", (q) =>'
        ' q.search("text", "x").eq("ownerId", userId)).take(5)',
        'Doc<"notes">[]',
    ),
    "a page": gives(
        'ctx.db.query("activity").paginate({ numItems: 5, cursor: null }).then((result) => result.page)',
        'Doc<"activity">[]',
    ),
    "a loop": reads(
        'for await (const entry of ctx.db.query("activity")) if (entry.kind === "vote") entry.value.toFixed();'
    ),
    "the ID of a string": gives('Promise.resolve(ctx.db.normalizeId("notes", "x"))', 'Id<"notes"> | null'),
    "a system table": reads('const [file] = await ctx.db.system.query("_storage").take(1);', "file?.size"),
    "the viewer": same('MemberQueryCtx["viewer"]', 'Doc<"users">'),
    "the rest of the context": writes(
        "await ctx.scheduler.runAfter(0, api.users.rename, { id: userId, name: 'x' });"
        " await ctx.auth.getUserIdentity();",
        "await ctx.storage.generateUploadUrl()",
    ),
    "insert": writes(
        'const id: Id<"notes"> = await ctx.db.insert("notes", { ownerId: userId, title: "t", text: "t", rank: 1 });',
        "id",
    ),
    "insert one of a union": writes(
        'await ctx.db.insert("activity", { kind: "vote", noteId, authorId: userId, value: 1 });'
    ),
    "patch": writes('await ctx.db.patch("notes", noteId, { rank: 5, teamId: undefined });'),
    "patch by ID": writes("await ctx.db.patch(noteId, { rank: 5 });"),
    "replace": writes(
        'await ctx.db.replace("announcements", (await ctx.db.insert("announcements", { text: "t" })), { text: "u" });'
    ),
    "delete": writes('await ctx.db.delete("notes", noteId);'),
    "a function for both contexts": HEAD
    + "const names = async (ctx: MemberQueryCtx) => (await ctx.db.query('users').collect()).map((user) => user.name);\n"
    + "export const one = memberQuery({ args: {}, returns: v.array(v.string()), handler: (ctx) => names(ctx) });\n"
    + "export const two = memberMutation({ args: {}, returns: v.array(v.string()), handler: (ctx) => names(ctx) });\n",
    "a function for mutations": HEAD
    + "const add = async (ctx: MemberMutationCtx) => await ctx.db.insert('announcements', { text: 't' });\n"
    + "export const one = memberMutation({ args: {}, returns: v.id('announcements'), handler: (ctx) => add(ctx) });\n",
    "arguments of a handler": defined(
        ARGS, RETURNS, "(_, { id, n }) => Promise.resolve(n === undefined ? id : n.toFixed())"
    ),
    "a result without a promise": defined(ARGS, RETURNS, "() => null"),
    "a mutation with arguments": defined(
        ARGS, RETURNS, "async (ctx, { id }) => (await ctx.db.get(id))?.title ?? null", "memberMutation"
    ),
    "arguments for callers": same("FunctionArgs<typeof api.notes.top>", '{ count: number; order?: "asc" | "desc" }'),
    "arguments of a mutation for callers": same(
        "FunctionArgs<typeof api.notes.add>", '{ fields: Omit<Doc<"notes">, "_id" | "_creationTime"> }'
    ),
    "results for callers": same("FunctionReturnType<typeof api.notes.get>", 'Doc<"notes"> | null'),
    "a result of a mutation for callers": same("FunctionReturnType<typeof api.activity.add>", 'Id<"activity">'),
    "a union for callers": same("FunctionReturnType<typeof api.activity.on>", 'Doc<"activity">[]'),
}
REFUSED = {
    "a missing table": ruled(audit=None),
    "a table that does not exist": ruled(note='"all"'),
    "an unknown word": ruled(notes='"nobody"'),
    "rules without read": ruled(notes="{ insert: () => true }"),
    "a misspelled rule": ruled(notes=f"{RULE_NOTES}, updat: () => true }}"),
    "a rule that returns something else": ruled(notes="{ read: ({ viewer }, note) => note.ownerId }"),
    "a rule that returns a promise of something else": ruled(
        notes='{ read: async ({ db }, note) => (await db.get("users", note.ownerId))?.name }'
    ),
    "a rule with a field that does not exist": ruled(notes="{ read: ({ viewer }, note) => note.owner === viewer._id }"),
    "a rule with an ID of another table": ruled(notes="{ read: ({ viewer }, note) => note.teamId === viewer._id }"),
    "a rule with an unknown field of the viewer": ruled(
        notes="{ read: ({ viewer }, note) => note.ownerId === viewer.id }"
    ),
    "the ID of what is inserted": ruled(notes=f"{RULE_NOTES}, insert: (_, fields) => fields._id !== null }}"),
    "a field of one member of a union": ruled(activity="{ read: () => true, insert: (_, entry) => entry.value > 0 }"),
    "a rule that writes": ruled(
        notes='{ read: async ({ db }, note) => (await db.delete("notes", note._id)) === null }'
    ),
    "another viewer": ruled(notes=f"{RULE_NOTES} }}")
    + 'export const guarded = guardReader(db, "ada", mine).query("notes");\n',
    "another viewer for a writer": ruled(notes=f"{RULE_NOTES} }}")
    + "export const guarded: DatabaseWriter = guardWriter(writer, userId, mine);\n",
    "a reader as a writer": ruled(notes=f"{RULE_NOTES} }}")
    + "export const guarded: DatabaseWriter = guardWriter(db, viewer, mine);\n",
    "a guarded reader that writes": ruled()
    + 'export const done = guardReader(writer, viewer, mine).delete("notes", noteId);\n',
    "a query of a table without access": ruled(notes='"none"')
    + 'export const found = guardReader(db, viewer, mine).query("notes").withIndex("by_rank");\n',
    "the hidden table": reads('await ctx.db.query("audit").collect();'),
    "get from the hidden table": reads('await ctx.db.get("audit", auditId);'),
    "get from the hidden table by ID": reads("await ctx.db.get(auditId);"),
    "insert into the hidden table": writes('await ctx.db.insert("audit", { action: "a", subject: "s" });'),
    "delete from the hidden table": writes('await ctx.db.delete("audit", auditId);'),
    "a table that is not in the schema": reads('await ctx.db.query("team").collect();'),
    "an ID of another table": reads('await ctx.db.get("notes", userId);'),
    "an unknown index": reads('await ctx.db.query("notes").withIndex("by_team").first();'),
    "the second field of an index": reads(f'await {BY_OWNER}.eq("rank", 5)).first();'),
    "a wrong value for an index": reads(f'await {BY_OWNER}.eq("ownerId", noteId)).first();'),
    "a filter on an unknown field": reads(
        'await ctx.db.query("notes").order("desc").filter((q) => q.eq(q.field("place.town"), "Rome")).unique();'
    ),
    "a search in another field": reads(
        'await ctx.db.query("notes").withSearchIndex("search_text", (q) => q.search("title", "x")).take(5);'
    ),
    "a field of a document that does not exist": reads("const note = await ctx.db.get(noteId);", "note?.titel"),
    "a document that may be null": reads("const note = await ctx.db.get(noteId);", "note.title"),
    "a field of another member": reads(
        'for await (const entry of ctx.db.query("activity")) if (entry.kind === "comment") entry.value.toFixed();'
    ),
    "a query that inserts": reads('await ctx.db.insert("announcements", { text: "t" });'),
    "insert without a field": writes('await ctx.db.insert("notes", { ownerId: userId, title: "t", text: "t" });'),
    "insert with an unknown field": writes(
        'await ctx.db.insert("notes", { ownerId: userId, title: "t", text: "t", rank: 1, more: 1 });'
    ),
    "insert what mixes members": writes(
        'await ctx.db.insert("activity", { kind: "vote", noteId, authorId: userId, text: "t" });'
    ),
    "patch with a wrong value": writes('await ctx.db.patch("notes", noteId, { rank: "5" });'),
    "patch by ID with an unknown field": writes("await ctx.db.patch(noteId, { rang: 5 });"),
    "delete with an ID of another table": writes('await ctx.db.delete("notes", userId);'),
    "a query's context as that of a mutation": HEAD
    + "const add = async (ctx: MemberMutationCtx) => await ctx.db.insert('announcements', { text: 't' });\n"
    + "export const one = memberQuery({ args: {}, returns: v.id('announcements'), handler: (ctx) => add(ctx) });\n",
    "an argument that is not declared": defined(
        ARGS, RETURNS, "(_, { id, m }) => Promise.resolve(m === undefined ? id : null)"
    ),
    "an optional argument that may be undefined": defined(ARGS, RETURNS, "(_, { n }) => Promise.resolve(n.toFixed())"),
    "another result": defined(ARGS, RETURNS, "() => 5"),
    "a promise of another result": defined(
        ARGS, RETURNS, "async (ctx, { id }) => (await ctx.db.get(id))?.rank ?? null", "memberMutation"
    ),
    "no results": defined(ARGS, "", "() => null"),
    "no arguments": defined("", RETURNS, "() => null"),
    "no handler": HEAD + f"export const test = memberQuery({{ {ARGS}{RETURNS} }});\n",
    "unknown fields of the viewer": reads("await ctx.db.get(ctx.viewer._id);", "ctx.viewer.email"),
    "a wrong argument of a caller": HEAD
    + 'export const args: FunctionArgs<typeof api.notes.top> = { count: 1, order: "up" };\n',
    "a missing argument of a caller": HEAD
    + 'export const args: FunctionArgs<typeof api.notes.top> = { order: "asc" };\n',
}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    names = list(REFUSED)
    start = names.index(name) // TOGETHER * TOGETHER
    some = {each: REFUSED[each] for each in names[start : start + TOGETHER]}
    assert type_checks.errors(some)[name] != (), f"this compiles:\n{REFUSED[name][len(HEAD) :]}"


class World:
    """Ada and Ben are in a team, Cem is alone."""

    def __init__(self, project: Deployment) -> None:
        self.project = project
        self.ids = {
            name: project.insert("users", subject=name, name=name.title(), admin=False)
            for name in ("ada", "ben", "cem")
        }
        self.team = project.insert("teams", name="team", memberIds=[self.ids["ada"], self.ids["ben"]])
        self.callers = {name: project.as_user(name) for name in self.ids}

    def note(self, owner: str, title: str, rank: float = 0, *, shared: bool = False, **fields: Any) -> str:
        plain = {"ownerId": self.ids[owner], "title": title, "text": "text", "rank": rank}
        return self.project.insert("notes", plain | ({"teamId": self.team} if shared else {}) | fields)

    def query(self, who: str, path: str, **args: Any) -> Any:
        return self.callers[who].query(path, args)

    def mutation(self, who: str, path: str, **args: Any) -> Any:
        return self.callers[who].mutation(path, args)


@pytest.fixture
def world(project: Deployment) -> World:
    return World(project)


def missing(table: str = "notes") -> dict[str, Any]:
    return {"code": "NOT_FOUND", "table": table}


def forbidden(operation: str, table: str = "notes") -> dict[str, Any]:
    return {"code": "FORBIDDEN", "table": table, "operation": operation}


def test_callers_are_known_users(project: Deployment, world: World) -> None:
    assert world.query("ada", "users:me") == {"name": "Ada", "teams": ["team"]}
    assert world.query("cem", "users:me") == {"name": "Cem", "teams": []}
    for caller in (project, project.as_user("dan")):
        with project.fails(data={"code": "UNKNOWN_CALLER"}):
            caller.query("users:me")
        with project.fails(data={"code": "UNKNOWN_CALLER"}):
            caller.mutation("users:announce", text="x")
    assert project.documents("announcements") == []


def test_functions_are_public_and_validated(project: Deployment, world: World) -> None:
    specs = project.functions()
    assert {name for name, spec in specs.items() if not spec.is_public} == set()
    assert {"notes:get", "notes:page", "notes:change", "activity:add", "users:inspect"} <= set(specs)
    assert specs["notes:title"].returns_type in ("v.union(v.string(), v.null())", "v.union(v.null(), v.string())")
    assert all(spec.has_args for spec in specs.values())
    for args in ({"count": "1"}, {}, {"count": 1, "order": "up"}, {"count": 1, "more": 1}):
        with project.fails("ArgumentValidationError"):
            world.query("ada", "notes:top", **args)


def test_get_gives_what_may_be_read(world: World) -> None:
    own, shared, other = world.note("ada", "own"), world.note("ben", "shared", shared=True), world.note("ben", "other")
    for path in ("notes:get", "notes:getById"):
        assert world.query("ada", path, id=own) == world.project.get(own)
        assert world.query("ada", path, id=shared) == world.project.get(shared)
        assert world.query("ada", path, id=other) is None
        assert world.query("cem", path, id=shared) is None
    assert world.query("ada", "notes:title", id=own) == "own"
    assert world.query("cem", "notes:title", id=own) is None
    world.project.delete("notes", own)
    for path in ("notes:get", "notes:getById"):
        assert world.query("ada", path, id=own) is None


def test_queries_leave_out_what_may_not_be_read(world: World) -> None:
    world.note("ada", "a", 3, text="red boat")
    world.note("ben", "b", 2, text="red car")
    world.note("ben", "c", 1, shared=True, text="blue boat")
    world.note("cem", "d", 4, text="red boat")
    for who, titles in (("ada", "ac"), ("ben", "bc"), ("cem", "d")):
        assert [each["title"] for each in world.query(who, "notes:all")] == list(titles)
        assert world.query(who, "notes:scanned") == list(reversed(titles))
    assert world.query("ada", "notes:iterated") == ["a", "c"]
    assert world.query("ben", "notes:iterated") == ["b", "c"]
    assert world.query("ada", "notes:found", text="boat") in (["a", "c"], ["c", "a"])
    assert world.query("ben", "notes:found", text="boat") == ["c"]
    assert world.query("ada", "notes:found", text="red", ownerId=world.ids["ben"]) == []
    assert world.query("ben", "notes:found", text="red", ownerId=world.ids["ben"]) == ["b"]
    assert world.query("ada", "notes:filtered", ownerId=world.ids["ben"], title="x") == ["c"]
    assert world.query("ben", "notes:filtered", ownerId=world.ids["ben"], title="c") == ["b"]
    assert world.query("cem", "notes:filtered", ownerId=world.ids["ben"], title="x") == []


def test_take_and_first_go_on_until_they_have_found_enough(world: World) -> None:
    for number in range(12):
        world.note("ben" if number % 4 else "ada", str(number), number)
    assert world.query("ada", "notes:top", count=2) == ["0", "4"]
    assert world.query("ada", "notes:top", count=2, order="desc") == ["8", "4"]
    assert world.query("ada", "notes:top", count=9) == ["0", "4", "8"]
    assert world.query("ada", "notes:top", count=0) == []
    assert world.query("ada", "notes:first", atLeast=1) == "4"
    assert world.query("ben", "notes:first", atLeast=4) == "5"
    assert world.query("ada", "notes:first", atLeast=9) is None
    assert world.query("cem", "notes:first", atLeast=0) is None


def test_unique_counts_only_what_may_be_read(world: World) -> None:
    for owner, title, rank in (("ada", "a", 1), ("ben", "b", 1), ("ben", "c", 1), ("ben", "d", 2)):
        world.note(owner, title, rank)
    assert world.query("ada", "notes:only", rank=1) == "a"
    assert world.query("cem", "notes:only", rank=1) is None
    assert world.query("ada", "notes:only", rank=2) is None
    assert world.query("ben", "notes:only", rank=2) == "d"
    with world.project.fails():
        world.query("ben", "notes:only", rank=1)


def test_pages_lead_to_the_end_without_what_may_not_be_read(world: World) -> None:
    for number in range(11):
        world.note("ben" if number % 3 else "ada", str(number), number)
    for who, wanted in (("ada", ["0", "3", "6", "9"]), ("cem", [])):
        titles: list[str] = []
        cursor = None
        for _ in range(12):
            page = world.query(who, "notes:page", paginationOpts={"numItems": 3, "cursor": cursor})
            titles += [each["title"] for each in page["page"]]
            assert len(page["page"]) <= 3
            cursor = page["continueCursor"]
            if page["isDone"]:
                break
        assert (titles, page["isDone"]) == (wanted, True)


def test_what_ends_early_does_not_read_the_rest(world: World) -> None:
    owner = world.ids["ada"]
    rows = [{"ownerId": owner, "title": str(n), "text": "x", "rank": n} for n in range(600)]
    world.project.insert_many("notes", rows)
    for path, args in (("notes:first", {"atLeast": 3}), ("notes:top", {"count": 5}), ("notes:only", {"rank": 3})):
        with world.project.trace() as work:
            world.query("ada", path, **args)
        assert work.documents_read <= 150, path


def test_unreadable_and_missing_documents_cannot_be_told_apart(world: World) -> None:
    hidden, gone = world.note("ben", "hidden"), world.note("ada", "gone")
    world.project.delete("notes", gone)
    before = world.project.documents("notes")
    fields = without(before[0])
    for target in (hidden, gone):
        for named in (True, False):
            calls: list[tuple[str, dict[str, Any]]] = [
                ("notes:change", {"changes": {"title": "x"}, "leaveTeam": False}),
                ("notes:change", {"changes": {}, "leaveTeam": True}),
                ("notes:replace", {"fields": fields | {"ownerId": world.ids["ada"]}}),
                ("notes:remove", {}),
            ]
            for path, args in calls:
                with world.project.fails(data=missing()):
                    world.mutation("ada", path, id=target, named=named, **args)
    assert world.project.documents("notes") == before


@pytest.mark.parametrize("named", [True, False], ids=["with the table", "by ID"])
def test_updates_are_judged_by_what_would_be_stored(world: World, named: bool) -> None:
    note = world.note("ben", "shared", 1, shared=True, place={"city": "Rome", "street": "s"})
    change: dict[str, Any] = {"id": note, "named": named, "leaveTeam": False}
    assert world.mutation("ada", "notes:change", changes={"text": "new", "rank": 2}, **change) == "shared"
    assert (
        world.mutation("ada", "notes:change", changes={"place": {"city": "Bari"}, "title": "shared"}, **change)
        == "shared"
    )
    stored = {"ownerId": world.ids["ben"], "teamId": world.team, "title": "shared", "text": "new", "rank": 2}
    assert without(world.project.get(note)) == stored | {"place": {"city": "Bari"}}
    for changes in ({"title": "x"}, {"ownerId": world.ids["ada"]}):
        with world.project.fails(data=forbidden("update")):
            world.mutation("ada", "notes:change", changes=changes, **change)
    with world.project.fails(data=forbidden("update")):
        world.mutation("ada", "notes:change", changes={}, **(change | {"leaveTeam": True}))
    with world.project.fails(data=forbidden("update")):  # a replacement without the team
        fields = {name: value for name, value in stored.items() if name != "teamId"}
        world.mutation("ada", "notes:replace", id=note, named=named, fields=fields)
    assert world.mutation("ada", "notes:replace", id=note, named=named, fields=stored | {"text": "last"}) is None
    assert without(world.project.get(note)) == stored | {"text": "last"}
    assert world.mutation("ben", "notes:change", changes={"title": "mine"}, **change) == "mine"
    assert world.mutation("ben", "notes:change", changes={}, **(change | {"leaveTeam": True})) == "mine"
    with world.project.fails(data=missing()):
        world.mutation("ada", "notes:change", changes={"text": "x"}, **change)


@pytest.mark.parametrize("named", [True, False], ids=["with the table", "by ID"])
def test_only_the_owner_deletes_a_note(world: World, named: bool) -> None:
    note = world.note("ben", "shared", shared=True)
    with world.project.fails(data=forbidden("delete")):
        world.mutation("ada", "notes:remove", id=note, named=named)
    assert len(world.project.documents("notes")) == 1
    assert world.mutation("ben", "notes:remove", id=note, named=named) is None
    assert world.project.documents("notes") == []


def test_inserts_are_judged_by_their_fields(world: World) -> None:
    fields = {"ownerId": world.ids["ada"], "title": "t", "text": "x", "rank": 1}
    added = world.mutation("ada", "notes:add", fields=fields)
    assert without(world.project.get(added)) == fields
    for wrong in ({"title": ""}, {"ownerId": world.ids["ben"]}):
        with world.project.fails(data=forbidden("insert")):
            world.mutation("ada", "notes:add", fields=fields | wrong)
    entry = {"kind": "vote", "noteId": added, "authorId": world.ids["ada"], "value": 1}
    world.mutation("ada", "activity:add", entry=entry)
    for other in ({"value": 2}, {"authorId": world.ids["ben"]}):
        with world.project.fails(data=forbidden("insert", "activity")):
            world.mutation("ada", "activity:add", entry=entry | other)
    comment = {"kind": "comment", "noteId": added, "authorId": world.ids["cem"], "text": "hi"}
    world.mutation("cem", "activity:add", entry=comment)  # the rule itself reads a note that Cem cannot
    with world.project.fails(data=forbidden("insert", "activity")):
        world.mutation("cem", "activity:add", entry=comment | {"text": ""})
    assert [without(each) for each in world.project.documents("activity")] == [entry, comment]


def test_rules_of_a_union(world: World) -> None:
    note = world.note("ada", "n")
    entries: list[dict[str, Any]] = [
        {"kind": "comment", "noteId": note, "authorId": world.ids["ada"], "text": "a"},
        {"kind": "vote", "noteId": note, "authorId": world.ids["ben"], "value": 1},
        {"kind": "comment", "noteId": note, "authorId": world.ids["ben"], "text": "b"},
        {"kind": "vote", "noteId": note, "authorId": world.ids["cem"], "value": 1},
    ]
    ids = [world.project.insert("activity", entry) for entry in entries]
    assert [without(each) for each in world.query("ada", "activity:on", noteId=note)] == [
        entries[0],
        entries[1],
        entries[3],
    ]
    assert [without(each) for each in world.query("ben", "activity:on", noteId=note)] == entries[1:]
    assert world.query("cem", "activity:score", noteId=note) == 2
    with world.project.fails(data=missing("activity")):
        world.mutation("ada", "activity:remove", id=ids[2])
    assert world.mutation("ada", "activity:remove", id=ids[3]) is None
    assert [each["_id"] for each in world.project.documents("activity")] == ids[:3]


def test_what_has_no_rule_is_forbidden(world: World) -> None:
    note = world.note("ada", "n")
    own = world.project.insert("activity", kind="comment", noteId=note, authorId=world.ids["ada"], text="a")
    with world.project.fails(data=forbidden("update", "activity")):
        world.mutation("ada", "activity:edit", id=own, text="b")
    with world.project.fails(data=missing("activity")):
        world.mutation("ben", "activity:edit", id=own, text="b")
    assert world.mutation("ada", "users:rename", id=world.ids["ada"], name="Countess") is None
    for args in ({"id": world.ids["ben"], "name": "x"}, {"id": world.ids["ada"], "name": "x", "admin": True}):
        with world.project.fails(data=forbidden("update", "users")):
            world.mutation("ada", "users:rename", **args)
    assert [each["name"] for each in world.project.documents("users")] == ["Countess", "Ben", "Cem"]


def test_an_update_may_end_what_the_viewer_reads(world: World) -> None:
    for who, named, left in (("ada", True, ["ben"]), ("ben", False, [])):
        assert world.mutation(who, "users:leave", id=world.team, named=named) is False
        assert world.project.get(world.team)["memberIds"] == [world.ids[each] for each in left]
        with world.project.fails(data=missing("teams")):
            world.mutation(who, "users:leave", id=world.team, named=named)


def test_everything_is_allowed_in_an_open_table(world: World) -> None:
    assert world.mutation("ada", "users:announce", text="a") == ["a"]
    assert world.mutation("cem", "users:announce", text="b") == ["a", "b"]
    assert world.mutation("ada", "users:announce", text="b") == ["a"]


def test_the_rest_of_the_database_is_as_before(world: World) -> None:
    note = world.note("ben", "n")
    file = world.project.storage.upload(b"12345", "text/plain")
    assert world.query("ada", "users:inspect", file=file, id=note) == {"size": 5, "isNote": True}
    assert world.query("ada", "users:inspect", file=file, id=world.team) == {"size": 5, "isNote": False}


def test_a_mutation_sees_its_own_writes(world: World) -> None:
    for number in range(3):
        world.note("ada", str(number), shared=True)
    assert len(world.query("ben", "notes:all")) == 3
    assert world.mutation("ada", "notes:leaveTeams") == 3
    assert world.query("ben", "notes:all") == []


@pytest.mark.parametrize("seed", range(2))
def test_everyone_sees_exactly_what_the_rules_allow(world: World, seed: int) -> None:
    chance = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for number in range(30):
        owner, shared = chance.choice(["ada", "ben", "cem"]), chance.random() < 0.4
        row: dict[str, Any] = {
            "title": str(number),
            "owner": owner,
            "shared": shared,
            "rank": chance.choice([0, 1, 2, 3, 4]),
        }
        rows.append(row)
        world.note(owner, row["title"], row["rank"], shared=shared)
    by_rank = sorted(rows, key=lambda row: row["rank"])
    for who in world.ids:

        def seen(some: list[dict[str, Any]], who: str = who) -> list[str]:
            return [row["title"] for row in some if row["owner"] == who or (row["shared"] and who in ("ada", "ben"))]

        assert [each["title"] for each in world.query(who, "notes:all")] == seen(rows)
        assert world.query(who, "notes:iterated") == seen(by_rank[::-1])
        for count in (1, 4, 50):
            assert world.query(who, "notes:top", count=count) == seen(by_rank)[:count]
            assert world.query(who, "notes:top", count=count, order="desc") == seen(by_rank[::-1])[:count]
        for rank in range(6):
            first = seen([row for row in by_rank if row["rank"] >= rank])[:1]
            assert world.query(who, "notes:first", atLeast=rank) == (first[0] if first else None)
