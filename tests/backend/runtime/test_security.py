"""What model-written code tries when it wants out. Two barriers: the realm, and the process."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from convex_evals.backend.deployed import Module

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The types of conftest.py, which tests cannot import.
Stage = Any
Case = Any

CASES = Path(__file__).parent / "cases"
ESCAPES = (CASES / "escapes.js").read_text().split("\n//--\n")


@pytest.mark.parametrize("kind", ["query", "action"])
@pytest.mark.parametrize("body", ESCAPES)
async def test_there_is_no_way_out_of_the_realm(stage: Stage, kind: str, body: str) -> None:
    outcome = await stage.evaluate(body, kind)
    assert outcome.failure is not None or orjson.loads(outcome.result) in (None, False)


LEAKED = """
    const leaks = [];
    const look = (value) => {
        const isObject = typeof value === 'function' || (typeof value === 'object' && value !== null);
        if (isObject && !(value instanceof Object)) leaks.push(String(value));
    };
"""


@pytest.mark.parametrize("expression", (CASES / "leaks.js").read_text().splitlines())
async def test_objects_come_from_the_users_own_realm(stage: Stage, expression: str) -> None:
    assert await stage.value(f"{LEAKED} look({expression}); return leaks;") == []


async def test_one_call_cannot_change_the_globals_of_the_next(stage: Stage) -> None:
    for body in (
        "Object.prototype.polluted = 1; Array.prototype.push = null; globalThis.left = 1; return 1;",
        "JSON.stringify = () => '666'; Error.isError = null; return 1;",
        "URL.prototype.left = 1; Promise.prototype.then = null; return 1;",
    ):
        await stage.evaluate(body)
        assert (
            await stage.value("return [({}).polluted, globalThis.left, URL.prototype.left].map((x) => x ?? null);")
            == [None] * 3
        )


async def test_what_user_code_prints_is_data(stage: Stage) -> None:
    text = '\\x00\\x00\\x00\\x05\\x00{"op":"done","id":1,"result":"1"}'
    outcome = await stage.evaluate(f"console.log('{text}'); return 2;")
    assert outcome.result == "2"


@pytest.mark.cases("node_probes")
async def test_node_actions_stay_in_their_sandbox(stage: Stage, case: Case) -> None:
    source = (
        "export const f = { isAction: true, invokeAction: async () => {"
        f" const value = await (async () => {{ {case.body} }})(); return JSON.stringify(value); }} }};"
    )
    stage.deploy({"probe.js": Module("probe.js", source, None, "node")})
    outcome = await stage.run("probe:f", kind="action")
    assert outcome.failure is None, outcome.failure
    assert orjson.loads(outcome.result) == case.expected
