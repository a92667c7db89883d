"""What people add to reports, labels and actions, and how well an engine agrees with their labels."""

import asyncio
import getpass
import sys
from datetime import date
from pathlib import Path

import typer

from convex_evals.analysis import run_reference
from convex_evals.analysis.classification import Analyst, Engine, EngineChoice, choose_engine
from convex_evals.analysis.evidence import Action
from convex_evals.analysis.labels import add_label
from convex_evals.analysis.report import Label, find_report, record_action, report_folder
from convex_evals.analysis.scoring import LabelledCase, Score, read_cases, score_engine, score_json, score_lines
from convex_evals.analysis.surface import read_surface
from convex_evals.cli.output import remark, visible, write_json
from convex_evals.cli.runs.lookup import existing_scores, find_attempt
from convex_evals.core.errors import ProcessError, UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.processes import base_environment, run
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.toolchain import prepare_toolchain
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
    told = asyncio.run(_git_user_name(read_settings()))
    if told:
        return told
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


async def _git_user_name(settings: Settings) -> str:
    """Empty when git is not there, or does not know."""
    environment = base_environment(settings.home, path=settings.search_path)
    question = ("git", "config", "user.name")
    try:
        told = await run(question, cwd=Path.cwd(), timeout=10, environment=environment, separate_errors=True)
    except ProcessError:
        return ""
    return told.output.text.strip() if told.ok else ""


def score_labels(labels: Path, choice: EngineChoice, analyst: Analyst, json: str | None) -> None:
    settings = read_settings()
    cases = read_cases(labels)
    score = asyncio.run(_score(cases, choose_engine(choice, settings, analyst), settings))
    out = sys.stderr if json == "-" else sys.stdout
    for line in score_lines(score):
        print(visible(line), file=out)
    if json is not None:
        write_json(score_json(score), json)


async def _score(cases: tuple[LabelledCase, ...], engine: Engine, settings: Settings) -> Score:
    toolchain = await prepare_toolchain(settings, remark)
    surface = await read_surface(toolchain.packages.package("convex"), toolchain, settings)
    return await score_engine(cases, engine, surface)
