"""The event loop of queries and mutations: syscalls in order, what happens to promises nobody waits for."""

import asyncio
from typing import Any

import orjson
import pytest

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.runtime import SyscallReply

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The types of conftest.py, which tests cannot import.
Stage = Any
Bridge = Any

ROWS = [{"_id": f"m{n}"} for n in range(200)]


async def test_a_bundled_query_reads_all_rows_and_says_how_many_it_pulled(stage: Stage, bridge: Bridge) -> None:
    bridge.rows = ROWS[:3]
    outcome = await stage.run("messages:list", bridge=bridge)
    assert orjson.loads(outcome.result) == ROWS[:3]
    assert bridge.pulls == {0: 4}  # the end counts


async def test_rows_are_fetched_in_growing_batches(stage: Stage, bridge: Bridge) -> None:
    bridge.rows = list(ROWS)
    await stage.run("messages:list", bridge=bridge)
    assert bridge.batches == [["query/fetch"]] * 3  # 16, 128, the rest
    assert bridge.pulls == {0: 201}


async def test_a_limit_keeps_the_batch_small(stage: Stage, bridge: Bridge) -> None:
    bridge.rows = list(ROWS)
    asked = []

    def fetch(args: Any) -> SyscallReply:
        asked.append(args["max"])
        reply: SyscallReply = bridge.fetch(args)
        return reply

    bridge.replies["query/fetch"] = fetch
    assert orjson.loads((await stage.run("messages:first", bridge=bridge)).result) == ROWS[0]
    assert asked == [1]


async def test_leaving_a_loop_early_pulls_only_what_it_saw(stage: Stage, bridge: Bridge) -> None:
    bridge.rows = list(ROWS)
    outcome = await stage.run("messages:firstThree", bridge=bridge)
    assert len(orjson.loads(outcome.result)) == 3
    assert bridge.pulls == {0: 3}


async def test_writes_started_together_travel_together_and_keep_their_order(stage: Stage, bridge: Bridge) -> None:
    bodies = [str(n) for n in range(10)]
    outcome = await stage.run("messages:sendMany", {"bodies": bodies}, kind="mutation", bridge=bridge)
    assert bridge.batches == [["1.0/insert"] * 10]
    assert [row["body"] for row in bridge.rows] == bodies
    assert orjson.loads(outcome.result) == [f"m{n}" for n in range(10)]


async def test_a_nested_call_travels_alone(stage: Stage, bridge: Bridge) -> None:
    async def answer(args: Any) -> SyscallReply:
        return SyscallReply("5")

    bridge.on_call = answer
    body = """
        const call = (name, args) => Convex.asyncSyscall(name, JSON.stringify(args));
        return (await Promise.all([
            call("1.0/insert", { table: "t", value: {} }), call("1.0/insert", { table: "t", value: {} }),
            call("1.0/runUdf", {}), call("1.0/insert", { table: "t", value: {} }),
        ])).length;
    """
    assert await stage.value(body, "mutation", bridge) == 4
    assert bridge.batches == [["1.0/insert", "1.0/insert"], ["1.0/runUdf"], ["1.0/insert"]]


async def test_promises_of_single_writes_resolve_one_after_the_other(stage: Stage, bridge: Bridge) -> None:
    body = """
        const order = [];
        const insert = (name) => Convex.asyncSyscall("1.0/insert", JSON.stringify({ table: "t", value: {} }))
            .then(() => order.push(name + 1)).then(() => order.push(name + 2));
        await Promise.all([insert("a"), insert("b")]);
        return order;
    """
    assert await stage.value(body, "mutation", bridge) == ["a1", "a2", "b1", "b2"]


async def test_a_call_nobody_waits_for_still_runs(stage: Stage, bridge: Bridge) -> None:
    outcome = await stage.run("messages:forget", kind="mutation", bridge=bridge)
    assert outcome.result == '"returned"'
    assert [row["body"] for row in bridge.rows] == ["not awaited"]


