"""Hooks for what happens in tables: exact types, and every write of a transaction, also those that hooks make."""

# ruff: noqa: E501 (snippets of TypeScript)

import random
from itertools import pairwise
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Int64, TypeChecks, without

Document = dict[str, Any]

HEAD = """
import { defineSchema, defineTable, type DataModelFromSchemaDefinition, type MutationBuilder, type RegisteredMutation } from "convex/server";
import { v } from "convex/values";
import type { DataModel, Doc, Id } from "./_generated/dataModel";
import { internalMutation as plainInternal, mutation as plain, query as plainQuery, type DatabaseWriter, type MutationCtx } from "./_generated/server";
import { withTriggers, type Change, type Hooks } from "./lib/triggers";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type IsAny<T> = 0 extends 1 & T ? true : false;
type Parts<F> = F extends RegisteredMutation<infer V, infer A, infer R> ? { visibility: V; args: A; result: Awaited<R> } : never;
const other = defineSchema({ notes: defineTable({ text: v.string() }) });
type Other = DataModelFromSchemaDefinition<typeof other>;
declare const otherBuilder: MutationBuilder<Other, "internal">;
const mutation = withTriggers(plain, {});
const internalMutation = withTriggers(plainInternal, {});
"""


def snippet(body: str) -> str:
    return HEAD + body + "\nexport {};\n"


def snippet_hooks(table: str, hooks: str) -> str:
    return snippet(f"withTriggers(plain, {{ {table}: {{ {hooks} }} }});")


def snippet_change(table: str, body: str) -> str:
    return snippet(f"function see(change: Change<DataModel, {table}>) {{\n{body}\n}}")


FUNCTION = """
const f = mutation({
  args: { id: v.id("tasks"), title: v.optional(v.string()) },
  returns: v.number(),
  handler: async (ctx, args) => { const id: Id<"tasks"> = args.id; const title: string | undefined = args.title; return 1; },
});
type F = Parts<typeof f>;
"""

