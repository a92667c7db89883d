"""The ordinary way: bun install, the CLI for project and answer, tsc 5.9, the ESLint command, a vitest process.

And a suite as people have them elsewhere, made of the bench answers, to grade in both ways.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.backend import Deployment
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.processes import base_environment, run
from convex_evals.core.toolchain import Toolchain
from convex_evals.core.verdicts import StepName
from convex_evals.pipeline.lint import rules_for
from convex_evals.pipeline.tools import Tools
from convex_evals.suite import Eval

ESLINT_CONFIG: Final = "eslint.config.mjs"
GRADER: Final = "grader.test.ts"
_PACKAGES: Final = ("convex", "eslint", "typescript", "typescript-eslint", "vitest")
_SUITE_ESLINT: Final = """\
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
SECONDS = 120.0
ESLINT = """\
import tseslint from "typescript-eslint";
export default [
  { ignores: ["**/_generated/**"] },
  {
    files: ["convex/**/*.ts"],
    languageOptions: { parser: tseslint.parser, parserOptions: { projectService: true, tsconfigRootDir: %s } },
    plugins: { "@typescript-eslint": tseslint.plugin },
    rules: %s,
  },
];
"""


def write_foreign_suite(bench: Path, root: Path, toolchain: Toolchain) -> Path:
    """From the folder of the bench suite, with an ESLint configuration, shared helpers and vitest graders of its own;
    returns the folder of its categories. Its packages are the toolchain's."""
    evals = root / "evals"
    shutil.copytree(bench, evals)
    for test in sorted(evals.rglob("baseline.test.ts")):
        (test.parent / "grader.py").unlink()
        text = test.read_text().replace(_OWN_IMPORT, _SHARED_IMPORT).replace(_OWN_CLIENT, "")
        test.rename(test.with_name(GRADER)).write_text(text)
    (root / "grader").mkdir()
    (root / "grader/index.ts").write_text(_HELPERS)
    (root / ESLINT_CONFIG).write_text(_SUITE_ESLINT)
    (root / "package.json").write_text(json.dumps({"private": True, "type": "module"}))
    (root / "node_modules").mkdir()
    for name in _PACKAGES:
        (root / "node_modules" / name).symlink_to(toolchain.packages.package(name), target_is_directory=True)
    return evals


@dataclass(frozen=True, slots=True)
class Cost:
    wall_ms: float = 0.0
    cpu_ms: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.wall_ms + other.wall_ms, self.cpu_ms + other.cpu_ms)

    def to_json(self) -> dict[str, float]:
        return {"wallMs": round(self.wall_ms, 1), "cpuMs": round(self.cpu_ms, 1)}


@dataclass(frozen=True, slots=True)
class Baseline:
    """One eval graded the ordinary way. Deployments run in this process and are not counted. `root` is the folder of
    a suite with an ESLint configuration and vitest graders of its own; otherwise those are ours."""

    eval: Eval
    tools: Tools
    workspace: Path
    root: Path | None = None

    async def measure(self) -> dict[StepName, Cost]:
        async with Deployment.start() as project, Deployment.start() as answer:
            return {
                "install": await self._install(),
                "deploy": await self._deploy("project", project) + await self._deploy("answer", answer),
                "tsc": await self._type_check(),
                "eslint": await self._lint(),
                "tests": await self._test(project),
            }

    def _folder(self, name: str) -> Path:
        return self.workspace / name

    async def _install(self) -> Cost:
        for name in ("project", "answer"):
            shutil.copytree(self.eval.answer, self._folder(name))
        bun = str(self.tools.toolchain.binary("bun"))
        command = [bun, "install", "--ignore-scripts", "--no-progress"]
        network = self.tools.settings.network_environment()
        costs = [await self._run(command, self._folder(name), network) for name in ("project", "answer")]
        return sum(costs, Cost())

    async def _deploy(self, name: str, deployment: Deployment) -> Cost:
        folder = self._folder(name)
        cli = [str(self.tools.toolchain.node.executable), str(folder / "node_modules/convex/bin/main.js")]
        target = {"CONVEX_SELF_HOSTED_URL": deployment.url, "CONVEX_SELF_HOSTED_ADMIN_KEY": deployment.admin_key}
        generated = await self._run([*cli, "codegen", "--typecheck", "disable"], folder, target)
        options = ["dev", "--once", "--typecheck", "disable", "--tail-logs", "disable"]
        return generated + await self._run([*cli, *options], folder, target)

    async def _type_check(self) -> Cost:
        compiler = self.tools.toolchain.node_command("typescript", "tsc")
        return await self._run([*compiler, "--noEmit", "--project", "convex"], self._folder("project"))

    async def _lint(self) -> Cost:
        config = self.root / ESLINT_CONFIG if self.root else self._own_config()
        command = self.tools.toolchain.node_command("eslint")
        return await self._run([*command, "--config", str(config), "convex"], self._folder("project"))

    def _own_config(self) -> Path:
        place = self._folder("eslint")
        place.mkdir()
        (place / "node_modules").symlink_to(self.tools.toolchain.packages.node_modules)
        rules = {rule: level for rule, level in rules_for("convex").items() if not rule.startswith("react-hooks/")}
        config = place / ESLINT_CONFIG
        config.write_text(ESLINT % (json.dumps(str(self._folder("project"))), json.dumps(rules)))
        return config

    async def _test(self, deployment: Deployment) -> Cost:
        place = self.root or self._own_tests()
        tests = [str((self.eval.path / GRADER).relative_to(self.root))] if self.root else []
        command = self.tools.toolchain.node_command("vitest")
        port = {"CONVEX_PORT": deployment.url.rpartition(":")[2]}
        return await self._run([*command, "run", *tests, "--root", str(place)], place, port)

    def _own_tests(self) -> Path:
        place = self._folder("tests")
        (place / "node_modules").mkdir(parents=True)
        shutil.copy(self.eval.path / "baseline.test.ts", place)
        for package in ("vitest", "convex"):
            (place / "node_modules" / package).symlink_to(self.tools.toolchain.packages.package(package))
        return place

    async def _run(self, command: Sequence[str], cwd: Path, extra: dict[str, str] | None = None) -> Cost:
        home = self.workspace.parent / "home"  # kept from one eval to the next: bun's own cache lives there
        home.mkdir(exist_ok=True)
        environment = base_environment(home, {"CI": "1", **(extra or {})})
        result = await run(command, cwd=cwd, timeout=SECONDS, environment=environment)
        if not result.ok:
            raise InfrastructureError(f"The baseline's {Path(command[0]).name} failed: {result.output.text[-2000:]}")
        return Cost(result.usage.wall * 1000, result.usage.cpu * 1000)
