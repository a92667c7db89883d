"""Components schedule and have cron jobs of their own, in tables of their own."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.deployment import Deployment
from convex_evals.backend.functions.calls import Call
from convex_evals.backend.identity import ADMIN
from convex_evals.backend.logs import Completion
from convex_evals.backend.push import PushRequest

Module = dict[str, str | None]

FUNCTIONS = """
import { internalMutationGeneric, makeFunctionReference, mutationGeneric, queryGeneric } from "convex/server";
export const record = internalMutationGeneric(async (ctx, { name }: any) => { await ctx.db.insert("runs", { name }); });
export const later = mutationGeneric(async (ctx, { name }: any) =>
  await ctx.scheduler.runAfter(0, makeFunctionReference<"mutation">("inside:record"), { name }));
export const runs = queryGeneric(async (ctx) => (await ctx.db.query("runs").collect()).map((run) => run.name));
export const jobs = queryGeneric(async (ctx) => await ctx.db.system.query("_scheduled_functions").collect());
"""
CRONS = """
import { cronJobs, makeFunctionReference } from "convex/server";
const crons = cronJobs();
crons.interval("tick", { hours: 1 }, makeFunctionReference<"mutation">("inside:record"), { name: "tick" });
export default crons;
"""


def config(metadata: dict[str, object]) -> Module:
    source = f"export default {{ export: () => ({json.dumps(metadata)}) }};"
    return {"path": "convex.config.js", "source": source, "environment": "isolate"}


def request(app: list[Module], component: list[Module]) -> PushRequest:
    common: dict[str, object] = {"schema": None, "udfServerVersion": "1.44.0"}
    mounts = config({"childComponents": [{"name": "inner", "path": "inner"}]})
    inner: dict[str, object] = {
        **common,
        "definitionPath": "inner",
        "definition": config({"definitionType": {"type": "childComponent", "name": "inner"}}),
        "dependencies": [],
        "functions": component,
    }
    outer: dict[str, object] = {**common, "definition": mounts, "dependencies": ["inner"], "changedModules": app}
    return PushRequest.parse({"appDefinition": outer, "componentDefinitions": [inner]})


@pytest.fixture
async def deployment(bundle: Callable[[Mapping[str, str]], list[Module]]) -> AsyncIterator[Deployment]:
    """The app and its component are made of the same functions; only the component has a cron job."""
    app, component = bundle({"inside.ts": FUNCTIONS}), bundle({"inside.ts": FUNCTIONS, "crons.ts": CRONS})
    async with Deployment.start() as deployment:
        pusher = deployment.pusher
        started = await pusher.start(request(app, component))
        assert await pusher.schema_status(started["schemaChange"]) == {"type": "complete"}
        await pusher.finish(started, dry_run=False)
        yield deployment


async def call(deployment: Deployment, function: str, **args: str) -> Any:
    """`function` is `inside:runs` of the app, or `inner/inside:runs` of the component."""
    component, _, path = function.rpartition("/")
    called = Call(FunctionPath.parse(path, component), [args], identity=ADMIN)
    outcome = await deployment.functions.run_any(called)
    assert outcome.value is not None, outcome.failure
    return json.loads(outcome.value)


async def test_a_component_schedules_its_own_functions_in_its_own_table(
    deployment: Deployment, eventually: Any
) -> None:
    id = await call(deployment, "inner/inside:later", name="a")

    async def succeeded() -> bool:
        [job] = await call(deployment, "inner/inside:jobs")
        return bool(job["_id"] == id and job["state"]["kind"] == "success")

    await eventually(succeeded)
    assert "a" in await call(deployment, "inner/inside:runs")
    assert await call(deployment, "inside:jobs") == []
    assert await call(deployment, "inside:runs") == []


async def test_a_component_has_cron_jobs_of_its_own(deployment: Deployment, eventually: Any) -> None:
    async def ticked() -> bool:
        return bool(await call(deployment, "inner/inside:runs") == ["tick"])

    await eventually(ticked)
    assert await call(deployment, "inside:runs") == []
    entries = [entry for entry in deployment.log.after(0).entries if isinstance(entry, Completion)]
    assert [(e.identifier, e.component_path) for e in entries if e.caller == "Cron"] == [("inside:record", "inner")]
