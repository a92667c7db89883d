from convex_evals.backend.conformance.target import embedded_target
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import prepare_toolchain

ACTION = """
"use node";
import { createRequire } from "node:module";
import inspect from "object-inspect";
import { action } from "./_generated/server";

export const shown = action({
  args: {},
  handler: async () => ({ text: inspect({ a: [1, 2] }), require: typeof createRequire }),
});
"""


async def test_a_node_action_uses_an_npm_package_of_its_project() -> None:
    toolchain = await prepare_toolchain(read_settings())
    async with embedded_target(toolchain) as target:
        pushed = await target.push_only({"convex/node.ts": ACTION.lstrip()})
        assert pushed.ok, pushed.output
        assert await target.action("node:shown") == {"text": "{ a: [ 1, 2 ] }", "require": "function"}
