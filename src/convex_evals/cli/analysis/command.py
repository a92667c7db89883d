"""`analyze RUN` from beginning to end: investigate with progress, write the report, say what it says."""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TextIO

from convex_evals.analysis import Request, analyse, run_reference
from convex_evals.analysis.classification import Analyst, EngineChoice, choose_engine
from convex_evals.analysis.investigation import Investigated
from convex_evals.analysis.procedure import failed_details
from convex_evals.analysis.recommendations import summary_of
from convex_evals.analysis.report import FailureReport, Report, report_json
from convex_evals.cli.output import count, remark, visible, write_json
from convex_evals.cli.runs.lookup import existing_scores
from convex_evals.cli.runs.session import check_sandbox, cores
from convex_evals.core.ids import prefix
from convex_evals.core.processes import Sandbox
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.wording import shortened
from convex_evals.scores import ScoresStore

QUESTION = (
    "These are my findings. Would you like me to implement any of these recommendations, or would you like to discuss "
    "specific failures in more detail?"
)


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """What the user wants analysed, and how."""

    run: str
    engine: EngineChoice
    jobs: int
    probe_seconds: float
    evals: Path | None
    reports: Path
    scores: str | None
    analyst: Analyst | None = None
    sandbox: Sandbox = "required"

    async def check_sandbox(self) -> None:
        """Only probes run anything of an answer. Raises SandboxError."""
        if self.probe_seconds:
            await check_sandbox(self.sandbox)

    def request(self, store: ScoresStore, settings: Settings) -> Request:
        return Request(
            store.find_run(run_reference(self.run)),
            choose_engine(self.engine, settings, self.analyst),
            self.reports.absolute(),
            date.today(),
            self.jobs,
            min(self.jobs, cores()),
            self.probe_seconds,
            self.evals,
            self.sandbox,
        )


def perform(asked: AnalysisOptions, json: str | None) -> None:
    settings = read_settings()
    with existing_scores(asked.scores) as store:
        request = asked.request(store, settings)
        total = len(failed_details(store, request.run))
        if total:
            asyncio.run(asked.check_sandbox())
        _announce(request, total)
        report = asyncio.run(analyse(store, settings, request, Progress(total)))
    out = sys.stderr if json == "-" else sys.stdout
    _print(report, request, out)
    if json is not None:
        write_json(report_json(report), json)


class Progress:
    """A line per failure on standard error, as each is done."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0

    def __call__(self, found: Investigated) -> None:
        self._done += 1
        failure = found.report
        remark(f"{self._done}/{self._total}  {failure.failure_class:<14}  {failure.eval}  {failure.found}")


def _announce(request: Request, total: int) -> None:
    run = request.run
    probes = f"at most {request.probe_seconds:g} s of probes each" if request.probe_seconds else "without new probes"
    if total:
        how = f"classified by {request.engine.name}, {probes}"
        remark(f"{count(total, 'failure')} of run {prefix(run.id)} ({run.model}), {how}")


def _print(report: Report, request: Request, out: TextIO) -> None:
    for line in _lines(report):
        print(visible(line), file=out)
    print(f"The report is {_shown(request.paths.markdown)} (and .json).", file=out)
    if report.failures:
        print(f"\n{QUESTION}", file=out)


def _lines(report: Report) -> Iterator[str]:
    run = report.run
    if run.pass_rate is None:
        yield f"run {prefix(run.id)} · {run.model} · there is no verdict yet"
    else:
        rate = f"{run.pass_rate:.1%}, 95 % {run.low:.1%} to {run.high:.1%}"
        passed = f"{run.passed}/{run.verdicts}{' trials' if run.total > run.evals else ''} passed ({rate})"
        yield f"run {prefix(run.id)} · {run.model} · {run.experiment} · {passed}"
    again = run.repeats
    if again is not None:
        k, flaky = again.trials, count(len(again.flaky), "flaky eval")
        yield f"pass@{k} {again.pass_at:.1%} · pass^{k} {again.pass_all:.1%} · {flaky}"
    if report.infrastructure:
        yield f"{count(len(report.infrastructure), 'result')} without verdict, listed apart and not classified."
    if not report.failures:
        yield "Nothing failed: there is nothing to analyse."
        return
    yield summary_of(report)
    width = max(len(failure.eval) for failure in report.failures)
    yield from (_line(failure, width) for failure in report.failures)
    if report.patterns:
        yield "Patterns:"
        yield from (
            f"  {pattern.title} ({len(pattern.evals)} of {len(report.failures)})" for pattern in report.patterns
        )
    yield report.overall


def _line(failure: FailureReport, width: int) -> str:
    said = (
        f"labelled by {failure.label.author}: {failure.label.why}" if failure.label else failure.classification.summary
    )
    trial = f" #{failure.trial}" if failure.trial > 1 else ""
    where = f"{failure.eval + trial:<{width}}  {failure.failed_step:<7}"
    return f"  {where} {failure.failure_class:<14}  {shortened(said, 110)}"


def _shown(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
