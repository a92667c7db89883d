"""What people add to reports, labels and actions, and how well an engine agrees with their labels."""

import asyncio
import sys
from datetime import UTC, date, datetime
from pathlib import Path

from convex_evals.analysis import run_reference
from convex_evals.analysis.classification import Analyst, Engine, EngineChoice, choose_engine, compared_engines
from convex_evals.analysis.evidence import Action
from convex_evals.analysis.report import find_report, record_action
from convex_evals.analysis.scoring import LabelledCase, Score, read_cases, score_engine, score_json, score_lines
from convex_evals.analysis.surface import read_surface
from convex_evals.cli.analysis.options import scores_of
from convex_evals.cli.author import author_name
from convex_evals.cli.output import print_lines, remark, visible, write_json
from convex_evals.cli.runs.lookup import existing_scores, find_attempt, find_run
from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.toolchain import prepare_toolchain
from convex_evals.core.verdicts import FailureClass
from convex_evals.scores import LabelRecord, RemoteScores


def label_failure(
    run: str, eval: str, trial: int, failure_class: FailureClass, why: str, author: str | None, scores: str | None
) -> None:
    if not why.strip():
        raise UsageError("--why must say why, because a label without a reason convinces nobody.")
    with existing_scores(scores_of(run, scores)) as store:
        record = find_run(store, run_reference(run))
        attempt = find_attempt(store, record, eval, trial).attempt
        if attempt.status != "failed":
            raise UsageError(f"{attempt.eval} has not failed in run {prefix(record.id)}; only failures have a class.")
        who = author or author_name()
        made = LabelRecord(record.id, attempt.eval, trial, failure_class, why.strip(), who, datetime.now(UTC))
        store.labels.add(made)
    by = "" if isinstance(store, RemoteScores) else f" by {who}"  # a service says who, by the token
    print_lines([f"{made.eval} of run {prefix(record.id)} is labelled {failure_class}{by}, in {store.location}."])


def add_action(report: Path, text: str, evals: tuple[str, ...], author: str | None) -> None:
    if not text.strip():
        raise UsageError("An action must say what was changed and where.")
    action = Action(text.strip(), date.today().isoformat(), author or author_name(), evals)
    written = record_action(report, action)
    meant = ", ".join(written.actions[-1].evals) or "all of its failures"
    print_lines([f"Recorded in {find_report(report).markdown}, for {meant}."])


def score_labels(labels: Path, choice: EngineChoice, analyst: Analyst, json: str | None) -> None:
    settings = read_settings()
    cases = read_cases(labels)
    score, *others = asyncio.run(_score(cases, compared_engines(choose_engine(choice, settings, analyst)), settings))
    out = sys.stderr if json == "-" else sys.stdout
    print_lines(map(visible, score_lines(score, others)), out)
    if json is not None:
        write_json(score_json(score, others), json)


async def _score(cases: tuple[LabelledCase, ...], engines: tuple[Engine, ...], settings: Settings) -> list[Score]:
    toolchain = await prepare_toolchain(settings, remark)
    surface = await read_surface(toolchain.packages.package("convex"), toolchain, settings)
    return [await score_engine(cases, engine, surface) for engine in engines]
