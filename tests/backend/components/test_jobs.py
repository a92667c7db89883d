"""Scheduled functions and cron jobs of components."""

import time
from typing import Any

import pytest

from convex_evals.backend.database import Database

pytestmark = pytest.mark.asyncio(loop_scope="module")

LATER = """
import { api } from "./_generated/api";
import { mutation } from "./_generated/server";
export const later = mutation(async (ctx) => await ctx.scheduler.runAfter(3_600_000, api.public.increase, {}));
"""
EVERY_SECOND = """
import { cronJobs } from "convex/server";
import { api } from "./_generated/api";
const crons = cronJobs();
crons.interval("increase", { seconds: 1 }, api.public.increase);
export default crons;
"""


async def test_the_app_schedules_a_function_of_a_component(local: Any) -> None:
    await local.run("calls:schedule", path=["second", "public", "add"], args={"text": "from the app"})

    async def added() -> bool:
        return "from the app" in await local.run("public:list", "second")

    await local.until(added)


async def test_a_scheduled_function_is_listed_where_it_was_scheduled(local: Any) -> None:
    await local.run("calls:lend", text="listed", later=True)

    async def done() -> Any:
        jobs = await local.run("ticks:jobs", "second")
        return jobs and all(state == "success" for _, state in jobs) and jobs

    assert ["notes.js:add", "success"] in await local.until(done)
    assert "notes.js:add" not in [name for name, _ in await local.run("calls:jobs")]


@pytest.mark.parametrize("instance", ["notebook", "second", "outer/inner"])
async def test_every_instance_has_cron_jobs_of_its_own(local: Any, instance: str) -> None:
    async def ticked() -> bool:
        return bool(await local.run("ticks:count", instance) >= 2)

    await local.until(ticked)


async def test_cron_jobs_are_listed_per_component(local: Any) -> None:
    for instance, expected in {"": [], "second": ["tick"], "outer": [], "outer/inner": ["tick"]}.items():
        id = local.deployment.application.instances[instance].id or None
        jobs = await local.query_system("frontend/listCronJobs", componentId=id)
        assert [job["name"] for job in jobs] == expected


async def test_what_an_unmounted_component_had_planned_does_not_run(open_project: Any) -> None:
    async with open_project("tiny") as project:
        project.write({"counter/jobs.ts": LATER, "counter/crons.ts": EVERY_SECOND})
        assert (await project.push()).is_push
        await project.run("jobs:later", "counter")
        project.write({"convex.config.ts": 'import { defineApp } from "convex/server";\nexport default defineApp();'})
        answer = await project.push()
        assert "Unmounted component counter." in answer.output
        id = project.deployment.application.instances["counter"].id
        assert await project.query_system("frontend/listCronJobs", componentId=id) == []

        _make_due(project.deployment.database, id)

        async def over() -> Any:
            rows = project.deployment.database.begin().system.scan(id, "_scheduled_jobs")
            states = [row.value["state"] for row in rows]
            return all(state["type"] not in ("pending", "inProgress") for state in states) and states

        (state,) = await project.until(over)
        assert state["error"].strip() == "Could not find public function for 'public:increase' in 'counter'."


def _make_due(database: Database, namespace: str) -> None:
    transaction = database.begin()
    for row in list(transaction.system.scan(namespace, "_scheduled_jobs")):
        transaction.system.patch(namespace, "_scheduled_jobs", row.id, {"nextTs": time.time_ns()})
    database.commit(transaction)
