"""What user code finds in its global scope, and what it is refused."""

from typing import Any

import orjson
import pytest

from convex_evals.backend.runtime import SyscallReply

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The types of conftest.py, which tests cannot import.
Stage = Any
Bridge = Any

ACTION_HINT = "Please consider using an action. See https://docs.convex.dev/functions/actions for more details."

PRESENT = [
    "console",
    "URL",
    "URLSearchParams",
    "Headers",
    "Request",
    "Response",
    "FormData",
    "Blob",
    "File",
    "fetch",
    "DOMException",
    "Event",
    "EventTarget",
    "AbortController",
    "AbortSignal",
    "ReadableStream",
    "ReadableStreamDefaultReader",
    "ReadableStreamBYOBReader",
    "WritableStream",
    "WritableStreamDefaultWriter",
    "TransformStream",
    "TextEncoder",
    "TextDecoder",
    "TextEncoderStream",
    "TextDecoderStream",
    "atob",
    "btoa",
    "setTimeout",
    "setInterval",
    "clearTimeout",
    "clearInterval",
    "crypto",
    "Crypto",
    "CryptoKey",
    "SubtleCrypto",
    "performance",
    "Performance",
    "structuredClone",
    "AsyncLocalStorage",
    "AsyncResource",
    "self",
    "globalThis",
    "Intl",
    "WebAssembly",
    "process",
    "Convex",
    "WeakRef",
    "FinalizationRegistry",
]
ABSENT = [
    "require",
    "Buffer",
    "global",
    "window",
    "queueMicrotask",
    "setImmediate",
    "clearImmediate",
    "WebSocket",
    "XMLHttpRequest",
    "navigator",
    "MessageChannel",
    "CustomEvent",
    "CompressionStream",
    "module",
    "exports",
    "__dirname",
    "__filename",
    "gc",
]


@pytest.mark.parametrize("kind", ["query", "action"])
async def test_the_documented_globals_exist_and_others_do_not(stage: Stage, kind: str) -> None:
    body = (
        f"return [{PRESENT!r}.filter((n) => globalThis[n] === undefined), {ABSENT!r}.filter((n) => n in globalThis)];"
    )
    assert await stage.value(body, kind) == [[], []]


async def test_process_has_nothing_but_an_environment(stage: Stage) -> None:
    stage.env = {"MY_VAR": "x", "CONVEX_CLOUD_URL": "http://127.0.0.1:3210"}
    body = """
        const { env } = process;
        return [Object.keys(process), env.MY_VAR, env.CONVEX_CLOUD_URL, env.UNSET ?? "unset",
                Object.keys(env), "MY_VAR" in env,
                JSON.stringify(env), process.nextTick === undefined];
    """
    expected = [["env"], "x", "http://127.0.0.1:3210", "unset", [], False, "{}", True]
    assert await stage.value(body) == expected


async def test_an_invalid_variable_name_is_refused(stage: Stage) -> None:
    outcome = await stage.evaluate("return process.env['a-b'];")
    assert outcome.failure.message.startswith(
        "Uncaught Error: The environment variable name a-b is invalid. Environment variable names must begin with a "
        "letter and may only include characters a-z, A-Z, 0-9, and underscores.\n"
    )


async def test_the_clock_stands_still_in_queries_and_runs_in_actions(stage: Stage) -> None:
    body = "const a = Date.now(); for (let i = 0; i < 1e6; i++); return [a, Date.now(), +new Date(), +new Date()];"
    assert await stage.value(body, now_ms=1234567890123.0) == [1234567890123] * 4
    assert (await stage.value("return Date.now();", "action")) > 1_700_000_000_000


async def test_a_query_that_looks_at_the_clock_says_so(stage: Stage) -> None:
    assert (await stage.evaluate("return Date.now();")).clock_read
    assert not (await stage.evaluate("return 1;")).clock_read
    assert not (await stage.evaluate("return new Date(5).getTime();")).clock_read