COMPILES = {
    "hooks know the documents of their table": snippet_hooks(
        "tasks",
        """
  beforeInsert: (ctx, task) => { const title: string = task.title; const project: Id<"projects"> = task.project; },
  beforeUpdate: (ctx, task, old) => { const id: Id<"tasks"> = old._id; const at: number = old._creationTime; const due: number | undefined = task.due; },
  beforeDelete: (ctx, old) => { const labels: string[] = old.labels; const id: Id<"tasks"> = old._id; },
  after: (ctx, change) => { const id: Id<"tasks"> = change.id; const table: "tasks" = change.table; },
""",
    ),
    "hooks may be asynchronous": snippet_hooks(
        "tasks",
        """
  beforeInsert: async (ctx, task) => ({ ...task, slug: "x" }),
  beforeUpdate: async (ctx, task) => { if (task.slug === "") return { ...task, slug: "x" }; },
  beforeDelete: async (ctx, old) => { await ctx.db.get("tasks", old._id); },
  after: async (ctx, change) => { await ctx.db.delete("projects", change.oldDoc?.project ?? change.newDoc!.project); },
""",
    ),
    "hooks have the context of a mutation": snippet_hooks(
        "tasks",
        "after: (ctx) => { const own: MutationCtx = ctx; const db: DatabaseWriter = ctx.db; const any: IsAny<typeof ctx> = false; }",
    ),
    "a document without system fields replaces a new one": snippet_hooks(
        "tasks",
        'beforeInsert: (ctx, task) => ({ project: task.project, title: "x", slug: "x", status: "open", labels: [] })',
    ),
    "kinds of documents stay apart": snippet_hooks(
        "entries",
        """
  beforeInsert: (ctx, entry) => {
    const kind: "text" | "link" | "file" = entry.kind;
    if (entry.kind === "text") return { ...entry, text: entry.text.trim() };
    if (entry.kind === "link") { const label: string | undefined = entry.label; return { kind: "link", url: entry.url }; }
    const size: bigint = entry.size;
  },
  beforeUpdate: (ctx, entry, old) => {
    if (entry.kind === "file" && old.kind === "file") return { ...entry, bytes: old.bytes };
    return undefined;
  },
  after: (ctx, { newDoc }) => {
    if (newDoc?.kind === "link") { const url: string = newDoc.url; const id: Id<"entries"> = newDoc._id; }
  },
""",
    ),
    "the operation says which documents there are": snippet_change(
        '"tasks"',
        """
  const old: Same<typeof change.oldDoc, Doc<"tasks"> | null> = true;
  if (change.operation === "insert") { const none: null = change.oldDoc; const title: string = change.newDoc.title; }
  else if (change.operation === "update") { const titles: string[] = [change.oldDoc.title, change.newDoc.title]; }
  else { const title: string = change.oldDoc.title; const none: null = change.newDoc; const last: "delete" = change.operation; }
""",
    ),
    "a document that is there says which operation it can be": snippet_change(
        '"tasks"',
        'if (change.oldDoc === null) { const operation: "insert" = change.operation; const title: string = change.newDoc.title; }',
    ),
    "the table says which documents there are": snippet_change(
        '"tasks" | "projects"',
        """
  if (change.table === "tasks" && change.operation !== "delete") {
    const title: string = change.newDoc.title;
    const id: Id<"tasks"> = change.id;
  } else if (change.table === "projects") {
    const name: string | undefined = change.oldDoc?.name;
    const id: Id<"projects"> = change.id;
  }
""",
    ),
    "one hook for several tables": snippet(
        'async function note(ctx: MutationCtx, change: Change<DataModel, "tasks" | "projects" | "entries">) { await ctx.db.insert("journal", { table: change.table, operation: change.operation, before: null, after: null }); }\n'
        "const hooks: Hooks<DataModel> = { tasks: { after: note }, projects: { after: note }, entries: { after: note } };\n"
        "withTriggers(plain, hooks); withTriggers(plainInternal, hooks);"
    ),
    "arguments and results are those of the definition": snippet(
        FUNCTION
        + 'const args: Same<F["args"], { id: Id<"tasks">; title?: string }> = true; const result: Same<F["result"], number> = true;'
        + 'const visibility: Same<F["visibility"], "public"> = true; const any: IsAny<F["args"]> = false;'
    ),
    "the result is inferred without a validator": snippet(
        'const f = mutation({ args: { n: v.number() }, handler: async (ctx, { n }) => ({ n, text: "x" }) });\n'
        'const result: Same<Parts<typeof f>["result"], { n: number; text: string }> = true;'
    ),
    "internal functions stay internal": snippet(
        "const f = internalMutation({ args: {}, handler: async () => null });\n"
        'const visibility: Same<Parts<typeof f>["visibility"], "internal"> = true;'
    ),
    "all forms of a definition": snippet(
        "const one = mutation(async (ctx) => (await ctx.db.query('tasks').collect()).length);\n"
        "const two = mutation({ handler: async (ctx, args: { title: string }) => args.title });\n"
        "const three = mutation({ args: v.object({ n: v.number() }), returns: v.number(), handler: async (ctx, { n }) => n });\n"
        'const first: Same<Parts<typeof one>["result"], number> = true;\n'
        'const second: Same<Parts<typeof two>["args"], { title: string }> = true;\n'
        'const third: Same<Parts<typeof three>["args"], { n: number }> = true;'
    ),
    "functions have Convex's own database": snippet(
        """
const f = mutation({
  args: { id: v.id("tasks") },
  handler: async (ctx, { id }) => {
    const whole: MutationCtx = ctx;
    const db: DatabaseWriter = ctx.db;
    const any: IsAny<typeof ctx.db> = false;
    const task: Doc<"tasks"> | null = await ctx.db.get("tasks", id);
    await ctx.db.patch("tasks", id, { due: undefined, title: "x" });
    await ctx.db.patch(id, { title: "x" });
    await ctx.db.delete(id);
    const created: Id<"settings"> = await ctx.db.insert("settings", { key: "a", value: "b" });
  },
});
"""
    ),
    "another data model": snippet(
        """
const own = withTriggers(otherBuilder, {
  notes: { beforeInsert: (ctx, note) => ({ text: note.text.trim() }), after: (ctx, change) => { const text: string | undefined = change.newDoc?.text; } },
});
const f = own({ args: {}, handler: async (ctx) => (await ctx.db.query("notes").first())?.text ?? null });
const result: Same<Parts<typeof f>["result"], string | null> = true;
const visibility: Same<Parts<typeof f>["visibility"], "internal"> = true;
type NoteChange = Change<Other, "notes">;
"""
    ),
}

