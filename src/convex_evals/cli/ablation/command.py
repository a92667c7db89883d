"""Carries out `ablate`: plan or resume, run, compare, print, exit code."""

import sys
from collections.abc import Sequence
from typing import TextIO

from convex_evals.cli.ablation.findings import METHOD, Finding, Findings, findings_json
from convex_evals.cli.ablation.plans import AblatedRun, find_ablation, plan_ablation, plan_rest_of, runs_of
from convex_evals.cli.main import INTERRUPTED
from convex_evals.cli.output import count, table, table_lines, write_json
from convex_evals.cli.runs.command import open_scores, print_plans
from convex_evals.cli.runs.options import RunOptions
from convex_evals.cli.runs.plans import Prepared
from convex_evals.cli.runs.session import Session, carry_out_plans
from convex_evals.cli.runs.spending import cost_text
from convex_evals.cli.runs.summaries import planned_text
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.ids import prefix
from convex_evals.core.settings import read_settings
from convex_evals.scores import ScoresStore


def perform(asked: RunOptions, sections: Sequence[str], resume: str | None) -> int:
    """Does what was asked for and returns the exit code."""
    settings = read_settings()
    with open_scores(asked) as store:
        old = find_ablation(store, resume) if resume is not None else ()

        def plan() -> Prepared:
            if old:
                return plan_rest_of(old, store, settings)
            return plan_ablation(asked, sections, store, settings)

        if asked.dry_run:
            print_plans(plan(), asked, store)
            return 0
        held = [each.run.id for each in old]
        session = carry_out_plans(plan, held, asked, settings, store)
        runs = runs_of(store, old[0].ablation if old else _first(session).ablation)
        _report(runs, asked, store)
        return _exit_code(session, runs)


def _report(runs: Sequence[AblatedRun], asked: RunOptions, store: ScoresStore) -> None:
    found = Findings.of(runs, store)
    _print(found, sys.stderr if asked.json == "-" else sys.stdout)
    if asked.json is not None:
        write_json(findings_json(found), asked.json)


def _print(found: Findings, out: TextIO) -> None:
    rows = table(["left out", "tokens", "pass rate", "change", "95% interval", "p", "evals", "cost", "run"])
    for each in found.findings:
        rows.add_row(*_cells(each), style="bold" if each.is_certain else "")
    first = found.whole.ablated
    head = [f"ablation {prefix(first.ablation)}", first.run.model, first.run.experiment]
    print(" · ".join([*head, planned_text(first.run) + " each"]), file=out)
    for line in table_lines(rows):
        print(line, file=out)
    print(f"\n{METHOD}\nTokens: ~ is 4 characters each; without it, what the provider counted per prompt.", file=out)
    unfinished = sum(
        each.ablated.run.counts.remaining or each.ablated.run.counts.infrastructure for each in found.findings
    )
    if unfinished:
        again = f"`convex-evals ablate --resume {prefix(first.ablation)}` takes them up"
        print(f"{count(unfinished, 'answer')} without verdict; {again}.", file=out)


def _cells(each: Finding) -> tuple[str, ...]:
    tokens = f"~{each.ablated.tokens:,}" if each.measured is None else f"{each.measured:,.0f}"
    change = each.change
    return (
        each.left_out,
        "" if each.ablated.kind == "all" else tokens,
        "" if each.rate is None else f"{each.rate:.0%}",
        "" if change is None else _points(change.difference),
        "" if change is None else f"{_points(change.interval.low)} to {_points(change.interval.high)}",
        "" if each.p is None else f"{each.p:.2g}",
        "" if change is None else str(change.evals),
        cost_text(each.spending),
        prefix(each.ablated.run.id),
    )


def _points(share: float) -> str:
    return f"{share:+.0%}" if round(share * 100) else "0%"


def _first(session: Session) -> AblatedRun:
    found = AblatedRun.of(session.runs[0])
    assert found is not None, "every run of an ablation says so"
    return found


def _exit_code(session: Session, runs: Sequence[AblatedRun]) -> int:
    if not session.complete:
        return INTERRUPTED
    without = any(each.run.counts.infrastructure or each.run.counts.remaining for each in runs)
    return InfrastructureError.exit_code if without else 0
