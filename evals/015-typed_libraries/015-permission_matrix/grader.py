"""A matrix of permissions: who may do and see what, and what the types say about it."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Int64, TypeChecks

Fields = dict[str, Any]
Condition = Callable[[Fields, str | None, str], bool]

LINEAGES = {
    "guest": ["guest"],
    "member": ["member", "guest"],
    "editor": ["editor", "member", "guest"],
    "auditor": ["auditor", "guest"],
    "admin": ["admin", "editor", "member", "guest", "auditor"],
}
ROLES = list(LINEAGES)


def always(document: Fields, user: str | None, role: str) -> bool:
    return True


def is_author(document: Fields, user: str | None, role: str) -> bool:
    return bool(document["authorId"] == user)


def is_owner(document: Fields, user: str | None, role: str) -> bool:
    return bool(document["ownerId"] == user)


# What convex/permissions.ts says.
ACTIONS: dict[str, dict[str, dict[str, Condition]]] = {
    "users": {
        "read": {"member": always},
        "edit": {"member": lambda document, user, _: document["_id"] == user, "admin": always},
        "delete": {"admin": lambda document, user, _: document["_id"] != user},
    },
    "posts": {
        "read": {
            "guest": lambda document, *_: document["status"] == "published",
            "member": is_author,
            "editor": always,
            "auditor": always,
        },
        "edit": {
            "member": lambda document, user, _: document["authorId"] == user and document["status"] == "draft",
            "editor": always,
        },
        "delete": {"admin": always},
        "publish": {"editor": lambda document, *_: document["status"] == "draft"},
    },
    "comments": {
        "read": {"guest": lambda document, *_: not document["hidden"], "editor": always, "auditor": always},
        "edit": {"member": is_author},
        "delete": {"member": is_author, "editor": lambda document, _, role: document["hidden"] or role == "admin"},
        "hide": {"editor": lambda document, *_: not document["hidden"]},
    },
    "files": {
        "read": {
            "guest": lambda document, *_: document["kind"] == "image" and document["width"] <= 800,
            "member": is_owner,
            "auditor": lambda document, *_: document["kind"] == "image" or document.get("secret") is not True,
        },
        "edit": {"member": is_owner},
        "delete": {"member": is_owner},
        "publish": {},
    },
}
FIELDS: dict[str, dict[str, list[str] | None]] = {  # None is all of them
    "users": {"member": ["_id", "name"], "auditor": ["role"], "admin": None},
    "posts": {
        "guest": ["title", "body"],
        "member": ["_id", "authorId", "status"],
        "editor": ["reviewNote"],
        "auditor": ["_creationTime", "score"],
        "admin": None,
    },
    "comments": {"guest": ["text"], "member": ["authorId", "postId"], "editor": None},
    "files": {"guest": ["kind", "url"], "member": ["width"], "auditor": ["pages", "secret"]},
}


def allowed(table: str, document: Fields, user: str | None, role: str) -> list[str]:
    return [
        action
        for action, rules in ACTIONS[table].items()
        if any(each in rules and rules[each](document, user, role) for each in LINEAGES[role])
    ]


def seen(table: str, document: Fields, role: str) -> Fields:
    lists = [FIELDS[table][each] for each in LINEAGES[role] if each in FIELDS[table]]
    return {name: value for name, value in document.items() if any(list is None or name in list for list in lists)}


def shown(table: str, document: Fields, user: str | None, role: str) -> Fields | None:
    return seen(table, document, role) if "read" in allowed(table, document, user, role) else None


@pytest.fixture
def users(project: Deployment) -> dict[str, str]:
    """The ID of a user of each role, whose subject is the name of the role."""
    documents = [{"subject": role, "name": role.title(), "role": role} for role in ROLES]
    documents[2]["email"] = "e@e.example"
    return dict(zip(ROLES, project.insert_many("users", documents), strict=True))


def post(author: str, **fields: Any) -> Fields:
    return {"authorId": author, "title": "t", "body": "b", "status": "draft", "score": 1, **fields}


def files(owner: str) -> list[Fields]:
    pages = [{"title": "one", "words": Int64(7)}]
    return [
        {"kind": "image", "ownerId": owner, "url": "u", "width": 800},
        {"kind": "image", "ownerId": owner, "url": "u", "width": 801, "camera": "c"},
        {"kind": "report", "ownerId": owner, "url": "u", "pages": pages},
        {"kind": "report", "ownerId": owner, "url": "u", "pages": [], "secret": False},
        {"kind": "report", "ownerId": owner, "url": "u", "pages": pages, "secret": True},
    ]


def fill(project: Deployment, users: dict[str, str], chance: random.Random) -> None:
    for author in users.values():
        statuses = ["draft", "published"]
        posts = [post(author, status=status, score=chance.randrange(5)) for status in statuses]
        posts[chance.randrange(2)]["reviewNote"] = "n"
        ids = project.insert_many("posts", posts)
        comments = [
            {"postId": chance.choice(ids), "authorId": author, "text": "c", "hidden": hidden}
            for hidden in (True, False)
        ]
        comments[chance.randrange(2)]["address"] = "::1"
        project.insert_many("comments", comments)
        project.insert_many("files", files(author))


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("table", ACTIONS)
def test_callers_may_do_and_see_what_the_matrix_says(
    project: Deployment, users: dict[str, str], table: str, role: str
) -> None:
    fill(project, users, random.Random(table + role))
    caller = project.as_user(role)
    for document in project.documents(table):
        id = document["_id"]
        assert caller.query("access:actions", id=id) == allowed(table, document, users[role], role), document
        assert caller.query("access:show", id=id) == shown(table, document, users[role], role), document


@pytest.mark.parametrize("table", ACTIONS)
def test_strangers_are_guests(project: Deployment, users: dict[str, str], table: str) -> None:
    fill(project, users, random.Random(1))
    stranger = project.as_user("nobody")
    for document in project.documents(table):
        for caller in (project, stranger):
            assert caller.query("access:actions", id=document["_id"]) == allowed(table, document, None, "guest")
            assert caller.query("access:show", id=document["_id"]) == shown(table, document, None, "guest")


def test_what_is_not_there_is_neither_shown_nor_allowed(project: Deployment, users: dict[str, str]) -> None:
    gone = project.insert("posts", post(users["admin"]))
    project.delete("posts", gone)
    for id in (gone, "", "nonsense"):
        assert project.as_user("admin").query("access:show", id=id) is None
        assert project.as_user("admin").query("access:actions", id=id) == []


def test_a_new_role_counts_at_once(project: Deployment, users: dict[str, str]) -> None:
    id = project.insert("posts", post(users["admin"]))
    caller = project.as_user("guest")
    assert caller.query("access:show", id=id) is None
    project.replace(users["guest"], {"subject": "guest", "name": "G", "role": "editor"})
    assert caller.query("access:show", id=id) == seen("posts", project.get(id) or {}, "editor")


@pytest.mark.parametrize("role", ROLES)
def test_posts_are_listed_as_the_caller_may_see_them(project: Deployment, users: dict[str, str], role: str) -> None:
    fill(project, users, random.Random(role))
    views = [shown("posts", document, users[role], role) for document in project.documents("posts")]
    assert project.as_user(role).query("posts:list") == [view for view in views if view is not None]


@pytest.mark.parametrize("role", ["guest", "admin"])
def test_teasers_are_the_same_for_everyone(project: Deployment, users: dict[str, str], role: str) -> None:
    project.insert_many("posts", [post(users["member"], title=f"{n}", status="published") for n in range(3)])
    project.insert("posts", post(users["member"], title="draft"))
    expected = [{"title": f"{n}", "body": "b"} for n in range(3)]
    assert project.as_user(role).query("posts:teasers") == expected
    assert project.query("posts:teasers") == expected


@pytest.mark.parametrize("role", ROLES)
def test_posts_are_published_by_those_who_may(project: Deployment, users: dict[str, str], role: str) -> None:
    id = project.insert("posts", post(users[role], title="mine"))
    forbidden = {"code": "FORBIDDEN", "table": "posts", "action": "publish"}
    caller = project.as_user(role)
    if role in ("editor", "admin"):
        assert caller.mutation("posts:publish", id=id) is None
        assert [each["status"] for each in project.documents("posts")] == ["published"]
    with project.fails(data=forbidden):
        caller.mutation("posts:publish", id=id)
    with project.fails(data=forbidden):
        project.mutation("posts:publish", id=id)
    project.delete("posts", id)
    assert caller.mutation("posts:publish", id=id) is None


def objects(validator: Any) -> list[frozenset[str]]:
    """The sets of fields of all objects that a validator accepts, at its outer levels."""
    match validator["type"]:
        case "object":
            return [frozenset(validator["value"])]
        case "array":
            return objects(validator["value"])
        case "union":
            return [found for member in validator["value"] for found in objects(member)]
        case _:
            assert validator["type"] == "null", validator
            return []


def variants(table: str, role: str) -> set[frozenset[str]]:
    system = ["_id", "_creationTime"]
    documents = {
        "users": [["subject", "name", "email", "role"]],
        "posts": [["authorId", "title", "body", "status", "reviewNote", "score"]],
        "comments": [["postId", "authorId", "text", "hidden", "address"]],
        "files": [["kind", "ownerId", "url", "width", "camera"], ["kind", "ownerId", "url", "pages", "secret"]],
    }
    return {frozenset(seen(table, dict.fromkeys([*system, *fields]), role)) for fields in documents[table]}


def test_results_are_validated_by_what_roles_may_see(project: Deployment) -> None:
    functions = project.functions()
    assert set(objects(functions["posts:teasers"].returns)) == variants("posts", "guest")
    expected = set[frozenset[str]]().union(*[variants("posts", role) for role in ROLES])
    assert set(objects(functions["posts:list"].returns)) == expected
    expected = set[frozenset[str]]().union(*[variants(table, role) for table in ACTIONS for role in ROLES])
    assert set(objects(functions["access:show"].returns)) == expected
    assert functions["access:actions"].returns_type not in (None, "v.any()", "v.array(v.any())")
    assert functions["posts:publish"].returns_type == "v.null()"


def test_clients_can_call_five_functions(project: Deployment, users: dict[str, str]) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    queries = dict.fromkeys(["posts:list", "posts:teasers", "access:show", "access:actions"], "query")
    assert public == queries | {"posts:publish": "mutation"}
    for name in ("access:show", "access:actions"):
        for wrong in ({}, {"id": 5}, {"id": "a", "role": "admin"}):
            with project.fails("ArgumentValidationError"):
                project.query(name, wrong)
    for name in ("posts:list", "posts:teasers"):
        with project.fails("ArgumentValidationError"):
            project.query(name, role="admin")
    with project.fails("ArgumentValidationError"):
        project.mutation("posts:publish", id=users["admin"])


START = """import type { FunctionReturnType } from "convex/server";
import { type Infer, v } from "convex/values";
import { api } from "./_generated/api";
import type { Doc, Id, TableNames } from "./_generated/dataModel";
import { query, type MutationCtx, type QueryCtx } from "./_generated/server";
import { type Actor, definePermissions } from "./lib/permissions";
import { permissions } from "./permissions";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Keys<T> = T extends T ? keyof T : never;
type Role = "guest" | "member" | "editor" | "auditor" | "admin";
declare const ctx: QueryCtx;
declare const writing: MutationCtx;
declare const actor: Actor<Role>;
declare const role: Role;
declare const user: Doc<"users">;
declare const post: Doc<"posts">;
declare const comment: Doc<"comments">;
declare const file: Doc<"files">;
declare const image: Extract<Doc<"files">, { kind: "image" }>;
declare const postOrFile: Doc<"posts"> | Doc<"files">;
declare const postOrComment: Doc<"posts"> | Doc<"comments">;
const posts = permissions.on("posts");
const files = permissions.on("files");
"""

MATRIX = """export const own = definePermissions(
  { reader: [], writer: ["reader"], boss: ["writer"] },
  {
    users: { actions: { read: { reader: true }, edit: {}, delete: {} }, fields: { reader: ["name"] } },
    posts: {
      actions: {
        read: { reader: (document) => document.status === "published" },
        edit: { writer: (document, actor) => document.authorId === actor.userId && actor.role !== "boss", boss: true },
        delete: { boss: true },
        archive: { boss: (document) => document.score > 5 },
      },
      fields: { reader: ["title", "_id"], boss: "all" },
    },
    comments: { actions: { read: {}, edit: {}, delete: {} }, fields: {} },
    files: {
      actions: { read: { writer: (document) => document.kind === "image" }, edit: {}, delete: {} },
      fields: { reader: ["kind", "url", "camera", "pages"] },
    },
  },
);
"""


def matrix(old: str, new: str) -> str:
    assert MATRIX.count(old) == 1, old
    return MATRIX.replace(old, new)


def equal(one: str, other: str) -> str:
    return f"export const same: Same<{one}, {other}> = true;"


def viewed(table: str, document: str, role: str) -> str:
    return f'const view = permissions.on("{table}").view({document}, {role});\n'


MEMBER_OF_FILE = viewed("files", "file", '"member"')
EDITOR_OF_POST = viewed("posts", "post", '"editor"') + "type Whole = Required<typeof view>;\n"
GENERIC = """export function readable<T extends TableNames>(table: T, document: Doc<T>) {
  const access = permissions.on(table);
  const names: string[] = access.allowed(actor, document);
  if (!access.can(actor, "read", document)) return names;
  return [access.view(document, actor.role), access.list(actor, [document])];
}"""
QUERY = """export const one = query({
  args: {},
  returns: v.object({ first: v.nullable(posts.validator("member")) }),
  handler: async (ctx) => {
    const found = await ctx.db.query("posts").first();
    return { first: found && posts.view(found, "member") };
  },
});"""

# Each with what compiles, and what does not, which differs in one detail.
PAIRS: dict[str, tuple[str, str]] = {
    "a role that inherits from no role": (MATRIX, matrix('boss: ["writer"]', 'boss: ["writter"]')),
    "a table is missing": (
        MATRIX,
        matrix("    comments: { actions: { read: {}, edit: {}, delete: {} }, fields: {} },\n", ""),
    ),
    "a table too many": (MATRIX, matrix("    comments: {", "    teams: { actions: {}, fields: {} },\n    comments: {")),
    "an action is missing": (MATRIX, matrix("        delete: { boss: true },\n", "")),
    "a role that does not exist next to one that does": (
        MATRIX,
        matrix("delete: { boss: true }", "delete: { boss: true, chief: true }"),
    ),
    "a role that does not exist in an action of one's own": (
        matrix("archive: {", "archive: { writer: true,"),
        matrix("archive: {", "archive: { chief: true,"),
    ),
    "a role that does not exist next to one that does, among the fields": (
        matrix('boss: "all"', 'boss: "all", writer: ["body"]'),
        matrix('boss: "all"', 'boss: "all", chief: ["body"]'),
    ),
    "a field that does not exist": (MATRIX, matrix('["title", "_id"]', '["title", "id"]')),
    "a field of no variant": (MATRIX, matrix('"camera", "pages"', '"camera", "page"')),
    "a condition on a field that does not exist": (MATRIX, matrix("document.score > 5", "document.stars > 5")),
    "a condition on a value that does not exist": (
        MATRIX,
        matrix('document.kind === "image"', 'document.kind === "photo"'),
    ),
    "a condition on a role that does not exist": (MATRIX, matrix('actor.role !== "boss"', 'actor.role !== "chief"')),
    "a condition that is not boolean": (MATRIX, matrix("document.score > 5", "document.score")),
    "an action of one's own": (
        MATRIX + 'export const may = own.on("posts").can({ userId: null, role: "boss" }, "archive", post);',
        MATRIX + 'export const may = own.on("users").can({ userId: null, role: "boss" }, "archive", user);',
    ),
    "fields of one's own": (
        MATRIX + 'const view = own.on("posts").view(post, "writer");\n' + equal("keyof typeof view", '"_id" | "title"'),
        MATRIX + 'const view = own.on("posts").view(post, "boss");\n' + equal("keyof typeof view", '"_id" | "title"'),
    ),
    "no fields": (
        MATRIX + 'const view = own.on("users").view(user, "reader");\nexport const name: string = view.name;',
        MATRIX + 'const view = own.on("comments").view(comment, "reader");\nexport const name: string = view.text;',
    ),
    "a document's table tells its actions": (
        'export const may: boolean = permissions.can(ctx, actor, "publish", post);',
        'export const may: boolean = permissions.can(ctx, actor, "publish", comment);',
    ),
    "a document's table tells its actions to ensure": (
        'permissions.ensure(writing, actor, "hide", comment);',
        'permissions.ensure(writing, actor, "hide", post);',
    ),
    "a narrowed document": (
        'export const may = permissions.can(ctx, actor, "publish", image);',
        'export const may = permissions.can(ctx, actor, "hide", image);',
    ),
    "documents of two tables that have the action": (
        'export const may = permissions.can(ctx, actor, "publish", postOrFile);',
        'export const may = permissions.can(ctx, actor, "publish", postOrComment);',
    ),
    "documents of two tables of which the other has the action": (
        'export const may = permissions.can(ctx, actor, "delete", postOrComment);',
        'export const may = permissions.can(ctx, actor, "hide", postOrComment);',
    ),
    "a document of another table": (
        'export const may = posts.can(actor, "edit", post);',
        'export const may = posts.can(actor, "edit", comment);',
    ),
    "an actor with another role": (
        'export const may = posts.can({ userId: null, role: "guest" }, "edit", post);',
        'export const may = posts.can({ userId: null, role: "boss" }, "edit", post);',
    ),
    "a table that does not exist": (
        'export const may = permissions.on("files");',
        'export const may = permissions.on("invoices");',
    ),
    "allowed actions": (
        'const all = permissions.on("comments").allowed(actor, comment);\n'
        'export const may: ("read" | "edit" | "delete" | "hide")[] = all;',
        'const all = permissions.on("comments").allowed(actor, comment);\n'
        'export const may: ("read" | "edit" | "delete" | "show")[] = all;',
    ),
    "a view of a role": (
        viewed("posts", "post", '"guest"') + equal("typeof view", "{ title: string; body: string }"),
        viewed("posts", "post", '"guest"') + "export const status = view.status;",
    ),
    "a view has what roles inherit": (
        viewed("posts", "post", '"member"')
        + equal("keyof typeof view", '"title" | "body" | "_id" | "authorId" | "status"'),
        viewed("posts", "post", '"auditor"')
        + equal("keyof typeof view", '"title" | "body" | "_id" | "authorId" | "status"'),
    ),
    "a view has what roles inherit from several": (
        viewed("users", "user", '"admin"') + equal("typeof view", 'Doc<"users">'),
        viewed("users", "user", '"editor"') + equal("typeof view", 'Doc<"users">'),
    ),
    "what is inherited indirectly": (
        viewed("files", "file", '"admin"')
        + equal("Keys<typeof view>", '"kind" | "url" | "width" | "pages" | "secret"'),
        viewed("files", "file", '"editor"')
        + equal("Keys<typeof view>", '"kind" | "url" | "width" | "pages" | "secret"'),
    ),
    "optional fields stay optional": (
        EDITOR_OF_POST + "export const some: typeof view = {} as Omit<Whole, 'reviewNote'>;",
        EDITOR_OF_POST + "export const some: typeof view = {} as Omit<Whole, 'status'>;",
    ),
    "variants stay apart": (
        MEMBER_OF_FILE + 'export const width: number = view.kind === "image" ? view.width : 0;',
        MEMBER_OF_FILE + 'export const width: number = view.kind === "report" ? view.width : 0;',
    ),
    "variants have their fields": (
        MEMBER_OF_FILE
        + equal("typeof view", '{ kind: "image"; url: string; width: number } | { kind: "report"; url: string }'),
        MEMBER_OF_FILE + "export const width = view.width;",
    ),
    "a view of a narrowed document": (
        viewed("files", "image", '"member"') + "export const width: number = view.width;",
        viewed("files", "file", '"member"') + "export const width: number = view.width;",
    ),
    "a view of one of several roles": (
        viewed("posts", "post", "role") + "export const title: string = view.title;",
        viewed("posts", "post", "role") + "export const status: string = view.status;",
    ),
    "a view of one of several roles is one of their views": (
        viewed("comments", "comment", "role")
        + 'export const hidden = "hidden" in view ? view.hidden : "text" in view ? view.text : "";',
        viewed("comments", "comment", 'role as "guest" | "member"') + "export const hidden = view.authorId;",
    ),
    "a view for a role that does not exist": (viewed("posts", "post", '"guest"'), viewed("posts", "post", '"boss"')),
    "a list": (
        'export const list: { status: string }[] = posts.list({ userId: null, role: "member" }, [post]);',
        'export const list: { status: string }[] = posts.list({ userId: null, role: "guest" }, [post]);',
    ),
    "a list for one of several roles": (
        "export const list: { title: string }[] = posts.list(actor, [post]);",
        "export const list: { status: string }[] = posts.list(actor, [post]);",
    ),
    "a validator of a role": (
        'const some = posts.validator("guest");\n' + equal("Infer<typeof some>", "{ title: string; body: string }"),
        'const some = posts.validator("member");\n' + equal("Infer<typeof some>", "{ title: string; body: string }"),
    ),
    "a validator of two roles": (
        'const some = posts.validator("guest", "auditor");\n'
        'export const one: Infer<typeof some> = posts.view(post, role as "guest" | "auditor");',
        'const some = posts.validator("member", "auditor");\n'
        'export const one: Infer<typeof some> = posts.view(post, role as "guest" | "auditor");',
    ),
    "a validator of all roles": (
        "const some = files.validator();\nexport const one: Infer<typeof some> = files.view(file, role);",
        "const some = files.validator('auditor');\nexport const one: Infer<typeof some> = files.view(file, role);",
    ),
    "a validator of variants": (
        'const some = files.validator("member");\n'
        + equal(
            "Infer<typeof some>", '{ kind: "image"; url: string; width: number } | { kind: "report"; url: string }'
        ),
        'const some = files.validator("guest");\n'
        + equal(
            "Infer<typeof some>", '{ kind: "image"; url: string; width: number } | { kind: "report"; url: string }'
        ),
    ),
    "a validator of a role that does not exist": (
        'export const some = v.array(posts.validator("guest"));',
        'export const some = v.array(posts.validator("boss"));',
    ),
    "a validator inside others": (QUERY, QUERY.replace('posts.view(found, "member")', 'posts.view(found, "guest")')),
    "what clients see of teasers": (
        "type Teaser = FunctionReturnType<typeof api.posts.teasers>[number];\n"
        + equal("Teaser", "{ title: string; body: string }"),
        "type Teaser = FunctionReturnType<typeof api.posts.teasers>[number];\n"
        + equal("Teaser", "{ title: string; body: string; score: number }"),
    ),
    "what clients see of a list": (
        "declare const one: FunctionReturnType<typeof api.posts.list>[number];\n"
        "export const title: string = one.title;",
        "declare const one: FunctionReturnType<typeof api.posts.list>[number];\n"
        "export const status: string = one.status;",
    ),
    "generic code": (GENERIC, GENERIC.replace('"read"', '"publish"')),
}
COMPILES = {f"{name}: right": START + right for name, (right, _) in PAIRS.items()}
REFUSED = {f"{name}: wrong": START + wrong for name, (_, wrong) in PAIRS.items()}
SNIPPETS = COMPILES | REFUSED


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_right_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[f"{name}: right"] == ()


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_wrong_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[f"{name}: wrong"] != (), PAIRS[name][1]
