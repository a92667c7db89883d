"""typescript-eslint's rules, run by oxlint and tsgolint."""

import json
from pathlib import Path
from typing import Any

from convex_evals.core.processes import ProcessResult
from convex_evals.pipeline.lint.findings import Finding, LintAccident
from convex_evals.pipeline.lint.rules import eslint_name, oxlint_config
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.typecheck.checked import SOURCES, SUBMITTED, Area


async def run_oxlint(step: RunningStep, folder: Path, area: Area) -> list[Finding]:
    """The findings in one area of the checked copy. Raises LintAccident."""
    config = step.workspace.root / f"oxlint-{area.name}.json"
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
            area.folder,
        ],
        cwd=folder,
        environment={"OXLINT_TSGOLINT_PATH": str(toolchain.binary("tsgolint"))},
    )
    report = _report(step, result)
    expected = _sources(folder / area.folder)
    if report["number_of_files"] < expected:
        raise LintAccident("tool-crashed", f"oxlint looked at {report['number_of_files']} of {expected} files.")
    return [_finding(diagnostic) for diagnostic in report["diagnostics"] if diagnostic["severity"] == "error"]


def _report(step: RunningStep, result: ProcessResult) -> dict[str, Any]:
    accident = step.accident(result)
    try:
        report = json.loads(result.output.read())
        if accident is None and isinstance(report["diagnostics"], list) and isinstance(report["number_of_files"], int):
            return dict(report)
    except (ValueError, KeyError, TypeError):
        pass  # said below: it is not a report
    raise LintAccident(accident or "tool-crashed", f"oxlint was {result.ending}: {result.output.text[:1000]}")


def _sources(folder: Path) -> int:
    return sum(path.suffix in SOURCES and "_generated" not in path.parts for path in folder.rglob("*"))


def _finding(diagnostic: dict[str, Any]) -> Finding:
    labels = diagnostic.get("labels") or [{}]
    span = labels[0].get("span") or {}
    return Finding(
        (diagnostic.get("filename") or "").replace(SUBMITTED, "tsconfig.json"),
        span.get("line") or 0,
        span.get("column") or 0,
        eslint_name(diagnostic.get("code") or ""),
        diagnostic.get("message") or "",
    )
