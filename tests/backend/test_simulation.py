"""Deployments are emptied in one request, with their components."""

import asyncio
from typing import Any

import pytest
from tests.backend.push.conftest import Push

from convex_evals.backend.deployment import Deployment, DeploymentSettings
from convex_evals.pipeline.grading.kit.contents import Tables, clean
from convex_evals.pipeline.grading.kit.transport import Clock, Transport


def transport_to(deployment: Deployment) -> Transport:
    return Transport("project", deployment.url, deployment.site_url, deployment.admin_key, Clock())


async def push_with_component(deployment: Deployment) -> list[str | None]:
    """The ids of the components, the app's first."""
    child = {"name": "counter", "path": "counter", "args": [], "state": "active"}
    request = Push().defines(childComponents=[child]).component("counter", Push()).request()
    await deployment.pusher.finish(await deployment.pusher.start(request), dry_run=False)
    assert deployment.application is not None
    return [None, *(each.id for path, each in deployment.application.instances.items() if path)]


def fill_and_clean(transport: Transport, components: list[str | None]) -> list[Any]:
    """The documents of each component, before and after."""

    def documents() -> list[int]:
        args = [{"table": "rows", "limit": 10, "componentId": component} for component in components]
        return [len(transport.system("query", "frontend/listTableScan", each)) for each in args]

    for component in components:
        for number in range(3):
            added = {"table": "rows", "documents": [{"number": number}], "componentId": component}
            transport.system("mutation", "frontend/addDocument", added)
    before = documents()
    clean(transport)
    return [before, documents(), Tables(transport).names()]


@pytest.mark.parametrize("simulation", [True, False], ids=["at once", "step by step"])
async def test_every_component_is_emptied(simulation: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convex_evals.backend.simulation.AT_ONCE", 2)
    async with Deployment.run(DeploymentSettings(simulation=simulation)) as deployment:
        components = await push_with_component(deployment)
        before, after, tables = await asyncio.to_thread(fill_and_clean, transport_to(deployment), components)
    assert (before, after, tables) == ([3, 3], [0, 0], ["rows"])
