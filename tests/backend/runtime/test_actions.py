"""Actions of the default runtime: real time, concurrency, network, blobs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import orjson
import pytest
import pytest_asyncio

from convex_evals.backend.runtime import SyscallReply

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The types of conftest.py, which tests cannot import.
Stage = Any
Bridge = Any
Until = Callable[..., Awaitable[None]]

NO_BLOB = (
    "store() expects a Blob. If you are trying to store a Request, "
    "`await request.blob()` will give you the correct input."
)
UNAWAITED = (
    "Async operations should be awaited or they might not run. "
    "See https://docs.convex.dev/functions/actions#dangling-promises for more information."
)


@pytest_asyncio.fixture(loop_scope="module")
async def server() -> AsyncIterator[str]:
    """Answers everything with what it was asked, except /redirect, /loop and /slow."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        path = head.split(b" ")[1].decode()
        if path == "/redirect":
            answer = b"HTTP/1.1 302 Found\r\nLocation: /after\r\nContent-Length: 0\r\n\r\n"
        elif path == "/loop":
            answer = b"HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n"
        elif path == "/away":
            answer = b"HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n"
        elif path == "/slow":
            answer = await reader.read()  # until the client has had enough
        else:
            length = next(
                (
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                ),
                0,
            )
            body = head.split(b"\r\n")[0] + b"|" + await reader.readexactly(length)
            answer = b"HTTP/1.1 200 OK\r\nX-Answer: 42\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (
                len(body),
                body,
            )
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()


async def test_an_action_calls_functions_and_sees_their_results(stage: Stage, bridge: Bridge) -> None:
    async def answer(args: Any) -> SyscallReply:
        return SyscallReply(orjson.dumps({"called": args["name"]}).decode())

    bridge.on_call = answer
    outcome = await stage.run("actions:callAll", kind="action", bridge=bridge)
    assert orjson.loads(outcome.result) == {"called": "messages:list"}
    assert bridge.batches == [["1.0/actions/query"], ["1.0/actions/mutation"]]


async def test_syscalls_of_an_action_run_at_the_same_time(stage: Stage, bridge: Bridge) -> None:
    together = asyncio.Barrier(4)

    async def meet(args: Any) -> SyscallReply:
        await together.wait()
        return SyscallReply("1")

    bridge.on_call = meet
    body = "return (await Promise.all([1, 2, 3, 4].map(() => Convex.asyncSyscall('1.0/actions/query', '{}')))).length;"
    assert await stage.value(body, "action", bridge) == 4


async def test_what_was_not_awaited_is_warned_about(stage: Stage, bridge: Bridge) -> None:
    async def never(args: Any) -> None:
        await asyncio.Event().wait()

    bridge.on_call = never
    outcome = await stage.run("actions:dangling", kind="action", bridge=bridge)
    assert [line.text for line in outcome.log_lines] == [f"[WARN] 1 unawaited operation: [mutation]. {UNAWAITED}"]


async def test_timers_wait_as_long_as_they_were_told(stage: Stage) -> None:
    outcome = await stage.run("actions:sleep", {"ms": 60}, kind="action")
    assert 55 <= orjson.loads(outcome.result) < 30_000


async def test_dynamic_imports_load_deployed_modules(stage: Stage) -> None:
    assert (await stage.run("actions:lazily", kind="action")).result == '"function"'
    outcome = await stage.evaluate("await import('./missing.js');", "action")
    assert "Couldn't find JavaScript module 'missing.js'" in outcome.failure.message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("throw new Error('x');", "Uncaught Error: x\n"),
        ("Promise.reject(new Error('lost')); await new Promise((r) => setTimeout(r, 10));", "Uncaught Error: lost\n"),
        ("Promise.reject(new Error('lost')); return 1;", "Uncaught Error: lost\n"),
        ("setTimeout(() => { throw new Error('t'); }, 1); await new Promise(() => {});", "Uncaught Error: t\n"),
        ("eval('1');", "Uncaught EvalError: Code generation from strings disallowed for this context\n"),
        ("await Convex.asyncSyscall('1.0/nope', '{}');", "Uncaught Error: Unknown async operation 1.0/nope\n"),
    ],
)  # fmt: skip
async def test_an_action_fails_with(stage: Stage, body: str, message: str) -> None:
    outcome = await stage.evaluate(body, "action")
    assert outcome.failure is not None
    assert outcome.failure.message.startswith(message)


