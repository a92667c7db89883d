"""One model: its score over time, where it is weak, what guidelines change, and why it fails."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.analysis.patterns import find_trends, read_reports
from convex_evals.runner import (
    UNMINTED,
    WITH_GUIDELINES,
    WITHOUT_GUIDELINES,
    RunFigures,
    TagsOfEvals,
    by_difficulty,
    group_scores,
    is_sample,
)
from convex_evals.statistics import Comparison, Score, Tally, compare, merged, score
from convex_evals.web.charts import Bar, Chart, Moment, Series, bar_chart, history_chart
from convex_evals.web.errors import NotFound
from convex_evals.web.pages.addresses import links_of, model_address, run_address
from convex_evals.web.pages.errors import Moved
from convex_evals.web.pages.frame import Crumb, Twin, page, show
from convex_evals.web.pages.reports import ReportEntry, list_reports
from convex_evals.web.results import Results, results_of
from convex_evals.web.site import Site, site_of

router = APIRouter()
MOST_RUNS: Final = 50
MOST_CAUSES: Final = 15
MOST_MOMENTS: Final = 40
COLUMNS: Final = (
    *("run", "experiment", "status", "started_at", "finished_at", "passed", "failed", "infrastructure", "planned"),
    *("score", "low", "high", "cost_usd", "cost_unknown"),
)


@dataclass(frozen=True, slots=True)
class GuidelinesEffect:
    """The newest complete runs with and without guidelines that can be compared."""

    with_: Score | None
    without: Score | None
    difference: Comparison | None


@dataclass(frozen=True, slots=True)
class ModelCharts:
    """What its complete runs say together."""

    history: Chart | None
    categories: Chart | None
    difficulties: Chart | None
    guided: GuidelinesEffect | None


@page(router, "/model/{provider}/{model:path}")
def model(
    request: Request,
    site: Annotated[Site, Depends(site_of)],
    results: Annotated[Results, Depends(results_of)],
    provider: str,
    model: str,
) -> Response:
    runs = _find(results, provider, model)
    name, provider = runs[0].run.model, runs[0].run.provider
    whole = [each for each in runs if each.is_whole]
    drawn = results.once_settled(
        ("model", provider, name, links_of(request), request.url.path),
        lambda: _draw(
            request,
            whole,
            [(v.name, v.minted_at) for v in results.benchmarks() if v.name != UNMINTED],
            site.suite.tags if site.suite else {},
        ),
    )
    return show(
        request,
        "model.html",
        title=name,
        crumbs=(Crumb("home", "/"), Crumb("leaderboard", "/leaderboard"), Crumb(name)),
        twin=Twin("runs", COLUMNS, (_row(each) for each in runs), {"model": name, "provider": provider}),
        name=name,
        sample=is_sample(name),
        runs=runs[:MOST_RUNS],
        total=len(runs),
        whole=whole,
        history=drawn.history,
        categories=drawn.categories,
        difficulties=drawn.difficulties,
        guided=drawn.guided,
        trends=find_trends(read_reports(site.reports, name, provider)),
        most_causes=MOST_CAUSES,
        reports=_reports(site, provider, name),
    )


def _find(results: Results, provider: str, name: str) -> list[RunFigures]:
    """Runs of the model at this address, newest first; the beginning of a name leads to it."""
    address = model_address(provider, name)
    by_address = results.once("runs by model", lambda: _by_address(results.runs()))
    if address in by_address:
        return by_address[address]
    alike = [known for known in by_address if known.startswith(address)]
    if len(alike) == 1:
        raise Moved(alike[0])
    raise NotFound(f"There is no run of a model {name!r} of {provider!r} in these scores.")


def _by_address(runs: Sequence[RunFigures]) -> dict[str, list[RunFigures]]:
    found: dict[str, list[RunFigures]] = {}
    for each in runs:
        found.setdefault(model_address(each.run.provider, each.run.model), []).append(each)
    return found


def _draw(
    request: Request, whole: Sequence[RunFigures], versions: Sequence[tuple[str, datetime]], tags: TagsOfEvals
) -> ModelCharts:
    newest = next((each for each in whole if each.run.experiment == WITH_GUIDELINES), whole[0] if whole else None)
    return ModelCharts(
        _history(request, whole, versions),
        _bars("category", newest, newest.categories) if newest else None,
        _bars("difficulty", newest, group_scores(by_difficulty(newest.tallies, tags))) if newest else None,
        _guided(whole),
    )


def _history(request: Request, whole: Sequence[RunFigures], versions: Sequence[tuple[str, datetime]]) -> Chart | None:
    by_experiment: dict[str, list[Moment]] = {}
    for each in reversed(whole):
        by_experiment.setdefault(each.run.experiment, []).extend(_moment(request, each))
    if not any(len(moments) > 1 for moments in by_experiment.values()):
        return None
    series = [Series(name, tuple(moments[-MOST_MOMENTS:])) for name, moments in by_experiment.items()]
    return history_chart(
        "Score of every run of the whole suite, by experiment; benchmark versions are marked", series, versions
    )


def _moment(request: Request, each: RunFigures) -> Iterator[Moment]:
    if each.score is not None:
        at, interval = each.run.finished_at or each.run.started_at, each.score.interval
        link = links_of(request)(request.url.path, run_address(each.run.experiment, each.run.id))
        yield Moment(at, each.score.value, interval.low, interval.high, link)


def _bars(kind: str, newest: RunFigures, found: Mapping[str, Score]) -> Chart | None:
    bars = [Bar(name, each.value, each.interval.low, each.interval.high) for name, each in found.items()]
    title = f"Score by {kind} in the newest run of the whole suite ({newest.run.experiment})"
    return bar_chart(title, bars) if bars else None


def _guided(whole: Sequence[RunFigures]) -> GuidelinesEffect | None:
    """Of runs with the same evals as the newest."""
    alike = [each for each in whole if each.planned == whole[0].planned]
    with_, without = (_together(alike, name) for name in (WITH_GUIDELINES, WITHOUT_GUIDELINES))
    if not with_ or not without:
        return None
    return GuidelinesEffect(score(with_), score(without), compare(without, with_))


def _together(runs: Iterable[RunFigures], experiment: str) -> dict[str, Tally]:
    return merged([each.tallies for each in runs if each.run.experiment == experiment])


def _reports(site: Site, provider: str, name: str) -> tuple[ReportEntry, ...]:
    return tuple(
        each for each in list_reports(site) if (each.report.run.provider, each.report.run.model) == (provider, name)
    )


def _row(each: RunFigures) -> tuple[object, ...]:
    run, found = each.run, each.score if each.is_whole else None
    numbers = (found.value, found.interval.low, found.interval.high) if found else (None, None, None)
    counts = (run.counts.passed, run.counts.failed, run.counts.infrastructure, run.counts.total)
    return (
        *(run.id, run.experiment, run.status, run.started_at, run.finished_at, *counts, *numbers),
        *(each.cost.value, each.cost.unknown),
    )
