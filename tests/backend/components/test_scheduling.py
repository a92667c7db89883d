"""Scheduled functions and cron jobs of components."""

from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")


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
