"""Typed HTTP routes in front of Convex's router."""

# ruff: noqa: E501 (snippets of TypeScript)

import random
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pytest

from convex_evals.pipeline.grading.kit import Deployment, TypeChecks

ADA = {"X-Caller": "ada"}
ROOT = {"X-Caller": "root"}
NOT_FOUND = (404, {"error": "Not found"})
LIST = {"kind": "list", "items": []}


def add(project: Deployment, team: str, name: str, *tags: str, **more: Any) -> Any:
    response = project.http.post(
        f"/teams/{quote(team, safe='')}/members", json={"name": name, "tags": list(tags)} | more, headers=ADA
    )
    assert response.status == 201, response.text
    return response.json()


def get(project: Deployment, path: str) -> tuple[int, Any]:
    response = project.http.get(path, headers=ADA)
    return response.status, response.json()


def echo(project: Deployment, path: str, body: Any = LIST) -> tuple[int, Any]:
    response = project.http.put(path, json=body)
    return response.status, response.json()


def test_the_open_route_needs_no_caller(project: Deployment) -> None:
    response = project.http.get("/health")
    assert (response.status, response.json()) == (200, {"ok": True})
    assert (response.header("Content-Type") or "").startswith("application/json")


def test_nothing_runs_after_a_middleware_that_responds(project: Deployment) -> None:
    for method, path in (
        ("GET", "/teams/a/members?limit=x"),
        ("POST", "/teams/a/members"),
        ("DELETE", "/teams/a/members/1"),
    ):
        response = project.http.request(method, path)
        assert (response.status, response.json()) == (401, {"error": "Who are you?"})
    assert project.documents("members") == []


def test_members_are_added_and_found(project: Deployment) -> None:
    assert add(project, "a", "Ada", "x", "y", role="admin") == {"number": 1, "url": "/teams/a/members/1"}
    assert add(project, "a", "Ben") == {"number": 2, "url": "/teams/a/members/2"}
    assert add(project, "b", "Ada", "x") == {"number": 1, "url": "/teams/b/members/1"}
    ada = {"number": 1, "name": "Ada", "role": "admin", "tags": ["x", "y"]}
    ben = {"number": 2, "name": "Ben", "role": "member", "tags": []}
    assert get(project, "/teams/a/members") == (200, [ada, ben])
    assert get(project, "/teams/a/members/2") == (200, ben)
    status, body = get(project, "/teams/a/members/3")
    assert (status, list(body), type(body["error"])) == (404, ["error"], str)
    assert get(project, "/teams/a/count") == (200, 2)
    assert get(project, "/teams/a/names") == (200, ["Ada", "Ben"])
    assert get(project, "/teams/c/names") == (200, [])
    assert get(project, "/teams/c/count") == (200, 0)
    rows = [{name: row[name] for name in row if not name.startswith("_")} for row in project.documents("members")]
    assert rows[0] == ada | {"team": "a", "addedBy": "ada"}


def test_what_members_are(project: Deployment) -> None:
    fields = project.schema().table("members").fields
    types = dict.fromkeys(("team", "name", "addedBy"), "v.string()")
    types |= {"number": "v.number()", "tags": "v.array(v.string())"}
    assert {name: (fields[name].type, fields[name].optional) for name in types} == {
        name: (type_, False) for name, type_ in types.items()
    }


def test_a_name_is_taken_once_in_a_team(project: Deployment) -> None:
    add(project, "a", "Ada")
    response = project.http.post("/teams/a/members", json={"name": "Ada", "tags": []}, headers=ADA)
    assert (response.status, list(response.json())) == (409, ["error"])
    assert get(project, "/teams/a/count") == (200, 1)