async def test_blobs_travel_byte_for_byte(stage: Stage, bridge: Bridge) -> None:
    body = """
        const bytes = crypto.getRandomValues(new Uint8Array(65536));
        const id = await Convex.jsSyscall("storage/storeBlob", { blob: new Blob([bytes], { type: "app/x" }) });
        const blob = await Convex.jsSyscall("storage/getBlob", { storageId: id });
        const same = new Uint8Array(await blob.arrayBuffer()).every((byte, i) => byte === bytes[i]);
        return [id, same, blob.size, blob.type, await Convex.jsSyscall("storage/getBlob", { storageId: "missing" })];
    """
    assert await stage.value(body, "action", bridge) == ["s0", True, 65536, "app/x", None]
    assert bridge.blobs["s0"].content_type == "app/x"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("'storage/storeBlob', { blob: 'text' }", NO_BLOB),
        ("'storage/getBlob', { storageId: 5 }", "storage.get requires a string storageId but received 5"),
    ],
)  # fmt: skip
async def test_wrong_arguments_of_storage_are_refused(stage: Stage, call: str, message: str) -> None:
    outcome = await stage.evaluate(f"await Convex.jsSyscall({call});", "action")
    assert outcome.failure.message.startswith(f"Uncaught Error: {message}\n")


async def test_fetch_sends_and_receives(stage: Stage, server: str) -> None:
    outcome = await stage.run("actions:load", {"url": f"{server}/path"}, kind="action")
    assert orjson.loads(outcome.result) == {"status": 200, "text": "POST /path HTTP/1.1|ping", "header": "42"}
    assert (
        await stage.run("actions:load", {"url": server.replace("127.0.0.1", "localhost")}, kind="action")
    ).failure is None


@pytest.mark.parametrize(
    ("options", "path", "expected"),
    [
        ("{}", "/redirect", ["GET /after HTTP/1.1|", True]),
        ("{ redirect: 'manual' }", "/redirect", ["", False]),
        ("{ redirect: 'error' }", "/redirect", "Error: fetch attempted redirect"),
        ("{}", "/loop", "Error: fetch too many redirects"),
        ("{}", "/away", "Error: Network access to 192.0.2.1 is not allowed: functions may only reach this machine"),
        ("{ signal: AbortSignal.timeout(20) }", "/slow", "TimeoutError: The operation was aborted due to timeout"),
        ("{ signal: AbortSignal.abort() }", "/x", "AbortError: The operation was aborted."),
    ],
)
async def test_fetch_follows_redirects_as_told(
    stage: Stage, server: str, options: str, path: str, expected: object
) -> None:
    body = f"""
        try {{ const r = await fetch("{server}{path}", {options}); return [await r.text(), r.redirected]; }}
        catch (e) {{ return `${{e.name}}: ${{e.message}}`; }}
    """
    assert await stage.value(body, "action") == expected


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://x/", "Unsupported URL scheme -- http and https are supported (scheme was ftp)"),
        ("http://example.com/", "Network access to example.com is not allowed: functions may only reach this machine"),
        (
            "https://93.184.216.34/",
            "Network access to 93.184.216.34 is not allowed: functions may only reach this machine",
        ),
        ("nonsense", "Failed to parse URL from nonsense"),
    ],
)
async def test_fetch_refuses(stage: Stage, url: str, message: str) -> None:
    assert await stage.value(f"try {{ await fetch('{url}'); }} catch (e) {{ return e.message; }}", "action") == message


async def test_errors_of_fetch_show_where_it_was_called(stage: Stage) -> None:
    outcome = await stage.run("actions:load", {"url": "http://example.com/"}, kind="action")
    assert "    at async handler (../convex/actions.ts:51:21)\n" in outcome.failure.message


async def test_answers_can_be_streamed(stage: Stage, server: str) -> None:
    body = f"""
        let count = 0;
        for await (const chunk of (await fetch("{server}/s")).body) count += chunk.length;
        return count;
    """
    assert await stage.value(body, "action") == len("GET /s HTTP/1.1|")


async def test_actions_run_side_by_side_and_the_pool_shrinks_again(
    own_stage: Stage, bridge: Bridge, until: Until
) -> None:
    together = asyncio.Barrier(4)

    async def meet(args: Any) -> SyscallReply:
        await together.wait()
        return SyscallReply("1")

    bridge.on_call = meet
    calls = (own_stage.run("actions:callAll", kind="action", bridge=bridge) for _ in range(4))
    assert [outcome.failure for outcome in await asyncio.gather(*calls)] == [None] * 4
    pool = own_stage.runtime._actions

    def is_small_again() -> bool:
        pool._shrink_now()
        return len(pool._all) == 1

    await until(is_small_again)
    assert (await own_stage.value("return 1;", "action")) == 1


async def test_module_state_never_survives_an_action(stage: Stage) -> None:
    stage.deploy_source("let n = 0; export const f = { isAction: true, invokeAction: async () => `${++n}` };")
    assert [(await stage.run("test:f", kind="action")).result for _ in range(3)] == ["1"] * 3


async def test_import_constants_are_those_of_the_deploy(stage: Stage) -> None:
    stage.deploy_source("const t = Date.now(); export const f = { isAction: true, invokeAction: async () => `${t}` };")
    assert (await stage.run("test:f", kind="action")).result == "1700000000000"
