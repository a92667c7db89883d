"""Migrations whose steps are typed by the shapes before and after them, run in batches."""

# ruff: noqa: E501 (snippets of TypeScript)

import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, TypeChecks, same_schema, wait_until

USER_STEPS = ["splitName", "role", "noAdmin", "nick", "tags", "settings", "teamId"]
SHAPE_STEPS = ["label", "radius", "rect"]
Row = dict[str, Any]


def old_user(name: str, **more: Any) -> Row:
    return {"name": name, "team": None} | more


def bare(row: Row) -> Row:
    return {name: value for name, value in row.items() if not name.startswith("_")}


def rows(project: Deployment, table: str) -> list[Row]:
    return [bare(row) for row in project.documents(table)]


def user_step(step: str, user: Row) -> Row:
    user = dict(user)
    match step:
        case "splitName":
            words = user.pop("name").split()
            user |= {"firstName": words[0], "lastName": " ".join(words[1:])}
        case "role":
            user["role"] = "admin" if user.get("admin") is True else "member"
        case "noAdmin":
            user.pop("admin", None)
        case "nick":
            if "alias" in user:
                user["nick"] = user.pop("alias")
        case "tags":
            user["tags"] = []
        case "settings":
            user["settings"] = {"theme": "dark" if user.pop("theme", None) == "dark" else "light", "notify": True}
        case "teamId":
            user["teamId"] = user.pop("team")
    return user


def shape_step(step: str, shape: Row) -> Row:
    shape = dict(shape)
    match step:
        case "label":
            if "title" in shape:
                shape["label"] = shape.pop("title")
        case "radius" if shape["kind"] == "circle":
            shape |= {"radius": shape.pop("diameter") / 2, "label": shape.get("label", "circle")}
        case "rect" if shape["kind"] == "square":
            side = shape["side"]
            shape = {"kind": "rect", "width": side, "height": side, "label": shape.get("label", "square")}
    return shape


def upgraded(table: str, row: Row, after: int = 0) -> Row:
    steps, apply = (USER_STEPS, user_step) if table == "users" else (SHAPE_STEPS, shape_step)
    for step in steps[after:]:
        row = apply(step, row)
    return row


def random_user(chance: random.Random) -> Row:
    user = old_user(" ".join(chance.choice(["Ada", "Ben", "Cy"]) for _ in range(chance.randrange(1, 4))))
    for field, values in {"admin": [True, False], "alias": ["a", ""], "theme": ["dark", "bright"]}.items():
        if chance.random() < 0.6:
            user[field] = chance.choice(values)
    return user


def random_shape(chance: random.Random) -> Row:
    kinds: list[Row] = [
        {"kind": "circle", "diameter": 3},
        {"kind": "square", "side": 4},
        {"kind": "group", "members": []},
    ]
    return chance.choice(kinds) | ({"title": chance.choice(["", "big"])} if chance.random() < 0.5 else {})


def users_batch(project: Deployment, size: int, **more: Any) -> Row:
    return project.admin.mutation("migrations:usersBatch", batchSize=size, **more)


def shapes_batch(project: Deployment, size: int) -> Row:
    return project.admin.mutation("migrations:shapesBatch", batchSize=size)


def progress(project: Deployment, table: str) -> Row:
    return project.admin.query("migrations:progress", table=table)


def expected_progress(table: str, complete: int, processed: int = 0) -> Row:
    steps = USER_STEPS if table == "users" else SHAPE_STEPS
    return {
        "table": table,
        "completed": steps[:complete],
        "current": steps[complete] if complete < len(steps) else None,
        "processed": processed,
        "isDone": complete == len(steps),
    }


def test_the_tables_that_were_there_stay_as_they_are(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer, tables=["teams", "users", "shapes", "notes"])


def test_nothing_has_happened_at_first(project: Deployment) -> None:
    project.insert("users", old_user("Ada"))
    assert progress(project, "users") == expected_progress("users", 0)
    assert progress(project, "shapes") == expected_progress("shapes", 0)
    assert rows(project, "users") == [old_user("Ada")]


