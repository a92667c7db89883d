"""A suite as people have them elsewhere, made of the bench answers: its own packages, ESLint configuration, shared
helpers and vitest graders."""

import json
import shutil
from pathlib import Path
from typing import Final

from convex_evals.core.toolchain import Toolchain

ESLINT_CONFIG: Final = "eslint.config.mjs"
GRADER: Final = "grader.test.ts"
_PACKAGES: Final = ("convex", "eslint", "typescript", "typescript-eslint", "vitest")
_ESLINT: Final = """\
import tseslint from "typescript-eslint";
export default [
  { ignores: ["**/_generated/**"] },
  {
    files: ["**/*.ts", "**/*.tsx"],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: process.cwd() },
    },
    plugins: { "@typescript-eslint": tseslint.plugin },
    rules: {
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/no-unsafe-return": "error",
      "@typescript-eslint/no-unused-vars": "error",
    },
  },
];
"""
_HELPERS: Final = """\
import { ConvexHttpClient } from "convex/browser";

export const client = new ConvexHttpClient(`http://127.0.0.1:${process.env.CONVEX_PORT}`);
"""
_OWN_CLIENT: Final = "const client = new ConvexHttpClient(`http://127.0.0.1:${process.env.CONVEX_PORT}`);\n"
_OWN_IMPORT: Final = 'import { ConvexHttpClient } from "convex/browser";\n'
_SHARED_IMPORT: Final = 'import { client } from "../../../grader";\n'


def write_foreign_suite(bench: Path, root: Path, toolchain: Toolchain) -> Path:
    """From the folder of the bench suite; returns the folder of its categories. Its packages are the toolchain's."""
    evals = root / "evals"
    shutil.copytree(bench, evals)
    for test in sorted(evals.rglob("baseline.test.ts")):
        (test.parent / "grader.py").unlink()
        text = test.read_text().replace(_OWN_IMPORT, _SHARED_IMPORT).replace(_OWN_CLIENT, "")
        test.rename(test.with_name(GRADER)).write_text(text)
    (root / "grader").mkdir()
    (root / "grader/index.ts").write_text(_HELPERS)
    (root / ESLINT_CONFIG).write_text(_ESLINT)
    (root / "package.json").write_text(json.dumps({"private": True, "type": "module"}))
    (root / "node_modules").mkdir()
    for name in _PACKAGES:
        (root / "node_modules" / name).symlink_to(toolchain.packages.package(name), target_is_directory=True)
    return evals
