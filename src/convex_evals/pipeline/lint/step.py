"""Lints every area of the checked copy."""

import asyncio

from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.steps import StepResult
from convex_evals.pipeline.lint.linters import (
    LintAccident,
    excerpt_of,
    in_order,
    line_of,
    run_eslint,
    run_oxlint,
    suite_config,
)
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.trial import blame, ending_of
from convex_evals.pipeline.typecheck import Area, CheckedCopy, make_checked_copy
from convex_evals.pipeline.types import Linter
from convex_evals.suite import Eval


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
    findings = in_order(finding for finding in found if finding.name not in eval.lint_off)
    for rule in eval.lint_off:
        step.note(f"{rule} does not count in this eval")
    for finding in findings:
        step.say(line_of(finding))
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
