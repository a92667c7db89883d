"""An API described by a contract: what the compiler knows of it, what the server responds, and what clients make of it."""

# ruff: noqa: E501 (snippets of TypeScript)

import json
import random
import re
from typing import Any
from urllib.parse import parse_qsl

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Int64, TypeChecks

Data = dict[str, Any]

HEAD = """
import type { HttpRouter } from "convex/server";
import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { ActionCtx } from "./_generated/server";
import { contract } from "./contract";
import { ContractError, createClient, defineContract, implement, type ClientResult, type HandlerInput, type HandlerResult } from "./lib/contract";
type Keys<T> = T extends T ? keyof T : never;
type Exactly<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? (0 extends 1 & A ? false : Exactly<Keys<A>, Keys<B>>) : false) : false;
type Mistakes = { error: string; mistakes: { in: "path" | "query" | "header" | "body"; at: string; problem: "missing" | "invalid" | "repeated" | "unknown" }[] };
type Content = { type: "goods"; items: { name: string; value: bigint; size?: number }[] } | { type: "papers"; pages: number; secret: boolean };
type Order = { weight: number; content: Content; tags: string[]; insured?: bigint | null; notes?: Record<string, string> };
type State = "waiting" | "on the way" | "delivered";
type Parcel = Order & { depot: string; number: bigint; status: State };
type Bad = { status: 400; body: Mistakes };
declare const client: ReturnType<typeof createClient<typeof contract>>;
declare const order: Order;
declare const at: { depot: string; number: bigint };
const text = v.string();
const ok = v.object({ ok: v.boolean() });
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


def gets(name: str, part: str, expected: str) -> str:
    return same(f'HandlerInput<typeof contract, "{name}">["{part}"]', expected)


def gives(name: str, expected: str) -> str:
    return same(f'ClientResult<typeof contract, "{name}">', expected)


def define(operation: str, more: str = "") -> str:
    return f"""
  return defineContract({{
    first: {operation},
    tagged: {{ method: "GET", path: "/a/{{x}}", params: {{ x: text }}, etag: true, responses: {{ 200: ok, 404: ok }} }},
    asking: {{ method: "GET", path: "/a/{{x}}", params: {{ x: text }}, query: {{ q: v.boolean() }}, etag: true, responses: {{ 200: ok }} }},
    plain: {{ method: "GET", path: "/a/{{x}}", params: {{ x: text }}, responses: {{ 200: ok }} }},{more}
  }});"""


SMALL = """
  const small = defineContract({
    read: { method: "GET", path: "/{n}", params: { n: v.int64() }, query: { q: v.optional(v.array(v.boolean())) }, responses: { 200: v.nullable(v.number()), 404: v.null() } },
    write: { method: "POST", path: "/", headers: { "x-a": v.union(v.literal(1), v.literal("b")) }, body: v.array(v.int64()), idempotent: true, responses: { 200: v.literal("yes"), 201: ok } },
    list: { method: "GET", path: "/", paginated: { default: 1, max: 2 }, responses: { 200: v.int64() } },
  });
