"""`convex run --inline-query`: the real CLI sends a query that is not deployed."""

from typing import Any

Project = Any


async def test_an_inline_query_reads_what_a_deployed_one_would(project: Project) -> None:
    project.write(
        {
            "convex/notes.ts": """
            import { mutationGeneric as mutation } from "convex/server";
            export const add = mutation(async (ctx) => { await ctx.db.insert("notes", { text: "hi" }); });
            """
        }
    )
    assert (await project.push()).exit_code == 0
    await project.deployment.mutation("notes:add")
    answer = await project.convex("run", "--inline-query", "(await ctx.db.query('notes').collect()).map((n) => n.text)")
    assert (answer.exit_code, answer.stdout.split()) == (0, ["[", '"hi"', "]"]), answer.output
    failed = await project.convex("run", "--inline-query", "throw new Error('boom');")
    assert failed.exit_code == 1
    assert "Uncaught Error: boom" in failed.output