def test_only_root_removes_members(project: Deployment) -> None:
    for name in ("Ada", "Ben", "Cy"):
        add(project, "a", name)
    response = project.http.delete("/teams/a/members/2", headers=ADA)
    assert (response.status, list(response.json())) == (403, ["error"])
    response = project.http.delete("/teams/a/members/2", headers=ROOT)
    assert (response.status, response.body) == (204, b"")
    response = project.http.delete("/teams/a/members/2", headers=ROOT)
    assert (response.status, list(response.json())) == (404, ["error"])
    assert add(project, "a", "Dee")["number"] == 4
    assert get(project, "/teams/a/names") == (200, ["Ada", "Cy", "Dee"])


def test_members_are_selected_by_the_query(project: Deployment) -> None:
    add(project, "a", "Ada", "x", "y", role="admin")
    add(project, "a", "Ben", "x")
    add(project, "a", "Cy", "y", "x")
    add(project, "a", "Dee", role="admin")
    expected = {
        "role=admin": ["Ada", "Dee"],
        "tag=x": ["Ada", "Ben", "Cy"],
        "tag=x&tag=y": ["Ada", "Cy"],
        "tag=y&role=member&tag=x": ["Cy"],
        "limit=2": ["Ada", "Ben"],
        "tag=x&limit=2&unknown=1&unknown=2": ["Ada", "Ben"],
        "limit=0": [],
    }
    for query, names in expected.items():
        status, members = get(project, f"/teams/a/members?{query}")
        assert (status, [member["name"] for member in members]) == (200, names), query


@pytest.mark.parametrize(
    ("query", "field"),
    [("role=owner", "role"), ("limit=x", "limit"), ("limit=", "limit"), ("limit=1&limit=2", "limit"), ("role=", "role"), ("limit=x&role=x", "role"), ("limit=1e3", "limit"), ("limit=0x10", "limit")],
)  # fmt: skip
def test_a_wrong_query_is_refused(project: Deployment, query: str, field: str) -> None:
    assert get(project, f"/teams/a/members?{query}") == (400, {"error": "Invalid query", "field": field})


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"null", b"[]", b'"a"', b'{"name": "a"}', b'{"name": 1, "tags": []}', b'{"name": "a", "tags": [1]}', b'{"name": "a", "tags": [], "more": 1}', b'{"name": "a", "tags": [], "role": null}', b'{"name": "a", "tags": [], "role": "owner"}', b'{"name": "a", "tags": {}}'],
)  # fmt: skip
def test_a_wrong_body_is_refused(project: Deployment, body: bytes) -> None:
    headers = ADA | {"Content-Type": "application/json"}
    response = project.http.request("POST", "/teams/a/members", body=body, headers=headers)
    assert (response.status, response.json()) == (400, {"error": "Invalid body"})
    assert project.documents("members") == []


@pytest.mark.parametrize(
    "path",
    ["/", "/healt", "/health/", "/health/x", "/teams", "/teams/a", "/teams//members", "/teams/a/members/", "/teams/a/members/x", "/teams/a/members/1x", "/teams/a/members/1/2", "/teams/a/members/-", "/teams/a/members/1e3", "/teams/a/members/.5", "/teams/a/other", "/teams/a/count%7Cnames", "/teams/a/coun", "/Health"],
)  # fmt: skip
def test_a_path_that_no_route_has(project: Deployment, path: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        response = project.http.request(method, path, headers=ROOT)
        assert (response.status, response.json()) == NOT_FOUND


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/health", "GET"), ("/teams/a/members", "GET, POST"), ("/teams/a/members/1", "DELETE, GET"), ("/teams/a/names", "GET"), ("/echo/a/-1.5", "PUT"), ("/link", "POST")],
)  # fmt: skip
def test_a_method_that_no_route_has(project: Deployment, path: str, allowed: str) -> None:
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - set(allowed.split(", ")):
        response = project.http.request(method, path)
        assert (response.status, response.json()) == (405, {"error": "Method not allowed"}), method
        assert response.header("Allow") == allowed


