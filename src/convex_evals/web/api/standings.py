"""Models, versions of the benchmark, who is better, what changed, and which models are due."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from convex_evals.models import load_registry
from convex_evals.runner import Change, ComparedRuns, Leaderboard, RunResults, compare_runs, find_benchmark
from convex_evals.schedule import agenda_json, read_agenda
from convex_evals.scores import Benchmark, RunRecord
from convex_evals.statistics import Comparison
from convex_evals.web.api.answers import REFUSALS, Limit, Page, Position, Served, answer, page_of
from convex_evals.web.errors import NotFound, RequestRefused
from convex_evals.web.results import Results, results_of

standings = APIRouter(tags=["standings"], responses=REFUSALS)
MOST_RUNS = 8


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """A model that was ever run here. `last` is when its last run began."""

    model: str
    provider: str
    runs: int
    last: datetime


@dataclass(frozen=True, slots=True)
class ChangedEval:
    """`before` and `after` are pass rates; None: no verdict, or not in that run."""

    eval: str
    change: Change
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class PairOfRuns:
    """`p` is corrected for how many pairs were compared. `changed` are evals that are not the same in both."""

    before: RunRecord
    after: RunRecord
    verdict: str
    p: float | None
    same_grading: bool
    statistics: Comparison | None
    evals: tuple[ChangedEval, ...]
    changed: tuple[str, ...]


@standings.get("/models", response_model=Page[ModelSummary], summary="List models that have runs")
def list_models(site: Served, limit: Limit = 500, cursor: Position = 0) -> Response:
    runs = site.store.runs()
    counts = Counter((run.model, run.provider) for run in runs)
    last = {(run.model, run.provider): run.started_at for run in reversed(runs)}
    found = [ModelSummary(*key, counts[key], last[key]) for key in sorted(counts)]
    return answer(page_of(found, limit, cursor))


@standings.get("/benchmarks", response_model=Page[Benchmark], summary="List versions of the benchmark, newest first")
def list_benchmarks(site: Served, limit: Limit = 100, cursor: Position = 0) -> Response:
    return answer(page_of(site.store.benchmarks(), limit, cursor))


@standings.get("/leaderboard", response_model=Leaderboard, summary="Rank models by one version of the benchmark")
def show_leaderboard(
    site: Served,
    results: Annotated[Results, Depends(results_of)],
    benchmark: Annotated[str | None, Query(max_length=200, description="Its name; the newest if not given.")] = None,
    experiment: Annotated[str, Query(max_length=200)] = "default",
) -> Response:
    """Without any version, what the newest complete run was asked and graded with stands in for one."""
    version = find_benchmark(site.store, benchmark) or next(iter(results.benchmarks()), None)
    if version is None:
        raise NotFound("No run can be ranked: no version of the benchmark is minted, and no run is complete.")
    return answer(results.leaderboard(version, experiment, site.suite))


@standings.get("/compare", response_model=Page[PairOfRuns], summary="Compare runs eval by eval")
def show_comparison(
    site: Served,
    runs: Annotated[str, Query(max_length=400, description="Ids of two or more runs, with commas between them.")],
) -> Response:
    """Every pair of them. Only evals with a verdict in both and the same task and grader count."""
    names = [name for name in runs.split(",") if name]
    if not 2 <= len(names) <= MOST_RUNS:
        raise RequestRefused(422, "InvalidRequest", f"Expected 2 to {MOST_RUNS} runs, but found {len(names)}.")
    found = [RunResults.of(site.store.find_run(name), site.store) for name in names]
    if len({each.run.id for each in found}) < len(found):
        raise RequestRefused(422, "InvalidRequest", "Expected different runs, but one was named twice.")
    return answer(Page(tuple(_pair(each) for each in compare_runs(found))))


def _pair(found: ComparedRuns) -> PairOfRuns:
    evals = tuple(
        ChangedEval(
            each.eval,
            each.change,
            each.before.rate if each.before else None,
            each.after.rate if each.after else None,
        )
        for each in found.evals
    )
    return PairOfRuns(
        found.before,
        found.after,
        found.verdict,
        found.p,
        found.same_grading,
        found.statistics,
        evals,
        found.changed,
    )


schedule = APIRouter(tags=["schedule"], responses=REFUSALS)


@schedule.get("/schedule", response_model=dict[str, Any], summary="Show which models are due, when and why")
def show_schedule(site: Served) -> Response:
    return answer(agenda_json(read_agenda(site.store, site.settings, load_registry())))