REFUSED = {
    "hooks of a table that is not there": snippet("withTriggers(plain, { task: { after: () => {} } });"),
    "a hook that is not there": snippet_hooks("tasks", "afterwards: () => {}"),
    "a field that is not there": snippet_hooks(
        "tasks", "beforeInsert: (ctx, task) => { const name: string = task.name; }"
    ),
    "the ID of a document before it is inserted": snippet_hooks(
        "tasks", "beforeInsert: (ctx, task) => { const id: Id<'tasks'> = task._id; }"
    ),
    "the creation time of a document before it is inserted": snippet_hooks(
        "tasks", "beforeInsert: (ctx, task) => { const at: number = task._creationTime; }"
    ),
    "a replacement without a field": snippet_hooks(
        "tasks", 'beforeInsert: (ctx, task) => ({ project: task.project, title: "x", slug: "x", status: "open" })'
    ),
    "a replacement with a wrong value": snippet_hooks(
        "tasks",
        'beforeInsert: (ctx, task) => ({ project: task.project, title: "x", slug: "x", status: "opened", labels: [] })',
    ),
    "an asynchronous replacement with a wrong value": snippet_hooks(
        "tasks", "beforeInsert: async (ctx, task) => ({ ...task, slug: 1 })"
    ),
    "an update with a wrong value": snippet_hooks("tasks", "beforeUpdate: (ctx, task) => ({ ...task, slug: 1 })"),
    "a mixture of two kinds": snippet_hooks("entries", 'beforeInsert: (ctx, entry) => ({ kind: "link", text: "x" })'),
    "a field of one kind without a look at the kind": snippet_hooks(
        "entries", "beforeInsert: (ctx, entry) => { const text: string | undefined = entry.text; }"
    ),
    "a field of one kind after a look at another": snippet_hooks(
        "entries", "after: (ctx, { newDoc }) => { if (newDoc?.kind === 'link') { const text: string = newDoc.text; } }"
    ),
    "the new document of what was deleted": snippet_change(
        '"tasks"', 'if (change.operation === "delete") { const title: string = change.newDoc.title; }'
    ),
    "the old document without a look at the operation": snippet_change(
        '"tasks"', "const title: string = change.oldDoc.title;"
    ),
    "the ID of another table": snippet_change('"tasks"', 'const id: Id<"projects"> = change.id;'),
    "an operation that is not there": snippet_change('"tasks"', 'if (change.operation === "patch") return;'),
    "a document without a look at the table": snippet_change(
        '"tasks" | "projects"', 'if (change.operation !== "delete") { const title: string = change.newDoc.title; }'
    ),
    "a change of a table that is not there": snippet('type Wrong = Change<DataModel, "task">;'),
    "a hook for other tables": snippet(
        'async function note(ctx: MutationCtx, change: Change<DataModel, "tasks" | "projects">) {}\n'
        "const hooks: Hooks<DataModel> = { entries: { after: note } };"
    ),
    "a result that the validator does not allow": snippet(
        'const f = mutation({ args: {}, returns: v.number(), handler: async () => "1" });'
    ),
    "an argument that is not there": snippet(
        "const f = mutation({ args: { n: v.number() }, handler: async (ctx, { m }) => m });"
    ),
    "an argument as another type": snippet(
        "const f = mutation({ args: { n: v.number() }, handler: async (ctx, { n }) => { const text: string = n; } });"
    ),
    "a field of another type in the database": snippet(
        'const f = mutation({ args: { id: v.id("tasks") }, handler: async (ctx, { id }) => { await ctx.db.patch("tasks", id, { title: 1 }); } });'
    ),
    "the builder of queries": snippet("withTriggers(plainQuery, {});"),
    "hooks of another data model": snippet("withTriggers(otherBuilder, { tasks: { after: () => {} } });"),
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


def new_project(project: Deployment, name: str = "p") -> str:
    identifier: str = project.mutation("tasks:createProject", name=name)
    return identifier


def new_task(project: Deployment, parent: str, title: str = "Buy milk") -> str:
    identifier: str = project.mutation("tasks:create", project=parent, title=title)
    return identifier


def edit(project: Deployment, task: str, short: bool = False, /, **changes: Any) -> None:
    project.mutation("tasks:edit", id=task, changes=changes, short=short)


def counts(project: Deployment, parent: str) -> tuple[int, int]:
    found = project.get(parent)
    assert found is not None
    return found["total"], found["open"]


def get(project: Deployment, identifier: str) -> Document:
    found = project.get(identifier)
    assert found is not None
    return found


def journal(project: Deployment, table: str) -> list[tuple[str, Any, Any]]:
    rows = [row for row in project.documents("journal") if row["table"] == table]
    return [(row["operation"], row["before"], row["after"]) for row in rows]


def forget(project: Deployment) -> None:
    project.clear("journal")


def test_what_before_insert_returns_is_stored(project: Deployment) -> None:
    parent = new_project(project)
    task = new_task(project, parent, "Buy more milk")
    stored = get(project, task)
    assert without(stored) == {
        "project": parent,
        "title": "Buy more milk",
        "slug": "buy-more-milk",
        "status": "open",
        "labels": [],
    }
    assert journal(project, "tasks") == [("insert", None, stored)]


def test_hooks_write_and_their_writes_run_hooks(project: Deployment) -> None:
    parent = new_project(project)
    empty = get(project, parent)
    forget(project)
    new_task(project, parent)
    one = get(project, parent)
    assert counts(project, parent) == (1, 1)
    assert journal(project, "projects") == [("update", empty, one)]
    new_task(project, parent)
    assert counts(project, parent) == (2, 2)
    assert journal(project, "projects")[1:] == [("update", one, get(project, parent))]


@pytest.mark.parametrize("short", [False, True])
def test_patches_run_hooks(project: Deployment, short: bool) -> None:
    one, two = new_project(project), new_project(project)
    task = new_task(project, one)
    before = get(project, task)
    forget(project)
    edit(project, task, short, title="Sell milk", due=5)
    after = get(project, task)
    assert after == before | {"title": "Sell milk", "slug": "sell-milk", "due": 5}
    assert journal(project, "tasks") == [("update", before, after)]
    edit(project, task, short, project=two)
    assert (counts(project, one), counts(project, two)) == ((0, 0), (1, 1))
    edit(project, task, short, status="done", due=None)
    assert counts(project, two) == (1, 0)
    done = get(project, task)
    assert "due" not in done
    assert journal(project, "tasks")[-1] == ("update", after | {"project": two}, done)


@pytest.mark.parametrize("short", [False, True])
def test_replacements_run_hooks(project: Deployment, short: bool) -> None:
    one, two = new_project(project), new_project(project)
    task = new_task(project, one)
    edit(project, task, due=5)
    before = get(project, task)
    forget(project)
    project.mutation("tasks:rewrite", id=task, project=two, title="New", labels=["a"], short=short)
    after = get(project, task)
    assert without(after) == {"project": two, "title": "New", "slug": "new", "status": "open", "labels": ["a"]}
    assert (after["_id"], after["_creationTime"]) == (before["_id"], before["_creationTime"])
    assert journal(project, "tasks") == [("update", before, after)]
    assert (counts(project, one), counts(project, two)) == ((0, 0), (1, 1))


@pytest.mark.parametrize("short", [False, True])
def test_deletions_run_hooks(project: Deployment, short: bool) -> None:
    parent = new_project(project)
    task, other = new_task(project, parent), new_task(project, parent)
    before = get(project, task)
    forget(project)
    project.mutation("tasks:remove", id=task, short=short)
    assert project.get(task) is None
    assert journal(project, "tasks") == [("delete", before, None)]
    assert counts(project, parent) == (1, 1)
    assert project.get(other) is not None


def test_deletions_cascade(project: Deployment) -> None:
    one, two = new_project(project), new_project(project)
    tasks = [new_task(project, one, title) for title in "abc"]
    kept = new_task(project, two)
    stored = [get(project, task) for task in tasks]
    gone = get(project, one)
    forget(project)
    project.mutation("tasks:removeProject", id=one)
    assert [task["_id"] for task in project.documents("tasks")] == [kept]
    assert journal(project, "projects") == [("delete", gone, None)]
    assert journal(project, "tasks") == [("delete", each, None) for each in stored]


def test_hooks_refuse_writes(project: Deployment) -> None:
    parent = new_project(project, "p")
    task = new_task(project, parent)
    project.mutation("tasks:lock", id=parent, locked=True)
    tables = ("projects", "tasks", "journal")
    before = [project.documents(table) for table in tables]
    with project.fails(data={"code": "LOCKED", "name": "p"}):
        project.mutation("tasks:removeProject", id=parent)
    with project.fails(data={"code": "NO_PROJECT", "title": "x"}):
        new_task(project, parent, "x")
    assert [project.documents(table) for table in tables] == before
    edit(project, task, status="done")
    with project.fails(data={"code": "DONE", "title": "Buy milk"}):
        edit(project, task, title="x")
    project.mutation("tasks:lock", id=parent, locked=False)
    new_task(project, parent, "x")
    assert counts(project, parent) == (2, 1)


def test_a_function_can_go_on_after_a_refusal(project: Deployment) -> None:
    task = new_task(project, new_project(project))
    assert project.mutation("tasks:tryRename", id=task, title="One") == "renamed"
    edit(project, task, status="done")
    before = get(project, task)
    forget(project)
    assert project.mutation("tasks:tryRename", id=task, title="Two") == "refused"
    after = get(project, task)
    assert after == before | {"labels": ["refused"]}
    assert journal(project, "tasks") == [("update", before, after)]


def test_updates_that_change_nothing_are_no_changes(project: Deployment) -> None:
    task = new_task(project, new_project(project))
    edit(project, task, due=5)
    content = b"\x00\x01"
    file = project.mutation("entries:add", entry={"kind": "file", "bytes": content, "size": Int64(0)})
    forget(project)
    edit(project, task, title="Buy milk", status="open", due=5)
    edit(project, task, True)
    project.mutation("entries:put", id=file, entry={"kind": "file", "bytes": content, "size": Int64(2)})
    assert project.documents("journal") == []
    project.mutation("entries:put", id=file, entry={"kind": "file", "bytes": b"\x00\x02", "size": Int64(2)})
    edit(project, task, due=None)
    assert [row["table"] for row in project.documents("journal") if row["table"] != "projects"] == ["entries", "tasks"]


def test_writes_at_the_same_time_happen_one_after_another(project: Deployment) -> None:
    parent = new_project(project)
    task = new_task(project, parent)
    before = get(project, task)
    forget(project)
    titles, dues = list("abcdef"), [3, 1, 2]
    created = project.mutation("tasks:burst", project=parent, id=task, titles=titles, dues=dues)
    assert [get(project, each)["title"] for each in created] == titles
    assert get(project, task) == before | {"due": 2, "labels": ["late"], "status": "done"}
    assert counts(project, parent) == (7, 6)
    changes = journal(project, "tasks")
    assert [after["title"] for operation, _, after in changes if operation == "insert"] == titles
    expected, last = [], before
    for change in [{"due": due} for due in dues] + [{"labels": ["late"]}, {"status": "done"}]:
        expected.append(("update", last, last | change))
        last = last | change
    assert [change for change in changes if change[0] == "update"] == expected
    updates = journal(project, "projects")
    assert all(old["_id"] == new["_id"] == parent for _, old, new in updates)
    assert all(new == old for (_, _, new), (_, old, _) in pairwise(updates))


def test_each_kind_of_document_passes_through_hooks(project: Deployment) -> None:
    text = project.mutation("entries:add", entry={"kind": "text", "text": "hi"})
    file = project.mutation("entries:add", entry={"kind": "file", "bytes": b"abc", "size": Int64(0)})
    assert without(get(project, text)) == {"kind": "text", "text": "hi"}
    assert without(get(project, file)) == {"kind": "file", "bytes": b"abc", "size": Int64(3)}
    old = get(project, text)
    project.mutation("entries:put", id=text, entry={"kind": "link", "url": "u", "label": "l"})
    assert without(get(project, text)) == {"kind": "link", "url": "u", "label": "l"}
    project.mutation("entries:put", id=text, entry={"kind": "link", "url": "u"})
    assert without(get(project, text)) == {"kind": "link", "url": "u"}
    assert journal(project, "entries")[2][:2] == ("update", old)


def test_tables_without_hooks_work_as_always(project: Deployment) -> None:
    assert project.mutation("tasks:setSetting", key="a", value="1") == 1
    assert project.mutation("tasks:setSetting", key="b", value="2") == 2
    assert project.mutation("tasks:setSetting", key="a", value="3") == 2
    assert without(project.documents("settings")) == [{"key": "a", "value": "3"}, {"key": "b", "value": "2"}]
    assert project.mutation("tasks:setSetting", key="a") == 1
    assert project.documents("journal") == []


def test_documents_that_do_not_exist(project: Deployment) -> None:
    parent = new_project(project)
    task = new_task(project, parent)
    project.mutation("tasks:remove", id=task, short=False)
    forget(project)
    for short in (False, True):
        with project.fails():
            edit(project, task, short, title="x")
        with project.fails():
            project.mutation("tasks:remove", id=task, short=short)
        with project.fails():
            project.mutation("tasks:rewrite", id=task, project=parent, title="New", labels=[], short=short)
    assert counts(project, parent) == (0, 0)
    assert project.documents("journal") == []


def test_all_forms_of_functions_run_hooks(project: Deployment) -> None:
    parent = new_project(project)
    for title in "abc":
        new_task(project, parent, title)
    assert project.mutation("tasks:finishAll") == 3
    assert counts(project, parent) == (3, 0)
    assert project.admin.mutation("tasks:purge", project=parent) == 3
    assert counts(project, parent) == (0, 0)


def test_functions_are_declared_as_with_the_plain_builder(project: Deployment) -> None:
    functions = project.functions()
    assert functions["tasks:purge"].visibility == "internal"
    assert all(spec.is_public for name, spec in functions.items() if name != "tasks:purge")
    assert functions["tasks:create"].arguments.keys() == {"project", "title"}
    assert functions["tasks:lock"].arguments.keys() == {"id", "locked"}
    assert functions["tasks:burst"].returns_type == 'v.array(v.id("tasks"))'
    parent = new_project(project)
    for wrong in (
        {},
        {"project": parent},
        {"project": parent, "title": 1},
        {"project": parent, "title": "a", "more": 1},
    ):
        with project.fails("ArgumentValidationError"):
            project.mutation("tasks:create", wrong)


@pytest.mark.parametrize("seed", range(4))
def test_derived_fields_are_always_right(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    projects = [new_project(project, name) for name in "pqr"]
    tasks: dict[str, Document] = {}
    for step in range(30):
        known = list(tasks)
        what = chance.choice(["create", "create", "edit", "edit", "move", "remove", "rewrite", "burst", "cascade"])
        short = chance.random() < 0.5
        if what == "create" or not known:
            parent, title = chance.choice(projects), f"Task {step}"
            tasks[new_task(project, parent, title)] = {"project": parent, "title": title, "status": "open"}
        elif what == "edit":
            task, status = chance.choice(known), chance.choice(["open", "done"])
            edit(project, task, short, status=status)
            tasks[task]["status"] = status
        elif what == "move":
            task, parent = chance.choice(known), chance.choice(projects)
            edit(project, task, short, project=parent)
            tasks[task]["project"] = parent
        elif what == "remove":
            task = chance.choice(known)
            project.mutation("tasks:remove", id=task, short=short)
            del tasks[task]
        elif what == "rewrite":
            task, parent, title = chance.choice(known), chance.choice(projects), f"Other {step}"
            if tasks[task]["status"] == "open":
                project.mutation("tasks:rewrite", id=task, project=parent, title=title, labels=[], short=short)
                tasks[task] = {"project": parent, "title": title, "status": "open"}
        elif what == "burst":
            task, parent, titles = chance.choice(known), chance.choice(projects), [f"One {step}", f"Two {step}"]
            created = project.mutation("tasks:burst", project=parent, id=task, titles=titles, dues=[step])
            tasks[task]["status"] = "done"
            for each, title in zip(created, titles, strict=True):
                tasks[each] = {"project": parent, "title": title, "status": "open"}
        elif what == "cascade" and len(projects) > 1:
            parent = projects.pop()
            project.mutation("tasks:removeProject", id=parent)
            tasks = {each: task for each, task in tasks.items() if task["project"] != parent}
        stored = {each["_id"]: each for each in project.documents("tasks")}
        assert {
            each: {name: task[name] for name in ("project", "title", "status")} for each, task in stored.items()
        } == tasks
        assert all(task["slug"] == task["title"].lower().replace(" ", "-") for task in stored.values())
        for parent in projects:
            own = [task["status"] for task in tasks.values() if task["project"] == parent]
            assert counts(project, parent) == (len(own), own.count("open")), f"after step {step}: {what}"
