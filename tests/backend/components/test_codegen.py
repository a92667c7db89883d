"""Generated code says what components offer, and TypeScript agrees with those who use it."""

from typing import Any

MISUSE = """
import { components } from "./_generated/api";
import { mutation } from "./_generated/server";
export const misuse = mutation({
  args: {},
  handler: async (ctx): Promise<number> => await ctx.runMutation(components.counter.public.increase, { by: 5 }),
});
"""


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
        answer = await project.convex("codegen", "--typecheck", "disable")
        assert answer.exit_code == 0, answer.output
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