async def test_dates_stay_dates(stage: Stage) -> None:
    body = """
        return [new Date(2020, 0, 2).toISOString(), Date.UTC(2020, 0), Date.parse("2020-01-01"),
                new Date() instanceof Date,
                new Date().constructor === Date, Date.name, Date.length, typeof Date(), new Date(0).getTimezoneOffset(),
                new Intl.DateTimeFormat("en-US").format(), class extends Date {}.name];
    """
    assert await stage.value(body, now_ms=0.0) == [
        "2020-01-02T00:00:00.000Z", 1577836800000, 1577836800000, True, True, "Date", 7, "string", 0, "1/1/1970", "",
    ]  # fmt: skip


async def test_module_constants_are_the_same_in_every_call_and_values_in_handlers_are_not(stage: Stage) -> None:
    outcomes = [await stage.run("messages:constants", seed=bytes([n]) * 32) for n in range(2)]
    first, second = (orjson.loads(outcome.result) for outcome in outcomes)
    assert (first["startedAt"], first["luck"]) == (second["startedAt"], second["luck"])
    assert first["startedAt"] == 1_700_000_000_000
    assert first["random"] != second["random"]


async def test_randomness_follows_from_the_seed(stage: Stage) -> None:
    body = "return [Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(4))]];"
    first = await stage.value(body)
    assert await stage.value(body) == first
    assert await stage.value(body, seed=b"\7" * 32) != first
    assert first[1][14] == "4"
    assert first[1][19] in "89ab"


async def test_random_numbers_are_spread_over_the_unit_interval(stage: Stage) -> None:
    body = """
        const n = Array.from({ length: 4000 }, Math.random);
        return [Math.min(...n), Math.max(...n), n.reduce((a, b) => a + b) / n.length];
    """
    low, high, mean = await stage.value(body)
    assert 0 <= low < 0.01
    assert 0.99 < high < 1
    assert 0.47 < mean < 0.53


@pytest.mark.parametrize("kind", ["query", "mutation"])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("await fetch('http://x');", f"Error: Can't use fetch() in queries and mutations. {ACTION_HINT}"),
        ("setInterval(() => {}, 1);", f"Error: Can't use setInterval in queries and mutations. {ACTION_HINT}"),
        (
            "await new Response('a=1', {headers: {'content-type': 'application/x-www-form-urlencoded'}}).formData();",
            f"Error: Can't use formData() in queries and mutations. {ACTION_HINT}",
        ),
        (
            "await Convex.jsSyscall('storage/storeBlob', {blob: new Blob()});",
            f"Error: Can't use storage.store() in queries and mutations. {ACTION_HINT}",
        ),
        (
            "await crypto.subtle.generateKey({name: 'AES-GCM', length: 128}, true, ['encrypt']);",
            f"Error: Can't use cryptographic randomness in queries and mutations. {ACTION_HINT}",
        ),
        ("await import('./helpers.js');", "TypeError: dynamic module import unsupported"),
        ("eval('1');", "EvalError: Code generation from strings disallowed for this context"),
        ("new Function('return 1')();", "EvalError: Code generation from strings disallowed for this context"),
        ("await import /* x */ ('./helpers.js');", "TypeError: dynamic module import unsupported"),
        ("return import.meta;", "TypeError: import.meta unsupported"),
        ("return import\n// x\n. meta;", "TypeError: import.meta unsupported"),
        (
            "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);",
            "TypeError: Atomics.wait cannot be called in this context",
        ),
    ],
)  # fmt: skip
async def test_queries_and_mutations_are_refused(stage: Stage, kind: str, body: str, message: str) -> None:
    outcome = await stage.evaluate(body, kind)
    assert outcome.failure is not None
    assert outcome.failure.message.startswith(f"Uncaught {message}\n")


