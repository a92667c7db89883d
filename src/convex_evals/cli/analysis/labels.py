"""What people add: labels and actions."""

import getpass
import subprocess
from datetime import date
from pathlib import Path

import typer

from convex_evals.analysis import run_reference
from convex_evals.analysis.evidence import Action
from convex_evals.analysis.labels import add_label
from convex_evals.analysis.report import Label, find_report, record_action, report_folder
from convex_evals.cli.runs.lookup import existing_scores, find_attempt
from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.verdicts import FailureClass


def label_failure(
    run: str,
    eval: str,
    trial: int,
    failure_class: FailureClass,
    why: str,
    author: str | None,
    reports: Path,
    scores: str | None,
) -> None:
    if not why.strip():
        raise UsageError("--why must say why, because a label without a reason convinces nobody.")
    with existing_scores(scores) as store:
        record = store.find_run(run_reference(run))
        attempt = find_attempt(store, record, eval, trial).attempt
    if attempt.status != "failed":
        raise UsageError(f"{attempt.eval} is {attempt.status} in run {prefix(record.id)}; only failures have a class.")
    made = Label(
        attempt.eval, failure_class, why.strip(), author or _author(), date.today().isoformat(), record.id, trial
    )
    path = add_label(report_folder(reports, record.provider, record.model), made)
    typer.echo(f"{attempt.eval} of run {prefix(record.id)} is labelled {failure_class} by {made.author}, in {path}.")


def add_action(report: Path, text: str, evals: tuple[str, ...], author: str | None) -> None:
    if not text.strip():
        raise UsageError("An action must say what was changed and where.")
    action = Action(text.strip(), date.today().isoformat(), author or _author(), evals)
    written = record_action(report, action)
    meant = ", ".join(written.actions[-1].evals) or "all of its failures"
    typer.echo(f"Recorded in {find_report(report).markdown}, for {meant}.")


def _author() -> str:
    """As git knows the user, else as the system does."""
    try:
        told = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, timeout=10, check=False)
        if told.stdout.strip():
            return told.stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        pass  # without git there is still the system
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
