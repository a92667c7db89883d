"""The whole analysis of a run: read, investigate every failure, collate, write the report."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from convex_evals.analysis.changes import recommend_changes
from convex_evals.analysis.classification import Engine, EngineName
from convex_evals.analysis.counterfactuals import read_neighbours
from convex_evals.analysis.health import suite_health
from convex_evals.analysis.investigation import Investigated, Investigator
from convex_evals.analysis.isolation import open_probes
from convex_evals.analysis.labels import labels_of_model
from convex_evals.analysis.patterns import find_patterns
from convex_evals.analysis.prior import PriorReports, read_prior_reports
from convex_evals.analysis.recommendations import overall, recommend
from convex_evals.analysis.report import (
    FailureReport,
    InfrastructureFailure,
    RepeatFacts,
    Report,
    RunFacts,
    keep_report,
    report_folder,
    report_paths,
)
from convex_evals.analysis.report.files import ReportPaths
from convex_evals.core.errors import SuiteError, UsageError
from convex_evals.core.processes import Sandbox
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import find_toolchain
from convex_evals.models import load_registry
from convex_evals.pipeline import GradingOptions
from convex_evals.runner import RunScore, open_workspace, options_from_json, suite_of
from convex_evals.scores import AttemptDetails, RunRecord
from convex_evals.statistics import wilson_interval
from convex_evals.suite import Eval, load_suite

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

OnInvestigated = Callable[[Investigated], None]


@dataclass(frozen=True, slots=True)
class Request:
    """`probe_seconds` is for each failure; 0: nothing new is tried. `evals` stands in for the suite the run knows."""

    run: RunRecord
    engine: Engine
    reports: Path
    today: date
    jobs: int = 4
    workers: int = 2
    probe_seconds: float = 0.0
    evals: Path | None = None
    sandbox: Sandbox = "required"

    @property
    def folder(self) -> Path:
        return report_folder(self.reports, self.run.provider, self.run.model)

    @property
    def paths(self) -> ReportPaths:
        return report_paths(self.reports, self.run.provider, self.run.model, self.run.id, self.today.isoformat())


async def analyse(store: "ScoresStore", settings: Settings, request: Request, on_done: OnInvestigated) -> Report:
    """Investigates every failure and writes the report. Changes nothing else."""
    failed = store.result_details(request.run.id, statuses=("failed",))
    prior = read_prior_reports(request.folder, request.reports, request.run.id)
    async with investigator(store, settings, request, prior, failed) as investigating:
        found = await _investigate_all(investigating, failed, request.jobs, on_done)
    report = _collate(store, request, prior, [each.report for each in found])
    return keep_report(report, request.paths)


@asynccontextmanager
async def investigator(
    store: "ScoresStore", settings: Settings, request: Request, prior: PriorReports, failed: Sequence[AttemptDetails]
) -> AsyncIterator[Investigator]:
    evals = _evals(request)
    async with AsyncExitStack() as stack:
        toolchain = await find_toolchain(settings)
        probes = None
        if toolchain is not None and failed:
            folder = stack.enter_context(open_workspace(settings.output_folder))
            workers = min(request.workers, len(failed))
            opened = open_probes(settings, folder, toolchain.fingerprint, workers)
            probes = await stack.enter_async_context(opened)
        yield Investigator(
            store,
            settings,
            toolchain,
            request.run,
            _options(request),
            evals,
            _changed(store, request.run, evals),
            request.engine,
            prior,
            labels_of_model(store, request.run, request.folder),
            read_neighbours(store, request.run, {each.attempt.eval for each in failed}),
            probes,
            request.probe_seconds,
        )


async def _investigate_all(
    investigating: Investigator, failed: Sequence[AttemptDetails], jobs: int, on_done: OnInvestigated
) -> list[Investigated]:
    """As many at once as there are jobs; in the order of the evals, whichever is done first."""
    free = asyncio.Semaphore(jobs)

    async def one(details: AttemptDetails) -> Investigated:
        async with free:
            found = await investigating.investigate(details)
        on_done(found)
        return found

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(details)) for details in failed]
    return [task.result() for task in tasks]


def _collate(store: "ScoresStore", request: Request, prior: PriorReports, failures: Sequence[FailureReport]) -> Report:
    verdicts = [each for each in store.results(request.run.id) if each.status in ("passed", "failed")]
    categories = Counter(each.eval.partition("/")[0] for each in verdicts)
    return Report(
        run=_facts(request.run, RunScore.of(request.run, store.results(request.run.id))),
        date=request.today.isoformat(),
        engine=_engine_name(request.engine, failures),
        prior=prior.listed(),
        failures=tuple(failures),
        infrastructure=tuple(
            _infrastructure(each) for each in store.result_details(request.run.id, statuses=("infrastructure",))
        ),
        patterns=find_patterns(failures, categories),
        recommendations=recommend(failures),
        overall=overall(failures),
        changes=recommend_changes(failures),
        suspicious=tuple(
            each for each in suite_health(store, {failure.eval for failure in failures}) if each.is_suspicious
        ),
    )


def _engine_name(engine: Engine, failures: Sequence[FailureReport]) -> EngineName:
    """That of the rules if the analyst never answered."""
    return engine.name if any(each.classification.engine != "rules" for each in failures) else "rules"


def _facts(run: RunRecord, found: RunScore) -> RunFacts:
    counts, again = run.counts, found.repeats
    interval = found.score.interval if found.score else wilson_interval(0, 0)
    return RunFacts(
        id=run.id,
        date=run.started_at.date().isoformat(),
        provider=run.provider,
        model=run.model,
        model_name=_model_name(run.model),
        experiment=run.experiment,
        status=run.status,
        passed=counts.passed,
        failed=counts.failed,
        total=counts.total,
        evals=run.evals,
        pass_rate=found.score.value if found.score else None,
        low=interval.low,
        high=interval.high,
        repeats=RepeatFacts(again.trials, again.evals, again.pass_at, again.pass_all, again.flakiness.flaky)
        if again
        else None,
    )


def _model_name(model: str) -> str | None:
    try:
        entry = load_registry().models.get(model)
    except UsageError:  # a registry that cannot be read costs a name, not a report
        return None
    return entry.name if entry is not None and entry.name != model else None


def _infrastructure(details: AttemptDetails) -> InfrastructureFailure:
    attempt = details.attempt
    step = next((step for step in details.steps if step.status == "infrastructure"), None)
    reason = attempt.broken or "; ".join(attempt.notes) or (step.excerpt if step else "") or "no reason was given"
    return InfrastructureFailure(attempt.eval, attempt.trial, attempt.failure or "unknown", reason)


def _evals(request: Request) -> dict[str, Eval]:
    """The evals of the suite that are there today."""
    try:
        suite = load_suite(request.evals or suite_of(request.run))
    except (SuiteError, KeyError, OSError):
        if request.evals is not None:
            raise
        return {}
    return {each.id: each for each in suite.evals}


def _changed(store: "ScoresStore", run: RunRecord, evals: dict[str, Eval]) -> frozenset[str]:
    """Evals whose task, answer or grader is not what it was."""
    planned = {each.eval: each for each in store.planned(run.id)}
    return frozenset(
        name
        for name, each in evals.items()
        if name in planned
        and (planned[name].content, planned[name].grader) != (each.fingerprints.content, each.fingerprints.grader)
    )


def _options(request: Request) -> GradingOptions:
    """As the run was graded, but on a deployment of our own: probes must not touch anybody else's."""
    recorded = request.run.options.get("grading")
    options = options_from_json(recorded, None) if recorded else GradingOptions()
    return replace(options, backend="embedded", admin_key=None, sandbox=request.sandbox)
