"""Builders in layers: what they do, and what their types promise."""

# ruff: noqa: E501 (snippets of TypeScript)

import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, TypeChecks

ROLES = ["reader", "editor", "owner"]

HEAD = """
import { ConvexError, v } from "convex/values";
import type { ApiFromModules, Auth, FunctionArgs, FunctionReturnType } from "convex/server";
import { action, internalAction, internalMutation, internalQuery, mutation, query } from "./_generated/server";
import type { ActionCtx, MutationCtx, QueryCtx } from "./_generated/server";
import { api, internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { extend, layer } from "./lib/builders";
import * as functions from "./functions";

type Flat<T> = T extends string | number | boolean | bigint | null | undefined ? T
  : T extends readonly (infer E)[] ? Flat<E>[] : T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Same<A, B> = Equal<Flat<A>, Flat<B>>;
type Ref<F> = ApiFromModules<{ m: { f: F } }> extends { m: { f: infer R } } ? R : never;
type Args<F> = Ref<F> extends { _args: infer A } ? A : never;
type Returned<F> = Ref<F> extends { _returnType: infer R } ? R : never;
function yes<T extends true>(): T | undefined { return undefined; }
function is<T>(value: T): T { return value; }

const withUser = layer({
  args: { session: v.string(), device: v.optional(v.number()) },
  use: async (ctx: QueryCtx, args, options: { scope: "read" | "write"; quiet?: boolean }) => {
    const member = await ctx.db.query("members").filter((q) => q.eq(q.field("token"), args.session)).first();
    if (member === null || (options.quiet ?? false)) throw new ConvexError(options.scope);
    return { ctx: { user: member } };
  },
});
const withOwn = layer({
  args: { own: v.id("projects") },
  use: async (ctx: QueryCtx & { user: Doc<"members"> }, args, options: { strict?: boolean }) => {
    const project = await ctx.db.get("projects", args.own);
    if (options.strict === true && project?.ownerId !== ctx.user._id) throw new Error("no");
    return { ctx: { project }, done: async (result: unknown) => { await Promise.resolve(result); } };
  },
});
const withAuth = layer({
  use: async (ctx: { auth: Auth }) => ({ ctx: { caller: (await ctx.auth.getUserIdentity())?.subject } }),
});
const withWriter = layer({ use: (ctx: MutationCtx) => ({ ctx: { write: () => ctx.db.insert("steps", { text: "" }) } }) });
const withOtherAuth = layer({ use: (_ctx: { auth: Auth }) => ({ ctx: { auth: { nickname: "ada" } } }) });
const withViewer = layer({
  args: { session: v.string() },
  use: async (ctx: QueryCtx, { session }) => {
    const user = await ctx.db.query("members").filter((q) => q.eq(q.field("token"), session)).first();
    if (user === null) return { ctx: { signedIn: false as const } };
    return { ctx: { signedIn: true as const, user } };
  },
});
const userQuery = extend(query, withUser);
const userMutation = extend(mutation, withUser);
const ownQuery = extend(userQuery, withOwn);
const viewerQuery = extend(query, withViewer);
"""

