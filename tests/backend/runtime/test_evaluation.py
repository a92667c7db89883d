"""Evaluating pushed modules: what they export, and what they may not do."""

import asyncio
import os
import signal
from typing import Any

import pytest

from convex_evals.backend.deployed import Module
from convex_evals.backend.runtime.evaluation import Evaluation, ImportableDefinition

pytestmark = pytest.mark.asyncio(loop_scope="module")

MISSING = "Couldn't find JavaScript module 'b.js'. Did you forget to run `npx convex dev`?"
TIMED_OUT = "Function execution timed out (maximum duration: 1s)"

# The types of conftest.py, which tests cannot import.
Stage = Any


async def evaluate(stage: Stage, source: str, subject: Any = "functions", env: Any = None, **options: Any) -> Any:
    modules = {"x.js": Module("x.js", source, None, "isolate")}
    options = {"user_seconds": 1.0} | options
    (facts,) = await stage.runtime.evaluate(
        Evaluation(subject, ("x.js",), modules, "isolate", env, b"\1" * 32, 1000, **options)
    )
    return facts


@pytest.mark.parametrize("environment", ["isolate", "node"])
async def test_functions_of_bundles_are_found(stage: Stage, environment: Any) -> None:
    own = {path: module for path, module in stage.modules.items() if module.environment == environment}
    paths = tuple(path for path, module in own.items() if not module.is_dependency)
    results = await stage.runtime.evaluate(Evaluation("functions", paths, own, environment, {}, b"\1" * 32, 1000))
    found = {path: [export["name"] for export in facts["exports"]] for path, facts in zip(paths, results, strict=True)}
    if environment == "node":
        assert sorted(found["nodeact.js"])[:3] == ["callQuery", "count", "environment"]
    else:
        assert found["errors.js"] == ["afterAwait", "direct", "inConstructor", "inDatabase", "inHelper", "stack"]
        assert found["helpers.js"] == []


@pytest.mark.parametrize(
    ("source", "subject", "text"),
    [
        ("throw new Error('x')", "functions", "Uncaught Error: x\n"),
        ("import './b.js'", "functions", MISSING),
        ("import './b.js'", "definition", "Can't import b.js while evaluating app definition"),
        ("for (;;);", "functions", TIMED_OUT),
        ("export const f = { isQuery: true, exportArgs() { for (;;); } };", "functions", TIMED_OUT),
        ("Promise.reject(new Error('late'))", "functions", "Uncaught Error: late\n"),
        ("await new Promise(() => {})", "functions", "Top-level awaits in source files are unsupported"),
        ("Convex.asyncSyscall('1.0/get', '{}')", "functions", "Uncaught Error: Can't use database at import time\n"),
        ("Math.random()", "auth", "Uncaught Error: Math.random unsupported when evaluating a configuration file\n"),
        ("Date.now()", "definition", "Uncaught Error: Date unsupported when evaluating a configuration file\n"),
        ("process.env.X", "schema", "Uncaught Error: Environment variables unsupported when evaluating schema\n"),
    ],
)  # fmt: skip
async def test_a_module_is_refused(stage: Stage, source: str, subject: str, text: str) -> None:
    facts = await evaluate(stage, source, subject)
    assert facts["thrown"]["text"] == text


async def test_lines_written_before_a_failure_are_reported(stage: Stage) -> None:
    facts = await evaluate(stage, "for (let i = 0; i < 150; i++) console.log(i); throw 1;")
    assert facts["thrown"]["logs"][0] == "[LOG] 50"
    assert len(facts["thrown"]["logs"]) == 100


async def test_an_unset_variable_of_an_auth_config_is_named(stage: Stage) -> None:
    facts = await evaluate(stage, "export default { providers: [process.env.DOMAIN] };", "auth", env={"OTHER": "1"})
    assert facts["thrown"]["missingVariable"] == "DOMAIN"


async def test_evaluation_stops_at_the_first_failure(stage: Stage) -> None:
    modules = {path: Module(path, source, None, "isolate") for path, source in [("a.js", "throw 1"), ("b.js", "")]}
    evaluation = Evaluation("functions", ("a.js", "b.js"), modules, "isolate", {}, b"\1" * 32, 1000)
    assert len(await stage.runtime.evaluate(evaluation)) == 1


async def test_definitions_can_be_imported(stage: Stage) -> None:
    definition = ImportableDefinition("../components/counter", "counter", {"name": "counter"})
    source = """
        import counter from "./_componentDeps/Li4vY29tcG9uZW50cy9jb3VudGVy";
        export default { export: () => [counter.componentDefinitionPath, counter.defaultName, counter.export()] };
    """
    facts = await evaluate(stage, source, "definition", env={}, definitions=(definition,))
    assert facts["export"]["text"] == '["../components/counter","counter",{"name":"counter"}]'


async def test_a_module_that_has_no_processor_for_most_of_its_time_is_not_refused(stage: Stage) -> None:
    busy = "let sum = 0; for (let n = 0; n < 2e7; n++) sum += n; export const f = { isQuery: true };"
    await evaluate(stage, "export {};")  # the worker runs
    throttled = asyncio.create_task(throttle(stage.runtime._functions._process.result().pid, share=0.1))
    try:
        facts = await evaluate(stage, busy, user_seconds=0.15)
    finally:
        throttled.cancel()
        await asyncio.wait([throttled])
    assert [export["name"] for export in facts["exports"]] == ["f"]


async def throttle(process: int, share: float) -> None:
    try:
        while True:
            os.kill(process, signal.SIGSTOP)
            await asyncio.sleep(0.01 * (1 - share) / share)
            os.kill(process, signal.SIGCONT)
            await asyncio.sleep(0.01)
    finally:
        os.kill(process, signal.SIGCONT)