def test_parameters_are_decoded(project: Deployment) -> None:
    for team in ("a b", "a/b", "é?&#%", "100%25", "count"):
        url = f"/teams/{quote(team, safe='')}/members/1"
        made = add(project, team, "Ada")
        assert unquote(made["url"]) == unquote(url)
        assert get(project, made["url"])[0] == 200
    assert {row["team"] for row in project.documents("members")} == {"a b", "a/b", "é?&#%", "100%25", "count"}
    assert get(project, "/teams/a%20b/c%6Funt") == (200, 1)


def test_values_arrive_with_their_types(project: Deployment) -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("flag=true", {"flag": True}),
        ("flag=false&level=1", {"flag": False, "level": 1}),
        ("level=max&flag=true", {"flag": True, "level": "max"}),
        ("flag=true&level=false", {"flag": True, "level": False}),
        ("flag=true&ratios=1.5&ratios=-2&ratios=0", {"flag": True, "ratios": [1.5, -2, 0]}),
    ]
    for query, expected in cases:
        received = echo(project, f"/echo/7/-1.5?{query}")
        assert received == (200, {"params": {"word": "7", "n": -1.5}, "query": expected, "body": LIST}), query
    wrong = {"": "flag", "flag=1": "flag", "flag=true&flag=true": "flag", "flag=true&level=2": "level"}
    wrong |= {"flag=true&level=": "level", "flag=true&ratios=1&ratios=x": "ratios", "level=x&ratios=x": "flag"}
    for query, field in wrong.items():
        assert echo(project, f"/echo/a/1?{query}") == (400, {"error": "Invalid query", "field": field}), query
        assert echo(project, f"/echo/a/1?{query}", {"kind": "none"})[1]["error"] == "Invalid query"


def test_bodies_are_validated_as_convex_does(project: Deployment) -> None:
    right: list[Any] = [
        {"kind": "list", "items": [1, None, 2.5], "note": ""},
        {"kind": "map", "entries": {}},
        {"kind": "map", "entries": {"a": {"on": True}, "b c": {"on": False}}},
    ]
    wrong: list[Any] = [
        {},
        {"kind": "list"},
        {"kind": "list", "items": ["1"]},
        {"kind": "list", "items": [], "note": None},
        {"kind": "list", "items": [], "entries": {}},
        {"kind": "map", "items": []},
        {"kind": "map", "entries": []},
        {"kind": "map", "entries": {"a": {"on": 1}}},
        {"kind": "map", "entries": {"a": {"on": True, "off": False}}},
        {"kind": "map", "entries": {"a": None}},
        [LIST],
    ]
    for body in right:
        status, received = echo(project, "/echo/a/1?flag=true", body)
        assert (status, received.get("body")) == (200, body)
    for body in wrong:
        assert echo(project, "/echo/a/1?flag=true", body) == (400, {"error": "Invalid body"}), body


