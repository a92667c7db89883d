"""Generated code says what components offer, and TypeScript agrees with those who use it."""

from typing import Any

import pytest

MISUSE = """
import { components } from "./_generated/api";
import { mutation } from "./_generated/server";
export const misuse = mutation({
  args: {},
  handler: async (ctx): Promise<number> => await ctx.runMutation(components.counter.public.increase, { by: 5 }),
});
"""


@pytest.mark.exhaustive
async def test_dev_checks_calls_against_the_types_of_components(open_project: Any) -> None:
    async with open_project("tiny") as project:
        answer = await project.push(typecheck="enable")
        assert answer.is_push, answer.output
        project.write({"misuse.ts": MISUSE})
        checked = await project.check_types()
        assert "misuse.ts" in checked.output
        assert "Type 'number' is not assignable" in checked.output


async def test_types_of_components_are_written_from_their_definitions(open_project: Any) -> None:
    async with open_project("local", {"PLAN": "free"}) as project:
        await _generate(project)
        generated = project.folder / "convex/notebook/_generated"
        api = "".join((generated / "component.ts").read_text().split())
        assert 'add:FunctionReference<"mutation","internal",{text:string},string,Name>' in api
        assert 'addAndFail:FunctionReference<"mutation","internal",{data?:any;text:string},any,Name>' in api
        assert "addLater" not in api
        server = (generated / "server.ts").read_text()
        for line in ("readonly OWNER: string;", 'readonly PLAN: "free" | "paid";', "readonly KEY: string | undefined;"):
            assert line in server
        errors = [line for line in (await project.check_types()).output.splitlines() if "error" in line]
        # The CLI writes the path of a nested component of the same project as if it were mounted by the app.
        assert [error.partition("(")[0] for error in errors] == ["convex/outer/_generated/api.ts"]
        assert project.deployment.application is None


@pytest.mark.exhaustive
async def test_types_that_are_written_out_in_full_know_nested_components_too(open_project: Any) -> None:
    async with open_project("local", {"PLAN": "free"}) as project:
        (project.folder / "convex.json").write_text('{ "codegen": { "legacyComponentApi": true, "staticApi": true } }')
        await _generate(project)
        checked = await project.check_types()
        assert checked.exit_code == 0, checked.output


@pytest.mark.exhaustive
async def test_a_component_gets_its_types_without_an_app_that_mounts_it(open_project: Any) -> None:
    async with open_project("tiny") as project:
        component = project.folder / "component"
        (project.folder / "convex/counter").rename(component)
        await _generate(project, "--component-dir", "./component")
        assert "increase: FunctionReference" in (component / "_generated/component.ts").read_text()


async def _generate(project: Any, *options: str) -> None:
    answer = await project.convex("codegen", "--typecheck", "disable", *options)
    assert answer.exit_code == 0, answer.output
