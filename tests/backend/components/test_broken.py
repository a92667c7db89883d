"""Projects with mistakes in their components, and what the CLI says. All refusals of bindings: `push/test_tree.py`."""

from typing import Any

import pytest

COUNTER = "counter/convex.config.ts"
DEFINE = 'import { defineComponent } from "convex/server";\nimport { v } from "convex/values";\n'
SCHEMA = """
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
export default defineSchema({ counts: %s });
"""


@pytest.mark.parametrize(
    ("files", "messages"),
    [
        pytest.param(
            {"counter/public.ts": 'throw new Error("no luck");\nexport {};'},
            ["Failed to analyze public.js: Uncaught Error: no luck", "../convex/counter/public.ts:1"],
            id="module throws",
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            {COUNTER: DEFINE + 'throw new Error("no luck");\nexport default defineComponent("counter");'},
            ["Uncaught Error: no luck"],
            id="config throws",
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            {COUNTER: DEFINE + 'export default { name: "counter" };'},
            [
                "The default export of `convex.config.ts` in component `counter` has an invalid value (missing "
                "`export` property on the default export of `convex.config.ts`). Please make sure that you’re "
                "exporting the return value of `defineComponent()`"
            ],
            id="config exports something else",
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            {COUNTER: DEFINE + 'if (process.env.MODE) throw 1;\nexport default defineComponent("counter");'},
            ["Environment variables are only supported in the app's convex.config.ts."],
            id="config reads the environment",
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            {COUNTER: DEFINE + 'export default defineComponent("counter", { env: { MODE: v.string() } });'},
            ["Component counter is missing required env var MODE"],
            id="required variable is not bound",
        ),
        pytest.param(
            {"counter/schema.ts": SCHEMA % 'defineTable({ value: v.number() }).index("by_size", ["size"])'},
            [
                'In table "counts" the index "by_size" is invalid because it references the field "size" that does not '
                "exist."
            ],
            id="index of an unknown field",
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            {"counter/schema.ts": 'throw new Error("no luck");\nexport default {};'},
            ["Hit an error while evaluating your schema:", "Uncaught Error: no luck", "../convex/counter/schema.ts:1"],
            id="schema throws",
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            {
                COUNTER: DEFINE
                + 'import other from "../other/convex.config";\nconst counter = defineComponent("counter");\n'
                + "counter.use(other);\nexport default counter;",
                "other/convex.config.ts": DEFINE
                + 'import counter from "../counter/convex.config";\nconst other = defineComponent("other");\n'
                + "other.use(counter);\nexport default other;",
            },
            ["CyclicImport", "Found cyclic definition dependency"],
            id="definitions in a circle",
            marks=pytest.mark.exhaustive,
        ),
    ],
)
async def test_a_mistake_is_named_and_nothing_is_deployed(
    open_project: Any, files: dict[str, str], messages: list[str]
) -> None:
    async with open_project("tiny") as project:
        project.write(files)
        answer = await project.push()
        assert answer.exit_code == 1
        for message in messages:
            assert message in answer.output
        assert project.deployment.application is None


async def test_documents_of_a_component_that_do_not_fit_refuse_its_schema(open_project: Any) -> None:
    async with open_project("tiny") as project:
        assert (await project.push()).is_push
        await project.run("main:increase")
        project.write({"counter/schema.ts": SCHEMA % "defineTable({ value: v.string() })"})
        answer = await project.push()
        assert answer.exit_code == 1
        assert 'Schema validation failed in component "counter".' in answer.output
        assert "Document with ID" in answer.output
        assert await project.run("main:increase") == 2
