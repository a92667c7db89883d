"""Patches with paths into documents: what they do, and which of them compile."""

import copy
import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Int64, TypeChecks, without

Fields = dict[str, Any]
NOTHING = object()


def project_of(lead: str, **fields: Any) -> Fields:
    return {
        "name": "bridge",
        "status": "active",
        "priority": 2,
        "limit": None,
        "leadId": lead,
        "owner": {"name": "Ada"},
        "tags": ["a"],
        "milestones": [{"title": "plan", "done": False}, {"title": "build", "done": False, "points": 3}],
        "members": {lead: {"role": "writer", "hours": 4}},
        "counters": {"views": 7},
        "links": {},
        **fields,
    }


def user_of(name: str = "Ada", **fields: Any) -> Fields:
    return {"name": name, "credits": Int64(5), **fields}


def op(name: str, path: str, value: Any = NOTHING) -> Fields:
    extra = {} if value is NOTHING else {"by" if name == "increment" else "value": value}
    return {"op": name, "path": path, **extra}


def apply(project: Deployment, table: str, id: str, *operations: Fields) -> Fields:
    assert project.mutation("documents:apply", table=table, id=id, operations=list(operations)) is None
    return fields_of(project, id)


def fields_of(project: Deployment, id: str) -> Fields:
    found: Fields = without(project.get(id))
    return found


@pytest.fixture
def lead(project: Deployment) -> str:
    return project.insert("users", user_of())


def test_each_operation_changes_what_its_path_leads_to(project: Deployment, lead: str) -> None:
    before = project_of(lead, budget=10, labels=["x"])
    id = project.insert("projects", before)
    received = apply(
        project,
        "projects",
        id,
        op("expect", "status", "active"),
        op("set", "owner.address", {"city": "Oslo"}),
        op("set", "owner.address.zip", "0150"),
        op("set", "milestones.1.done", True),
        op("increment", f"members.{lead}.hours", 2.5),
        op("push", "tags", "urgent"),
        op("push", "tags", "late"),
        op("unset", "budget"),
        op("unset", "milestones.1.points"),
        op("set", "limit", 5),
        op("set", "milestones.0", {"title": "think", "done": True}),
    )
    assert received == project_of(
        lead,
        labels=["x"],
        owner={"name": "Ada", "address": {"city": "Oslo", "zip": "0150"}},
        milestones=[{"title": "think", "done": True}, {"title": "build", "done": True}],
        members={lead: {"role": "writer", "hours": 6.5}},
        tags=["a", "urgent", "late"],
        limit=5,
    )


def test_numbers_and_arrays_that_are_absent_begin_empty(project: Deployment, lead: str) -> None:
    id = project.insert("projects", project_of(lead))
    received = apply(
        project,
        "projects",
        id,
        op("increment", "budget", 5),
        op("increment", "counters.clicks", 2),
        op("increment", "counters.clicks", -3),
        op("increment", "milestones.0.points", 1),
        op("push", "labels", "x"),
        op("push", "links.home", "https://a.example"),
    )
    expected = project_of(lead, budget=5, labels=["x"], counters={"views": 7, "clicks": -1})
    expected["links"] = {"home": ["https://a.example"]}
    expected["milestones"][0]["points"] = 1
    assert received == expected


def test_entries_of_records_come_and_go(project: Deployment, lead: str) -> None:
    other = project.insert("users", user_of("Ben"))
    id = project.insert("projects", project_of(lead, counters={"a": 1, "b": 2}))
    received = apply(
        project,
        "projects",
        id,
        op("unset", f"members.{lead}"),
        op("set", f"members.{other}", {"role": "reader", "hours": 0, "note": "new"}),
        op("unset", f"members.{other}.note"),
        op("unset", "counters.a"),
        op("unset", "counters.none"),
        op("unset", "budget"),
    )
    assert received == project_of(lead, members={other: {"role": "reader", "hours": 0}}, counters={"b": 2})


def test_bigints_are_incremented_by_bigints(project: Deployment, lead: str) -> None:
    assert apply(project, "users", lead, op("increment", "credits", Int64(2**60))) == user_of(credits=Int64(2**60 + 5))
    for by in (1, 0.5):
        with project.fails(data={"code": "NOT_A_NUMBER", "path": "credits"}):
            apply(project, "users", lead, op("increment", "credits", by))
    id = project.insert("projects", project_of(lead))
    with project.fails(data={"code": "NOT_A_NUMBER", "path": "counters.views"}):
        apply(project, "projects", id, op("increment", "counters.views", Int64(1)))


