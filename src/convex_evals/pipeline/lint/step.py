"""Lints every area of the checked copy.

By oxlint with tsgolint, or by ESLint itself for those who choose it or bring their own configuration.
"""

import asyncio
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from convex_evals.core.diagnostics import Diagnostic, Place, finding
from convex_evals.core.processes import ProcessResult
from convex_evals.core.steps import StepResult
from convex_evals.core.toolchain import Toolchain
from convex_evals.pipeline.lint.rules import eslint_name, oxlint_config, rules_for
from convex_evals.pipeline.step import RunningStep, blame, ending_of, output_of
from convex_evals.pipeline.tools import linked_packages
from convex_evals.pipeline.typecheck import SOURCES, Area, CheckedCopy, make_checked_copy
from convex_evals.pipeline.types import Linter
from convex_evals.pipeline.warm import OXLINT, EslintJob, OxlintJob, find_binding
from convex_evals.suite import Eval

_QUOTED: Final = 15
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
      parserOptions: { projectService: true, tsconfigRootDir: process.cwd(), ecmaFeatures: { jsx: true } },
    },
    plugins: { "@typescript-eslint": tseslint.plugin, "react-hooks": hooks },
    linterOptions: { reportUnusedDisableDirectives: "off" },
    rules: %s,
  },
];
"""


class LintAccident(Exception):
    """A linter did not do its work. `kind` is a key of the table of failures."""

    def __init__(self, kind: str, result: ProcessResult) -> None:
        self.kind, self.result = kind, result


def found_at(tool: str, file: str, line: int | None, column: int | None, rule: str, message: str) -> Diagnostic:
    """Linters count from 1; 0 is a finding about the file as a whole."""
    return finding(tool, rule, message, Place(file, line or 0, column or 0))


def in_order(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    return sorted(findings, key=lambda each: (each.file, each.line, each.column, each.name, each.message))


def line_of(each: Diagnostic) -> str:
    return f"{each.file}:{each.line}:{each.column} {each.name}: {each.message.partition(chr(10))[0]}"


def excerpt_of(findings: list[Diagnostic]) -> str:
    lines = [line_of(each) for each in findings[:_QUOTED]]
    if len(findings) > _QUOTED:
        lines.append(f"… and {len(findings) - _QUOTED} more")
    return "\n".join(lines)


async def run_oxlint(step: RunningStep, folder: Path, area: Area) -> list[Diagnostic]:
    """The findings in one area of the checked copy. Raises LintAccident.

    oxlint leaves files out whose names look as if they were minified: then ESLint looks at all of them.
    """
    expected = _sources(folder / area.folder)
    report = await _warm_oxlint(step, folder, area)
    if report is None or report["number_of_files"] < expected:
        report = await _cold_oxlint(step, folder, area)
    if report["number_of_files"] < expected:
        step.say(f"oxlint looked at {report['number_of_files']} of {expected} files, so ESLint looks at them.")
        return await run_eslint(step, folder, area, None)
    return [_oxlint_finding(diagnostic) for diagnostic in report["diagnostics"] if diagnostic["severity"] == "error"]


def _oxlint_options(area: Area) -> tuple[str, ...]:
    return (
        "--type-aware",
        "--disable-nested-config",
        "--format=json",
        "--ignore-pattern=**/_generated/**",
        "--no-error-on-unmatched-pattern",
        "--threads=1",
        f"./{area.folder}",
    )


async def _warm_oxlint(step: RunningStep, folder: Path, area: Area) -> dict[str, Any] | None:
    """None: a cold oxlint has to do it, for whatever reason."""
    toolchain = step.tools.toolchain
    binding = find_binding(toolchain)
    if binding is None:
        return None
    job = OxlintJob(
        node=toolchain.node.executable,
        binding=binding,
        tsgolint=toolchain.binary("tsgolint"),
        config=json.dumps(oxlint_config(area.name)),
        read=linked_packages(folder, step.tools),
        folder=folder,
        options=_oxlint_options(area),
    )
    linted = await step.tools.oxlint.do(job)
    if isinstance(linted, str):
        step.say(linted)
        return None
    step.record_request(("oxlint", *job.options), linted.wall_ms, linted.cpu_ms, linted.report)
    return _report_in(linted.report)


async def _cold_oxlint(step: RunningStep, folder: Path, area: Area) -> dict[str, Any]:
    config = step.workspace.configuration / f"oxlint-{area.name}.json"
    config.write_text(json.dumps(oxlint_config(area.name), indent=1))
    toolchain = step.tools.toolchain
    result = await step.run(
        [*_oxlint_command(toolchain), f"--config={config}", *_oxlint_options(area)],
        cwd=folder,
        read=(folder, toolchain.packages.folder, config, OXLINT, *linked_packages(folder, step.tools)),
        environment={"OXLINT_TSGOLINT_PATH": str(toolchain.binary("tsgolint"))},
    )
    accident, report = step.accident(result), _report_in(output_of(result.output))
    if accident is not None or report is None:
        raise LintAccident(accident or "tool-crashed", result)
    return report


def _oxlint_command(toolchain: Toolchain) -> list[str]:
    """Its native part, started by a script of ours; its own command where that is not found as expected."""
    binding = find_binding(toolchain)
    if binding is None:
        return toolchain.node_command("oxlint")
    return [str(toolchain.node.executable), str(OXLINT), str(binding)]


def _report_in(text: str) -> dict[str, Any] | None:
    try:
        report = json.loads(text)
        if isinstance(report["diagnostics"], list) and isinstance(report["number_of_files"], int):
            return dict(report)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass  # it is not a report
    return None


def _sources(folder: Path) -> int:
    found = (path for path in folder.rglob("*") if path.suffix in SOURCES and "_generated" not in path.parts)
    return sum(path.is_file() for path in found)


def _oxlint_finding(diagnostic: dict[str, Any]) -> Diagnostic:
    labels = diagnostic.get("labels") or [{}]
    span = labels[0].get("span") or {}
    return found_at(
        "oxlint",
        diagnostic.get("filename") or "",
        span.get("line"),
        span.get("column"),
        eslint_name(diagnostic.get("code") or ""),
        diagnostic.get("message") or "",
    )


def suite_config(eval: Eval, area: Area) -> Path | None:
    """What a suite brings beside its `evals/` folder, or in it."""
    suite = eval.path.parents[1]
    places = (suite.parent / SUITE_CONFIGS[area.name], suite / SUITE_CONFIGS[area.name])
    return next((path for path in places if path.is_file()), None)


async def run_eslint(step: RunningStep, folder: Path, area: Area, config: Path | None) -> list[Diagnostic]:
    """The findings in one area of the checked copy, by `config` or by our own rules. Raises LintAccident."""
    chosen = config or _own_config(step, area)
    packages = (step.tools.toolchain.packages.folder, *_around(chosen), *linked_packages(folder, step.tools))
    reports = await _warm_reports(step, folder, area, chosen, packages)
    if reports is None:
        reports = await _cold_reports(step, folder, area, chosen, packages)
    return [
        _eslint_finding(message, Path(report["filePath"]), folder)
        for report in reports
        for message in report["messages"]
        if message["severity"] == 2
    ]


def _around(config: Path) -> list[Path]:
    """A configuration with the files and packages beside it, but not the folders: those may hold reference answers."""
    return sorted(path for path in config.parent.iterdir() if path.is_file() or path.name == "node_modules")


def _own_config(step: RunningStep, area: Area) -> Path:
    """Beside a link to the toolchain, which its imports need, in a folder without other files."""
    place = step.tools.eslint.folder if step.tools.eslint.is_open else step.workspace.configuration / "eslint"
    config = place / f"{area.name}.config.mjs"
    if not config.exists():
        place.mkdir(exist_ok=True)
        link = place / "node_modules"
        if not link.is_symlink():
            link.symlink_to(step.tools.toolchain.packages.node_modules, target_is_directory=True)
        config.write_text(_CONFIG % json.dumps(rules_for(area.name)))
    return config


async def _warm_reports(
    step: RunningStep, folder: Path, area: Area, config: Path, packages: Sequence[Path]
) -> list[dict[str, Any]] | None:
    """None: a cold ESLint has to do it, for whatever reason."""
    toolchain = step.tools.toolchain
    job = EslintJob(
        node=toolchain.node.executable,
        script=toolchain.node_script("eslint"),
        config=config,
        read=tuple(packages),
        folder=folder,
        pattern=f"./{area.folder}",
    )
    linted = await step.tools.eslint.do(job)
    if isinstance(linted, str):
        step.say(linted)
        return None
    command = ("eslint", "--config", str(config), job.pattern)
    step.record_request(command, linted.wall_ms, linted.cpu_ms, json.dumps(linted.reports))
    return linted.reports


async def _cold_reports(
    step: RunningStep, folder: Path, area: Area, config: Path, packages: Sequence[Path]
) -> list[dict[str, Any]]:
    options = ["--no-config-lookup", "--config", str(config), "--format=json", "--no-error-on-unmatched-pattern"]
    options += ["--no-warn-ignored", "--no-inline-config", "--ignore-pattern", "**/_generated/**"]
    command = [*step.tools.toolchain.node_command("eslint"), *options, f"./{area.folder}"]
    result = await step.run(command, cwd=folder, read=(folder, *packages))
    accident = step.accident(result)
    if accident is None and result.exit_code in {0, 1}:
        try:
            return list(json.loads(output_of(result.output)))
        except (ValueError, TypeError, RecursionError):
            pass  # it is not a report: raised below
    raise LintAccident(accident or "tool-crashed", result)


def _eslint_finding(message: dict[str, Any], path: Path, folder: Path) -> Diagnostic:
    shown = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
    rule = message.get("ruleId") or "syntax"
    return found_at("eslint", shown, message.get("line"), message.get("column"), rule, message.get("message") or "")


async def lint(step: RunningStep, eval: Eval, checked: CheckedCopy, linter: Linter) -> StepResult:
    for note in checked.ignored:
        step.note(note)
    try:
        found = await _lint_areas(step, eval, checked, linter)
    except LintAccident as accident:
        kind = await blame(
            step,
            accident.kind,
            accident.result,
            f"{linter} {eval.path.parents[1]}",
            lambda trial: _works(trial, eval, linter),
        )
        return step.failed(kind, ending_of(kind, linter, accident.result))
    findings = in_order(each for each in found if each.name not in eval.lint_off)
    for rule in eval.lint_off:
        step.note(f"{rule} does not count in this eval")
    for each in findings:
        step.say(line_of(each))
    if not findings:
        return step.passed()
    return step.failed("lint-findings", excerpt_of(findings), list(dict.fromkeys(findings)))


async def _lint_areas(step: RunningStep, eval: Eval, checked: CheckedCopy, linter: Linter) -> list[Diagnostic]:
    """All of them have come to an end when it raises LintAccident: what still ran would write to the step's log."""
    areas = (_lint_area(step, eval, checked, area, linter) for area in checked.areas)
    found: list[Diagnostic] = []
    for ended in await asyncio.gather(*areas, return_exceptions=True):
        if isinstance(ended, BaseException):
            raise ended
        found += ended
    return found


async def _lint_area(
    step: RunningStep, eval: Eval, checked: CheckedCopy, area: Area, linter: Linter
) -> list[Diagnostic]:
    config = suite_config(eval, area)
    if config is not None:
        step.note(f"{area.folder} is linted by ESLint with the suite's {config.name}")
    if config is not None or linter == "eslint":
        return await run_eslint(step, checked.folder, area, config)
    return await run_oxlint(step, checked.folder, area)


async def _works(trial: RunningStep, eval: Eval, linter: Linter) -> bool:
    checked = make_checked_copy(trial.workspace.project, trial.workspace.checked)
    try:
        return not await _lint_area(trial, eval, checked, checked.areas[0], linter)
    except LintAccident:
        return False