async def test_nothing_more_runs_once_the_function_has_failed(stage: Stage, bridge: Bridge) -> None:
    body = """
        void Convex.asyncSyscall("1.0/insert", JSON.stringify({ table: "t", value: {} }));
        throw new Error("stop");
    """
    outcome = await stage.evaluate(body, "mutation", bridge)
    assert outcome.failure.message.startswith("Uncaught Error: stop\n")
    assert bridge.rows == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("await new Promise(() => {});", "Returned promise will never resolve"),
        ("Promise.reject(new Error('lost')); return 1;", "Uncaught Error: lost\n"),
        ("setTimeout(() => {}, 0); return 1;", "Uncaught Error: Can't use setTimeout in queries and mutations. "),
        ("await Convex.asyncSyscall('1.0/nope', '{}');", "Uncaught Error: Unknown async operation 1.0/nope\n"),
        ("Convex.syscall('1.0/nope', '{}');", "Uncaught Error: Unknown operation 1.0/nope\n"),
        ("Convex.jsSyscall('nope', {});", "Unknown JS syscall: nope"),
        ("try { Convex.jsSyscall('nope', {}); } catch {} return 1;", "Unknown JS syscall: nope"),
        (
            "await Convex.asyncSyscall('1.0/queryStreamNext', '{\"queryId\": 7}');",
            "Uncaught Error: in-progress query not",
        ),
        ("Convex.syscall('1.0/queryStream', 'nonsense');", "Uncaught Error: Received invalid json: "),
    ],
)
async def test_a_function_fails_with(stage: Stage, body: str, message: str) -> None:
    outcome = await stage.evaluate(body)
    assert outcome.failure is not None
    assert outcome.failure.message.startswith(message)


async def test_a_rejection_that_is_handled_in_time_does_no_harm(stage: Stage) -> None:
    assert await stage.value("const p = Promise.reject(1); await null; await p.catch(() => {}); return 2;") == 2


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("export const g = 1;", "query", 'Couldn\'t find "f" in module "test.js".'),
        (
            "export const f = () => 1;",
            "query",
            "Function test.js:f is neither a query or mutation. Did you forget to wrap it with `query` or `mutation`?",
        ),
        (
            "export const f = { isMutation: true };",
            "query",
            "Function test.js:f is registered as a mutation but is being run as a query.",
        ),
        (
            "import './missing.js';",
            "query",
            "Couldn't find JavaScript module 'missing.js'. Did you forget to run `npx convex dev`?",
        ),
        ("import 'node:fs';", "query", "Unsupported scheme (node) in node:fs"),
        ("await new Promise(() => {});", "query", "Top-level awaits in source files are unsupported"),
        ("throw new Error('import');", "query", "Uncaught Error: import\n"),
        ("export const f = ;", "query", "Uncaught SyntaxError: Unexpected token ';'\n"),
        (
            "import { nope } from './helpers.js';",
            "query",
            "Uncaught SyntaxError: The requested module './helpers.js' does",
        ),
    ],
)
async def test_a_module_that_is_not_right_fails_the_call(stage: Stage, source: str, kind: str, message: str) -> None:
    stage.deploy_source(source)
    outcome = await stage.run("test:f", kind=kind)
    assert outcome.failure.message.startswith(message)


async def test_a_missing_module_is_reported(stage: Stage) -> None:
    outcome = await stage.run("nowhere:f")
    assert outcome.failure.message == (
        "Couldn't find JavaScript module 'nowhere.js'. Did you forget to run `npx convex dev`?"
    )


async def test_module_state_never_survives_a_call(stage: Stage, bridge: Bridge) -> None:
    for _ in range(3):
        assert (await stage.run("messages:send", {"body": "x"}, kind="mutation", bridge=bridge)).result == "1"


async def test_new_code_is_used_after_a_push_and_old_code_by_calls_of_the_old_version(stage: Stage) -> None:
    stage.deploy_source("export const f = { isQuery: true, invokeQuery: async () => '1' };")
    old = stage.execution("test:f")
    stage.deploy_source("export const f = { isQuery: true, invokeQuery: async () => '2' };")
    assert (await stage.run("test:f")).result == "2"
    assert (await stage.runtime.run(old, None)).result == "1"