def test_expectations_are_about_the_stored_document(project: Deployment, lead: str) -> None:
    id = project.insert("projects", project_of(lead, owner={"name": "Ada", "address": {"city": "Rome", "zip": "1"}}))
    received = apply(
        project,
        "projects",
        id,
        op("set", "name", "tunnel"),
        op("set", "owner.address.city", "Oslo"),
        op("expect", "name", "bridge"),
        op("expect", "owner.address", {"zip": "1", "city": "Rome"}),
        op("expect", "owner.email"),
        op("expect", "counters.none"),
        op("expect", "milestones.7.title"),
        op("expect", "_id", id),
        op("expect", f"members.{lead}.hours", 4),
        op("expect", "limit", None),
    )
    assert received["name"] == "tunnel"
    assert received["owner"]["address"] == {"city": "Oslo", "zip": "1"}


def test_all_conflicts_are_reported_and_nothing_is_written(project: Deployment, lead: str) -> None:
    before = project_of(lead)
    id = project.insert("projects", before)
    with project.fails(data={"code": "CONFLICT", "paths": ["limit", "status", "budget", "tags", "owner.name"]}):
        apply(
            project,
            "projects",
            id,
            op("expect", "limit"),
            op("set", "name", "tunnel"),
            op("expect", "name", "bridge"),
            op("expect", "status", "archived"),
            op("expect", "budget", 5),
            op("set", "nothing.here", 1),
            op("expect", "tags", ["a", "b"]),
            op("expect", "owner.name"),
        )
    assert fields_of(project, id) == before


def test_bytes_and_bigints_are_compared_by_value(project: Deployment) -> None:
    id = project.insert("users", user_of(avatar=b"abc"))
    same = [op("expect", "avatar", b"abc"), op("expect", "credits", Int64(5))]
    assert apply(project, "users", id, *same, op("set", "avatar", b"abd"))["avatar"] == b"abd"
    with project.fails(data={"code": "CONFLICT", "paths": ["avatar"]}):
        apply(project, "users", id, *same)
    with project.fails(data={"code": "CONFLICT", "paths": ["credits"]}):
        apply(project, "users", id, op("expect", "credits", 5))


@pytest.mark.parametrize(
    "operation",
    [
        op("set", "owner.address.city", "Oslo"),
        op("set", "members.nobody.hours", 1),
        op("unset", "owner.address.zip"),
        op("increment", "name.length", 1),
        op("increment", "limit.more", 1),
        op("set", "milestones.2", {"title": "late", "done": False}),
        op("set", "milestones.2.done", True),
        op("set", "milestones.first.done", True),
        op("set", "tags.length", 0),
        op("unset", "milestones.0"),
        op("set", "_creationTime", 5),
        op("push", "links.a.b", "x"),
    ],
    ids=lambda operation: f"{operation['op']} {operation['path']}",
)
def test_a_place_that_is_not_there_cannot_be_changed(project: Deployment, lead: str, operation: Fields) -> None:
    before = project_of(lead)
    id = project.insert("projects", before)
    with project.fails(data={"code": "NO_SUCH_PATH", "path": operation["path"]}):
        apply(project, "projects", id, op("set", "name", "tunnel"), operation)
    assert fields_of(project, id) == before


def test_only_numbers_are_incremented_and_only_arrays_pushed_to(project: Deployment, lead: str) -> None:
    before = project_of(lead)
    id = project.insert("projects", before)
    for path in ("limit", "name", "tags", "owner", "milestones.0.done"):
        with project.fails(data={"code": "NOT_A_NUMBER", "path": path}):
            apply(project, "projects", id, op("increment", path, 1))
    for path in ("limit", "name", "owner", "counters", "milestones.0"):
        with project.fails(data={"code": "NOT_AN_ARRAY", "path": path}):
            apply(project, "projects", id, op("push", path, "x"))
    assert fields_of(project, id) == before


def test_a_patch_is_written_once_or_not_at_all(project: Deployment, lead: str) -> None:
    id = project.insert("projects", project_of(lead))
    with project.trace() as work:
        apply(project, "projects", id, op("set", "name", "a"), op("push", "tags", "b"), op("set", "limit", 5))
    assert work.documents_written == 1
    with project.trace() as work:
        apply(project, "projects", id, op("expect", "name", "a"))
    assert work.documents_written == 0
    with project.fails():
        apply(project, "projects", id, op("set", "name", "b"), op("set", "priority", 4))
    assert fields_of(project, id)["name"] == "a"


