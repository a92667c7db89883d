"""Actions of `"use node"` modules: real Node.js, with module state that survives."""

from typing import Any

import orjson
import pytest

from convex_evals.backend.deployed import Module
from convex_evals.backend.runtime import SyscallReply

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The types of conftest.py, which tests cannot import.
Stage = Any
Bridge = Any


async def run(stage: Stage, name: str, args: Any = None, bridge: Any = None) -> Any:
    return await stage.run(f"nodeact:{name}", args, kind="action", bridge=bridge)


async def test_node_modules_and_their_log_lines(stage: Stage) -> None:
    outcome = await run(stage, "hash", {"text": "hi"})
    assert orjson.loads(outcome.result) == "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"
    assert [line.text for line in outcome.log_lines] == ["[LOG] 'hashing' { text: 'hi' }"]


async def test_module_state_survives_until_variables_change(stage: Stage) -> None:
    stage.env = {"CASE": "state"}
    assert [(await run(stage, "count")).result for _ in range(2)] == ["1", "2"]
    stage.env = {"CASE": "changed"}
    assert (await run(stage, "count")).result == "1"


async def test_the_environment_is_a_plain_object_with_what_was_set(stage: Stage) -> None:
    stage.env = {"MY_VAR": "x"}
    found = orjson.loads((await run(stage, "environment")).result)
    assert found["mine"] == "x"
    assert found["names"] == ["LANG", "MY_VAR", "PATH", "PWD", "TMPDIR", "TZ"]
    assert (found["require"], found["buffer"], found["file"]) == ("function", "function", "string")


async def test_functions_and_storage_are_reached(stage: Stage, bridge: Bridge) -> None:
    async def answer(args: Any) -> SyscallReply:
        return SyscallReply('"ok"')

    bridge.on_call = answer
    assert (await run(stage, "callQuery", bridge=bridge)).result == '"ok"'
    stored = orjson.loads((await run(stage, "store", bridge=bridge)).result)
    assert stored == {"id": "s0", "text": "from node", "type": "text/x"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("exits", "process.exit() called with exit code 3"),
        ("rejects", "Uncaught Error: nobody listens\n    at handler (../convex/nodeact.ts:48:24)\n"),
        ("throws", "Uncaught Error: node boom\n    at handler (../convex/nodeact.ts:56:10)\n"),
        ("nope", "Couldn't find action `nope` in `nodeact.js`"),
    ],
)
async def test_a_node_action_fails_alone(stage: Stage, name: str, message: str) -> None:
    assert (await run(stage, name)).failure.message == message
    assert (await run(stage, "scratch")).result == '"kept"'


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("await Convex.asyncSyscall('1.0/actions/query', '{}');", "Invalid syscall. The Convex syscalls are for"),
        ("await Convex.asyncSyscall('1.0/actions/query', '{\"requestId\": \"old\"}');", "Leftover state detected."),
        ("Convex.syscall('1.0/nope', '{}');", "Unknown operation 1.0/nope"),
    ],
)  # fmt: skip
async def test_stray_syscalls_are_refused(stage: Stage, body: str, message: str) -> None:
    deploy(stage, body)
    assert (await stage.run("own:f", kind="action")).failure.message.startswith(f"Uncaught Error: {message}")


async def test_syscalls_are_refused_while_modules_are_imported(stage: Stage) -> None:
    source = "Convex.syscall('1.0/x', '{}'); export const f = {};"
    stage.deploy({"own.js": Module("own.js", source, None, "node")})
    failure = (await stage.run("own:f", kind="action")).failure
    assert failure.message.startswith("Uncaught Error: Cannot invoke syscall during module imports\n")


async def test_something_else_than_an_action_is_refused(stage: Stage) -> None:
    stage.deploy({"own.js": Module("own.js", "export const f = 1;", None, "node")})
    failure = (await stage.run("own:f", kind="action")).failure
    assert failure.message == "`f` wasn't registered as a Convex action in `own.js`"


async def test_outstanding_operations_are_warned_about(stage: Stage, bridge: Bridge) -> None:
    deploy(stage, "void Convex.asyncSyscall('1.0/actions/mutation', '{\"requestId\": \"r1\"}'); return 'null';")
    outcome = await stage.run("own:f", kind="action", bridge=bridge)
    assert outcome.log_lines[0].text.startswith(
        "[WARN] You have an outstanding mutation call. Operations should be awaited"
    )


async def test_an_action_that_takes_too_long_is_killed(stage: Stage) -> None:
    deploy(stage, "for (;;);")
    failure = (await stage.run("own:f", kind="action", total_seconds=1.0)).failure
    assert failure.message == "Action `f` execution timed out (maximum duration 1s)"


async def test_commonjs_and_eval_work(stage: Stage) -> None:
    deploy(stage, "return JSON.stringify([require('node:path').join('a', 'b'), eval('1 + 1'), typeof module.exports]);")
    assert orjson.loads((await stage.run("own:f", kind="action")).result) == ["a/b", 2, "object"]


def deploy(stage: Stage, body: str) -> None:
    source = f"export const f = {{ isAction: true, invokeAction: async () => {{ {body} }} }};"
    stage.deploy({"own.js": Module("own.js", source, None, "node")})