BODIES: dict[str, str] = {
    "a handler gets its own arguments and what the layer adds": """
export const f = userQuery({
  scope: "read",
  args: { n: v.number(), s: v.optional(v.string()) },
  handler: async (ctx, args) => {
    is<Doc<"members">>(ctx.user);
    yes<Same<typeof args, { n: number; s?: string }>>();
    return (await ctx.db.query("members").take(args.n)).length;
  },
});
""",
    "a layer that needs a query's context leaves a mutation's as it is": """
export const f = userMutation({
  scope: "write",
  handler: async (ctx) => await ctx.db.insert("steps", { text: ctx.user.name }),
});
yes<Same<Returned<typeof f>, Id<"steps">>>();
""",
    "the arguments of use are typed by its validators": """
export const w = layer({
  args: { a: v.optional(v.number()), b: v.id("members") },
  use: (_ctx: QueryCtx, args) => {
    yes<Same<typeof args, { a?: number; b: Id<"members"> }>>();
    return { ctx: { a: args.a } };
  },
});
""",
    "a builder made from a builder has everything of both": """
export const f = ownQuery({
  scope: "read", quiet: true, strict: false,
  args: { n: v.number() },
  returns: v.nullable(v.string()),
  handler: (ctx, args) => {
    yes<Same<typeof args, { n: number }>>();
    is<Doc<"projects"> | null>(ctx.project);
    return ctx.project === null ? null : ctx.user.name;
  },
});
yes<Same<Args<typeof f>, { session: string; device?: number; own: Id<"projects">; n: number }>>();
yes<Same<Returned<typeof f>, string | null>>();
""",
    "a layer that needs only auth goes with all six builders": """
export const q = extend(query, withAuth)({ handler: (ctx) => ctx.caller });
export const m = extend(mutation, withAuth)({ handler: (ctx) => ctx.caller });
export const iq = extend(internalQuery, withAuth)({ handler: (ctx) => ctx.caller });
export const im = extend(internalMutation, withAuth)({ handler: (ctx) => ctx.caller });
export const a = extend(action, withAuth)({ handler: async (ctx) => { await ctx.runQuery(api.projects.greeting, {}); return ctx.caller; } });
export const ia = extend(internalAction, withAuth)({ handler: (ctx) => ctx.caller });
yes<Same<Returned<typeof ia>, string | null>>();
""",
    "a layer for writers goes with a mutation": """
export const f = extend(mutation, withWriter)({ handler: async (ctx) => await ctx.write() });
""",
    "a layer for writers goes with a builder made from mutation": """
export const f = extend(userMutation, withWriter)({ scope: "read", handler: async (ctx) => { await ctx.write(); return ctx.user.name; } });
""",
    "a property that a layer replaces has the new type": """
export const f = extend(query, withOtherAuth)({
  handler: (ctx) => { yes<Same<typeof ctx.auth, { nickname: string }>>(); return ctx.auth.nickname; },
});
""",
    "a layer after a replaced property gets the new one": """
const shout = layer({ use: (ctx: { auth: { nickname: string } }) => ({ ctx: { loud: ctx.auth.nickname + "!" } }) });
export const f = extend(extend(query, withOtherAuth), shout)({ handler: (ctx) => ctx.loud });
""",
    "layers are applied one right after another": """
export const f = extend(extend(extend(internalMutation, withUser), withWriter), withOwn)({
  scope: "read",
  strict: true,
  handler: async (ctx, args) => { yes<Same<typeof args, {}>>(); await ctx.write(); return is<Doc<"members">>(ctx.user).name; },
});
yes<Same<Args<typeof f>, { session: string; device?: number; own: Id<"projects"> }>>();
""",
    "shapes of the context are told apart": """
export const f = viewerQuery({
  args: { n: v.number() },
  handler: (ctx, args) => (ctx.signedIn ? is<Doc<"members">>(ctx.user).name : args.n),
});
yes<Same<Returned<typeof f>, string | number>>();
""",
    "shapes of the context are told apart after another layer": """
export const f = extend(viewerQuery, withAuth)({
  handler: (ctx) => { is<string | undefined>(ctx.caller); return ctx.signedIn ? ctx.user.role : null; },
});
yes<Same<Returned<typeof f>, "reader" | "editor" | "owner" | null>>();
""",
    "without args there are those of the layers only": """
export const f = userQuery({ scope: "read", returns: v.null(), handler: () => null });
yes<Same<Args<typeof f>, { session: string; device?: number }>>();
export const g = extend(query, withAuth)({ handler: () => 1 });
export const calls = async (ctx: ActionCtx, ref: ApiFromModules<{ m: { g: typeof g } }>["m"]["g"]) => await ctx.runQuery(ref);
""",
    "a handler of v.null() may return nothing": """
export const f = userMutation({
  scope: "write", returns: v.null(),
  handler: async (ctx) => { await ctx.db.insert("steps", { text: "" }); },
});
yes<Same<Returned<typeof f>, null>>();
""",
    "a handler returns what its validator says": """
export const f = userQuery({
  scope: "read", returns: v.object({ n: v.number() }), handler: async () => await Promise.resolve({ n: 1 }),
});
yes<Same<Returned<typeof f>, { n: number }>>();
""",
    "an argument of the function's own": """
export const f = userQuery({ scope: "read", args: { n: v.number() }, handler: (_ctx, args) => args.n });
export const g = ownQuery({ scope: "read", args: { m: v.number() }, returns: v.number(), handler: (_ctx, args) => args.m });
""",
    "results that agree with their validators": """
export const f = userQuery({ scope: "read", returns: v.object({ n: v.number() }), handler: async () => await Promise.resolve({ n: 1 }) });
export const g = userQuery({ scope: "read", returns: v.null(), handler: () => {} });
""",
    "clients see the arguments of the backend's functions": """
yes<Same<FunctionArgs<typeof api.projects.whoAmI>, { token: string }>>();
yes<Same<FunctionArgs<typeof api.projects.create>, { token: string; name: string }>>();
yes<Same<FunctionArgs<typeof api.projects.rename>, { token: string; projectId: Id<"projects">; name: string; suffix?: string }>>();
yes<Same<FunctionArgs<typeof api.projects.archive>, { token: string; projectId: Id<"projects"> }>>();
yes<Same<FunctionArgs<typeof api.projects.greeting>, { token?: string; formal?: boolean }>>();
yes<Same<FunctionArgs<typeof api.projects.createMany>, { token: string; names: string[] }>>();
yes<Same<FunctionArgs<typeof internal.projects.wipe>, { token: string }>>();
""",
    "clients see the results of the backend's functions": """
yes<Same<FunctionReturnType<typeof api.projects.whoAmI>, { name: string; role: "reader" | "editor" | "owner" }>>();
yes<Same<FunctionReturnType<typeof api.projects.state>, { kind: "open"; name: string } | { kind: "archived" }>>();
yes<Same<FunctionReturnType<typeof api.projects.archive>, null>>();
yes<Same<FunctionReturnType<typeof api.projects.greeting>, string>>();
yes<Same<FunctionReturnType<typeof api.projects.createMany>, Id<"projects">[]>>();
yes<Same<FunctionReturnType<typeof api.projects.stepped>, number>>();
yes<Same<FunctionReturnType<typeof internal.projects.wipe>, number>>();
""",
    "actions call what the builders made": """
export const f = async (ctx: ActionCtx) => {
  await ctx.runQuery(api.projects.greeting, {});
  await ctx.runMutation(internal.projects.wipe, { token: "t" });
  return await ctx.runMutation(api.projects.create, { token: "t", name: "n" });
};
""",
    "the backend's builders go on": """
export const f = functions.projectMutation({
  atLeast: "owner", archived: "allowed", what: "test",
  handler: async (ctx) => { await ctx.db.delete("projects", ctx.project._id); return ctx.member.role; },
});
export const g = extend(functions.memberAction, withAuth)({ handler: async (ctx) => { await ctx.runAction(api.projects.createMany, { token: ctx.member.token, names: [] }); } });
""",
}

