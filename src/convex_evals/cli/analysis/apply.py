"""`analyze apply`: a recommended change is shown, made after a yes, tried, and recorded in the report."""

import sys
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import typer

from convex_evals.analysis.changes import TITLES, Change, Edit, find_change, plan_edit
from convex_evals.analysis.evidence import Action
from convex_evals.analysis.report import Report, find_report, open_report, record_action
from convex_evals.cli.author import author_name
from convex_evals.cli.main import INTERRUPTED
from convex_evals.cli.output import print_lines, remark, visible
from convex_evals.cli.runs.lookup import existing_scores
from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.processes import Sandbox
from convex_evals.runner import suite_of
from convex_evals.scores import is_service
from convex_evals.suite import Eval, find_suite, load_suite

REFUSED = 1
UNTRIED = {INTERRUPTED: "it was interrupted", InfrastructureError.exit_code: "there is no verdict on it"}
"""What exit codes of the commands that try a change say, when they say nothing about the change."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a change is taken back, and the exit code for that."""

    reason: str
    code: int = REFUSED

    @classmethod
    def of(cls, code: int, refusal: str) -> "Trouble | None":
        if code in UNTRIED:
            return cls(UNTRIED[code], code)
        return cls(refusal) if code else None


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """`text` stands in for what the recommendation would write. `yes`: do not ask.

    `scores` that are at a service are only read: the eval is one of this machine, and what is tried is recorded here.
    """

    report: Path
    recommendation: str
    text: str = ""
    evals: Path | None = None
    jobs: int | None = None
    sandbox: Sandbox = "required"
    scores: str | None = None
    yes: bool = False
    author: str | None = None


def apply_recommendation(asked: ApplyOptions) -> int:
    """The exit code: 0 when the change is made or was not wanted, 1 when it was refused, else why it was not tried."""
    report = open_report(asked.report).report
    change = find_change(report, asked.recommendation)
    eval = _eval(report, change, asked)
    edit = plan_edit(change, eval, asked.text)
    print(visible(edit.patch()))
    if not _agreed(asked, edit):
        print("Nothing was changed.")
        return 0
    edit.make()
    try:
        trouble = _tried(eval, report, asked)
    except BaseException:
        edit.undo()
        raise
    if trouble is not None:
        edit.undo()
        print_lines([f"The change of {edit.path} was undone: {trouble.reason}."])
        return trouble.code
    _record(change, edit, asked)
    return 0


def _eval(report: Report, change: Change, asked: ApplyOptions) -> Eval:
    root = asked.evals or (find_suite() if _is_remote(asked) else None)
    if root is None:
        with existing_scores(asked.scores) as store:
            root = suite_of(store.find_run(report.run.id))
    found = next((each for each in load_suite(root).evals if each.id == change.eval), None)
    if found is None:
        raise UsageError(f"{root} has no eval {change.eval}; name the suite with --evals.")
    return found


def _agreed(asked: ApplyOptions, edit: Edit) -> bool:
    if asked.yes:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"There is no terminal to confirm the change of {edit.path}; repeat with --yes to make it.")
    return typer.confirm("Make this change, and then validate, check and regrade the eval?")


def _tried(eval: Eval, report: Report, asked: ApplyOptions) -> Trouble | None:
    """What speaks against the change, or kept it from being tried; None when nothing does."""
    from convex_evals.cli.controls import perform as check_controls
    from convex_evals.cli.runs.command import perform
    from convex_evals.cli.runs.options import ControlsOptions, RunOptions

    suite = eval.path.parents[1]
    scores = None if _is_remote(asked) else asked.scores
    common = RunOptions(names=[eval.id], evals=suite, jobs=asked.jobs, scores=scores, sandbox=asked.sandbox)
    validated = perform(replace(common, models=["reference"], purpose="validate"))
    if (trouble := Trouble.of(validated, "the reference answer does not pass with it")) is not None:
        return trouble
    controls = ControlsOptions(names=common.names, evals=suite, jobs=asked.jobs, sandbox=asked.sandbox)
    if (trouble := Trouble.of(check_controls(controls), "its controls are not told apart with it")) is not None:
        return trouble
    if _is_remote(asked):
        remark(f"The answers of run {prefix(report.run.id)} are at {asked.scores}; grade them again where it was made.")
        return None
    remark(f"What the stored answers of run {prefix(report.run.id)} score with it:")
    perform(replace(common, regrade=report.run.id))
    return None


def _is_remote(asked: ApplyOptions) -> bool:
    return asked.scores is not None and is_service(asked.scores)


def _record(change: Change, edit: Edit, asked: ApplyOptions) -> None:
    title, file = TITLES[change.kind], edit.path.name
    text = f"{change.id}: {title}." if file in title else f"{change.id}: {title} ({file})."
    action = Action(text, date.today().isoformat(), asked.author or author_name(), (change.eval,))
    record_action(asked.report, action)
    print_lines([f"Recorded in {find_report(asked.report).markdown}: {text}"])
    if change.kind == "task":
        print_lines(["Stored answers were written for the old task: run the eval again to see what has changed."])