"""


def handlers(read: str, write: str = '() => ({ status: 200, body: "yes" })', more: str = "") -> str:
    return f"""{SMALL}
  const router: HttpRouter = implement(small, internal.keys)({{
    read: {read},
    write: {write},
    list: ({{ page }}) => ({{ status: 200, body: {{ items: [BigInt(page.limit)], next: page.cursor }} }}),{more}
  }});
  return router;"""


def calls(call: str) -> str:
    return f"""{SMALL}
  const api = createClient(small, {{ baseUrl: "", fetch }});
  return {call};"""


READ = "({ params }) => ({ status: 200, body: Number(params.n) })"
COMPILES = {
    "params": gets("getParcel", "params", "{ depot: string; number: bigint }"),
    "params of literals": gets(
        "echo", "params", '{ word: string; ratio: number; big: bigint; view: "full" | 2 | boolean }'
    ),
    "a query": gets("listParcels", "query", "{ status?: State; minWeight?: number; tag: string[] }"),
    "headers": gets("createParcel", "headers", '{ "x-agent": string; "x-priority"?: 1 | 2 | "express" }'),
    "a body": gets("replaceParcel", "body", "Order"),
    "a body that is a union": gets("moveParcel", "body", '{ type: "load" } | { type: "deliver"; to: string }'),
    "a page": gets("listParcels", "page", "{ limit: number; cursor: string | null }"),
    "the context": gets("health", "ctx", "ActionCtx"),
    "exactly these": same(
        'keyof HandlerInput<typeof contract, "removeParcel">', '"ctx" | "request" | "params" | "query" | "headers"'
    ),
    "exactly these with a body": same(
        'keyof HandlerInput<typeof contract, "echo">', '"ctx" | "request" | "params" | "query" | "headers" | "body"'
    ),
    "results": same(
        'HandlerResult<typeof contract, "replaceParcel">',
        "{ status: 200; body: Parcel } | { status: 409; body: { error: string; status: State } }",
    ),
    "results of pages": same(
        'HandlerResult<typeof contract, "listParcels">',
        "{ status: 200; body: { items: Parcel[]; next: string | null } } | { status: 404; body: { error: string } }",
    ),
    "results without a body": """
  const one: HandlerResult<typeof contract, "removeParcel"> = { status: 204 };
  const two: HandlerResult<typeof contract, "removeParcel"> = { status: 204, body: null };
  return [one, two];""",
    "handlers": handlers(READ),
    "async handlers": handlers(
        "async ({ params: { n }, query: { q } }) => (q?.[0] === true && n > 5n ? { status: 404 } : { status: 200, body: null })",
        'async ({ body, headers }) => { if (headers["x-a"] === 1) return { status: 200, body: "yes" }; return { status: 201, body: { ok: body[0] === 0n } }; }',
    ),
    "bodies with more fields": handlers(
        READ, "() => { const more = { ok: true, more: 5 }; return { status: 201, body: more }; }"
    ),
    "a handler for itself": """
  const handle = async ({ body }: HandlerInput<typeof contract, "moveParcel">): Promise<HandlerResult<typeof contract, "moveParcel">> =>
    body.type === "load" ? { status: 200, body: { status: "on the way", delivered: null } } : { status: 404, body: { error: body.to } };
  return handle;""",
    "results for clients": gives("health", "{ status: 200; body: { ok: true } } | Bad"),
    "results of pages for clients": gives(
        "listParcels",
        "{ status: 200; body: { items: Parcel[]; next: string | null } } | { status: 404; body: { error: string } } | Bad",
    ),
    "results with a tag": gives(
        "getParcel",
        "{ status: 200; body: Parcel; etag: string } | { status: 304; body: null; etag: string } | { status: 404; body: { error: string } } | Bad",
    ),
    "results with a condition": gives(
        "removeParcel",
        "{ status: 204; body: null } | { status: 409 | 412 | 428; body: { error: string } } | Bad",
    ),
    "results with a condition and a body": gives(
        "replaceParcel",
        "{ status: 200; body: Parcel } | { status: 409; body: { error: string; status: State } } | { status: 412 | 413 | 428; body: { error: string } } | Bad",
    ),
    "results with a key": gives(
        "createParcel",
        "{ status: 201; body: { number: bigint; by: string }; replayed: boolean } | { status: 403; body: { error: string }; replayed: boolean } | { status: 409 | 413 | 422; body: { error: string } } | Bad",
    ),
    "results with a key and without a body": gives(
        "fail",
        "{ status: 202; body: null; replayed: boolean } | { status: 410; body: { error: string }; replayed: boolean } | { status: 409 | 422; body: { error: string } } | Bad",
    ),
    "results told apart by status": """
  const result = await client.getParcel({ params: at, ifNoneMatch: "*" });
  if (result.status === 404) return result.body.error;
  if (result.status === 400) return result.body.mistakes.map((each) => each.at);
  if (result.status === 304) return [result.etag, result.body];
  return [result.etag, result.body.number + 1n, result.body.content.type === "goods" ? result.body.content.items[0].value : 0n];""",
    "what clients give": """
  return [
    await client.health(),
    await client.listParcels({ params: { depot: "a" }, query: { tag: [] } }),
    await client.listParcels({ params: { depot: "a" }, query: { tag: ["b"], status: "waiting", limit: 5, cursor: "c" } }),
    await client.createParcel({ params: { depot: "a" }, headers: { "x-agent": "b", "x-priority": 1 }, body: order, idempotencyKey: "k" }),
    await client.replaceParcel({ params: at, body: { weight: 1, content: { type: "papers", pages: 1, secret: true }, tags: [], insured: null }, ifMatch: "*" }),
    await client.removeParcel({ params: at, ifMatch: "*" }),
    await client.removeParcel({ params: at, query: {}, ifMatch: "*" }),
    await client.removeParcel({ params: at, query: { force: true }, ifMatch: "*" }),
    await client.moveParcel({ params: at, body: { type: "deliver", to: "a" } }),
    await client.fail({ query: { how: "gone" }, idempotencyKey: "k" }),
    await client.echo({ params: { word: "a", ratio: 1, big: 1n, view: 2 }, query: { flag: true, size: "max" }, headers: { "x-count": 1n }, body: [1] }),
  ];""",
    "inputs of another contract": calls(
        '[await api.read({ params: { n: 1n } }), await api.list(), await api.list({}), await api.list({ query: { limit: 1 } }), await api.write({ headers: { "x-a": "b" }, body: [], idempotencyKey: "k" })]'
    ),
    "any function that fetches": """
  const other = (url: string, init: { method: string; headers: Record<string, string>; body?: string }) => Promise.resolve(new Response(init.body ?? url));
  return [createClient(contract, { baseUrl: "", fetch: other }), createClient(contract, { baseUrl: "", fetch })];""",
    "errors": """
  try { return await client.health(); } catch (error) {
    if (error instanceof ContractError) { const status: number = error.status; return [error.operation.length, status, error.message]; }
    throw error;
  }""",
    "the contract itself": """
  const method: "GET" = contract.health.method;
  const path: "/depots/{depot}/parcels" = contract.listParcels.path;
  return [method, path, contract.listParcels.paginated.max];""",
    "an operation": define(
        '{ method: "PUT", path: "/a/{x}", params: { x: text }, body: ok, maxBytes: 5, ifMatch: "tagged", responses: { 200: ok, 404: ok } }'
    ),
    "a deletion": define(
        '{ method: "DELETE", path: "/a/{x}", params: { x: text }, ifMatch: "tagged", responses: { 204: v.null(), 409: ok } }'
    ),
    "a post": define(
        '{ method: "POST", path: "/b", headers: { "x-a": v.optional(v.int64()) }, idempotent: true, responses: { 200: ok, 404: ok, 412: ok } }'
    ),
    "a list": define(
        '{ method: "GET", path: "/b/{x}/c/{y}", params: { x: v.union(v.literal("a"), v.boolean()), y: v.number() }, paginated: { default: 1, max: 2 }, responses: { 200: ok } }'
    ),
}
REFUSED = (
    {
        "a missing handler": handlers(READ).replace("    write: () =>", "    // () =>"),
        "an extra handler": handlers(READ, more="\n    other: () => ({ status: 200, body: null }),"),
        "a status that is not declared": handlers("() => ({ status: 201, body: null })"),
        "a status of the library": handlers("() => ({ status: 400, body: null })"),
        "a body of another type": handlers('() => ({ status: 200, body: "5" })'),
        "a body of another status": handlers(READ, "() => ({ status: 200, body: { ok: true } })"),
        "a body of another literal": handlers(READ, '() => ({ status: 200, body: "no" })'),
        "no body": handlers(READ, "() => ({ status: 200 })"),
        "a body without a field": handlers(READ, "() => ({ status: 201, body: {} })"),
        "no status": handlers("() => ({ body: null })"),
        "one of two results that is wrong": handlers(
            "({ params }) => (params.n > 1n ? { status: 200, body: 5 } : { status: 202 })"
        ),
        "nothing": handlers("() => {}"),
        "an async handler with a wrong result": handlers("async () => ({ status: 404, body: 5 })"),
        "a param that is not there": handlers("({ params }) => ({ status: 200, body: params.m })"),
        "a param of another type": handlers("({ params }) => ({ status: 200, body: params.n })"),
        "a body that is not there": handlers("({ body }) => ({ status: 200, body })"),
        "a page that is not there": handlers("({ page }) => ({ status: 200, body: page.limit })"),
        "an optional field that is there": handlers("({ query }) => ({ status: 200, body: query.q.length })"),
        "a header that is not there": handlers(READ, '({ headers }) => ({ status: 200, body: headers["x-b"] })'),
        "one item as a page": handlers(READ).replace(
            "{ items: [BigInt(page.limit)], next: page.cursor }", "BigInt(page.limit)"
        ),
        "an operation that is not there": "return await client.listParcel();",
        "no params for a client": "return await client.getParcel({});",
        "nothing at all for a client": "return await client.getParcel();",
        "something for an operation that takes nothing": "return await client.health({ query: {} });",
        "a number for a bigint": 'return await client.getParcel({ params: { depot: "a", number: 5 } });',
        "another param": "return await client.getParcel({ params: { ...at, other: 5 } });".replace(
            "...at, other", 'depot: "a", number: 5n, other'
        ),
        "a query without a required field": 'return await client.listParcels({ params: { depot: "a" }, query: {} });',
        "no query with a required field": 'return await client.listParcels({ params: { depot: "a" } });',
        "another field of a query": 'return await client.listParcels({ params: { depot: "a" }, query: { tag: [], tags: [] } });',
        "another literal in a query": 'return await client.listParcels({ params: { depot: "a" }, query: { tag: [], status: "lost" } });',
        "pages of what has none": 'return await client.removeParcel({ params: at, query: { limit: 5 }, ifMatch: "*" });',
        "no headers": 'return await client.createParcel({ params: { depot: "a" }, body: order, idempotencyKey: "k" });',
        "another literal in a header": 'return await client.createParcel({ params: { depot: "a" }, headers: { "x-agent": "b", "x-priority": 3 }, body: order, idempotencyKey: "k" });',
        "no key": 'return await client.createParcel({ params: { depot: "a" }, headers: { "x-agent": "b" }, body: order });',
        "a key that is not asked for": 'return await client.moveParcel({ params: at, body: { type: "load" }, idempotencyKey: "k" });',
        "no condition": "return await client.removeParcel({ params: at });",
        "a condition that is not asked for": 'return await client.getParcel({ params: at, ifMatch: "*" });',
        "a tag without tags": 'return await client.listParcels({ params: { depot: "a" }, query: { tag: [] }, ifNoneMatch: "*" });',
        "no body for a client": 'return await client.replaceParcel({ params: at, ifMatch: "*" });',
        "a body for an operation without": "return await client.getParcel({ params: at, body: order });",
        "a body of a wrong type": 'return await client.moveParcel({ params: at, body: { type: "deliver" } });',
        "the body of another status": """const result = await client.getParcel({ params: at });
  return result.status === 200 ? result.body.error : 0;""",
        "the body of any status": "return (await client.getParcel({ params: at })).body.error;",
        "a tag of another status": """const result = await client.getParcel({ params: at });
  return result.status === 404 ? result.etag : 0;""",
        "a status that cannot be": "return (await client.getParcel({ params: at })).status === 412;",
        "a status of operations with a body": "return (await client.fail({ query: { how: 'gone' }, idempotencyKey: 'k' })).status === 413;",
        "a replay of what has no key": """const result = await client.moveParcel({ params: at, body: { type: "load" } });
  return result.status === 200 && result.replayed;""",
        "a replay of the library's status": """const result = await client.fail({ query: { how: "gone" }, idempotencyKey: "k" });
  return result.status === 409 && result.replayed;""",
        "another property": define('{ method: "GET", path: "/b", tag: true, responses: { 200: ok } }'),
        "another method": define('{ method: "HEAD", path: "/b", responses: { 200: ok } }'),
        "no method": define('{ path: "/b", responses: { 200: ok } }'),
        "no responses": define('{ method: "GET", path: "/b" }'),
        "a path without a slash": define('{ method: "GET", path: "b", responses: { 200: ok } }'),
        "a parameter without a validator": define(
            '{ method: "GET", path: "/{x}/{y}", params: { x: text }, responses: { 200: ok } }'
        ),
        "parameters without validators": define('{ method: "GET", path: "/{x}", responses: { 200: ok } }'),
        "a validator without a parameter": define(
            '{ method: "GET", path: "/{x}", params: { x: text, y: text }, responses: { 200: ok } }'
        ),
        "an optional parameter": define(
            '{ method: "GET", path: "/{x}", params: { x: v.optional(text) }, responses: { 200: ok } }'
        ),
        "an array as a parameter": define(
            '{ method: "GET", path: "/{x}", params: { x: v.array(text) }, responses: { 200: ok } }'
        ),
        "an object in a query": define('{ method: "GET", path: "/b", query: { x: ok }, responses: { 200: ok } }'),
        "null in a query": define(
            '{ method: "GET", path: "/b", query: { x: v.nullable(text) }, responses: { 200: ok } }'
        ),
        "an array of objects in a query": define(
            '{ method: "GET", path: "/b", query: { x: v.array(ok) }, responses: { 200: ok } }'
        ),
        "an array in a header": define(
            '{ method: "GET", path: "/b", headers: { x: v.array(text) }, responses: { 200: ok } }'
        ),
        "capitals in a header": define(
            '{ method: "GET", path: "/b", headers: { "X-A": text }, responses: { 200: ok } }'
        ),
        "a body of a GET": define('{ method: "GET", path: "/b", body: ok, responses: { 200: ok } }'),
        "a body of a DELETE": define('{ method: "DELETE", path: "/b", body: ok, responses: { 200: ok } }'),
        "an optional body": define('{ method: "PUT", path: "/b", body: v.optional(ok), responses: { 200: ok } }'),
        "maxBytes without a body": define('{ method: "PUT", path: "/b", maxBytes: 5, responses: { 200: ok } }'),
        "etag of a PUT": define('{ method: "PUT", path: "/b", etag: true, responses: { 200: ok } }'),
        "etag without 200": define('{ method: "GET", path: "/b", etag: true, responses: { 201: ok } }'),
        "etag: false": define('{ method: "GET", path: "/b", etag: false, responses: { 200: ok } }'),
        "pages of a POST": define(
            '{ method: "POST", path: "/b", paginated: { default: 1, max: 2 }, responses: { 200: ok } }'
        ),
        "pages without 200": define(
            '{ method: "GET", path: "/b", paginated: { default: 1, max: 2 }, responses: { 202: ok } }'
        ),
        "pages without a largest size": define(
            '{ method: "GET", path: "/b", paginated: { default: 1 }, responses: { 200: ok } }'
        ),
        "idempotent PUT": define('{ method: "PUT", path: "/b", idempotent: true, responses: { 200: ok } }'),
        "ifMatch of an operation that is not there": define(
            '{ method: "PUT", path: "/a/{x}", params: { x: text }, ifMatch: "other", responses: { 200: ok } }'
        ),
        "ifMatch of an operation without tags": define(
            '{ method: "PUT", path: "/a/{x}", params: { x: text }, ifMatch: "plain", responses: { 200: ok } }'
        ),
        "ifMatch of an operation with a query": define(
            '{ method: "PUT", path: "/a/{x}", params: { x: text }, ifMatch: "asking", responses: { 200: ok } }'
        ),
        "ifMatch of an operation with another path": define(
            '{ method: "PUT", path: "/b/{x}", params: { x: text }, ifMatch: "tagged", responses: { 200: ok } }'
        ),
        "ifMatch of a POST": define(
            '{ method: "POST", path: "/a/{x}", params: { x: text }, ifMatch: "tagged", responses: { 200: ok } }'
        ),
        "ifMatch of a GET": define(
            '{ method: "GET", path: "/a/{x}", params: { x: text }, ifMatch: "tagged", responses: { 200: ok } }'
        ),
        "an operation beside others that is wrong": define(
            '{ method: "GET", path: "/b", responses: { 200: ok } }',
            '\n    last: { method: "GET", path: "/c", responses: { 200: ok, 406: ok } },',
        ),
    }
    | {
        f"the library's status {status}": define(
            f'{{ method: "GET", path: "/b", responses: {{ 200: ok, {status}: ok }} }}'
        )
        for status in (304, 400, 405, 406, 413, 415, 500)
    }
    | {
        f"the status {status} with {name}": define(operation % status)
        for name, operation, statuses in (
            (
                "ifMatch",
                '{ method: "PUT", path: "/a/{x}", params: { x: text }, ifMatch: "tagged", responses: { 200: ok, %d: ok } }',
                (412, 428),
            ),
            (
                "idempotent",
                '{ method: "POST", path: "/b", idempotent: true, responses: { 200: ok, %d: ok } }',
                (409, 422),
            ),
        )
        for status in statuses
    }
)
COMPILES = {name: HEAD % body for name, body in COMPILES.items()}
REFUSED = {name: HEAD % f"  {body}" for name, body in REFUSED.items()}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES | REFUSED)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES | REFUSED)[name] != ()


# ---------------------------------------------------------------- the server

GOODS = {"type": "goods", "items": [{"name": "pen", "value": "9007199254740993"}]}
PAPERS = {"type": "papers", "pages": 3, "secret": False}
ORDER: Data = {"weight": 5, "content": GOODS, "tags": ["a"]}
AGENT = {"x-agent": "ada"}
ECHO = "/echo/w/1.5/7/full"
ECHO_HEADERS = {"x-count": "3"}
TREE: Data = {"type": "tree", "name": "n", "leaves": [], "marks": {}}


def mistake(part: str, at: str, problem: str) -> Data:
    return {"in": part, "at": at, "problem": problem}


def seen(response: Any) -> tuple[int, Any]:
    return response.status, json.loads(response.text) if response.text else None


def header(response: Any, name: str) -> str:
    found = response.header(name)
    assert isinstance(found, str), f"no header {name}"
    return found


def error(status: int, text: str) -> tuple[int, Data]:
    return status, {"error": text}


def create(project: Deployment, key: str, depot: str = "oslo", headers: Data = AGENT, **fields: Any) -> Any:
    return project.http.post(
        f"/depots/{depot}/parcels", json=ORDER | fields, headers={**headers, "Idempotency-Key": key}
    )


def echo(
    project: Deployment, path: str = ECHO, query: str = "flag=true", body: Any = None, **headers: str
) -> tuple[int, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return seen(project.http.post(f"{path}?{query}", json=body, headers={**ECHO_HEADERS, **named}))


def mistakes(answer: tuple[int, Any]) -> list[Data]:
    status, body = answer
    assert (status, body.get("error"), sorted(body)) == (400, "invalid", ["error", "mistakes"])
    found: list[Data] = body["mistakes"]
    return found


def test_responses_are_json(project: Deployment) -> None:
    response = project.http.get("/health")
    assert seen(response) == (200, {"ok": True})
    assert header(response, "Content-Type").split(";")[0] == "application/json"
    response = create(project, "k")
    assert seen(response) == (201, {"number": "1", "by": "ada, no priority"})
    assert header(response, "Content-Type").split(";")[0] == "application/json"
    assert project.documents("parcels")[0]["number"] == Int64(1)
    assert project.documents("parcels")[0]["content"]["items"] == [{"name": "pen", "value": Int64(9007199254740993)}]
    expected = ORDER | {"depot": "oslo", "number": "1", "status": "waiting"}
    assert seen(project.http.get("/depots/oslo/parcels/1")) == (200, expected)
    assert seen(project.http.get("/depots/oslo/parcels/2")) == error(404, "No such parcel")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/nothing",
        "/health/",
        "/health/x",
        "/depots//parcels",
        "/depots/a/parcels/",
        "/depots/a",
        "/depots/%E0%A4/parcels",
    ],
)
def test_paths_that_there_are_not(project: Deployment, path: str) -> None:
    assert seen(project.http.get(path)) == error(404, "not found")
    assert seen(project.http.options(path)) == error(404, "not found")


def test_segments_are_decoded(project: Deployment) -> None:
    assert seen(project.http.get("/he%61lth")) == (200, {"ok": True})
    status, body = echo(project, "/echo/a%2Fb%20%C3%A9%7D/-1.5e1/-7/true")
    assert (status, body["params"]) == (200, {"word": "a/b é}", "ratio": -15, "big": "-7", "view": True})


@pytest.mark.parametrize(
    "path, allow",
    [
        ("/health", "GET, HEAD, OPTIONS"),
        ("/depots/a/parcels", "GET, HEAD, OPTIONS, POST"),
        ("/depots/a/parcels/x", "DELETE, GET, HEAD, OPTIONS, PUT"),
        ("/depots/a/parcels/1/moves", "OPTIONS, POST"),
        ("/fail", "OPTIONS, POST"),
    ],
)
def test_methods(project: Deployment, path: str, allow: str) -> None:
    response = project.http.options(path)
    assert (response.status, response.text, response.header("Allow")) == (204, "", allow)
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - set(allow.split(", ")):
        response = project.http.request(method, path, headers={"Accept": "text/html"})
        assert seen(response) == error(405, "method not allowed")
        assert response.header("Allow") == allow
    if "GET" not in allow:
        assert project.http.request("HEAD", path).status == 405


def test_head_is_get_without_a_body(project: Deployment) -> None:
    create(project, "k")
    response = project.http.request("HEAD", "/depots/oslo/parcels/1")
    assert (response.status, response.text) == (200, "")
    assert header(response, "ETag") == header(project.http.get("/depots/oslo/parcels/1"), "ETag")
    assert project.http.request("HEAD", "/depots/oslo/parcels/2").status == 404
    assert project.http.request("HEAD", "/nothing").status == 404
    assert project.http.request("HEAD", "/depots/oslo/parcels/x").status == 400


@pytest.mark.parametrize(
    "accept, accepted",
    [
        ("application/json", True),
        ("*/*", True),
        ("application/*", True),
        ("text/html, application/json;q=0.1", True),
        ("text/html", False),
        ("text/html, image/*", False),
        ("application/xml", False),
        ("application/json;q=0", False),
        ("*/*;q=0", False),
        ("application/json;q=0, */*", False),
        ("*/*;q=1, application/*;q=0.0", False),
        ("*/*;q=0, application/*;q=0, application/json", True),
        ("application/*;q=0.000, application/json;q=0.5", True),
        ("TEXT/HTML , Application/JSON ; charset=utf-8 ; Q=0.5", True),
        ("application/json; charset=utf-8; q=0", False),
        ("application/jsonp", False),
    ],
)
def test_accept(project: Deployment, accept: str, accepted: bool) -> None:
    expected = (200, {"ok": True}) if accepted else error(406, "not acceptable")
    assert seen(project.http.get("/health", headers={"Accept": accept})) == expected


@pytest.mark.parametrize(
    "kind, accepted",
    [
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("application/json;charset=utf-8", True),
        ("text/plain", False),
        ("application/jsonp", False),
        ("application/merge-patch+json", False),
    ],
)
def test_content_types(project: Deployment, kind: str, accepted: bool) -> None:
    response = project.http.post(f"{ECHO}?flag=true", body="null", headers={**ECHO_HEADERS, "Content-Type": kind})
    assert response.status == (200 if accepted else 415)
    if not accepted:
        assert seen(response) == error(415, "unsupported media type")


def test_sizes_are_in_bytes(project: Deployment) -> None:
    def sized(bytes: int, letter: str = "x") -> str:
        empty = json.dumps(ORDER | {"tags": [""]}, ensure_ascii=False)
        count, rest = divmod(bytes - len(empty.encode()), len(letter.encode()))
        return json.dumps(ORDER | {"tags": ["-" * rest + letter * count]}, ensure_ascii=False)

    for number, (size, letter) in enumerate([(1000, "x"), (1000, "é"), (1000, "€")]):
        headers = {**AGENT, "Idempotency-Key": f"k{number}", "Content-Type": "application/json"}
        assert project.http.post("/depots/a/parcels", body=sized(size, letter), headers=headers).status == 201
        assert seen(project.http.post("/depots/a/parcels", body=sized(size + 1, letter), headers=headers)) == error(
            413, "too large"
        )
    leaves = json.dumps(TREE | {"name": "x" * 90_000})
    assert echo(project, body=json.loads(leaves))[0] == 200
    assert echo(project, body=TREE | {"name": "x" * 100_000}) == error(413, "too large")


def test_the_first_that_applies(project: Deployment) -> None:
    big = json.dumps(ORDER | {"tags": ["x" * 1000]})
    post, page = project.http.post, "/depots/a/parcels"
    plain = {"Accept": "text/html", "Content-Type": "text/plain"}
    assert seen(post("/nothing", body=big, headers=plain)) == error(404, "not found")
    assert seen(post("/health", body=big, headers=plain)) == error(405, "method not allowed")
    assert seen(post(page, body=big, headers=plain)) == error(406, "not acceptable")
    assert seen(post(page, body=big, headers={"Content-Type": "text/plain"})) == error(415, "unsupported media type")
    assert seen(post(page, body=big, headers={"Content-Type": "application/json"})) == error(413, "too large")
    assert post(page, body="{}", headers={"Content-Type": "application/json"}).status == 400
    for headers in ({}, {"If-Match": '"x"'}):
        assert project.http.delete("/depots/a/parcels/x", headers=headers).status == 400
    assert seen(project.http.get("/health", headers={"Content-Type": "text/plain"})) == (200, {"ok": True})
    create(project, "k")
    without = post("/fail?how=gone", body="no JSON", headers={"Content-Type": "text/plain", "Idempotency-Key": "k"})
    assert seen(without) == error(410, "Gone")


def test_values_are_decoded(project: Deployment) -> None:
    tree = TREE | {
        "leaves": [{"size": "5", "soft": True}, {"size": "05"}, {"size": "x"}],
        "marks": {"a/b": None, "c": 1.5},
    }
    status, body = echo(
        project,
        "/echo/5/2/-9223372036854775808/2",
        "ratios=1&flag=false&ratios=-2.5E-1&size=12&level=0",
        tree,
        x_mode="b",
    )
    assert status == 200
    assert body == {
        "types": ["number", "bigint", "number", "bigint", "bigint"],
        "params": {"word": "5", "ratio": 2, "big": "-9223372036854775808", "view": 2},
        "query": {"flag": False, "size": "12", "ratios": [1, -0.25], "level": 0},
        "headers": {"x-count": "3", "x-mode": "b"},
        "body": TREE | {"leaves": [{"size": "5"}, {"size": "05"}, {"size": "x"}], "marks": {"a/b": None, "c": 1.5}},
    }
    status, body = echo(project, "/echo/5/0/0/false", "flag=true&size=max", [1, -2.5])
    assert (status, body["types"]) == (200, ["number", "bigint", "boolean", "string", "bigint"])
    assert (body["query"], body["headers"], body["body"]) == (
        {"flag": True, "size": "max"},
        {"x-count": "3"},
        [1, -2.5],
    )
    bodies: list[Any] = [None, {"type": "stone", "weight": "heavy"}, {"type": "stone", "weight": 1}, []]
    for body in bodies:
        assert echo(project, body=body)[1]["body"] == body


PARAMS = {
    "/echo/w/x/7/full": ["/ratio"],
    "/echo/w/1/7/Full": ["/view"],
    "/echo/w/1/7/3": ["/view"],
    "/echo/w/01/+7/3": ["/ratio", "/big", "/view"],
    "/echo/w/.5/1.0/True": ["/ratio", "/big", "/view"],
    "/echo/w/0x1/0x1/2": ["/ratio", "/big"],
    "/echo/w/1_0/1e3/2": ["/ratio", "/big"],
    "/echo/w/Infinity/9223372036854775808/2": ["/ratio", "/big"],
    "/echo/w/NaN/-9223372036854775809/2": ["/ratio", "/big"],
    "/echo/w/%201/-0/2": ["/ratio", "/big"],
    "/echo/w/1%20/007/2": ["/ratio", "/big"],
    "/echo/w/1./-/2": ["/ratio", "/big"],
}


@pytest.mark.parametrize("path", PARAMS)
def test_mistakes_in_paths(project: Deployment, path: str) -> None:
    assert mistakes(echo(project, path)) == [mistake("path", at, "invalid") for at in PARAMS[path]]


QUERIES = {
    "": [("/flag", "missing")],
    "flag": [("/flag", "invalid")],
    "flag=1": [("/flag", "invalid")],
    "flag=true&flag=true": [("/flag", "repeated")],
    "flag=x&flag=y&flag=z": [("/flag", "repeated")],
    "flag=true&size=min": [("/size", "invalid")],
    "flag=true&size=1.0&level=": [("/size", "invalid"), ("/level", "invalid")],
    "flag=true&ratios=": [("/ratios/0", "invalid")],
    "ratios=1&ratios=x&level=y&ratios=2&ratios=z&flag=": [
        ("/flag", "invalid"), ("/ratios/1", "invalid"), ("/ratios/3", "invalid"), ("/level", "invalid"),
    ],
    "zoo=1&flag=true&a/b=2&Flag=true&zoo=2&a~c=3": [("/Flag", "unknown"), ("/a~1b", "unknown"), ("/a~0c", "unknown"), ("/zoo", "unknown")],
    "limit=5&flag=true&cursor=x": [("/cursor", "unknown"), ("/limit", "unknown")],
    "level=1&level=2&x=1&x=2": [("/flag", "missing"), ("/level", "repeated"), ("/x", "unknown")],
}  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_mistakes_in_queries(project: Deployment, query: str) -> None:
    assert mistakes(echo(project, query=query)) == [mistake("query", at, problem) for at, problem in QUERIES[query]]


def test_mistakes_in_headers(project: Deployment) -> None:
    def post(**headers: str) -> tuple[int, Any]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return seen(project.http.post(f"{ECHO}?flag=true", json=None, headers=named))

    assert mistakes(post()) == [mistake("header", "/x-count", "missing")]
    assert mistakes(post(x_mode="c")) == [
        mistake("header", "/x-count", "missing"),
        mistake("header", "/x-mode", "invalid"),
    ]
    assert mistakes(post(X_Mode="A", X_Count="1.5")) == [
        mistake("header", "/x-count", "invalid"),
        mistake("header", "/x-mode", "invalid"),
    ]
    assert post(X_COUNT="5", x_other="5")[0] == 200
    key = mistake("header", "/idempotency-key", "missing")
    assert mistakes(seen(project.http.post("/fail?how=gone"))) == [key]
    assert mistakes(seen(project.http.post("/fail"))) == [mistake("query", "/how", "missing"), key]
    long = project.http.post("/fail?how=gone", headers={"Idempotency-Key": "x" * 101})
    assert mistakes(seen(long)) == [key | {"problem": "invalid"}]
    assert project.http.post("/fail?how=gone", headers={"Idempotency-Key": "x" * 100}).status == 410
    response = project.http.post("/depots/a/parcels", json=ORDER, headers={"x-priority": "3"})
    agent = mistake("header", "/x-agent", "missing")
    assert mistakes(seen(response)) == [agent, mistake("header", "/x-priority", "invalid"), key]


BODIES: list[tuple[Any, list[tuple[str, str]]]] = [
    (5, [("", "invalid")]),
    ({}, [("", "invalid")]),
    ({"type": "bush"}, [("", "invalid")]),
    ({"type": None, "name": "n"}, [("", "invalid")]),
    ([1, "x"], [("", "invalid")]),
    ({"type": "tree"}, [("/name", "missing"), ("/leaves", "missing"), ("/marks", "missing")]),
    (TREE | {"marks": [], "name": None, "leaves": {}}, [("/name", "invalid"), ("/leaves", "invalid"), ("/marks", "invalid")]),
    (
        TREE | {"leaves": [{"size": 5}, 7, {"soft": None, "hard": 1, "bark": 1}, {"size": "1"}]},
        [("/leaves/0/size", "invalid"), ("/leaves/1", "invalid"), ("/leaves/2/size", "missing"), ("/leaves/2/soft", "invalid"), ("/leaves/2/bark", "unknown"), ("/leaves/2/hard", "unknown")],
    ),
    (TREE | {"marks": {"z": "1", "a/b~c": True, "k": 1, "": []}}, [("/marks/", "invalid"), ("/marks/a~1b~0c", "invalid"), ("/marks/z", "invalid")]),
    (TREE | {"zoo": 1, "a/b": 2, "weight": 1}, [("/a~1b", "unknown"), ("/weight", "unknown"), ("/zoo", "unknown")]),
    ({"type": "stone", "weight": 2}, [("/weight", "invalid")]),
    ({"type": "stone", "name": "n"}, [("/weight", "missing"), ("/name", "unknown")]),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(BODIES)))
def test_mistakes_in_bodies(project: Deployment, number: int) -> None:
    body, expected = BODIES[number]
    assert mistakes(echo(project, body=body)) == [mistake("body", at, problem) for at, problem in expected]


def test_bodies_that_are_no_json(project: Deployment) -> None:
    headers = {**ECHO_HEADERS, "Content-Type": "application/json"}
    for body in ("{", "x", "{'a': 1}", "1 2", "undefined"):
        response = project.http.post(f"{ECHO}?flag=true", body=body, headers=headers)
        assert mistakes(seen(response)) == [mistake("body", "", "invalid")]
    assert seen(project.http.post(f"{ECHO}?flag=true", body="null", headers=ECHO_HEADERS)) == error(
        415, "unsupported media type"
    )
    for headers in (ECHO_HEADERS, {**ECHO_HEADERS, "Content-Type": "text/plain"}):
        response = project.http.post(f"{ECHO}?flag=true", headers=headers)
        assert mistakes(seen(response)) == [mistake("body", "", "missing")]


def test_mistakes_in_nested_unions(project: Deployment) -> None:
    def of(**fields: Any) -> list[Data]:
        return mistakes(seen(create(project, "k", **fields)))

    content = {
        "type": "goods",
        "items": [{"value": "1", "name": 5}, {"name": "a", "value": 1, "size": "1"}],
        "pages": 1,
    }
    assert of(content=content, insured="x") == [
        mistake("body", "/content/items/0/name", "invalid"),
        mistake("body", "/content/items/1/value", "invalid"),
        mistake("body", "/content/items/1/size", "invalid"),
        mistake("body", "/content/pages", "unknown"),
        mistake("body", "/insured", "invalid"),
    ]
    assert of(content={"type": "gold"}, notes=None) == [
        mistake("body", "/content", "invalid"),
        mistake("body", "/notes", "invalid"),
    ]
    assert create(project, "k2", insured=None, notes={"a": "b"}).status == 201
    assert create(project, "k3", insured="12", content=PAPERS).status == 201
    assert [each.get("insured") for each in project.documents("parcels")] == [None, Int64(12)]


def test_all_mistakes_at_once(project: Deployment) -> None:
    answer = echo(project, "/echo/w/x/y/2", "level=x&more=1", {"type": "stone"}, x_count="x", x_mode="c")
    assert mistakes(answer) == [
        mistake("path", "/ratio", "invalid"),
        mistake("path", "/big", "invalid"),
        mistake("query", "/flag", "missing"),
        mistake("query", "/level", "invalid"),
        mistake("query", "/more", "unknown"),
        mistake("header", "/x-count", "invalid"),
        mistake("header", "/x-mode", "invalid"),
        mistake("body", "/weight", "missing"),
    ]


# The validators of two bodies once more: a kind, and what is inside.
Spec = Any
STRING, NUMBER, BOOLEAN, INT, NULL = ("string",), ("number",), ("boolean",), ("int",), ("null",)


def literal(value: Any) -> Spec:
    return ("literal", value)


def record(**fields: Spec) -> Spec:
    return ("object", {name.rstrip("_"): (spec, name.endswith("_")) for name, spec in fields.items()})


LEAF = record(size=("union", [INT, STRING]), soft_=BOOLEAN)
ECHO_BODY: Spec = (
    "union",
    [
        NULL,
        record(type=literal("tree"), name=STRING, leaves=("array", LEAF), marks=("record", ("union", [NULL, NUMBER]))),
        record(type=literal("stone"), weight=("union", [literal(1), literal("heavy")])),
        ("array", NUMBER),
    ],
)
ITEM = record(name=STRING, value=INT, size_=NUMBER)
ORDER_BODY: Spec = record(
    weight=NUMBER,
    content=(
        "union",
        [
            record(type=literal("goods"), items=("array", ITEM)),
            record(type=literal("papers"), pages=NUMBER, secret=BOOLEAN),
        ],
    ),
    tags=("array", STRING),
    insured_=("union", [INT, NULL]),
    notes_=("record", STRING),
)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def wrong(spec: Spec, value: Any, at: str = "") -> list[tuple[str, str]]:
    kind, bad = spec[0], [(at, "invalid")]
    if kind == "union":
        return wrong_in_union(spec[1], value, at)
    if kind == "array":
        if not isinstance(value, list):
            return bad
        return [each for index, item in enumerate(value) for each in wrong(spec[1], item, f"{at}/{index}")]
    if kind == "record":
        if not isinstance(value, dict):
            return bad
        return [each for key in sorted(value) for each in wrong(spec[1], value[key], f"{at}/{step(key)}")]
    if kind == "object":
        return wrong_in_object(spec[1], value, at) if isinstance(value, dict) else bad
    return [] if is_simple(spec, value) else bad


def is_simple(spec: Spec, value: Any) -> bool:
    is_int = isinstance(value, str) and re.fullmatch(r"0|-?[1-9][0-9]*", value) is not None
    return {
        "string": isinstance(value, str),
        "number": is_number(value),
        "boolean": isinstance(value, bool),
        "null": value is None,
        "int": is_int and -(2**63) <= int(value) < 2**63,
        "literal": value == spec[-1] and isinstance(value, bool) == isinstance(spec[-1], bool),
    }[spec[0]]


def wrong_in_union(members: list[Spec], value: Any, at: str) -> list[tuple[str, str]]:
    for each in members:
        if isinstance(value, dict) and each[0] == "object" and each[1]["type"][0] == literal(value.get("type")):
            return wrong(each, value, at)
    return [] if any(not wrong(each, value, at) for each in members) else [(at, "invalid")]


def wrong_in_object(fields: Data, value: Data, at: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, (inner, optional) in fields.items():
        if name in value:
            found += wrong(inner, value[name], f"{at}/{step(name)}")
        elif not optional:
            found.append((f"{at}/{step(name)}", "missing"))
    return found + [(f"{at}/{step(name)}", "unknown") for name in sorted(set(value) - set(fields))]


def step(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


ODD: list[Any] = [
    None,
    True,
    0,
    -1.5,
    "",
    "5",
    "-0",
    "x",
    "heavy",
    [],
    {},
    ["5"],
    {"type": "tree"},
    "9223372036854775808",
]


def some(chance: random.Random, spec: Spec, odd: float) -> Any:
    if chance.random() < odd:
        return chance.choice(ODD)
    kind = spec[0]
    if kind == "array":
        return [some(chance, spec[1], odd) for _ in range(chance.randrange(3))]
    if kind == "record":
        return {key: some(chance, spec[1], odd) for key in chance.sample(["a", "b/c", "~", "Z"], chance.randrange(3))}
    if kind == "union":
        return some(chance, chance.choice(spec[1]), odd)
    if kind != "object":
        return {"string": "s", "number": 2.5, "boolean": True, "int": "-12", "null": None, "literal": spec[-1]}[kind]
    names = [name for name, (_, optional) in spec[1].items() if chance.random() >= (0.5 if optional else odd / 2)]
    chance.shuffle(names)
    more = {chance.choice(["extra", "a/b", "Zoo"]): 1} if chance.random() < odd else {}
    return more | {name: some(chance, spec[1][name][0], 0 if name == "type" else odd) for name in names}


@pytest.mark.parametrize("seed", range(4))
def test_all_mistakes_of_random_bodies(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(40):
        odd = chance.choice([0, 0.1, 0.25])
        if chance.random() < 0.5:
            body, spec = some(chance, ECHO_BODY, odd), ECHO_BODY
            received = echo(project, body=body)
        else:
            body, spec = some(chance, ORDER_BODY, odd), ORDER_BODY
            content = {"Content-Type": "application/json", "Idempotency-Key": f"k{number}", "x-agent": "stranger"}
            received = seen(project.http.post("/depots/a/parcels", body=json.dumps(body), headers=content))
        expected = [mistake("body", at, problem) for at, problem in wrong(spec, body)]
        if expected:
            assert mistakes(received) == expected, body
        else:
            assert received[0] == (200 if spec is ECHO_BODY else 403), body


def test_pages(project: Deployment) -> None:
    for number in range(7):
        create(project, f"k{number}", weight=number, tags=["a", "b"] if number % 2 else ["a"])

    def page(query: str) -> tuple[Any, Any]:
        status, body = seen(project.http.get(f"/depots/oslo/parcels{query}"))
        if status != 200:
            return status, body["mistakes"]
        assert sorted(body) == ["items", "next"]
        assert all("_id" not in each for each in body["items"])
        return [each["number"] for each in body["items"]], body["next"]

    assert page("") == (["1", "2", "3"], "3")
    assert page("?limit=10") == (["1", "2", "3", "4", "5", "6", "7"], None)
    assert page("?limit=2&cursor=3") == (["4", "5"], "5")
    assert page("?cursor=6&limit=1e0") == (["7"], None)
    assert page("?tag=a&tag=b&limit=2") == (["2", "4"], "4")
    assert page("?minWeight=5") == (["6", "7"], None)
    assert page("?status=delivered") == ([], None)
    for text in ("0", "11", "-1", "1.5", "x", ""):
        assert page(f"?limit={text}") == (400, [mistake("query", "/limit", "invalid")])
    assert page("?cursor=1&zoo=1&limit=0&cursor=2&status=x") == (
        400,
        [
            mistake("query", "/status", "invalid"),
            mistake("query", "/limit", "invalid"),
            mistake("query", "/cursor", "repeated"),
            mistake("query", "/zoo", "unknown"),
        ],
    )
    assert page("?limit=1&limit=2") == (400, [mistake("query", "/limit", "repeated")])
    assert seen(project.http.get("/depots/nowhere/parcels")) == error(404, "No such depot")


def test_tags(project: Deployment) -> None:
    create(project, "k")
    create(project, "l", "rome")
    path = "/depots/oslo/parcels/1"
    first = project.http.get(path)
    tag = header(first, "ETag")
    assert tag[0] == tag[-1] == '"' and len(tag) > 2
    assert header(project.http.get(path), "ETag") == tag
    assert header(project.http.get("/depots/rome/parcels/1"), "ETag") != tag
    for known in (tag, "*", f"W/{tag}", f'"x", {tag}', f'W/"y",W/{tag},"z"', f'{tag} , "x"'):
        response = project.http.get(path, headers={"If-None-Match": known})
        assert (response.status, response.text, header(response, "ETag")) == (304, "", tag)
    for known in ('"x"', tag[1:-1], f'"x{tag[1:]}'):
        response = project.http.get(path, headers={"If-None-Match": known})
        assert (response.status, response.text, header(response, "ETag")) == (200, first.text, tag)
    missing = project.http.get("/depots/oslo/parcels/2", headers={"If-None-Match": "*"})
    assert seen(missing) == error(404, "No such parcel")
    assert project.http.request("HEAD", path, headers={"If-None-Match": tag}).status == 304


def test_changes_need_the_present_tag(project: Deployment) -> None:
    create(project, "k")
    path = "/depots/oslo/parcels/1"
    tag = header(project.http.get(path), "ETag")
    before = project.documents("parcels")

    def put(condition: str | None, weight: int = 6, to: str = path) -> tuple[int, Any]:
        return seen(
            project.http.put(
                to, json=ORDER | {"weight": weight}, headers={} if condition is None else {"If-Match": condition}
            )
        )

    assert put(None) == error(428, "precondition required")
    assert seen(project.http.delete(path)) == error(428, "precondition required")
    for condition in ('"x"', f"W/{tag}", f'"x", W/{tag}', tag[1:-1]):
        assert put(condition) == error(412, "precondition failed")
        assert seen(project.http.delete(path, headers={"If-Match": condition})) == error(412, "precondition failed")
    for condition in ("*", tag):
        assert put(condition, to="/depots/oslo/parcels/9") == error(412, "precondition failed")
    assert project.documents("parcels") == before

    status, body = put(f'"x",{tag}')
    assert (status, body["weight"], body["number"]) == (200, 6, "1")
    assert put(tag, 7) == error(412, "precondition failed")
    newer = header(project.http.get(path), "ETag")
    assert newer != tag
    assert put(f"{newer}", 7)[0] == 200
    assert put("*", 8)[0] == 200
    assert seen(project.http.post(f"{path}/moves", json={"type": "load"})) == (
        200,
        {"status": "on the way", "delivered": None},
    )
    assert put("*", 9) == (409, {"error": "It has left", "status": "on the way"})
    assert seen(project.http.delete(path, headers={"If-Match": "*"})) == error(409, "On the way")
    assert project.http.delete(f"{path}?force=1", headers={"If-Match": "*"}).status == 400
    response = project.http.delete(f"{path}?force=true", headers={"If-Match": header(project.http.get(path), "ETag")})
    assert (response.status, response.text) == (204, "")
    assert project.documents("parcels") == []
    assert project.http.request("OPTIONS", path).status == 204


def test_the_same_request_is_carried_out_once(project: Deployment) -> None:
    first = create(project, "k", headers=AGENT | {"x-priority": "1"}, notes={"a": "1", "b": "2"}, insured=None)
    assert first.header("Idempotent-Replayed") in (None, "")
    text = (
        '{ "notes": {"b": "2", "a": "1"},\n "insured": null, "tags": ["a"], "weight": 5.0,'
        ' "content": {"items": [{"value": "9007199254740993", "name": "pen"}], "type": "goods"} }'
    )
    headers = {**AGENT, "x-priority": "1", "Idempotency-Key": "k", "Content-Type": "application/json", "x-other": "1"}
    again = project.http.post("/depots/%6fslo/parcels", body=text, headers=headers)
    assert (seen(again), again.header("Idempotent-Replayed")) == (seen(first), "true")
    assert header(again, "Content-Type").split(";")[0] == "application/json"
    assert len(project.documents("parcels")) == 1

    reused = error(422, "key in use")
    assert seen(create(project, "k", headers=AGENT | {"x-priority": "1"}, notes={"a": "1", "b": "2"})) == reused
    assert seen(create(project, "k", headers=AGENT, notes={"a": "1", "b": "2"}, insured=None)) == reused
    assert (
        seen(create(project, "k", headers=AGENT | {"x-priority": "1"}, notes={"a": "1", "b": "3"}, insured=None))
        == reused
    )
    assert (
        seen(create(project, "k", "rome", AGENT | {"x-priority": "1"}, notes={"a": "1", "b": "2"}, insured=None))
        == reused
    )
    assert len(project.documents("parcels")) == 1
    assert create(project, "k2").status == 201
    assert seen(create(project, "K2"))[1]["number"] == "3"


def test_other_responses_are_kept_too(project: Deployment) -> None:
    def fail(how: str, key: str) -> Any:
        return project.http.post(f"/fail?how={how}", headers={"Idempotency-Key": key})

    assert seen(create(project, "k", headers={"x-agent": "stranger"})) == error(403, "Who are you?")
    again = create(project, "k", headers={"x-agent": "stranger"})
    assert (seen(again), again.header("Idempotent-Replayed")) == (error(403, "Who are you?"), "true")
    assert seen(fail("gone", "k")) == error(410, "Gone")
    assert fail("gone", "k").header("Idempotent-Replayed") == "true"
    assert (fail("wait", "l").status, fail("wait", "l").text) == (202, "")
    assert fail("wait", "l").header("Idempotent-Replayed") == "true"
    assert seen(fail("gone", "l")) == error(422, "key in use")


def test_a_request_that_is_still_running(project: Deployment) -> None:
    create(project, "k")
    (row,) = project.documents("keys")
    fields = {name: value for name, value in row.items() if not name.startswith("_")}
    project.replace(row["_id"], fields | {"response": None})
    assert seen(create(project, "k")) == error(409, "in progress")
    assert seen(create(project, "k", weight=6)) == error(422, "key in use")
    assert len(project.documents("parcels")) == 1


def test_handlers_that_throw(project: Deployment) -> None:
    for key in ("k", "k", "l"):
        response = project.http.post("/fail?how=throw", headers={"Idempotency-Key": key})
        assert seen(response) == error(500, "internal")
        assert project.documents("keys") == []
    assert project.http.post("/fail?how=gone", headers={"Idempotency-Key": "k"}).status == 410
    parcels = "/depots/a/parcels?cursor=x"
    assert seen(project.http.get(parcels)) == error(500, "internal")


# ---------------------------------------------------------------- the client


def test_clients_of_this_api(project: Deployment) -> None:
    send: Data = {"baseUrl": project.site_url, "depot": "a b/ü", "key": "k", "agent": "ada", "value": Int64(2**60 + 1)}
    assert project.action("office:send", send) == [
        "number 1 by ada, 2 priority",
        "again number 1 by ada, 2 priority",
        "304 200 412",
        str(2**61 + 2),
    ]
    (parcel,) = project.documents("parcels")
    assert (parcel["depot"], parcel["tags"], parcel["insured"]) == ("a b/ü", ["a b", "c"], Int64(2**61 + 2))
    assert project.action("office:send", send | {"agent": "eve"}) == ["key in use"] * 2
    assert project.action("office:send", send | {"agent": "stranger", "key": "m"}) == ["Who are you?"] * 2
    assert project.action("office:send", send | {"key": ""}) == ["header /idempotency-key invalid"] * 2


def test_clients_go_through_pages(project: Deployment) -> None:
    for number in range(5):
        create(project, f"k{number}", weight=number, tags=["a b&c=d", "x"] if number else [])
    pages: Data = {"baseUrl": project.site_url, "depot": "oslo"}
    assert project.action("office:heaviest", pages | {"tag": []}) == ["200", "1: 0, 2: 1", "3: 2, 4: 3", "5: 4"]
    assert project.action("office:heaviest", pages | {"tag": ["x", "a b&c=d"]}) == ["200", "2: 1, 3: 2", "4: 3, 5: 4"]
    assert project.action("office:heaviest", pages | {"depot": "nowhere", "tag": []}) == ["200", "No such depot"]


def probe(project: Deployment, operation: str, input: Any, status: int = 200, body: Any = None, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    text = body if isinstance(body, str) else None if body is None else json.dumps(body)
    return project.action("office:probe", operation=operation, input=input, status=status, headers=named, body=text)


def sent(project: Deployment, operation: str, input: Any) -> tuple[str, str, dict[str, str], Any]:
    (request,) = probe(project, operation, input, 400, {"error": "invalid", "mistakes": []})["sent"]
    body = None if request["body"] is None else json.loads(request["body"])
    headers = {name.lower(): value for name, value in request["headers"].items()}
    return request["method"], request["url"].removeprefix("https://depots.example/v1"), headers, body


def test_what_clients_send(project: Deployment) -> None:
    accept, content = {"accept": "application/json"}, {"content-type": "application/json"}
    assert sent(project, "health", None) == ("GET", "/health", accept, None)
    assert sent(project, "health", {}) == ("GET", "/health", accept, None)
    at = {"depot": "a/b ?#ü%", "number": Int64(-5)}
    assert sent(project, "getParcel", {"params": at, "ifNoneMatch": '"x"'}) == (
        "GET",
        "/depots/a%2Fb%20%3F%23%C3%BC%25/parcels/-5",
        accept | {"if-none-match": '"x"'},
        None,
    )
    query: Data = {"cursor": "c d", "tag": ["x&y", "z"], "minWeight": 1.5, "limit": 5}
    method, url, headers, body = sent(project, "listParcels", {"params": {"depot": "d"}, "query": query})
    path, _, search = url.partition("?")
    assert (method, path, headers, body) == ("GET", "/depots/d/parcels", accept, None)
    assert parse_qsl(search) == [("minWeight", "1.5"), ("tag", "x&y"), ("tag", "z"), ("limit", "5"), ("cursor", "c d")]
    assert sent(project, "listParcels", {"params": {"depot": "d"}, "query": {"tag": []}})[1] == "/depots/d/parcels"
    order = {
        "weight": 1,
        "content": {"type": "goods", "items": [{"name": "a", "value": Int64(7)}]},
        "tags": [],
        "insured": Int64(-1),
    }
    created: Data = {
        "params": {"depot": "d"},
        "headers": {"x-priority": 2, "x-agent": "e"},
        "body": order,
        "idempotencyKey": "k",
    }
    assert sent(project, "createParcel", created) == (
        "POST",
        "/depots/d/parcels",
        accept | content | {"x-priority": "2", "x-agent": "e", "idempotency-key": "k"},
        {
            "weight": 1,
            "content": {"type": "goods", "items": [{"name": "a", "value": "7"}]},
            "tags": [],
            "insured": "-1",
        },
    )
    removed: Data = {"params": {"depot": "d", "number": Int64(1)}, "query": {"force": False}, "ifMatch": "*"}
    assert sent(project, "removeParcel", removed) == (
        "DELETE",
        "/depots/d/parcels/1?force=false",
        accept | {"if-match": "*"},
        None,
    )
    tree = TREE | {"leaves": [{"size": Int64(5)}, {"size": "x", "soft": True}], "marks": {"a": None}}
    echoed: Data = {
        "params": {"word": "w", "ratio": 0.5, "big": Int64(1), "view": False},
        "query": {"flag": True, "size": Int64(3)},
    }
    method, url, headers, body = sent(project, "echo", echoed | {"headers": {"x-count": Int64(2)}, "body": tree})
    assert url == "/echo/w/0.5/1/false?flag=true&size=3"
    assert headers == accept | content | {"x-count": "2"}
    assert body == TREE | {"leaves": [{"size": "5"}, {"size": "x", "soft": True}], "marks": {"a": None}}
    assert sent(project, "echo", echoed | {"headers": {"x-count": Int64(2)}, "body": None})[3] is None
    assert sent(project, "fail", {"query": {"how": "gone"}, "idempotencyKey": "k"})[:2] == ("POST", "/fail?how=gone")


PARCEL = ORDER | {"depot": "d", "number": "5", "status": "waiting"}
DECODED = PARCEL | {
    "number": Int64(5),
    "content": GOODS | {"items": [{"name": "pen", "value": Int64(9007199254740993)}]},
}
WHERE = {"params": {"depot": "d", "number": Int64(5)}}
BAD = {
    "error": "invalid",
    "mistakes": [
        mistake("path", "/a", "invalid"),
        mistake("query", "/b", "repeated"),
        mistake("query", "/c", "unknown"),
        mistake("header", "/d", "missing"),
        mistake("body", "", "invalid"),
    ],
}
RESULTS: list[tuple[str, int, Any, dict[str, str], Any]] = [
    ("getParcel", 200, PARCEL, {"ETag": '"t"'}, {"body": DECODED, "etag": '"t"'}),
    ("getParcel", 304, None, {"etag": '"t"'}, {"body": None, "etag": '"t"'}),
    ("getParcel", 404, {"error": "e"}, {"ETag": '"t"'}, {"body": {"error": "e"}}),
    ("getParcel", 400, BAD, {}, {"body": BAD}),
    ("listParcels", 200, {"items": [PARCEL], "next": None}, {}, {"body": {"items": [DECODED], "next": None}}),
    ("listParcels", 200, {"items": [], "next": "c"}, {}, {"body": {"items": [], "next": "c"}}),
    ("removeParcel", 204, None, {}, {"body": None}),
    ("removeParcel", 412, {"error": "e"}, {}, {"body": {"error": "e"}}),
    ("removeParcel", 428, {"error": "e"}, {}, {"body": {"error": "e"}}),
    ("replaceParcel", 409, {"error": "e", "status": "delivered"}, {}, {"body": {"error": "e", "status": "delivered"}}),
    ("replaceParcel", 413, {"error": "e"}, {}, {"body": {"error": "e"}}),
    (
        "createParcel",
        201,
        {"number": "-1", "by": "b"},
        {},
        {"body": {"number": Int64(-1), "by": "b"}, "replayed": False},
    ),
    ("createParcel", 403, {"error": "e"}, {"Idempotent-Replayed": "true"}, {"body": {"error": "e"}, "replayed": True}),
    ("createParcel", 409, {"error": "e"}, {}, {"body": {"error": "e"}}),
    ("createParcel", 422, {"error": "e"}, {}, {"body": {"error": "e"}}),
    ("createParcel", 413, {"error": "e"}, {}, {"body": {"error": "e"}}),
    ("createParcel", 400, BAD, {}, {"body": BAD}),
    ("fail", 202, None, {"Idempotent-Replayed": "true"}, {"body": None, "replayed": True}),
    (
        "moveParcel",
        200,
        {"status": "delivered", "delivered": None},
        {},
        {"body": {"status": "delivered", "delivered": None}},
    ),
]
INPUTS: dict[str, Data | None] = {
    "health": None,
    "getParcel": WHERE,
    "listParcels": {"params": {"depot": "d"}, "query": {"tag": []}},
    "removeParcel": WHERE | {"ifMatch": "*"},
    "replaceParcel": WHERE | {"ifMatch": "*", "body": {"weight": 1, "content": PAPERS, "tags": []}},
    "createParcel": {
        "params": {"depot": "d"},
        "headers": {"x-agent": "a"},
        "body": {"weight": 1, "content": PAPERS, "tags": []},
        "idempotencyKey": "k",
    },
    "fail": {"query": {"how": "gone"}, "idempotencyKey": "k"},
    "moveParcel": WHERE | {"body": {"type": "load"}},
}


@pytest.mark.parametrize("number", range(len(RESULTS)))
def test_what_clients_understand(project: Deployment, number: int) -> None:
    operation, status, body, headers, expected = RESULTS[number]
    received = probe(project, operation, INPUTS[operation], status, body, **headers)
    assert received["result"] == {"status": status} | expected


UNEXPECTED: list[tuple[str, int, Any]] = [
    ("health", 200, {"ok": False}),
    ("health", 200, {"ok": True, "more": 1}),
    ("health", 200, "no JSON"),
    ("health", 200, None),
    ("health", 404, {"error": "not found"}),
    ("health", 304, None),
    ("health", 413, {"error": "e"}),
    ("health", 500, {"error": "internal"}),
    ("health", 400, {"error": "invalid"}),
    ("health", 400, {"error": "invalid", "mistakes": [mistake("cookie", "", "invalid")]}),
    ("getParcel", 200, PARCEL),
    ("getParcel", 304, None),
    ("getParcel", 406, {"error": "not acceptable"}),
    ("getParcel", 412, {"error": "e"}),
    ("listParcels", 200, {"items": []}),
    ("listParcels", 200, [PARCEL]),
    ("listParcels", 200, {"items": [PARCEL | {"number": 5}], "next": None}),
    ("listParcels", 409, {"error": "e"}),
    ("removeParcel", 413, {"error": "e"}),
    ("replaceParcel", 409, {"error": "e"}),
    ("moveParcel", 422, {"error": "e"}),
    ("fail", 415, {"error": "e"}),
]


@pytest.mark.parametrize("number", range(len(UNEXPECTED)))
def test_what_clients_do_not_expect(project: Deployment, number: int) -> None:
    operation, status, body = UNEXPECTED[number]
    received = probe(project, operation, INPUTS[operation], status, body)
    assert received.get("failed") == {"operation": operation, "status": status}
