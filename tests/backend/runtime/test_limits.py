"""Time and memory: a function that takes too much ends, and others do not notice."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.examples import exhaustively

from convex_evals.backend.deployed import Module
from convex_evals.backend.errors import WorkerLost
from convex_evals.backend.runtime import SyscallReply

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The types of conftest.py, which tests cannot import.
Stage = Any
Bridge = Any
Until = Callable[..., Awaitable[None]]

TIMED_OUT = "Function execution timed out (maximum duration: 1s)"


@pytest.mark.parametrize(
    "body",
    [
        "for (;;);",
        "for (;;) { try { for (;;); } catch {} finally { continue; } }",
        "await null; for (;;);",
        "for (;;) await null;",
        "const spin = () => void Promise.resolve().then(spin); spin();",  # chained, they would fill the memory first
        "/(a+)+$/.test('a'.repeat(40) + '!');",
        "await Convex.asyncSyscall('1.0/count', '{}'); for (;;);",
        "new Proxy({}, { get() { for (;;); } }).x;",
    ],
)
async def test_endless_user_code_ends_when_its_time_is_up(stage: Stage, bridge: Bridge, body: str) -> None:
    bridge.replies["1.0/count"] = lambda args: SyscallReply("1")
    outcome = await stage.evaluate(body, bridge=bridge, user_seconds=0.2)
    assert outcome.failure.message == TIMED_OUT
    assert not outcome.failure.catchable


async def test_an_endless_import_ends_too(stage: Stage) -> None:
    stage.deploy_source("for (;;);")
    assert (await stage.run("test:f", user_seconds=0.2)).failure.message == TIMED_OUT


async def test_others_continue_after_an_endless_loop(stage: Stage) -> None:
    stage.deploy({"loop.js": _module("loop.js", "for (;;);"), "fine.js": _module("fine.js", "return '1';")})
    slow, *rest = await asyncio.gather(stage.run("loop:f", user_seconds=0.3), *(stage.run("fine:f") for _ in range(3)))
    assert slow.failure.message == TIMED_OUT
    assert [outcome.result for outcome in rest] == ["1"] * 3


async def test_time_inside_syscalls_is_not_user_time(stage: Stage, bridge: Bridge) -> None:
    async def slowly(args: Any) -> SyscallReply:
        await asyncio.sleep(0.4)
        return SyscallReply("1")

    bridge.on_call = slowly
    outcome = await stage.evaluate("await Convex.asyncSyscall('1.0/runUdf', '{}');", bridge=bridge, user_seconds=0.2)
    assert outcome.failure is None
    assert outcome.user_ms < 200


async def test_too_much_time_inside_syscalls_ends_the_function(stage: Stage, bridge: Bridge) -> None:
    async def never(args: Any) -> None:
        await asyncio.Event().wait()

    bridge.on_call = never
    body = "try { await Convex.asyncSyscall('1.0/runUdf', '{}'); } catch {} return 1;"
    outcome = await stage.evaluate(body, bridge=bridge, total_seconds=0.1)
    assert outcome.failure.message == "Your request timed out performing too many system operations."
    assert not outcome.failure.catchable


async def test_nested_calls_share_the_time_of_their_caller(stage: Stage, bridge: Bridge) -> None:
    stage.deploy({"inner.js": _module("inner.js", "for (;;);"), "outer.js": _module("outer.js", _CALL)})

    async def nested(args: Any) -> SyscallReply:
        inner = await stage.run("inner:f", user_seconds=3600.0)
        return SyscallReply(error=inner.failure.message, fatal=not inner.failure.catchable)

    bridge.on_call = nested
    outcome = await stage.run("outer:f", bridge=bridge, user_seconds=0.3)
    assert outcome.failure.message == TIMED_OUT


async def test_deep_recursion_is_an_ordinary_error(stage: Stage) -> None:
    assert await stage.value("const f = () => f(); try { f(); } catch (e) { return e instanceof RangeError; }") is True


async def test_a_call_that_exhausts_memory_loses_its_worker_and_the_next_one_runs(own_stage: Stage) -> None:
    hungry = "const all = []; for (;;) all.push(new Array(1000).fill(Math.random()));"
    with pytest.raises(WorkerLost):
        await own_stage.evaluate(hungry, user_seconds=30.0)
    assert await own_stage.value("return 1;") == 1


async def test_array_buffers_are_bounded(own_stage: Stage) -> None:
    # Large ones, so that the engine itself has some room left when there is none for another.
    body = """
        const all = [];
        try { for (;;) all.push(new ArrayBuffer(64 * 2 ** 20).slice(0)); }
        catch (e) { return [e.name, all.length < 16]; }
    """
    assert await own_stage.value(body, user_seconds=20.0) == ["RangeError", True]


async def test_an_action_that_exhausts_memory_fails_alone(own_stage: Stage) -> None:
    outcome = await own_stage.evaluate(
        "const all = []; for (;;) all.push(new Array(1000).fill(Math.random()));", "action"
    )
    assert outcome.failure.message == "JavaScript execution ran out of memory (maximum memory usage: 64 MB)"
    assert await own_stage.value("return 1;", "action") == 1


async def test_killing_the_worker_loses_what_it_ran_and_nothing_more(
    own_stage: Stage, bridge: Bridge, until: Until
) -> None:
    async def never(args: Any) -> None:
        await asyncio.Event().wait()

    bridge.on_call = never
    calls = [
        asyncio.create_task(own_stage.evaluate("await Convex.asyncSyscall('1.0/runUdf', '{}');", bridge=bridge))
        for _ in range(2)
    ]
    await until(lambda: len(bridge.batches) == 2)
    os.kill((await own_stage.runtime._functions._running()).pid, signal.SIGKILL)
    for call in calls:
        with pytest.raises(WorkerLost):
            await call
    assert await own_stage.value("return 1;") == 1


async def test_an_action_that_takes_too_long_is_killed(own_stage: Stage) -> None:
    assert await own_stage.value("return 0;", "action") == 0  # it need not wait for its worker
    outcome = await own_stage.evaluate("console.log('started'); for (;;);", "action", total_seconds=2.0)
    assert outcome.failure.message == "Function execution timed out (maximum duration: 2s)"
    assert [line.text for line in outcome.log_lines] == ["[LOG] 'started'"]
    assert await own_stage.value("return 1;", "action") == 1


async def test_code_left_running_by_an_action_does_not_reach_the_next_one(own_stage: Stage) -> None:
    spin = "const spin = () => Promise.resolve().then(spin); setTimeout(spin, 5); return 1;"
    assert await own_stage.value(spin, "action") == 1
    assert await own_stage.value("return 2;", "action") == 2


async def test_stopping_leaves_no_process(own_stage: Stage) -> None:
    pid = (await own_stage.runtime._functions._running()).pid
    await own_stage.value("return 1;", "action")
    await own_stage.runtime.stop()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, 0)
        pytest.fail("the process group is still there")


_CALL = "return await Convex.asyncSyscall('1.0/runUdf', '{}');"


def _module(path: str, body: str) -> Any:
    return Module(
        path, f"export const f = {{ isQuery: true, invokeQuery: async () => {{ {body} }} }};", None, "isolate"
    )


@pytest.mark.parametrize("unused", [*exhaustively(""), "export const later = () => import('./helpers.js');"])
async def test_contexts_of_calls_that_are_over_do_not_fill_the_memory(own_stage: Stage, unused: str) -> None:
    megabytes = "const kept = new Array(200_000).fill(1.5);"
    own_stage.deploy_source(
        f"{megabytes} {unused}\nexport const f = {{ isQuery: true, invokeQuery: () => `${{kept[0]}}` }};"
    )
    for _ in range(150):  # together more than the heap may have
        assert (await own_stage.run("test:f")).result == "1.5"
