"""Packages that convex.json declares external, and the tsconfig.json that graders find."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.pipeline.grade import grade
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.types import Assignment, GradingOptions
from convex_evals.suite import Eval

# `debug` requires `ms` in turn, which the project does not declare.
ACTIONS = """"use node";
import debug from "debug";
import { action } from "./_generated/server";

export const enable = action({
  args: {},
  handler: async () => {
    debug.enable("app:*");
    return debug.enabled("app:x");
  },
});

export const importUndeclared = action({
  args: {},
  handler: async () => {
    try {
      await import(["m", "s"].join(""));
      return "found";
    } catch (error) {
      return (error as { code: string }).code;
    }
  },
});
"""
PROJECT = {
    "package.json": json.dumps({"private": True, "dependencies": {"convex": "1.44.0", "debug": "4.4.3"}}),
    "convex.json": json.dumps({"node": {"externalPackages": ["debug"]}}),
    "convex/names.ts": ACTIONS,
}
GRADER = """
def test_the_package_works(project, answer):
    assert project.action("names:enable") is True
    assert answer.action("names:enable") is True

def test_only_declared_packages_are_found(project):
    assert project.action("names:importUndeclared") == "ERR_MODULE_NOT_FOUND"

def test_the_folder_of_functions_has_a_tsconfig(files):
    assert files.json("convex/tsconfig.json")["compilerOptions"]["moduleResolution"] == "Bundler"
"""


@pytest.mark.asyncio(loop_scope="session")
async def test_node_actions_import_external_packages_and_graders_see_a_tsconfig(
    shared_tools: Tools, write_eval: Callable[..., Eval], tmp_path: Path
) -> None:
    eval = write_eval(PROJECT, grader=GRADER)
    result = await grade(Assignment(eval, PROJECT, GradingOptions(), tmp_path), shared_tools)
    steps = {step.name: step for step in result.steps}
    assert steps["tests"].status == "passed", steps["tests"].excerpt
    assert any("convex/tsconfig.json is missing" in note for note in steps["tsc"].notes)