# Each is one of the above with one detail changed: what is replaced, and by what.
CHANGES: dict[str, tuple[str, str, str]] = {
    "a handler that reads an argument of the layer": (
        "a handler gets its own arguments and what the layer adds",
        "take(args.n)",
        "take(args.session.length)",
    ),
    "a handler that reads an argument that nobody declared": (
        "an argument of the function's own",
        "=> args.n }",
        "=> args.m }",
    ),
    "an optional argument used as if it were there": (
        "a handler gets its own arguments and what the layer adds",
        "take(args.n)",
        "take(args.s.length)",
    ),
    "a query that writes": (
        "a handler gets its own arguments and what the layer adds",
        'ctx.db.query("members").take(args.n)',
        'ctx.db.insert("steps", { text: "" })',
    ),
    "use reads an argument that its layer has not": (
        "the arguments of use are typed by its validators",
        "a: args.a",
        "a: args.c",
    ),
    "a required option is missing": ("a handler returns what its validator says", 'scope: "read", ', ""),
    "a required option of a layer below is missing": (
        "a builder made from a builder has everything of both",
        'scope: "read", ',
        "",
    ),
    "an option has a value of the wrong type": ("a handler returns what its validator says", '"read"', '"reed"'),
    "an option of no layer": ("a handler returns what its validator says", "scope:", "strict: true, scope:"),
    "an option of no layer, without returns": (
        "a handler gets its own arguments and what the layer adds",
        "scope:",
        "strict: true, scope:",
    ),
    "an argument that a layer has taken": (
        "an argument of the function's own",
        "args: { n: v.number() }",
        "args: { n: v.number(), session: v.string() }",
    ),
    "an argument that a layer further below has taken": (
        "an argument of the function's own",
        "args: { m: v.number() }",
        "args: { m: v.number(), device: v.optional(v.number()) }",
    ),
    "a layer with an argument that is taken": (
        "shapes of the context are told apart after another layer",
        "extend(viewerQuery, withAuth)",
        "extend(extend(viewerQuery, withAuth), layer({ args: { session: v.string() }, use: (_ctx: QueryCtx) => ({ ctx: {} }) }))",
    ),
    "a layer that needs the database with an action": (
        "the backend's builders go on",
        "extend(functions.memberAction, withAuth)",
        "extend(functions.memberAction, layer({ use: (_ctx: QueryCtx) => ({ ctx: {} }) }))",
    ),
    "a layer that needs to write with a query": (
        "a layer for writers goes with a mutation",
        "extend(mutation,",
        "extend(query,",
    ),
    "a layer that needs to write with a builder made from query": (
        "a layer for writers goes with a builder made from mutation",
        "extend(userMutation,",
        "extend(userQuery,",
    ),
    "a layer that needs what no other layer has added": (
        "a layer after a replaced property gets the new one",
        "extend(extend(query, withOtherAuth), shout)",
        "extend(query, shout)",
    ),
    "a property as it was before it was replaced": (
        "a property that a layer replaces has the new type",
        "return ctx.auth.nickname",
        "return ctx.auth.getUserIdentity()",
    ),
    "a layer that needs a property as it was before it was replaced": (
        "a layer after a replaced property gets the new one",
        "withOtherAuth), shout)({ handler: (ctx) => ctx.loud })",
        "withOtherAuth), withAuth)({ handler: (ctx) => ctx.caller })",
    ),
    "a shape of the context taken for granted": (
        "shapes of the context are told apart",
        "ctx.signedIn ? is",
        "args.n > 1 ? is",
    ),
    "a result that is not what the validator says": (
        "results that agree with their validators",
        "{ n: 1 }",
        '{ n: "1" }',
    ),
    "nothing returned where the validator says otherwise": (
        "results that agree with their validators",
        "returns: v.null()",
        "returns: v.string()",
    ),
    "a client without the layer's argument": (
        "actions call what the builders made",
        '{ token: "t", name: "n" }',
        '{ name: "n" }',
    ),
    "a client with an argument too many": (
        "actions call what the builders made",
        'wipe, { token: "t" }',
        'wipe, { token: "t", more: 1 }',
    ),
    "an internal function taken for a public one": ("actions call what the builders made", "internal.", "api."),
    "a mutation taken for a query": (
        "actions call what the builders made",
        "runMutation(api.",
        "runQuery(api.",
    ),
    "the backend's builder without its option": ("the backend's builders go on", 'what: "test",', ""),
    "the backend's builder with a role that there is not": ("the backend's builders go on", '"owner"', '"admin"'),
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


def member(project: Deployment, name: str, role: str) -> str:
    """The token is the name."""
    project.insert("members", name=name.title(), token=name, role=role)
    return name


def team(project: Deployment) -> None:
    for name, role in zip(("rita", "eddy", "olga"), ROLES, strict=True):
        member(project, name, role)


def rows(project: Deployment, table: str) -> list[dict[str, Any]]:
    return [{name: row[name] for name in row if not name.startswith("_")} for row in project.documents(table)]


def test_the_member_is_found_by_token(project: Deployment) -> None:
    team(project)
    for name, role in zip(("rita", "eddy", "olga"), ROLES, strict=True):
        assert project.query("projects:whoAmI", token=name) == {"name": name.title(), "role": role}
    with project.fails(data={"code": "UNKNOWN_TOKEN"}):
        project.query("projects:whoAmI", token="Rita")


def test_roles_are_checked(project: Deployment) -> None:
    team(project)
    with project.fails(data={"code": "FORBIDDEN", "atLeast": "editor"}):
        project.mutation("projects:create", token="rita", name="a")
    with project.fails(data={"code": "UNKNOWN_TOKEN"}):
        project.mutation("projects:create", token="nobody", name="a")
    assert rows(project, "projects") == rows(project, "audit") == []
    for name in ("eddy", "olga"):
        project.mutation("projects:create", token=name, name="a")
    for name in ("rita", "eddy"):
        with project.fails(data={"code": "FORBIDDEN", "atLeast": "owner"}):
            project.admin.mutation("projects:wipe", token=name)
    assert project.admin.mutation("projects:wipe", token="olga") == 1
    assert len(project.documents("projects")) == 1
    with project.fails(data={"code": "FORBIDDEN", "atLeast": "editor"}):
        project.action("projects:createMany", token="rita", names=[])
    with project.fails(data={"code": "UNKNOWN_TOKEN"}):
        project.action("projects:createMany", token="x", names=[])


def test_audited_mutations_write_what_was_done(project: Deployment) -> None:
    team(project)
    eddy = project.documents("members")[1]["_id"]
    made = project.mutation("projects:create", token="eddy", name="a")
    assert rows(project, "projects") == [{"name": "a", "ownerId": eddy, "archived": False}]
    assert rows(project, "audit") == [{"what": "create", "by": eddy, "result": f'"{made}"'}]
    assert project.mutation("projects:rename", token="eddy", projectId=made, name="b") == {"from": "a", "to": "b"}
    assert project.mutation("projects:rename", token="eddy", projectId=made, name="b", suffix="!")["to"] == "b!"
    assert project.mutation("projects:archive", token="eddy", projectId=made) is None
    assert rows(project, "audit")[1:] == [
        {"what": "rename", "by": eddy, "projectId": made, "result": '{"from":"a","to":"b"}'},
        {"what": "rename", "by": eddy, "projectId": made, "result": '{"from":"b","to":"b!"}'},
        {"what": "archive", "by": eddy, "projectId": made, "result": "null"},
    ]


def test_projects_are_the_members_own(project: Deployment) -> None:
    team(project)
    made = project.mutation("projects:create", token="eddy", name="a")
    gone = project.mutation("projects:create", token="olga", name="b")
    project.delete("projects", gone)
    audit = rows(project, "audit")
    for token, one in (("olga", made), ("olga", gone)):
        with project.fails(data={"code": "NO_PROJECT"}):
            project.query("projects:state", token=token, projectId=one)
        with project.fails(data={"code": "NO_PROJECT"}):
            project.mutation("projects:rename", token=token, projectId=one, name="c")
    assert rows(project, "audit") == audit
    assert project.query("projects:state", token="eddy", projectId=made) == {"kind": "open", "name": "a"}


def test_layers_check_in_the_order_in_which_they_were_applied(project: Deployment) -> None:
    team(project)
    made = project.mutation("projects:create", token="eddy", name="a")
    with project.fails(data={"code": "UNKNOWN_TOKEN"}):
        project.mutation("projects:rename", token="x", projectId=made, name="c")
    with project.fails(data={"code": "FORBIDDEN", "atLeast": "editor"}):
        project.mutation("projects:rename", token="rita", projectId=made, name="c")


def test_archived_projects_are_refused_where_the_option_says_so(project: Deployment) -> None:
    team(project)
    made = project.mutation("projects:create", token="eddy", name="a")
    for _ in range(2):
        assert project.mutation("projects:archive", token="eddy", projectId=made) is None
    with project.fails(data={"code": "ARCHIVED"}):
        project.mutation("projects:rename", token="eddy", projectId=made, name="b")
    assert project.query("projects:state", token="eddy", projectId=made) == {"kind": "archived"}
    assert len(project.documents("audit")) == 3


def test_viewers_need_no_token(project: Deployment) -> None:
    team(project)
    assert project.query("projects:greeting") == "Hi, stranger"
    assert project.query("projects:greeting", formal=True) == "Good day, stranger"
    assert project.query("projects:greeting", token="nobody", formal=False) == "Hi, stranger"
    assert project.query("projects:greeting", token="rita", formal=True) == "Good day, Rita"


def test_layers_run_around_the_handler_and_replace_what_they_add(project: Deployment) -> None:
    assert project.mutation("projects:stepped", text="handler") == 2
    texts = [row["text"] for row in project.documents("steps")]
    assert texts == ["outer: begin", "inner: begin", "handler", "inner: 2", "outer: 2"]


def test_an_action_calls_on_behalf_of_the_member(project: Deployment) -> None:
    team(project)
    names = ["c", "a", "b"]
    made = project.action("projects:createMany", token="olga", names=names)
    names_by_id = {row["_id"]: row["name"] for row in project.documents("projects")}
    assert [names_by_id[each] for each in made] == names
    assert [row["what"] for row in rows(project, "audit")] == ["create"] * 3


FUNCTIONS: dict[str, tuple[str, dict[str, tuple[str, bool]]]] = {
    "whoAmI": ("query", {}),
    "create": ("mutation", {"name": ("v.string()", False)}),
    "rename": (
        "mutation",
        {"projectId": ('v.id("projects")', False), "name": ("v.string()", False), "suffix": ("v.string()", True)},
    ),
    "archive": ("mutation", {"projectId": ('v.id("projects")', False)}),
    "state": ("query", {"projectId": ('v.id("projects")', False)}),
    "greeting": ("query", {"token": ("v.string()", True), "formal": ("v.boolean()", True)}),
    "wipe": ("mutation", {}),
    "createMany": ("action", {"names": ("v.array(v.string())", False)}),
    "stepped": ("mutation", {"text": ("v.string()", False)}),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_declared_with_the_arguments_of_their_layers(project: Deployment, name: str) -> None:
    kind, own = FUNCTIONS[name]
    spec = project.functions()[f"projects:{name}"]
    assert (spec.kind, spec.is_public) == (kind, name != "wipe")
    expected = own if name in ("greeting", "stepped") else {"token": ("v.string()", False), **own}
    assert {field: (each.type, each.optional) for field, each in spec.arguments.items()} == expected


def test_results_are_declared(project: Deployment, answer: Deployment) -> None:
    ours, theirs = answer.functions(), project.functions()
    for name in FUNCTIONS:
        if name not in ("greeting", "whoAmI", "state", "rename"):
            assert theirs[f"projects:{name}"].returns_type == ours[f"projects:{name}"].returns_type, name
        elif name != "greeting":
            assert theirs[f"projects:{name}"].returns is not None, name


def test_no_other_functions_are_public(project: Deployment) -> None:
    public = {name for name, spec in project.functions().items() if spec.is_public}
    assert public == {f"projects:{name}" for name in FUNCTIONS if name != "wipe"}


def test_arguments_are_validated(project: Deployment) -> None:
    team(project)
    made = project.mutation("projects:create", token="eddy", name="a")
    right = {"token": "eddy", "projectId": made, "name": "b", "suffix": "c"}
    eddy = project.documents("members")[1]["_id"]
    wrong: list[dict[str, Any]] = [
        {key: right[key] for key in right if key != gone} for gone in ("token", "projectId", "name")
    ]
    wrong += [right | {key: 1} for key in (*right, "more")] + [right | {"projectId": eddy}]
    for each in wrong:
        with project.fails("ArgumentValidationError"):
            project.mutation("projects:rename", each)
    with project.fails("ArgumentValidationError"):
        project.query("projects:whoAmI")
    with project.fails("ArgumentValidationError"):
        project.query("projects:whoAmI", token="eddy", atLeast="reader")
    with project.fails("ArgumentValidationError"):
        project.query("projects:greeting", token=None)


@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_called_the_layers_decide(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    names = {member(project, f"m{number}", ROLES[number % 3]): ROLES[number % 3] for number in range(5)}
    ids = {row["token"]: row["_id"] for row in project.documents("members")}
    truth: dict[str, dict[str, Any]] = {}
    audit = 0
    for step in range(45):
        token = chance.choice([*names, "nobody"])
        own = [one for one, row in truth.items() if row["ownerId"] == ids.get(token)]
        one = chance.choice(own if own and chance.random() < 0.7 else [*truth]) if truth else None
        what = chance.choice(["create", "rename", "archive", "state"]) if one else "create"
        failure: dict[str, Any] | None = None
        if token not in names:
            failure = {"code": "UNKNOWN_TOKEN"}
        elif what in ("create", "rename") and names[token] == "reader":
            failure = {"code": "FORBIDDEN", "atLeast": "editor"}
        elif what != "create" and one not in own:
            failure = {"code": "NO_PROJECT"}
        elif what == "rename" and one is not None and truth[one]["archived"]:
            failure = {"code": "ARCHIVED"}
        args: dict[str, Any] = {"token": token}
        if what != "create":
            args["projectId"] = one
        if what in ("create", "rename"):
            args["name"] = f"p{step}"
        call = project.query if what == "state" else project.mutation
        if failure is not None:
            with project.fails(data=failure):
                call(f"projects:{what}", args)
            continue
        result = call(f"projects:{what}", args)
        audit += what != "state"
        if what == "create":
            truth[result] = {"name": args["name"], "ownerId": ids[token], "archived": False}
            continue
        assert one is not None
        row = truth[one]
        if what == "rename":
            assert result == {"from": row["name"], "to": args["name"]}, f"step {step}"
            row["name"] = args["name"]
        elif what == "archive":
            row["archived"] = True
        else:
            assert result == ({"kind": "archived"} if row["archived"] else {"kind": "open", "name": row["name"]})
    assert rows(project, "projects") == [*truth.values()]
    assert len(project.documents("audit")) == audit
