"""Instances that come, go, and come back."""

from typing import Any

import pytest

CONFIG = """
import { defineApp } from "convex/server";
import counter from "./counter/convex.config";
const app = defineApp();
%s
export default app;
"""
ONE = CONFIG % "app.use(counter);"
NONE = CONFIG % ""
RENAMED = CONFIG % 'app.use(counter, { name: "renamed" });'


async def _push(project: Any, config: str) -> str:
    project.write({"convex.config.ts": config})
    answer = await project.push()
    assert answer.is_push, answer.output
    return str(answer.output)


@pytest.mark.exhaustive
async def test_an_instance_that_comes_back_has_its_data_and_its_handles(open_project: Any) -> None:
    async with open_project("tiny") as project:
        assert "Installed component counter." in await _push(project, ONE)
        assert await project.run("main:increase") == 1
        handle = await project.run("main:handle")

        assert "Unmounted component counter." in await _push(project, NONE)
        assert 'Child component "counter" not found' in await project.failure("main:increase")
        assert "Function handle not found" in await project.failure("main:callHandle", handle=handle)
        assert "Could not find function" in await project.failure("public:value", "counter")

        # Nobody is asked about an unmounted component again.
        assert "component" not in await _push(project, NONE)
        table = {"table": "counts", "componentId": project.deployment.application.instances["counter"].id}
        rows = await project.query_system("frontend/listTableScan", limit=10.0, **table)
        assert [row["value"] for row in rows] == [1]
        written = await project.deployment.mutation(
            "_system/frontend/addDocument", {"documents": [{"value": 7.0}], **table}
        )
        assert (
            "Cannot perform write operations in an unmounted component. "
            "Make sure your component is installed in your `convex.config.ts` file."
        ) in written.failure.message

        assert "Remounted component counter." in await _push(project, ONE)
        assert await project.run("main:callHandle", handle=handle) == 2


@pytest.mark.exhaustive
async def test_a_new_name_is_a_new_instance(open_project: Any) -> None:
    async with open_project("tiny") as project:
        await _push(project, ONE)
        await project.run("main:increase")
        output = await _push(project, RENAMED)
        assert "Unmounted component counter." in output
        assert "Installed component renamed." in output
        assert await project.run("public:value", "renamed") == 0


async def test_components_survive_a_restart(open_project: Any) -> None:
    async with open_project("tiny") as project:
        await _push(project, ONE)
        assert await project.run("main:increase") == 1
    async with open_project(project.folder) as restarted:
        assert await restarted.run("main:increase") == 2
