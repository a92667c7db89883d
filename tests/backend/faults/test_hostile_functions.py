"""Functions that loop, hoard, print, throw and return nonsense, or damage the language: their call ends as documented,
and the next one finds nothing of it."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import product
from typing import Any

import pytest
from tests.examples import examples, exhaustively

from convex_evals.backend.deployment import Deployment
from convex_evals.backend.functions.calls import CallOutcome

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEALTHY = '{"caught":"Error: x","copied":{"list":[2.0,3.0]},"polluted":[]}'
OUT_OF_MEMORY = "JavaScript execution ran out of memory (maximum memory usage: 64 MB)\n"
NO_BUFFER = "Uncaught RangeError: Array buffer allocation failed\n"
TIMED_OUT = "Function execution timed out (maximum duration: 1s)\n"
NOT_JSON = "failed. Could not parse return value as json: "
OVERFLOW = "[ERROR] Log overflow (maximum 256). Remaining log lines omitted."

ENDLESS = ["loop", *exhaustively("spinInPromises", "backtrack", "catchLoop", "throwLoopingMessage")]
HOARDING = ["hoard", "hoardBuffers"]

FAILURES = {
    "recurse": "Uncaught RangeError: Maximum call stack size exceeded\n",
    "throwNull": "Uncaught null\n",
    "throwUndefined": "Uncaught undefined\n",
    "throwSymbol": "Uncaught Symbol(sign)\n",
    "throwFrozen": "Uncaught Error: frozen\n    at ",
    "throwRevoked": "Uncaught TypeError: Cannot perform 'has' on a proxy that has been revoked\n",
    "throwTrapped": "Uncaught Error: trapped\n",
    "throwGetters": "Uncaught ",
    "throwOddMessage": "Uncaught Error",
    "throwOddName": "Uncaught 7: odd\n    at ",
    "throwOddStack": "Uncaught Error: odd\n",
    "throwTrappedMessage": "Uncaught Error",
    "throwLong": "Uncaught Error: xxx",
    "throwOddData": "Uncaught Error: trapped\n",
    "rejectNull": "Uncaught null\n",
    "rejectUnheard": "Uncaught Error: unheard\n    at ",
    "returnToJson": "Uncaught TypeError: ",
    "returnGetter": "Uncaught Error: trapped\n",
    "returnTrapped": "Uncaught Error: trapped\n",
    "returnCycle": "Uncaught RangeError: Maximum call stack size exceeded\n",
    "returnSurrogate": NOT_JSON,
    "stringifyNumber": NOT_JSON,
    "stringifyNonsense": NOT_JSON,
    "deleteJson": "Uncaught ReferenceError: JSON is not defined\n",
    "deleteEverything": "Uncaught ",
    "breakErrors": "",
}
SUCCESSES = {
    "returnThenable": '"thenable"',
    "deletePromise": "true",
    "deleteConvex": "true",
    "pollute": '"polluted"',
    "breakThen": '"broken"',
    "breakReflect": '"broken"',
}
NODE_ONLY = {"breakArrays": "process.exit() called with exit code "}  # Node itself does not survive it

Run = Callable[[Deployment, str], Awaitable[CallOutcome]]


async def as_query(deployment: Deployment, name: str) -> CallOutcome:
    return await deployment.query("hostile:asQuery", {"name": name})


async def as_mutation(deployment: Deployment, name: str) -> CallOutcome:
    return await deployment.mutation("hostile:asMutation", {"name": name})


async def as_action(deployment: Deployment, name: str) -> CallOutcome:
    return await deployment.action("hostile:asAction", {"name": name})


async def as_node_action(deployment: Deployment, name: str) -> CallOutcome:
    return await deployment.action("hostileNode:asNode", {"name": name})


KINDS: list[Any] = [as_query, as_mutation, as_action, as_node_action]
# A mutation runs where a query does: that one is stopped like the other is shown by one example, or exhaustively.
QUERIES_FIRST = [as_query, *exhaustively(as_mutation)]
HOARDERS = [(as_query, "hoard"), (as_action, "hoard"), (as_node_action, "hoard")]


async def require_health(deployment: Deployment) -> None:
    for path in ("hostile:healthy", "hostile:healthyMutation", "hostile:healthyAction", "hostileNode:healthy"):
        outcome = await deployment.functions.run_any(_call(path))
        assert outcome.value == HEALTHY, outcome


def _call(path: str) -> Any:
    from convex_evals.backend.functions.calls import Call
    from convex_evals.backend.functions.targets import parse_path
    from convex_evals.backend.identity import ADMIN

    return Call(parse_path(path), [{}], identity=ADMIN)


@pytest.mark.parametrize("run", examples(KINDS, {as_mutation, as_node_action}))
async def test_unusual_endings_are_distinguished_and_do_no_harm(shared: Deployment, run: Run) -> None:
    expected = FAILURES | (NODE_ONLY if run is as_node_action else {})
    for name, text in expected.items():
        outcome = await run(shared, name)
        assert outcome.failure is not None, name
        assert text in outcome.failure.message, (name, outcome.failure.message)
        assert len(outcome.failure.message.encode()) <= 65_536
        await require_health(shared)


@pytest.mark.parametrize("run", KINDS)
async def test_damage_to_the_language_ends_with_the_call(shared: Deployment, run: Run) -> None:
    for name, value in SUCCESSES.items():
        assert (await run(shared, name)).value == value, name
        await require_health(shared)


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("run", QUERIES_FIRST)
async def test_a_function_that_never_ends_is_stopped(shared: Deployment, run: Run, name: str) -> None:
    outcome = await run(shared, name)
    assert outcome.failure is not None
    assert outcome.failure.message == TIMED_OUT
    await require_health(shared)


async def test_a_promise_that_never_settles_is_noticed(shared: Deployment) -> None:
    for run in (as_query, as_mutation):
        outcome = await run(shared, "returnNever")
        assert outcome.failure is not None
        assert outcome.failure.message == "Returned promise will never resolve\n"


@pytest.mark.parametrize(("run", "name"), examples(product(KINDS, HOARDING), HOARDERS))
async def test_a_function_that_hoards_memory_runs_out_of_it(shared: Deployment, run: Run, name: str) -> None:
    outcome = await run(shared, name)
    assert outcome.failure is not None
    assert outcome.failure.message.startswith((OUT_OF_MEMORY, NO_BUFFER, TIMED_OUT))
    await require_health(shared)


@pytest.mark.parametrize("run", [as_action, *exhaustively(as_query, as_mutation)])
async def test_a_bomb_of_promises_ends(shared: Deployment, run: Run) -> None:
    outcome = await run(shared, "multiply")
    assert outcome.failure is not None
    assert outcome.failure.message in (TIMED_OUT, OUT_OF_MEMORY)
    await require_health(shared)


@pytest.mark.exhaustive
async def test_a_query_is_not_blamed_for_the_memory_of_another(shared: Deployment) -> None:
    """Whoever shared the worker with one is run again, apart from the next one."""
    bombs = []
    for bomb in range(2):
        bombs.append(asyncio.create_task(shared.query("hostile:asQuery", {"name": "hoard", "bomb": float(bomb)})))
        others = [asyncio.create_task(shared.query("notes:echo", {"value": [bomb, float(n)]})) for n in range(5)]
        await asyncio.sleep(0.3)
        assert all(outcome.succeeded for outcome in await asyncio.gather(*others))
    assert not any(outcome.succeeded for outcome in await asyncio.gather(*bombs))


@pytest.mark.parametrize("run", KINDS)
async def test_ten_thousand_lines_are_cut(shared: Deployment, run: Run) -> None:
    outcome = await run(shared, "print")
    assert outcome.value == '"printed"'
    assert (len(outcome.log_lines), outcome.log_texts[-1]) == (256, OVERFLOW)


@pytest.mark.exhaustive
async def test_nothing_of_a_failed_mutation_remains(shared: Deployment) -> None:
    await shared.mutation("notes:clear")
    for name in ("throwNull", "deleteJson", "returnCycle", "loop", "hoard"):
        assert not (await as_mutation(shared, name)).succeeded
    assert (await shared.query("notes:list")).value == "[]"
