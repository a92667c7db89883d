"""Code that attacks the process it runs in: whatever it does to itself is its own failure, and nobody else's."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import psutil
import pytest
import pytest_asyncio
from tests.examples import examples

from convex_evals.backend.deployment import Deployment
from convex_evals.backend.logs import Completion

pytestmark = pytest.mark.asyncio(loop_scope="module")

Deploy = Callable[..., Awaitable[None]]

NODE = """
"use node";
import { actionGeneric as action } from "convex/server";
import fs from "node:fs";
const frame = (value, length = undefined, kind = 0) => {
  const text = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length ?? text.length, 0);
  head.writeUInt8(kind, 4);
  return Buffer.concat([head, text]);
};
const never = () => new Promise(() => {});
const send = (...args) => {
  const bytes = frame(...args);
  for (let sent = 0; sent < bytes.length; ) {
    try {
      sent += fs.writeSync(3, bytes, sent);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
};
const CASES = {
  abort: () => process.abort(),
  exit: () => process.reallyExit(0),
  garbage: () => (fs.writeSync(3, "this is no frame at all, but a sentence"), never()),
  question: () => (fs.writeSync(4, frame("[1, 2]")), never()),
  oddQuestion: () => (fs.writeSync(4, frame({ ask: "module", code: [], path: {} })), never()),
  huge: () => (send("", 0xffffffff), never()),
  deep: () => (send("[".repeat(2_000_000)), never()),
  list: () => (send([1, 2, 3]), never()),
  unknown: () => (send({ op: "conquer" }), never()),
  kind: () => (send("x", undefined, 9), never()),
  emptyBytes: () => (send("", 0, 1), never()),
  calls: () => (send({ op: "calls", id: 1, calls: [["1.0/get"]] }), never()),
  callsMap: () => (send({ op: "calls", id: 1, calls: { length: 1 } }), never()),
  logs: () => (send({ op: "log", id: 1, logs: [{ level: "LOUD", messages: [1], timestamp: "now" }] }), never()),
  time: () => (send({ op: "done", id: 1, result: "1", userMs: "1e999" }), never()),
  result: () => (send({ op: "done", id: 1, result: { toString: 1 } }), never()),
  failure: () => (send({ op: "done", id: 1, failure: { message: 7 } }), never()),
  store: () => (send({ op: "store", id: 1, seq: 99, contentType: null, sha256: null }), never()),
  load: () => (send({ op: "load", id: 1, seq: -1, storageId: [] }), never()),
  closed: () => (fs.closeSync(3), never()),
};
export const crash = action(async (ctx, { name }) => await CASES[name]());
export const signal = action(async (ctx, { signal }) => process.kill(process.pid, signal));
export const surrogate = action(async () => {
  console.log("half \\ud800");
  throw new Error("half \\ud800");
});
export const forge = action(async () => {
  process.exit = undefined;
  send({ op: "done", id: 1, result: JSON.stringify({ $integer: "nonsense" }), userMs: 1e15 });
  return await never();
});
export const flood = action(async () => {
  const line = Buffer.alloc(1 << 20, "x");
  for (let i = 0; i < 300; i++) process.stderr.write(line);
  const logs = [{ level: "LOG", messages: [String(line)], timestamp: 1 }];
  for (let i = 0; i < 300; i++) send({ op: "log", id: 1, logs });
  return "done";
});
export const healthy = action(async () => "healthy");
"""
CASES = re.findall(r"^  (\w+): \(", NODE, re.MULTILINE)

ISOLATE = """
import { queryGeneric as query } from "convex/server";
export const f = query(async () => 1);
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crashing(deploy: Deploy) -> AsyncIterator[Deployment]:
    async with Deployment.start() as running:
        await deploy(running, {"node.ts": NODE.lstrip(), "plain.ts": ISOLATE})
        yield running


@pytest.mark.parametrize("name", CASES)
async def test_an_action_that_crashes_its_worker_has_failed(crashing: Deployment, name: str) -> None:
    async with asyncio.timeout(60):
        outcome = await crashing.action("node:crash", {"name": name})
    assert outcome.failure is not None
    if name == "exit":
        assert outcome.failure.message.startswith("process.exit() called with exit code 0")
    else:
        assert outcome.failure.message.startswith("The function crashed its worker, which ")
    assert (await crashing.action("node:healthy")).value == '"healthy"'


@pytest.mark.parametrize("signal", ["SIGKILL", "SIGSEGV", "SIGSTOP"])
async def test_an_action_cannot_kill_or_stop_itself_without_failing(crashing: Deployment, signal: str) -> None:
    """The first process of a PID namespace is out of reach of its own signals."""
    outcome = await crashing.action("node:signal", {"signal": signal})
    assert outcome.failure is not None or outcome.value == "true"
    assert (await crashing.action("node:healthy")).value == '"healthy"'


async def test_calls_around_a_crash_do_not_notice(crashing: Deployment) -> None:
    calls = [crashing.action("node:crash", {"name": name}) for name in ("abort", "garbage", "huge")]
    others = [crashing.query("plain:f") for _ in range(5)] + [crashing.action("node:healthy") for _ in range(3)]
    outcomes = await asyncio.gather(*calls, *others)
    assert [outcome.failure is not None for outcome in outcomes] == [True] * 3 + [False] * 8


async def test_a_forged_result_is_checked_like_any_other(crashing: Deployment) -> None:
    outcome = await crashing.action("node:forge")
    assert outcome.failure is not None
    assert "return value invalid" in outcome.failure.message
    recorded = [entry for entry in crashing.log.after(0).entries if isinstance(entry, Completion)][-1]
    assert recorded.identifier == "node:forge"
    assert recorded.user_seconds is not None and 0 <= recorded.user_seconds < 60  # it claimed 30,000 years


@pytest.mark.exhaustive
async def test_an_action_that_sends_without_end_costs_no_memory(crashing: Deployment) -> None:
    before = psutil.Process().memory_info().rss
    async with asyncio.timeout(120):
        outcome = await crashing.action("node:flood")
    assert outcome.value == '"done"'
    assert psutil.Process().memory_info().rss - before < 200 * 1024 * 1024
    assert sum(len(text) for line in outcome.log_lines for text in line.messages) < 2 * 1024 * 1024


ENDLESS = {
    "node": '"use node"; while (true) {} export const f = 1;',
    "node-await": '"use node"; await new Promise(() => {}); export const f = 1;',
    "plain": "while (true) {} export const f = 1;",
    "plain-bigint": "const n = 3n ** (2n ** 24n); export const f = String((n ** 32n) % 7n);",
    "schema": "while (true) {} export default 1;",
    "auth": "while (true) {} export default {};",
    "http": "const r = { isRouter: true, getRoutes() { while (true) {} } }; export default r;",
    "crons": "const c = { isCrons: true, export() { while (true) {} } }; export default c;",
}
FILES = {"schema": "schema.ts", "auth": "auth.config.ts", "http": "http.ts", "crons": "crons.ts"}


@pytest.mark.parametrize("name", examples(ENDLESS, ("node-await", "schema")))
async def test_a_push_that_would_never_end_is_refused(crashing: Deployment, deploy: Deploy, name: str) -> None:
    started = time.monotonic()
    with pytest.raises(Exception, match="timed out"):
        await deploy(crashing, {FILES.get(name, "endless.ts"): ENDLESS[name]})
    assert time.monotonic() - started < 60
    assert (await crashing.query("plain:f")).value == "1.0"


CRASHES = {
    "abort": "process.abort();",
    "exit": "process.reallyExit(0);",
    "garbage": 'require("node:fs").writeSync(3, "garbage that is long enough");',
}


@pytest.mark.parametrize("name", CRASHES)
async def test_a_push_that_crashes_its_worker_is_refused(crashing: Deployment, deploy: Deploy, name: str) -> None:
    with pytest.raises(Exception, match="The modules ended the process that evaluates them"):
        await deploy(crashing, {"crash.ts": f'"use node"; {CRASHES[name]} await new Promise(() => {{}}); export {{}};'})
    assert (await crashing.query("plain:f")).value == "1.0"


FORGED: list[Any] = [
    [],
    [{}, {}],
    [{"exports": [{"name": 1}]}],
    [{"exports": [{"name": "f", "markers": [[]], "handler": "function"}]}],
    [{"exports": {"length": 1}}],
    [{"thrown": {"text": {"toString": 1}}}],
]


@pytest.mark.parametrize("result", FORGED)
async def test_a_forged_analysis_is_refused(crashing: Deployment, deploy: Deploy, result: Any) -> None:
    text = json.dumps({"op": "answer", "id": 0, "result": result})
    source = f"""
        "use node";
        import fs from "node:fs";
        const head = Buffer.alloc(5); head.writeUInt32BE({len(text)}, 0);
        fs.writeSync(3, Buffer.concat([head, Buffer.from({text!r})]));
        while (true) {{}}
        export {{}};
    """
    with pytest.raises(Exception, match="Loading the pushed modules encountered"):
        await deploy(crashing, {"forged.ts": source.strip()})
    assert (await crashing.query("plain:f")).value == "1.0"


async def test_a_forged_analysis_adds_no_routes(crashing: Deployment, deploy: Deploy) -> None:
    routes = {"exported": True, "isRouter": True, "hasRoutes": True, "routes": []}
    text = json.dumps({"op": "answer", "id": 0, "result": [{"exports": [], "router": routes}]})
    source = f"""
        "use node";
        import fs from "node:fs";
        const head = Buffer.alloc(5); head.writeUInt32BE({len(text)}, 0);
        fs.writeSync(3, Buffer.concat([head, Buffer.from({text!r})]));
        export {{}};
    """
    async with Deployment.start() as deployment:
        await deploy(deployment, {"forged.ts": source.strip()})
        assert deployment.application is not None
        assert deployment.application.definitions[""].analysis["forged.js"].http_routes is None


async def test_a_validator_without_bottom_is_refused(crashing: Deployment, deploy: Deploy) -> None:
    source = """
        let v = '{"type":"any"}';
        for (let i = 0; i < 450; i++) v = `{"type":"array","value":${v}}`;
        const exportArgs = () => `{"type":"object","value":{"a":{"fieldType":${v},"optional":false}}}`;
        export const f = Object.assign(() => 1, { isQuery: true, isPublic: true, exportArgs, invokeQuery: () => "1" });
    """
    deeper = source.replace("450", "400_000")
    for text in (source, deeper):
        with pytest.raises(Exception, match=r"nested too deep|Invalid JSON"):
            await deploy(crashing, {"deep.ts": text})


async def test_half_a_character_in_a_log_line_or_error_does_no_harm(crashing: Deployment) -> None:
    outcome = await crashing.action("node:surrogate")
    assert outcome.failure is not None
    assert outcome.failure.message.startswith("Uncaught Error: half \ufffd")