@pytest.mark.parametrize("seed", range(3))
def test_a_route_sees_the_values_that_its_url_was_made_of(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(12):
        letters = "ab /?&=#%+:é€🎉()|"
        params = {
            "word": "".join(chance.choice(letters) for _ in range(chance.randrange(1, 6))),
            "n": chance.choice([0, 1, -7, 2.25, 123456]),
        }
        query: dict[str, Any] = {"flag": chance.random() < 0.5}
        if chance.random() < 0.6:
            query["level"] = chance.choice([1, "max", True, False])
        if chance.random() < 0.6:
            query["ratios"] = [chance.choice([1, 0.5, -3]) for _ in range(chance.randrange(1, 4))]
        response = project.http.post("/link", json={"params": params, "query": query})
        assert response.status == 200, response.text
        url = response.json()["url"]
        assert echo(project, url) == (200, {"params": params, "query": query, "body": LIST}), url
        names = [name for name, _ in parse_qsl(urlsplit(url).query)]
        assert names == [name for name in query for _ in (query[name] if name == "ratios" else [1])]


def test_urls_look_like_this(project: Deployment) -> None:
    def link(**query: Any) -> str:
        body = {"params": {"word": "a b", "n": 5}, "query": query}
        return str(project.http.post("/link", json=body).json()["url"])

    assert link(flag=True) == "/echo/a%20b/5?flag=true"
    assert link(ratios=[1, 2.5], level="max", flag=False) == "/echo/a%20b/5?flag=false&level=max&ratios=1&ratios=2.5"
    assert link(flag=True, ratios=[]) == "/echo/a%20b/5?flag=true"


def test_there_are_no_public_functions(project: Deployment) -> None:
    assert [name for name, spec in project.functions().items() if spec.is_public] == []


HEAD = """
import { v } from "convex/values";
import type { HttpRouter } from "convex/server";
import type { ActionCtx } from "./_generated/server";
import { createRoutes, mount, urlFor, type ParamsOf, type ResponseOf } from "./lib/routes";
import { addMember, echo, getMember, health, link, listMembers, removeMember, report } from "./routes";

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type IsAny<T> = 0 extends 1 & T ? true : false;
declare function yes<T extends true>(): T;
declare function no<T extends false>(): T;
declare function is<T>(value: T): void;
const open = createRoutes();
const known = open
  .use(({ request }) => request.headers.get("a") === null ? new Response(null, { status: 401 }) : { caller: "a" })
  .use(async ({ context }) => ({ isRoot: context.caller === "root" }));
const ok = { 200: v.object({ ok: v.boolean() }) };
const sorted = open.route({
  method: "GET", path: "/sorted/:by(name|age)", query: { page: v.number(), desc: v.optional(v.boolean()) }, responses: ok,
}).handle(() => ({ status: 200, body: { ok: true } }));
const bare = open.route({
  method: "POST", path: "/bare", query: { page: v.optional(v.number()) }, body: v.object({ n: v.number() }), responses: ok,
}).handle(async ({ body }) => ({ status: 200, body: { ok: body.n > 0 } }));
const needsCaller = async ({ context }: { context: { caller: string } }) => ({ length: context.caller.length });
"""


def route(method: str = "GET", path: str = "/a", rest: str = "", responses: str = "ok", handler: str = "") -> str:
    shown = handler or "() => ({ status: 200, body: { ok: true } })"
    return f'known.route({{ method: "{method}", path: "{path}", {rest} responses: {responses} }}).handle({shown});\n'


TWO = '{ 200: v.object({ tags: v.array(v.string()), kind: v.union(v.literal("a"), v.literal("b")) }), 404: v.object({ error: v.string() }), 204: v.null() }'

COMPILES = {
    "the parameters of paths": """
yes<Equal<ParamsOf<"/teams/:team/:view(count|names)">, { team: string; view: "count" | "names" }>>();
yes<Equal<ParamsOf<"/a/:id(number)/:only(one)/b">, { id: number; only: "one" }>>();
yes<Equal<keyof ParamsOf<"/a/b">, never>>();
yes<Equal<ParamsOf<"/:a/:b/:c(x|y|z)/:d(number)/:e">, { a: string; b: string; c: "x" | "y" | "z"; d: number; e: string }>>();
""",
    "the parameters in a handler": route(
        path="/teams/:team/:id(number)/:kind(x|y)",
        handler='({ params }) => { is<string>(params.team); is<number>(params.id); is<"x" | "y">(params.kind); no<IsAny<typeof params>>(); return { status: 200, body: { ok: true } }; }',
    ),
    "the query in a handler": route(
        rest='query: { page: v.number(), by: v.optional(v.union(v.literal("a"), v.literal(2))), tag: v.array(v.string()) },',
        handler='async ({ query }) => { is<number>(query.page); yes<Equal<typeof query.by, "a" | 2 | undefined>>(); is<string[]>(query.tag); return { status: 200, body: { ok: true } }; }',
    ),
    "the body in a handler": route(
        method="PUT",
        rest='body: v.union(v.object({ kind: v.literal("a"), n: v.number() }), v.object({ kind: v.literal("b"), s: v.optional(v.string()) })),',
        handler='async ({ body }) => { if (body.kind === "a") is<number>(body.n); else is<string | undefined>(body.s); no<IsAny<typeof body>>(); return { status: 200, body: { ok: true } }; }',
    ),
    "the context in a handler": route(
        handler="({ ctx, request, context }) => { yes<Equal<typeof context, { caller: string; isRoot: boolean }>>(); is<ActionCtx>(ctx); is<Request>(request); return { status: 200, body: { ok: context.isRoot } }; }",
    ),
    "what is added later replaces what was there": """
known.use(() => ({ caller: 5 })).route({ method: "GET", path: "/a", responses: ok }).handle(({ context }) => {
  yes<Equal<typeof context.caller, number>>();
  return { status: 200, body: { ok: context.isRoot } };
});
""",
    "a middleware that needs another": """
known.use(needsCaller).route({ method: "GET", path: "/a", responses: ok }).handle(({ context }) => ({ status: 200, body: { ok: context.length > 5 } }));
""",
    "each status with its body": route(
        responses=TWO, handler='async ({ request }) => request.url === "" ? { status: 200, body: { tags: ["a"], kind: "b" } } : { status: 404, body: { error: "x" } }'
    )
    + route(responses=TWO, handler='() => ({ status: 200, body: { tags: [], kind: "a" } })'),
    "a status without a body": route(responses=TWO, handler="async () => ({ status: 204 })")
    + route(responses=TWO, handler='({ request }) => { if (request.url === "") return { status: 204, body: null }; return { status: 404, body: { error: "" } }; }'),
    "what routes respond with": """
type Got = ResponseOf<typeof getMember>;
yes<Equal<Got["status"], 200 | 404>>();
yes<Equal<Extract<Got, { status: 404 }>["body"], { error: string }>>();
yes<Equal<Extract<Got, { status: 200 }>["body"]["role"], "member" | "admin">>();
yes<Equal<ResponseOf<typeof removeMember>["status"], 204 | 403 | 404>>();
yes<Equal<ResponseOf<typeof report>["body"], number | string[]>>();
yes<Equal<ResponseOf<typeof link>, { status: 200; body: { url: string } }>>();
no<IsAny<Got>>();
declare const got: Got;
if (got.status === 404) is<string>(got.body.error); else is<number>(got.body.number);
""",
    "URLs": """
is<string>(urlFor(health));
urlFor(getMember, { params: { team: "a", id: 5 } });
urlFor(listMembers, { params: { team: "a" }, query: { tag: [], role: "admin" } });
urlFor(report, { params: { team: "a", view: "count" } });
urlFor(addMember, { params: { team: "a" } });
urlFor(echo, { params: { word: "a", n: 1 }, query: { flag: true, level: "max" } });
urlFor(sorted, { params: { by: "age" }, query: { page: 1 } });
urlFor(bare);
urlFor(bare, {});
urlFor(bare, { query: {} });
urlFor(bare, { query: { page: 5 } });
""",
    "mounting routes of all sorts": "is<HttpRouter>(mount([health, getMember, sorted, bare, echo]));\nmount([]);",
    "all methods": "".join(route(method=method) for method in ("GET", "POST", "PUT", "PATCH", "DELETE")),
    "a body with a POST": route(method="POST", rest="body: v.object({ n: v.number() }),"),
    "a query": route(rest="query: { a: v.optional(v.array(v.union(v.literal(1), v.string()))) },"),
    "two parameters": route(path="/:a/:b(number)"),
    "a body that is used": route(method="POST", rest="body: v.object({ n: v.number() }),", handler="({ body }) => ({ status: 200, body: { ok: body.n > 0 } })"),
}  # fmt: skip

REFUSED = {
    "a path without a slash": route(path="a"),
    "the same parameter twice": route(path="/:a/b/:a(number)"),
    "another method": route(method="FETCH"),
    "a body with a GET": route(method="GET", rest="body: v.object({ n: v.number() }),"),
    "a body with a DELETE": route(method="DELETE", rest="body: v.object({ n: v.number() }),"),
    "an object in the query": route(rest="query: { a: v.object({ n: v.number() }) },"),
    "null in the query": route(rest="query: { a: v.nullable(v.string()) },"),
    "arrays of arrays in the query": route(rest="query: { a: v.array(v.array(v.string())) },"),
    "a parameter that the path does not have": route(path="/:a", handler='({ params }) => ({ status: 200, body: { ok: params.b === "" } })'),
    "a number that is used as a string": route(path="/:a(number)", handler='({ params }) => ({ status: 200, body: { ok: params.a === "" } })'),
    "an alternative that the path does not have": route(path="/:a(x|y)", handler='({ params }) => ({ status: 200, body: { ok: params.a === "z" } })'),
    "a query field that the route does not have": route(rest="query: { a: v.boolean() },", handler="({ query }) => ({ status: 200, body: { ok: query.b } })"),
    "an optional query field used as if it were there": route(rest="query: { a: v.optional(v.boolean()) },", handler="({ query }) => ({ status: 200, body: { ok: query.a } })"),
    "a query field of a route without any": route(handler="({ query }) => ({ status: 200, body: { ok: query.a === 1 } })"),
    "a body that the route does not have": route(method="POST", handler="({ body }) => ({ status: 200, body: { ok: body !== null } })"),
    "a field that the body does not have": route(method="POST", rest="body: v.object({ n: v.number() }),", handler="({ body }) => ({ status: 200, body: { ok: body.m > 0 } })"),
    "a context that no middleware adds": route(handler="({ context }) => ({ status: 200, body: { ok: context.other === 1 } })"),
    "a context that only other routes have": 'open.route({ method: "GET", path: "/a", responses: ok }).handle(({ context }) => ({ status: 200, body: { ok: context.isRoot } }));',
    "a middleware before the one that it needs": "open.use(needsCaller);",
    "a status that the route does not have": route(handler="() => ({ status: 201, body: { ok: true } })"),
    "a body of another status": route(responses=TWO, handler='async () => ({ status: 200, body: { error: "x" } })'),
    "a body of another type": route(handler='async () => ({ status: 200, body: { ok: "true" } })'),
    "a literal that the response does not know": route(responses=TWO, handler='() => ({ status: 200, body: { tags: [], kind: "c" } })'),
    "a status without its body": route(responses=TWO, handler="async () => ({ status: 404 })"),
    "no response": route(handler="async () => {}"),
    "a URL without parameters": "urlFor(getMember);",
    "a URL without one of its parameters": 'urlFor(getMember, { params: { team: "a" } });',
    "a URL with a parameter of another type": 'urlFor(getMember, { params: { team: "a", id: "5" } });',
    "a URL with another alternative": 'urlFor(report, { params: { team: "a", view: "all" } });',
    "a URL with a parameter that the path does not have": 'urlFor(getMember, { params: { team: "a", id: 5, more: 1 } });',
    "a URL with a query that the route does not have": 'urlFor(getMember, { params: { team: "a", id: 5 }, query: {} });',
    "a URL with parameters that the path does not have": "urlFor(bare, { params: {}, query: { page: 5 } });",
    "a URL without a query that it needs": 'urlFor(sorted, { params: { by: "age" } });',
    "a URL without a query field that it needs": 'urlFor(sorted, { params: { by: "age" }, query: { desc: true } });',
    "a URL with a query field of another type": 'urlFor(sorted, { params: { by: "age" }, query: { page: "1" } });',
    "a URL with a query field that the route does not have": "urlFor(bare, { query: { pages: 5 } });",
    "a URL that takes nothing": "urlFor(health, {});",
    "another status in what a route responds with": 'is<ResponseOf<typeof getMember>>({ status: 403, body: { error: "" } });',
}  # fmt: skip
SNIPPETS = {name: HEAD + text for name, text in (COMPILES | REFUSED).items()}
SNIPPETS["nothing"] = HEAD


@pytest.mark.parametrize("name", COMPILES)
def test_this_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_this_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    errors = type_checks.errors(SNIPPETS)
    assert errors["nothing"] == ()
    assert errors[name] != ()