def test_one_step_after_the_other_goes_through_the_table_in_batches(project: Deployment) -> None:
    users = [old_user(f"Ada {number}", admin=number == 2) for number in range(5)]
    for user in users:
        project.insert("users", user)
    for complete, step in enumerate(USER_STEPS):
        for processed in (2, 4):
            received = users_batch(project, 2)
            assert received == expected_progress("users", complete, processed)
            assert progress(project, "users") == received
            after = [user_step(step, user) for user in users]
            assert rows(project, "users") == after[:processed] + users[processed:]
        users = after
        assert users_batch(project, 2) == expected_progress("users", complete + 1)
        assert rows(project, "users") == users
    assert users_batch(project, 2) == expected_progress("users", len(USER_STEPS))
    assert rows(project, "users") == users


def test_a_step_is_complete_with_its_last_document(project: Deployment) -> None:
    for number in range(4):
        project.insert("shapes", kind="circle", diameter=number)
    assert shapes_batch(project, 4) == expected_progress("shapes", 1)
    assert shapes_batch(project, 2) == expected_progress("shapes", 1, 2)
    assert shapes_batch(project, 2) == expected_progress("shapes", 2)
    assert shapes_batch(project, 100) == expected_progress("shapes", 3)
    assert [row["radius"] for row in rows(project, "shapes")] == [0, 0.5, 1, 1.5]


def test_the_steps_of_an_empty_table_take_one_call_each(project: Deployment) -> None:
    for complete in range(1, 4):
        assert shapes_batch(project, 3) == expected_progress("shapes", complete)
    assert shapes_batch(project, 3) == expected_progress("shapes", 3)


def test_documents_inserted_in_one_transaction_all_go_through_each_step(project: Deployment) -> None:
    project.insert_many("users", [old_user(f"Ada {number}") for number in range(30)])
    for _ in range(5):
        users_batch(project, 7)
    assert progress(project, "users") == expected_progress("users", 1)
    assert [row["lastName"] for row in rows(project, "users")] == [str(number) for number in range(30)]


def test_nothing_goes_beyond_the_step_that_is_named(project: Deployment) -> None:
    user = old_user("Ada Lovelace", alias="al", theme="dark")
    project.insert("users", user)
    for complete in (1, 2):
        assert users_batch(project, 5, upTo="role") == expected_progress("users", complete)
    assert users_batch(project, 5, upTo="role") == expected_progress("users", 2)
    assert rows(project, "users") == [user_step("role", user_step("splitName", user))]
    for complete in (3, 4):
        assert users_batch(project, 5, upTo="nick") == expected_progress("users", complete)
    assert users_batch(project, 5, upTo="role") == expected_progress("users", 4)
    for _ in range(3):
        users_batch(project, 5)
    assert rows(project, "users") == [upgraded("users", user)]


def test_the_system_fields_and_the_other_tables_stay_as_they_are(project: Deployment) -> None:
    project.insert("notes", text="a note")
    team = project.insert("teams", name="A", slug="a")
    for name in ("Ada", "Ben"):
        project.insert("users", old_user(name, team=team))
    before = project.documents("users")
    for _ in USER_STEPS:
        users_batch(project, 10)
    after = project.documents("users")
    assert [(row["_id"], row["_creationTime"]) for row in after] == [
        (row["_id"], row["_creationTime"]) for row in before
    ]
    assert [row["teamId"] for row in after] == [team, team]
    assert rows(project, "notes") == [{"text": "a note"}]
    assert progress(project, "shapes") == expected_progress("shapes", 0)


def test_a_step_that_throws_changes_nothing_and_is_tried_again(project: Deployment) -> None:
    users = [old_user("Ada"), old_user("Ben"), old_user("Cy"), old_user("  "), old_user("Dee")]
    ids = [project.insert("users", user) for user in users]
    assert users_batch(project, 2) == expected_progress("users", 0, 2)
    for _ in range(2):
        with project.fails("has no name"):
            users_batch(project, 2)
        assert progress(project, "users") == expected_progress("users", 0, 2)
        assert rows(project, "users") == [user_step("splitName", user) for user in users[:2]] + users[2:]
    users[3] = old_user("Eve")
    project.replace(ids[3], users[3])
    assert users_batch(project, 2) == expected_progress("users", 0, 4)
    assert users_batch(project, 2) == expected_progress("users", 1)
    assert rows(project, "users") == [user_step("splitName", user) for user in users]