async def test_a_refused_import_can_be_caught(stage: Stage) -> None:
    assert (
        await stage.value("try { await import('./helpers.js'); } catch (e) { return e instanceof TypeError; }") is True
    )


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("fetch('http://x')", "fetch() unsupported at import time"),
        ("setTimeout(() => {}, 1)", "setTimeout unsupported at import time"),
        ("Convex.syscall('1.0/queryStream', '{}')", "Can't use database at import time"),
        ("Convex.asyncSyscall('1.0/get', '{}')", "Can't use database at import time"),
        ("Convex.asyncSyscall('1.0/runUdf', '{}')", "Cannot call another function at import time"),
        ("Convex.syscall('1.0/componentArgument', '{}')", "Can't use `componentArg` at import time"),
        ("Convex.asyncSyscall('1.0/getUserIdentity', '{}')", "Syscall 1.0/getUserIdentity unsupported at import time"),
        ("crypto.randomUUID()", "Cannot use cryptographic randomness at import time"),
    ],
)
async def test_modules_are_refused_while_they_are_imported(stage: Stage, statement: str, message: str) -> None:
    stage.deploy_source(f"{statement}; export const f = {{ isQuery: true, invokeQuery: async () => '1' }};")
    for _ in range(2):  # the second call must not find a context that was prepared in spite of it
        outcome = await stage.run("test:f")
        assert outcome.failure is not None
        assert outcome.failure.message.startswith(f"Uncaught Error: {message}\n")


async def test_top_level_await_is_fine_when_it_settles_at_once(stage: Stage) -> None:
    stage.deploy_source(
        "const x = await Promise.resolve(5); export const f = { isQuery: true, invokeQuery: async () => `${x}` };"
    )
    assert (await stage.run("test:f")).result == "5"


async def test_performance_counts_from_the_deploy(stage: Stage) -> None:
    body = "performance.mark('a'); return [performance.timeOrigin, performance.now(), performance.getEntries().length];"
    assert await stage.value(body, now_ms=1_700_000_000_500.0) == [1_700_000_000_000, 500, 1]
    assert (await stage.value("return performance.now();", "mutation")) > 0


async def test_references_are_strong_and_registries_silent(stage: Stage) -> None:
    assert await stage.value("return new WeakRef({ a: 1 }).deref().a;") == 1
    assert await stage.value("new FinalizationRegistry(() => {}).register({}, 1); return 2;") == 2


async def test_webassembly_compiles_at_once(stage: Stage) -> None:
    body = """
        const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
        const { instance } = await WebAssembly.instantiate(bytes);
        const module = await WebAssembly.compile(bytes);
        return [instance instanceof WebAssembly.Instance, module instanceof WebAssembly.Module];
    """
    assert await stage.value(body) == [True, True]


async def test_what_is_not_implemented_ends_the_function(stage: Stage) -> None:
    outcome = await stage.evaluate("try { await crypto.subtle.wrapKey(); } catch {} return 1;")
    assert outcome.failure.message == (
        "Not implemented: wrapKey for SubtleCrypto. Consider calling an action defined in Node.js instead "
        "(https://docs.convex.dev/functions/actions)."
    )


async def test_async_local_storage_follows_awaits_and_syscalls(stage: Stage, bridge: Bridge) -> None:
    bridge.replies["1.0/count"] = lambda args: SyscallReply("1")
    body = """
        const storage = new AsyncLocalStorage();
        const inside = await storage.run({ user: 7 }, async () => {
            await Convex.asyncSyscall("1.0/count", "{}");
            await null;
            return storage.getStore().user;
        });
        storage.enterWith(3);
        const bound = AsyncLocalStorage.bind(() => storage.getStore());
        const inScope = new AsyncResource("x").runInAsyncScope(() => storage.getStore());
        return [inside, storage.run(1, bound), storage.exit(() => storage.getStore() ?? null), inScope];
    """
    assert await stage.value(body, bridge=bridge) == [7, 3, None, 3]
    assert await stage.value("return new AsyncLocalStorage().getStore() ?? null;") is None
