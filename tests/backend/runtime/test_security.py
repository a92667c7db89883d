"""What model-written code tries when it wants out. Two barriers: the realm, and the process."""

import orjson
import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Each returns something falsy, or throws, when it failed to get out.
ESCAPES = [
    "return this?.constructor.constructor('return process')();",
    "return globalThis.constructor.constructor('return process')();",
    "return (async () => {}).constructor('return process')();",
    "return Convex.syscall.constructor('return process')();",
    "return console.log.constructor('return process')().pid;",
    "return process.constructor.constructor('return this')().process.pid;",
    "return process.env.constructor.constructor('return process')();",
    "return process.binding('fs');",
    "return (await import('fs')).readFileSync('/etc/passwd', 'utf8');",
    "return (await import('node:child_process')).execSync('id') + '';",
    "return import('./x.js').constructor.constructor('return process')();",
    "const p = import('./x.js'); p.catch(() => {}); return p.constructor !== Promise && (p.constructor.prototype.then = null) === null;",
    "try { (function f() { f(); })(); } catch (e) { return e.constructor.constructor('return process')(); }",
    "try { Convex.syscall('1.0/nope', '{}'); } catch (e) { return e.constructor.constructor('return process')(); }",
    "try { new URL('x'); } catch (e) { return e.constructor.constructor('return process')(); }",
    "Error.prepareStackTrace = (e, s) => s; const s = new Error().stack; return Array.isArray(s) && s[0].getThis();",
    "return Error.prepareStackTrace(new Error(), [{ isPromiseAll: () => false, getFileName() { return this.constructor.constructor('return process')(); } }]);",
    "return __convexEnter.constructor('return process')();",
    "return __convexEnter.call.call(function () { return this?.process?.pid; });",
    "globalThis.__convexEnter = () => { throw new Error('stolen'); };",
    "const { run } = AsyncLocalStorage.prototype; return run.constructor('return process')();",
    "return new AsyncLocalStorage().run(1, function () { return this?.process?.pid ?? arguments.callee?.caller; });",
    "return (function () { return this; })()?.process?.pid;",
    "return [].find.constructor('return process')();",
    "return new Proxy({}, { get: (t, k, r) => r.constructor.constructor('return process')() }).x;",
    "return WebAssembly.Module.constructor('return process')();",
    "return structuredClone(new Error('x')).constructor.constructor('return process')();",
    "const b = crypto.subtle.digest('SHA-256', new Uint8Array(1)); return (await b).constructor.constructor('return process')();",
    "return new Intl.DateTimeFormat().format.constructor('return process')();",
    "return Reflect.getPrototypeOf(Object.getPrototypeOf(process.env)) ?? process.env.__proto__.constructor.constructor('return process')();",
    "return process.mainModule ?? process.exit ?? process.kill;",
    "return globalThis.Deno ?? globalThis.Bun ?? globalThis.require ?? globalThis.module;",
]


@pytest.mark.parametrize("kind", ["query", "action"])
@pytest.mark.parametrize("body", ESCAPES)
async def test_there_is_no_way_out_of_the_realm(stage, kind, body):
    outcome = await stage.evaluate(body, kind)
    assert outcome.failure is not None or orjson.loads(outcome.result) in (None, False)


LEAKED = """
    const leaks = [];
    const look = (value) => {
        if ((typeof value === 'object' || typeof value === 'function') && value !== null && !(value instanceof Object)) leaks.push(String(value));
    };
"""


@pytest.mark.parametrize(
    "expression",
    [
        "Convex.syscall", "Convex", "console", "console.log", "process", "process.env", "new URL('http://a')", "URL.prototype.toString",
        "new URL('http://a').searchParams", "new TextEncoder().encode('x')", "crypto.getRandomValues(new Uint8Array(1))", "crypto.subtle",
        "await crypto.subtle.digest('SHA-1', new Uint8Array(1))", "new Response('x').headers", "new Response('x').body", "new Error().stack",
        "AsyncLocalStorage.snapshot()", "new AsyncLocalStorage().run", "structuredClone({ a: [1] })", "structuredClone([new Date()])",
        "performance", "new Blob(['x'])", "await new Blob(['x']).arrayBuffer()", "new AbortController().signal", "Date", "new Date()",
        "Math.random", "setTimeout", "fetch", "Error.prepareStackTrace", "__convexEnter", "WebAssembly.compile", "Intl.DateTimeFormat().format",
        "await Convex.asyncSyscall('1.0/nope', '{}').catch((e) => e)",
        "(() => { try { Convex.syscall('1.0/nope', '{}'); } catch (e) { return e; } })()",
        "await crypto.subtle.importKey('raw', new Uint8Array(3), 'AES-GCM', true, []).catch((e) => e)",
    ],
)  # fmt: skip
async def test_objects_come_from_the_users_own_realm(stage, expression):
    assert await stage.value(f"{LEAKED} look({expression}); return leaks;") == []


async def test_one_call_cannot_change_the_world_of_the_next(stage):
    for body in (
        "Object.prototype.polluted = 1; Array.prototype.push = null; globalThis.left = 1; JSON.stringify = () => '666'; return 1;",
        "URL.prototype.left = 1; Promise.prototype.then = null; return 1;",
    ):
        await stage.evaluate(body)
        assert (
            await stage.value("return [({}).polluted, globalThis.left, URL.prototype.left].map((x) => x ?? null);")
            == [None] * 3
        )


async def test_what_user_code_prints_is_data(stage):
    text = '\\x00\\x00\\x00\\x05\\x00{"op":"done","id":1,"result":"1"}'
    outcome = await stage.evaluate(f"console.log('{text}'); return 2;")
    assert outcome.result == "2"


NODE_PROBES = {
    "secrets in the environment": "return Object.keys(process.env).filter((n) => /HOME|USER|KEY|TOKEN|SSL|PYTHON/.test(n)).length;",
    "reading other files": "try { require('fs').readFileSync('/etc/hostname'); return 1; } catch (e) { return 0; }",
    "writing elsewhere": "try { require('fs').writeFileSync('/tmp/convex-escaped', 'x'); return 1; } catch (e) { return 0; }",
    "starting programs": "try { require('child_process').execSync('true'); return 1; } catch (e) { return 0; }",
    "starting threads": "try { new (require('worker_threads').Worker)('1', { eval: true }); return 1; } catch (e) { return 0; }",
    "reaching other hosts": "return await fetch('http://192.0.2.1/').then(() => 1, (e) => /not allowed/.test(e.cause?.message) ? 0 : 2);",
    "looking up names": "return await new Promise((r) => require('dns').lookup('example.com', (e) => r(e ? 0 : 1)));",
}


@pytest.mark.parametrize("probe", NODE_PROBES)
async def test_node_actions_stay_in_their_sandbox(stage, probe):
    from convex_evals.backend.deployed import Module

    source = (
        "export const f = { isAction: true, invokeAction: async () => {"
        f" const value = await (async () => {{ {NODE_PROBES[probe]} }})(); return JSON.stringify(value); }} }};"
    )
    stage.deploy({"probe.js": Module("probe.js", source, None, "node")})
    outcome = await stage.run("probe:f", kind="action")
    assert outcome.failure is None, outcome.failure
    assert outcome.result == "0"