def test_documents_that_are_not_there_are_not_found(project: Deployment, lead: str) -> None:
    id = project.insert("projects", project_of(lead))
    project.delete("projects", id)
    for missing in (id, lead, "nonsense"):
        with project.fails(data={"code": "NOT_FOUND"}):
            apply(project, "projects", missing, op("expect", "name", "a"))
        with project.fails(data={"code": "NOT_FOUND"}):
            project.query("documents:compare", table="projects", before=missing, after=missing)


def test_hours_are_logged_for_members_of_active_projects(project: Deployment, lead: str) -> None:
    other = project.insert("users", user_of("Ben"))
    id = project.insert("projects", project_of(lead))
    assert project.mutation("projects:logHours", projectId=id, userId=lead, hours=1.5) == 5.5
    assert project.mutation("projects:logHours", projectId=id, userId=lead, hours=2) == 7.5
    assert fields_of(project, id)["counters"] == {"views": 7, "entries": 2}
    with project.fails(data={"code": "NO_SUCH_PATH", "path": f"members.{other}.hours"}):
        project.mutation("projects:logHours", projectId=id, userId=other, hours=1)
    apply(project, "projects", id, op("set", "status", "archived"))
    with project.fails(data={"code": "CONFLICT", "paths": ["status"]}):
        project.mutation("projects:logHours", projectId=id, userId=lead, hours=1)
    assert fields_of(project, id)["counters"] == {"views": 7, "entries": 2}


def test_a_difference_is_as_deep_as_possible(project: Deployment, lead: str) -> None:
    other = project.insert("users", user_of("Ben"))
    old = project_of(lead, budget=1, owner={"name": "Ada", "email": "a@a.example", "address": {"city": "Rome"}})
    new = project_of(
        lead,
        owner={"name": "Ada", "address": {"city": "Oslo", "zip": "1"}},
        tags=["a", "b"],
        members={lead: {"role": "reader", "hours": 4}, other: {"role": "reader", "hours": 0}},
        counters={},
        limit=5,
    )
    before, after = project.insert("projects", old), project.insert("projects", new)
    operations = project.query("documents:compare", table="projects", before=before, after=after)
    pairs = list(zip(operations[::2], operations[1::2], strict=True))
    assert sorted(pairs, key=lambda pair: str(pair[0]["path"])) == sorted(
        [
            (op("expect", "budget", 1), op("unset", "budget")),
            (op("expect", "owner.email", "a@a.example"), op("unset", "owner.email")),
            (op("expect", "owner.address.city", "Rome"), op("set", "owner.address.city", "Oslo")),
            (op("expect", "owner.address.zip"), op("set", "owner.address.zip", "1")),
            (op("expect", "tags", ["a"]), op("set", "tags", ["a", "b"])),
            (op("expect", f"members.{lead}.role", "writer"), op("set", f"members.{lead}.role", "reader")),
            (op("expect", f"members.{other}"), op("set", f"members.{other}", {"role": "reader", "hours": 0})),
            (op("expect", "counters.views", 7), op("unset", "counters.views")),
            (op("expect", "limit", None), op("set", "limit", 5)),
        ],
        key=lambda pair: str(pair[0]["path"]),
    )
    twin = project.insert("projects", old)
    assert project.query("documents:compare", table="projects", before=before, after=twin) == []


def random_document(chance: random.Random, users: list[str]) -> tuple[str, Fields]:
    table = chance.choice(["projects", "shapes", "users"])
    if table == "users":
        extra = {"email": "e", "avatar": bytes([chance.randrange(2)])}
        return table, user_of(chance.choice("ab"), credits=Int64(chance.randrange(3)), **some(chance, extra))
    if table == "shapes":
        if chance.random() < 0.5:
            fields = {"kind": "circle", "radius": chance.randrange(2), "mark": 1}
            return table, fields | some(chance, {"label": "l", "fill": "red"})
        size = {"width": chance.randrange(2), "height": 1}
        fill = {"color": chance.choice(["red", "blue"]), **some(chance, {"opacity": 0.5})}
        return table, {"kind": "box", "label": "l", "size": size, "mark": "m", **some(chance, {"fill": fill})}
    address = {"city": chance.choice(["Rome", "Oslo"]), **some(chance, {"zip": "1"})}
    owner = {"name": "Ada", **some(chance, {"email": "e", "address": address})}
    members = {user: {"role": "reader", "hours": chance.randrange(2), **some(chance, {"note": "n"})} for user in users}
    return table, project_of(
        users[0],
        owner=owner,
        tags=chance.sample("abc", chance.randrange(3)),
        members=some(chance, members),
        counters=some(chance, {"x": chance.randrange(2), "y": 1}),
        links=some(chance, {"x": ["a"], "y": []}),
        limit=chance.choice([None, 1]),
        **some(chance, {"budget": 5, "labels": chance.choice([[], ["a"]])}),
    )


