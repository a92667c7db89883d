"""Actions, HTTP actions, Node."""

import time
import uuid

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target


def _name() -> str:
    return uuid.uuid4().hex


@check(70, "An action's calls see the effects of the earlier ones", p1=True)
async def chain(t: Target) -> None:
    expect.equal(await t.action("acting:chain", {"body": _name()}), [0.0, 1.0, 2.0])


@check(71, "What an action committed stays when it throws", p1=True)
async def commit_then_throw(t: Target) -> None:
    body = _name()
    await expect.failure(t.action("acting:commitThenThrow", {"body": body}))
    expect.equal(await t.admin.query("acting:countNotes", {"body": body}), 1.0)


@check(72, "Actions call internal functions")
async def internal_functions(t: Target) -> None:
    expect.equal((await t.action("acting:chain", {"body": _name()}))[2], 2.0)


@check(73, "A missing function called from an action is a catchable error")
async def missing_function(t: Target) -> None:
    expect.matches(await t.action("acting:callsMissing"), r"Could not find|Couldn't resolve")


@check(74, "Actions have no database")
async def no_database(t: Target) -> None:
    expect.equal(await t.action("acting:database"), "undefined")


@check(75, "An operation that is not awaited is warned about")
async def unawaited(t: Target) -> None:
    reply = await t.reply("acting:unawaited", {"body": _name()}, "action")
    expect.true(
        any(
            line.startswith("[WARN] 1 unawaited operation: [mutation]. Async operations should be awaited")
            for line in reply.logs
        ),
        f"found {reply.logs}",
    )


@check(76, "setTimeout waits about as long as asked in actions")
async def timers(t: Target) -> None:
    waited = await t.action("acting:sleeps", {"ms": 100.0})
    expect.true(95 <= waited < 10_000, f"waited {waited} ms")


@check(77, "An HTTP action answers with its status, headers and body", p1=True)
async def http_action(t: Target) -> None:
    for base in (t.site_url, f"{t.url}/http"):
        response = await t.http.get(f"{base}/exact")
        expect.equal((response.status_code, response.text, response.headers["x-made-by"]), (201, "made", "convex"))


@check(78, "The longest prefix wins and an exact path beats prefixes")
async def prefixes(t: Target) -> None:
    cases = {"a": "short prefix", "longer/a": "long prefix", "longer/exact": "exact"}
    for path, expected in cases.items():
        expect.equal((await t.http.get(f"{t.site_url}/prefix/{path}")).text, expected)


@check(79, "A path without a route answers 404", p1=True)
async def no_route(t: Target) -> None:
    response = await t.http.get(f"{t.site_url}/nowhere")
    expect.equal((response.status_code, response.text), (404, "No matching routes found"))


@check(80, "A deployment without http.ts says so", owns_deployment=True)
async def no_http(t: Target) -> None:
    await t.push_only({"convex/m.ts": "export const nothing = 1;\n"})
    response = await t.http.get(f"{t.site_url}/")
    expect.equal(
        (response.status_code, response.text), (404, "This Convex deployment does not have HTTP actions enabled.")
    )


@check(81, "HEAD is served by the GET route")
async def head(t: Target) -> None:
    response = await t.http.head(f"{t.site_url}/exact")
    expect.equal((response.status_code, response.content, response.headers["x-made-by"]), (201, b"", "convex"))


@check(82, "An error in an HTTP action is a 500 with code and trace")
async def http_error(t: Target) -> None:
    response = await t.http.get(f"{t.site_url}/throws")
    body = response.json()
    expect.equal(response.status_code, 500)
    expect.matches(body["code"], r"^\[Request ID: [0-9a-f]{16}\] Server Error: Uncaught Error: http boom")
    expect.contains(body["trace"], "../convex/http.ts:")


@check(83, "A handler that returns no Response fails")
async def not_a_response(t: Target) -> None:
    response = await t.http.get(f"{t.site_url}/not-a-response")
    expect.equal(response.status_code, 500)
    expect.contains(response.text, "HTTP actions must return a Response")


@check(84, "Bodies stream in chunks and are byte-exact")
async def streaming(t: Target) -> None:
    arrivals = []
    async with t.http.stream("GET", f"{t.site_url}/stream") as response:
        async for chunk in response.aiter_raw():
            arrivals.append((time.monotonic(), chunk))
    expect.equal(b"".join(chunk for _, chunk in arrivals), b"onetwothree")
    expect.true(arrivals[-1][0] - arrivals[0][0] > 0.05, "all chunks came together")
    content = bytes(range(256)) * 100
    echoed = await t.http.post(f"{t.site_url}/echo", content=content, headers={"content-type": "application/x-y"})
    expect.equal((echoed.content, echoed.headers["content-type"]), (content, "application/x-y"))


@check(85, "blob(), json(), text() and formData() read a request's body")
async def bodies(t: Target) -> None:
    url = f"{t.site_url}/bodies"
    expect.equal((await t.http.post(f"{url}?as=json", json={"a": [1]})).json(), {"a": [1]})
    expect.equal((await t.http.post(f"{url}?as=text", content=b"shout")).text, "SHOUT")
    expect.equal((await t.http.post(f"{url}?as=form", data={"a": "1", "b": "two"})).json(), {"a": "1", "b": "two"})
    multipart = await t.http.post(f"{url}?as=form", files={"a": (None, b"part")})
    expect.equal(multipart.json(), {"a": "part"})


@check(86, 'A "use node" action uses node:crypto, Buffer and fs', p1=True)
async def node_builtins(t: Target) -> None:
    expect.equal(
        await t.action("nodeside:builtins"),
        {
            "digest": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "buffer": "aGk=",
            "exists": "function",
        },
    )


@check(87, "A Node action's context works as in the default runtime")
async def node_context(t: Target) -> None:
    found = await t.acting_as(subject="node_user").action("nodeside:context", {"name": _name()})
    expect.equal(len(found.pop("job")), 32)
    expect.equal(
        found, {"count": 1.0, "text": "from node", "identity": "node_user", "nested": "acted", "vectors": True}
    )


@check(88, "An error in a Node action has source-mapped frames")
async def node_error(t: Target) -> None:
    failure = await expect.failure(t.action("nodeside:throws"))
    expect.starts(failure.message, "Uncaught Error: node boom\n")
    expect.contains(failure.message, "../convex/nodeside.ts:")


@check(89, "Arguments of a Node action above 5 MiB are refused")
async def node_arguments(t: Target) -> None:
    failure = await expect.failure(t.action("nodeside:lengthOf", {"text": "x" * (6 * 1024 * 1024)}))
    expect.starts(failure.plain, "Node actions arguments size is too large. The maximum size is 5 MiB.")


@check(90, "process.exit(1) in a Node action fails only that call")
async def node_exit(t: Target) -> None:
    failure = await expect.failure(t.action("nodeside:exits"))
    expect.contains(failure.message, "process.exit() called with exit code 1")
    expect.equal((await t.action("nodeside:builtins"))["buffer"], "aGk=")