@pytest.mark.parametrize("size", [0, -1, 1.5])
def test_a_batch_has_at_least_one_document(project: Deployment, size: float) -> None:
    project.insert("users", old_user("Ada"))
    with project.fails():
        project.admin.mutation("migrations:usersBatch", batchSize=size)
    assert progress(project, "users") == expected_progress("users", 0)
    with project.fails():  # of an empty table, too
        project.admin.mutation("migrations:shapesBatch", batchSize=size)
    assert progress(project, "shapes") == expected_progress("shapes", 0)


def test_all_batches_run_by_themselves(project: Deployment) -> None:
    chance = random.Random(7)
    users = [random_user(chance) for _ in range(5)]
    shapes = [random_shape(chance) for _ in range(4)]
    for user in users:
        project.insert("users", user)
    for shape in shapes:
        project.insert("shapes", shape)
    project.admin.mutation("migrations:runAll", batchSize=3)
    wait_until(lambda: progress(project, "shapes")["isDone"], "the last batch")
    assert rows(project, "users") == [upgraded("users", user) for user in users]
    assert rows(project, "shapes") == [upgraded("shapes", shape) for shape in shapes]


@pytest.mark.parametrize("seed", range(3))
def test_whatever_the_batches_each_document_goes_through_each_step_once(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    tables = {"users": [random_user(chance) for _ in range(6)], "shapes": [random_shape(chance) for _ in range(7)]}
    states = {"users": (0, 0), "shapes": (0, 0)}
    for table, documents in tables.items():
        for document in documents:
            project.insert(table, document)
    for _ in range(24):
        table = chance.choice(["users", "users", "shapes"])
        steps, apply = (USER_STEPS, user_step) if table == "users" else (SHAPE_STEPS, shape_step)
        size, up_to = chance.randrange(1, 9), chance.choice([None, None, "role", "nick", "settings"])
        complete, processed = states[table]
        if table == "users" and up_to is not None:
            received = users_batch(project, size, upTo=up_to)
            ended = complete > steps.index(up_to)
        else:
            received = users_batch(project, size) if table == "users" else shapes_batch(project, size)
            ended = complete == len(steps)
        if not ended:
            documents = tables[table]
            end = processed + size
            for number in range(processed, min(end, len(documents))):
                documents[number] = apply(steps[complete], documents[number])
            states[table] = (complete, end) if end < len(documents) else (complete + 1, 0)
        assert received == expected_progress(table, *states[table])
        assert rows(project, table) == tables[table]


def test_a_batch_reads_little_more_than_it_takes(project: Deployment) -> None:
    project.insert_many("users", [old_user(f"Ada {number}") for number in range(200)])
    for _ in range(3):
        with project.trace() as work:
            users_batch(project, 5)
        assert work.documents_read <= 15
    with project.trace() as work:
        progress(project, "users")
    assert work.documents_read <= 10


def test_documents_that_a_step_is_not_for_stay_as_they_are(project: Deployment) -> None:
    shapes: list[Row] = [
        {"kind": "group", "members": []},
        {"kind": "circle", "diameter": 2},
        {"kind": "square", "side": 3},
    ]
    ids = [project.insert("shapes", shape) for shape in shapes]
    shapes[0]["members"] = ids[1:]
    project.replace(ids[0], shapes[0])
    shapes_batch(project, 100)
    assert shapes_batch(project, 100) == expected_progress("shapes", 2)
    assert rows(project, "shapes") == [shapes[0], {"kind": "circle", "radius": 1, "label": "circle"}, shapes[2]]


def test_a_document_of_an_old_shape_is_upgraded_without_being_stored(project: Deployment) -> None:
    user_id = project.insert("users", old_user("Ada"))
    system = {"_id": user_id, "_creationTime": 5.5}
    base = {"firstName": "A", "lastName": "B", "role": "admin", "team": None}
    for more in ({"alias": "ab", "theme": "dark", "admin": False}, {"admin": True}, {}):
        received = project.admin.query("migrations:restored", user=base | more | system)
        assert received == upgraded("users", base | more, after=2) | system
    assert rows(project, "users") == [old_user("Ada")]


HEAD = """
import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { shapes, users } from "./chains";
import { migrations } from "./migrations";
import { defineMigrations, startFrom, type ShapeAfter, type ShapeOf, type StepOf } from "./lib/migrations";

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type IsOptional<T, K extends keyof T> = Record<never, never> extends Pick<T, K> ? true : false;
type IsAny<T> = 0 extends 1 & T ? true : false;
type Keys<T> = T extends unknown ? keyof T : never;
declare function yes<T extends true>(): T;
declare function no<T extends false>(): T;
declare const userId: Id<"users">;
declare const noteId: Id<"notes">;
declare const queryCtx: QueryCtx;
declare const mutationCtx: MutationCtx;

const notes = startFrom("notes", v.object({ text: v.string() }));
const jobs = startFrom("shapes", v.union(
  v.object({ kind: v.literal("circle"), radius: v.number(), label: v.string(), x: v.optional(v.string()) }),
  v.object({ kind: v.literal("group"), members: v.array(v.id("shapes")), y: v.number() }),
));
const people = startFrom("users", v.object({
  firstName: v.string(), lastName: v.string(), alias: v.optional(v.string()), teamId: v.nullable(v.id("teams")),
}));
const typical = people
  .rename("nick", "alias", "nick")
  .set("role", "role", () => "member")
  .map("rest", (doc) => ({ ...doc, tags: ["a"], settings: { theme: "dark", notify: false } }));
"""

COMPILES = {
    "the shapes of the given chains": """
type Final = ShapeOf<typeof users>;
yes<Equal<Final["role"], "admin" | "member">>();
yes<Equal<Final["settings"]["theme"], "light" | "dark">>();
yes<Equal<keyof Final, "firstName" | "lastName" | "role" | "nick" | "tags" | "settings" | "teamId">>();
yes<IsOptional<Final, "nick">>();
no<IsOptional<Final, "role">>();
no<IsAny<Final>>();
""",
    "the shape after a step in the middle": """
type Middle = ShapeAfter<typeof users, "role">;
yes<Equal<keyof Middle, "firstName" | "lastName" | "admin" | "alias" | "theme" | "team" | "role">>();
yes<IsOptional<Middle, "alias">>();
yes<Equal<keyof ShapeAfter<typeof users, "noAdmin">, "firstName" | "lastName" | "alias" | "theme" | "team" | "role">>();
yes<Equal<ShapeAfter<typeof users, "teamId">, ShapeOf<typeof users>>>();
""",
    "the names of the steps": """
yes<Equal<StepOf<typeof shapes>, "label" | "radius" | "rect">>();
const steps: readonly ["label", "radius", "rect"] = shapes.steps;
const none: readonly [] = notes.steps;
""",
    "a union stays a union": """
type Label = ShapeAfter<typeof shapes, "label">;
yes<Equal<Label["kind"], "circle" | "square" | "group">>();
yes<Equal<Extract<Label, { kind: "square" }>["side"], number>>();
yes<Equal<Keys<Label>, "kind" | "diameter" | "label" | "side" | "members">>();
function area(shape: ShapeOf<typeof shapes>): number {
  if (shape.kind === "circle") return shape.radius;
  if (shape.kind === "rect") return shape.width * shape.height;
  return shape.members.length;
}
""",
    "a spread document stays a union": """
const more = jobs.map("more", (doc) => ({ ...doc, done: true }));
type More = ShapeOf<typeof more>;
yes<Equal<Keys<More>, "kind" | "radius" | "label" | "x" | "members" | "y" | "done">>();
function use(more: More) { return more.kind === "circle" ? more.radius : more.members.length + more.y; }
""",
    "fields of some members can be dropped": """
const dropped = jobs.drop("clean", "x", "y");
yes<Equal<Keys<ShapeOf<typeof dropped>>, "kind" | "radius" | "label" | "members">>();
defineMigrations({ shapes: dropped });
""",
    "a field of one member is renamed": """
const renamed = jobs.rename("z", "x", "z");
type Circle = Extract<ShapeOf<typeof renamed>, { kind: "circle" }>;
type Group = Extract<ShapeOf<typeof renamed>, { kind: "group" }>;
yes<Equal<keyof Circle, "kind" | "radius" | "label" | "z">>();
yes<IsOptional<Circle, "z">>();
yes<Equal<keyof Group, "kind" | "members" | "y">>();
""",
    "each member gets the field that is set": """
const set = jobs.set("label", "label", (doc) => (doc.kind === "circle" ? doc.label : undefined));
type Circle = Extract<ShapeOf<typeof set>, { kind: "circle" }>;
yes<IsOptional<Circle, "label">>();
yes<Equal<Extract<ShapeOf<typeof set>, { kind: "group" }>["label"], string | undefined>>();
""",
    "literals fit the schema": "defineMigrations({ users: typical, notes });",
    "literals that are chosen fit the schema": """
const chosen = people
  .rename("nick", "alias", "nick")
  .set("role", "role", (doc) => (doc.lastName === "" ? "admin" : "member"))
  .set("tags", "tags", (doc) => [doc.firstName, "a"])
  .set("settings", "settings", (doc) => ({ theme: doc.role === "admin" ? "dark" : "light", notify: true }));
defineMigrations({ users: chosen });
""",
    "functions get the system fields": """
notes.map("a", (doc) => ({ text: doc._id === noteId ? "me" : `${doc._creationTime.toFixed()}` }));
shapes.only("b", "kind", "group", (doc) => { const id: Id<"shapes"> = doc._id; return { ...doc, members: [id] }; });
""",
    "system fields are no part of a shape": """
const mapped = notes.map("a", (doc) => ({ ...doc, pinned: true }));
yes<Equal<keyof ShapeOf<typeof mapped>, "text" | "pinned">>();
defineMigrations({ notes: mapped });
""",
    "a field that may be undefined is optional": """
const pinned = notes.set("pin", "pinned", (doc) => (doc.text === "" ? true : undefined));
yes<IsOptional<ShapeOf<typeof pinned>, "pinned">>();
defineMigrations({ notes: pinned });
""",
    "a step may return different shapes": """
const split = notes.map("a", (doc) => doc.text === "" ? { kind: "empty", n: 1 } : { kind: "full", text: doc.text });
function use(shape: ShapeOf<typeof split>): string | number { return shape.kind === "empty" ? shape.n : shape.text; }
const joined = startFrom("shapes", v.object({ size: v.number() })).map("a", ({ size }) =>
  size > 5 ? { kind: "circle", radius: size, label: "" } : { kind: "rect", width: size, height: size, label: "" });
defineMigrations({ shapes: joined });
""",
    "a step for one kind of document": """
const some = jobs.only("radius", "kind", "group", (doc) => { yes<Equal<keyof typeof doc, "kind" | "members" | "y" | "_id" | "_creationTime">>(); return { kind: "list", of: doc.members }; });
yes<Equal<ShapeOf<typeof some>["kind"], "circle" | "list">>();
""",
    "an old document": """
const upgraded = users.upgrade({ _id: userId, _creationTime: 1, name: "Ada", team: null });
const role: "member" | "admin" = upgraded.role;
const id: Id<"users"> = upgraded._id;
const user: Doc<"users"> = upgraded;
const again: Doc<"users"> = users.upgrade(upgraded, "teamId");
""",
    "progress": """
export async function run() {
  const { completed, current, table, isDone, processed } = await migrations.progress(queryCtx, "shapes");
  const names: readonly ("label" | "radius" | "rect")[] = completed;
  const name: "label" | "radius" | "rect" | null = current;
  const known: "shapes" = table;
  const next = await migrations.runBatch(mutationCtx, "users", { batchSize: 5, upTo: "tags" });
  yes<Equal<typeof next.current, StepOf<typeof users> | null>>();
  await migrations.progress(mutationCtx, "users");
  await migrations.runBatch(mutationCtx, "shapes", { batchSize: 5, upTo: undefined });
}
""",
    "chains do not change": """
const first = notes.set("a", "x", () => 1);
const second = notes.set("a", "y", () => 2);
yes<Equal<keyof ShapeOf<typeof first>, "text" | "x">>();
""",
}

REFUSED = {
    "a table that is not in the schema": 'startFrom("note", v.object({ text: v.string() }));',
    "a shape that is no object": 'startFrom("notes", v.array(v.string()));',
    "the name of an earlier step": 'notes.set("a", "x", () => 1).drop("b", "text").set("a", "y", () => 2);',
    "dropping a field that no member has": 'jobs.drop("clean", "x", "z");',
    "dropping a field that is gone": 'jobs.drop("clean", "x").drop("again", "x");',
    "renaming a field that no member has": 'jobs.rename("a", "z", "q");',
    "renaming to a field of the same member": 'jobs.rename("a", "x", "label");',
    "renaming to a field of another member": 'jobs.rename("a", "x", "y");',
    "renaming to a system field": 'jobs.rename("a", "x", "_id");',
    "setting a system field": 'notes.set("a", "_creationTime", () => 1);',
    "using a field that was renamed": 'notes.rename("a", "text", "body").set("b", "length", (doc) => doc.text.length);',
    "using a field of another member": 'jobs.set("a", "n", (doc) => doc.radius);',
    "a tag that no member has": 'jobs.only("a", "kind", "rect", (doc) => doc);',
    "using another member's field in a step for one": 'jobs.only("a", "kind", "group", (doc) => ({ n: doc.radius }));',
    "the ID of another table": 'notes.map("a", (doc) => { const id: Id<"users"> = doc._id; return { id }; });',
    "a value that Convex cannot store": 'notes.set("a", "x", () => new Date());',
    "a literal that the schema does not know": 'defineMigrations({ users: typical.set("again", "role", () => "owner") });',
    "a literal deep inside that the schema does not know": 'defineMigrations({ users: typical.set("again", "settings", () => ({ theme: "blue", notify: false })) });',
    "a missing field": 'defineMigrations({ users: typical.drop("last", "tags") });',
    "a field that the schema does not know": 'defineMigrations({ users: typical.set("more", "extra", () => 1) });',
    "a field that one member of the schema does not know": 'defineMigrations({ shapes: jobs.drop("clean", "x") });',
    "an optional field that the schema requires": 'defineMigrations({ shapes: jobs.drop("clean", "x", "y").set("a", "label", (doc) => doc.kind === "circle" ? doc.label : undefined) });',
    "an optional field that the schema requires after a renaming": 'defineMigrations({ notes: startFrom("notes", v.object({ body: v.optional(v.string()) })).rename("a", "body", "text") });',
    "a chain under another name": 'defineMigrations({ teams: notes });',
    "a step of another table": 'migrations.runBatch(mutationCtx, "users", { batchSize: 5, upTo: "radius" });',
    "a table that is not in the registry": 'migrations.progress(queryCtx, "notes");',
    "a batch in a query": 'migrations.runBatch(queryCtx, "users", { batchSize: 5, upTo: "tags" });',
    "a document of another shape": 'users.upgrade({ _id: userId, _creationTime: 1, name: 5, team: null });',
    "an old document said to be newer": 'users.upgrade({ _id: userId, _creationTime: 1, name: "Ada", team: null }, "splitName");',
    "a step that is not in the chain": 'type Wrong = ShapeAfter<typeof users, "rect">;',
    "another order of the names": 'const steps: readonly ["radius", "label", "rect"] = shapes.steps;',
}  # fmt: skip
SNIPPETS = {name: HEAD + text for name, text in (COMPILES | REFUSED).items()}
# What the refused ones differ from, so that they are refused for one reason only.
SNIPPETS["nothing"] = HEAD


@pytest.mark.parametrize("name", COMPILES)
def test_this_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_this_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    errors = type_checks.errors(SNIPPETS)
    assert errors["nothing"] == ()
    assert errors[name] != ()