def some(chance: random.Random, fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if chance.random() < 0.6}


@pytest.mark.parametrize("seed", range(4))
def test_a_difference_makes_one_document_into_the_other(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    users = project.insert_many("users", [user_of("Ada"), user_of("Ben")])
    for _ in range(12):
        table, old = random_document(chance, users)
        new = old
        while new is old:
            other, candidate = random_document(chance, users)
            new = candidate if other == table else old
        before, after = project.insert_many(table, [old, new])
        operations = project.query("documents:compare", table=table, before=before, after=after)
        assert apply(project, table, before, *copy.deepcopy(operations)) == new
        assert project.query("documents:compare", table=table, before=before, after=after) == []
        if operations:
            with project.fails() as failure:
                apply(project, table, before, *operations)
            paths = [each["path"] for each in operations if each["op"] == "expect"]
            assert failure.data == {"code": "CONFLICT", "paths": paths}


def test_clients_can_call_three_functions(project: Deployment, lead: str) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    kinds = {"documents:apply": "mutation", "documents:compare": "query", "projects:logHours": "mutation"}
    assert public == kinds
    id = project.insert("projects", project_of(lead))
    wrong: list[Any] = [
        {"op": "drop", "path": "name"},
        {"op": "set", "path": 5, "value": 1},
        {"op": "increment", "path": "budget", "by": "1"},
        {"op": "unset", "path": "budget", "more": 1},
        {"op": "increment", "path": "budget"},
    ]
    for each in wrong:
        with project.fails("ArgumentValidationError"):
            project.mutation("documents:apply", table="projects", id=id, operations=[each])
    with project.fails("ArgumentValidationError"):
        project.mutation("documents:apply", table="teams", id=id, operations=[])
    with project.fails("ArgumentValidationError"):
        project.query("documents:compare", table="teams", before=id, after=id)
    with project.fails("ArgumentValidationError"):
        project.mutation("projects:logHours", projectId=id, userId=id, hours=1)


START = """import type { Doc, Id, TableNames } from "./_generated/dataModel";
import type { MutationCtx } from "./_generated/server";
import { applyPatch, at, diff, patch, type Patch, type ValueAt } from "./lib/patches";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
declare const ctx: MutationCtx;
declare const userId: Id<"users">;
declare const projectId: Id<"projects">;
declare const index: number;
declare const key: string;
declare const user: Doc<"users">;
declare const project: Doc<"projects">;
declare const shape: Doc<"shapes">;
declare const maybe: number | undefined;
"""


def on(table: str, call: str) -> str:
    return f'export const change: Patch<"{table}"> = patch("{table}").{call};'


def same(table: str, path: str, type: str) -> str:
    return f'export const same: Same<ValueAt<"{table}", "{path}">, {type}> = true;'


GENERIC = """export async function all<T extends TableNames>(table: T, id: Id<T>, change: Patch<T>, a: Doc<T>) {
  await applyPatch(ctx, id, change);
  await applyPatch(ctx, id, diff(table, a, a));
}"""

# Each with what compiles, and what does not, which differs in one detail.
PAIRS: dict[str, tuple[str, str]] = {
    "set a field": (on("projects", 'set("owner.name", "Ada")'), on("projects", 'set("owner.name", 5)')),
    "set one of a union of literals": (
        on("projects", 'set("status", "archived")'),
        on("projects", 'set("status", "done")'),
    ),
    "set through an optional field": (
        on("projects", 'set("owner.address.zip", "1")'),
        on("projects", 'set("owner.address.code", "1")'),
    ),
    "set an optional field, but not to undefined": (
        on("projects", 'set("budget", 5)'),
        on("projects", 'set("budget", undefined)'),
    ),
    "set an entry, but not to what may be undefined": (
        on("projects", 'set("counters.a", maybe ?? 0)'),
        on("projects", 'set("counters.a", maybe)'),
    ),
    "set null only where it is allowed": (on("projects", 'set("limit", null)'), on("projects", 'set("budget", null)')),
    "set a whole object, and no fields that there are not": (
        on("projects", 'set("owner", { name: "a", email: "b" })'),
        on("projects", 'set("owner", { name: "a", mail: "b" })'),
    ),
    "set an element of an array": (
        on("projects", "set(`milestones.${index}.done`, true)"),
        on("projects", "set(`milestones.${key}.done`, true)"),
    ),
    "set the length of an array": (on("projects", 'set("tags.0", "a")'), on("projects", 'set("tags.length", 0)')),
    "set a field of an entry under an ID": (
        on("projects", "set(`members.${userId}.hours`, 5)"),
        on("projects", "set(`members.${userId}.minutes`, 5)"),
    ),
    "set an entry under an ID": (
        on("projects", 'set(`members.${userId}`, { role: "reader", hours: 0 })'),
        on("projects", 'set(`members.${userId}`, { role: "owner", hours: 0 })'),
    ),
    "set an ID of the right table": (
        on("projects", 'set("leadId", userId)'),
        on("projects", 'set("leadId", projectId)'),
    ),
    "set inside a string": (on("projects", 'set("name", "a")'), on("projects", 'set("name.length", 1)')),
    "set a system field": (on("users", 'set("credits", 5n)'), on("users", 'set("_creationTime", 5)')),
    "set a field of one variant": (on("shapes", 'set("size.width", 5)'), on("shapes", 'set("size.depth", 5)')),
    "set what has another type in each variant": (
        on("shapes", 'set("mark", 5).set("mark", "a").set("fill", "red").set("fill", { color: "red" })'),
        on("shapes", 'set("mark", 5).set("mark", "a").set("fill", "red").set("fill", { colour: "red" })'),
    ),
    "set inside one of the types of a field": (
        on("shapes", 'set("fill.color", "red")'),
        on("shapes", 'set("fill.name", "red")'),
    ),
    "unset an optional field": (on("projects", 'unset("budget")'), on("projects", 'unset("name")')),
    "unset an optional field of an optional field": (
        on("projects", 'unset("owner.address.zip")'),
        on("projects", 'unset("owner.address.city")'),
    ),
    "unset what may be null": (on("projects", 'unset("labels")'), on("projects", 'unset("limit")')),
    "unset an entry": (on("projects", "unset(`members.${userId}`)"), on("projects", 'unset("members")')),
    "unset a field of an entry": (
        on("projects", "unset(`members.${userId}.note`)"),
        on("projects", "unset(`members.${userId}.role`)"),
    ),
    "unset a field of an entry under a literal key": (
        on("projects", 'unset("members.x.note")'),
        on("projects", 'unset("members.x.role")'),
    ),
    "unset inside a number of a record": (
        on("projects", 'unset("counters.a")'),
        on("projects", 'unset("counters.a.b")'),
    ),
    "unset an element of an array": (
        on("projects", 'unset("milestones.0.points")'),
        on("projects", 'unset("milestones.0")'),
    ),
    "unset what is optional in every variant that has it": (
        on("shapes", 'unset("fill")'),
        on("shapes", 'unset("label")'),
    ),
    "unset what only one variant has": (on("shapes", 'unset("fill.opacity")'), on("shapes", 'unset("radius")')),
    "increment a number": (on("projects", 'increment("budget", 1)'), on("projects", 'increment("budget", 1n)')),
    "increment a bigint": (on("users", 'increment("credits", 1n)'), on("users", 'increment("credits", 1)')),
    "increment what may be null": (on("projects", 'increment("budget", 1)'), on("projects", 'increment("limit", 1)')),
    "increment one of certain numbers": (
        on("projects", 'increment("milestones.0.points", 1)'),
        on("projects", 'increment("priority", 1)'),
    ),
    "increment an entry": (
        on("projects", "increment(`counters.${key}`, 1)"),
        on("projects", "increment(`links.${key}`, 1)"),
    ),
    "increment inside an entry": (
        on("projects", 'increment("members.x.hours", 1)'),
        on("projects", 'increment("counters.x.hours", 1)'),
    ),
    "increment a number of one variant": (on("shapes", 'increment("radius", 1)'), on("shapes", 'increment("mark", 1)')),
    "push an element": (on("projects", 'push("tags", "a")'), on("projects", 'push("tags", 1)')),
    "push to an optional array": (on("projects", 'push("labels", "a")'), on("projects", 'push("name", "a")')),
    "push an object": (
        on("projects", 'push("milestones", { title: "a", done: false })'),
        on("projects", 'push("milestones", { title: "a" })'),
    ),
    "push to an array in a record": (
        on("projects", 'push("links.home", "a")'),
        on("projects", 'push("links.home.first", "a")'),
    ),
    "expect a value": (on("projects", 'expect("status", "active")'), on("projects", 'expect("status", "gone")')),
    "expect nothing": (on("projects", 'expect("budget", undefined)'), on("projects", 'expect("name", undefined)')),
    "expect nothing behind an optional field": (
        on("projects", 'expect("owner.address.city", undefined)'),
        on("projects", 'expect("owner.name", undefined)'),
    ),
    "expect nothing where another variant has nothing": (
        on("shapes", 'expect("radius", undefined)'),
        on("shapes", 'expect("kind", undefined)'),
    ),
    "expect a system field": (on("users", 'expect("_id", userId)'), on("users", 'expect("_id", projectId)')),
    "ValueAt of a field": (
        same("projects", "owner.name", "string"),
        same("projects", "owner.name", "string | undefined"),
    ),
    "ValueAt through an optional field": (
        same("projects", "owner.address.city", "string | undefined"),
        same("projects", "owner.address.city", "string"),
    ),
    "ValueAt of an entry": (
        same("projects", "counters.a", "number | undefined"),
        same("projects", "counters.a", "number"),
    ),
    "ValueAt through an element": (
        same("projects", "milestones.0.done", "boolean | undefined"),
        same("projects", "milestones.0.done", "boolean"),
    ),
    "ValueAt in all variants": (same("shapes", "mark", "string | number"), same("shapes", "mark", "string")),
    "ValueAt in one variant": (
        same("shapes", "size.width", "number | undefined"),
        same("shapes", "size.width", "number"),
    ),
    "ValueAt of an ID": (same("projects", "leadId", 'Id<"users">'), same("projects", "leadId", "string")),
    "ValueAt of a wrong path": (same("projects", "owner.nam", "never"), same("projects", "owner.name", "never")),
    "at a document": (
        'export const lead: Id<"users"> = at(project, "leadId");',
        'export const lead: Id<"users"> = at(project, "leader");',
    ),
    "at a narrowed document": (
        'export const radius: number = shape.kind === "circle" ? at(shape, "radius") : 0;',
        'export const radius: number = at(shape, "radius");',
    ),
    "at a place that a narrowed document does not have": (
        'export const width: number | undefined = shape.kind === "box" ? at(shape, "size.width") : 0;',
        'export const width: number | undefined = shape.kind === "circle" ? at(shape, "size.width") : 0;',
    ),
    "apply to a document of the same table": (
        'export const done: Promise<void> = applyPatch(ctx, projectId, patch("projects").push("tags", "a"));',
        'export const done: Promise<void> = applyPatch(ctx, userId, patch("projects").push("tags", "a"));',
    ),
    "the difference of two documents of the table": (
        'export const change: Patch<"projects"> = diff("projects", project, project);',
        'export const change: Patch<"projects"> = diff("projects", project, user);',
    ),
    "a patch of another table": (
        'export const change: Patch<"users"> = patch("users");',
        'export const change: Patch<"users"> = patch("projects");',
    ),
    "generic code": (GENERIC, GENERIC.replace("change: Patch<T>", 'change: Patch<"users">')),
}
COMPILES = {f"{name}: right": START + right for name, (right, _) in PAIRS.items()}
REFUSED = {f"{name}: wrong": START + wrong for name, (_, wrong) in PAIRS.items()}
BATCH = 10


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_right_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES)[f"{name}: right"] == ()


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_wrong_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert errors_of_wrong(type_checks, f"{name}: wrong") != (), PAIRS[name][1]


def errors_of_wrong(type_checks: TypeChecks, name: str) -> tuple[str, ...]:
    """In batches, and alone if there are none: of a very long output of the compiler, the middle is not told."""
    start = [*REFUSED].index(name) // BATCH * BATCH
    batch = dict([*REFUSED.items()][start : start + BATCH])
    return type_checks.errors(batch)[name] or type_checks.errors({name: REFUSED[name]})[name]
