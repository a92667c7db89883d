"""typescript-eslint's rules, run by oxlint and tsgolint."""

import json
from pathlib import Path
from typing import Any

from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.processes import ProcessResult
from convex_evals.pipeline.confinement import linked_packages
from convex_evals.pipeline.lint.findings import LintAccident, found_at
from convex_evals.pipeline.lint.rules import eslint_name, oxlint_config
from convex_evals.pipeline.step import RunningStep, output_of
from convex_evals.pipeline.typecheck.checked import SOURCES, Area


async def run_oxlint(step: RunningStep, folder: Path, area: Area) -> list[Diagnostic]:
    """The findings in one area of the checked copy. Raises LintAccident."""
    config = step.workspace.configuration / f"oxlint-{area.name}.json"
    config.write_text(json.dumps(oxlint_config(area.name), indent=1))
    toolchain = step.tools.toolchain
    result = await step.run(
        [
            *toolchain.node_command("oxlint"),
            "--type-aware",
            "--disable-nested-config",
            f"--config={config}",
            "--format=json",
            "--ignore-pattern=**/_generated/**",
            "--no-error-on-unmatched-pattern",
            f"./{area.folder}",
        ],
        cwd=folder,
        read=(folder, toolchain.packages.folder, config, *linked_packages(folder, step.tools)),
        environment={"OXLINT_TSGOLINT_PATH": str(toolchain.binary("tsgolint"))},
    )
    report = _report(step, result)
    expected = _sources(folder / area.folder)
    if report["number_of_files"] < expected:
        raise LintAccident("tool-crashed", result, f"oxlint looked at {report['number_of_files']} of {expected} files.")
    return [_finding(diagnostic) for diagnostic in report["diagnostics"] if diagnostic["severity"] == "error"]


def _report(step: RunningStep, result: ProcessResult) -> dict[str, Any]:
    accident = step.accident(result)
    try:
        report = json.loads(output_of(result.output))
        if accident is None and isinstance(report["diagnostics"], list) and isinstance(report["number_of_files"], int):
            return dict(report)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass  # said below: it is not a report
    raise LintAccident(accident or "tool-crashed", result)


def _sources(folder: Path) -> int:
    found = (path for path in folder.rglob("*") if path.suffix in SOURCES and "_generated" not in path.parts)
    return sum(path.is_file() for path in found)


def _finding(diagnostic: dict[str, Any]) -> Diagnostic:
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