async def test_changed_variables_are_seen_by_the_import_phase(stage: Stage) -> None:
    stage.deploy_source(
        'const mode = process.env.MODE; export const f = { isQuery: true, invokeQuery: async () => `"${mode}"` };'
    )
    seen = []
    for mode in ("slow", "slow", "fast"):
        stage.env = {"MODE": mode}
        seen.append(orjson.loads((await stage.run("test:f")).result))
    assert seen == ["slow", "slow", "fast"]


async def test_a_synchronous_syscall_is_answered_while_user_code_waits(stage: Stage, bridge: Bridge) -> None:
    assert (await stage.run("messages:normalize", {"id": "m1"}, bridge=bridge)).result == '"m1"'
    assert (await stage.run("messages:normalize", {"id": "x1"}, bridge=bridge)).result == "null"


async def test_an_error_of_a_callee_carries_its_text_and_data(stage: Stage, bridge: Bridge) -> None:
    async def fail(args: Any) -> SyscallReply:
        return SyscallReply(error="Uncaught ConvexError: x\n", error_data='{"code":1}')

    bridge.on_call = fail
    outcome = await stage.run("messages:callee", bridge=bridge)
    assert outcome.failure.data == '{"code":1}'
    assert outcome.failure.message.startswith("Uncaught ConvexError: Uncaught ConvexError: x\n\n    at async handler")


async def test_a_fatal_reply_ends_the_caller_too(stage: Stage, bridge: Bridge) -> None:
    bridge.replies["1.0/get"] = lambda args: SyscallReply(error="too late", fatal=True)
    outcome = await stage.evaluate(
        "try { await Convex.asyncSyscall('1.0/get', '{}'); } catch {} return 1;", bridge=bridge
    )
    assert outcome.failure.message == "too late"


async def test_lines_of_a_callee_stand_where_it_was_called(stage: Stage, bridge: Bridge) -> None:
    inner = await stage.evaluate("console.log('inner'); return 1;")

    async def answer(args: Any) -> SyscallReply:
        return SyscallReply("1", log_lines=inner.log_lines)

    bridge.on_call = answer
    body = "console.log('before'); await Convex.asyncSyscall('1.0/runUdf', '{}'); console.log('after');"
    outcome = await stage.evaluate(body, bridge=bridge)
    assert [line.text for line in outcome.log_lines] == ["[LOG] 'before'", "[LOG] 'inner'", "[LOG] 'after'"]


async def test_many_executions_interleave(stage: Stage) -> None:
    together = asyncio.Barrier(20)

    class SlowBridge:
        def call_now(self, name: str, args: Any) -> Any:
            raise DeveloperError("no")

        async def call(self, calls: Any) -> Any:
            await together.wait()
            return [SyscallReply("1") for _ in calls]

        def pulled(self, counts: Any) -> None:
            pass

    stage.deploy_source(
        "export const f = { isQuery: true, invokeQuery: async () => {"
        " for (let i = 0; i < 3; i++) await Convex.asyncSyscall('1.0/count', '{}'); return '1'; } };"
    )
    outcomes = await asyncio.gather(*(stage.run("test:f", bridge=SlowBridge()) for _ in range(20)))
    assert [outcome.result for outcome in outcomes] == ["1"] * 20


async def test_what_the_bridge_raises_reaches_the_caller(stage: Stage, bridge: Bridge) -> None:
    class BrokenBridge:
        def pulled(self, counts: Any) -> None:
            pass

        async def call(self, calls: Any) -> Any:
            raise RuntimeError("database is gone")

    with pytest.raises(RuntimeError, match="database is gone"):
        await stage.evaluate("await Convex.asyncSyscall('1.0/get', '{}');", bridge=BrokenBridge())
    assert await stage.value("return 1;") == 1


async def test_a_cancelled_call_leaves_nothing_behind(stage: Stage) -> None:
    called = asyncio.Event()

    class NeverBridge:
        def pulled(self, counts: Any) -> None:
            pass

        async def call(self, calls: Any) -> Any:
            called.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(stage.evaluate("await Convex.asyncSyscall('1.0/get', '{}');", bridge=NeverBridge()))
    await called.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await stage.value("return 1;") == 1
