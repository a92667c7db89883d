"""The same rules run by ESLint itself, or a suite's own configuration."""

import json
from pathlib import Path
from typing import Any, Final

from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.processes import ProcessResult
from convex_evals.pipeline.confinement import linked_packages
from convex_evals.pipeline.lint.findings import LintAccident, found_at
from convex_evals.pipeline.lint.rules import rules_for
from convex_evals.pipeline.step import RunningStep, output_of
from convex_evals.pipeline.typecheck.checked import Area
from convex_evals.suite import Eval

SUITE_CONFIGS: Final = {"convex": "eslint.config.mjs", "src": "src.eslint.config.mjs"}
_CONFIG: Final = """\
import tseslint from "typescript-eslint";
import hooks from "eslint-plugin-react-hooks";
export default [
  { ignores: ["**/_generated/**"] },
  {
    files: ["**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}"],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: %(folder)s, ecmaFeatures: { jsx: true } },
    },
    plugins: { "@typescript-eslint": tseslint.plugin, "react-hooks": hooks },
    linterOptions: { reportUnusedDisableDirectives: "off" },
    rules: %(rules)s,
  },
];
"""


def suite_config(eval: Eval, area: Area) -> Path | None:
    """What a suite brings beside its `evals/` folder, or in it."""
    suite = eval.path.parents[1]
    places = (suite.parent / SUITE_CONFIGS[area.name], suite / SUITE_CONFIGS[area.name])
    return next((path for path in places if path.is_file()), None)


async def run_eslint(step: RunningStep, folder: Path, area: Area, config: Path | None) -> list[Diagnostic]:
    """The findings in one area of the checked copy, by `config` or by our own rules. Raises LintAccident."""
    chosen = config or _write_config(step, folder, area)
    command = step.tools.toolchain.node_command("eslint")
    options = ["--no-config-lookup", "--config", str(chosen), "--format=json", "--no-error-on-unmatched-pattern"]
    options += ["--no-warn-ignored", "--no-inline-config", "--ignore-pattern", "**/_generated/**"]
    toolchain = step.tools.toolchain.packages.folder
    result = await step.run(
        [*command, *options, f"./{area.folder}"],
        cwd=folder,
        read=(folder, toolchain, *_around(chosen), *linked_packages(folder, step.tools)),
    )
    return [
        _finding(message, Path(report["filePath"]), folder)
        for report in _reports(step, result)
        for message in report["messages"]
        if message["severity"] == 2
    ]


def _around(config: Path) -> list[Path]:
    """A configuration with the files and packages beside it, but not the folders: those may hold reference answers."""
    return [path for path in config.parent.iterdir() if path.is_file() or path.name == "node_modules"]


def _write_config(step: RunningStep, folder: Path, area: Area) -> Path:
    """Beside a link to the toolchain, which its imports need."""
    place = step.workspace.configuration
    link = place / "node_modules"
    if not link.is_symlink():
        link.symlink_to(step.tools.toolchain.packages.node_modules, target_is_directory=True)
    config = place / f"{area.name}.config.mjs"
    config.write_text(_CONFIG % {"folder": json.dumps(str(folder)), "rules": json.dumps(rules_for(area.name))})
    return config


def _reports(step: RunningStep, result: ProcessResult) -> list[dict[str, Any]]:
    accident = step.accident(result)
    if accident is None and result.exit_code in {0, 1}:
        try:
            return list(json.loads(output_of(result.output)))
        except (ValueError, TypeError, RecursionError):
            pass  # said below: it is not a report
    raise LintAccident(accident or "tool-crashed", result)


def _finding(message: dict[str, Any], path: Path, folder: Path) -> Diagnostic:
    shown = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
    rule = message.get("ruleId") or "syntax"
    return found_at("eslint", shown, message.get("line"), message.get("column"), rule, message.get("message") or "")
