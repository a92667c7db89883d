"""The matrix: every eval by every model, to see what is hard and what models disagree about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, pvariance
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.runner import LEVELS, UNMINTED, WITH_GUIDELINES, RunFigures, by_difficulty, is_sample
from convex_evals.scores import Benchmark
from convex_evals.statistics import Tally, merged
from convex_evals.web.charts import Cell, Chart, heat_map
from convex_evals.web.pages.addresses import eval_address, links_of
from convex_evals.web.pages.frame import Crumb, Twin, page, show
from convex_evals.web.pages.leaderboard import experiments, find_version
from convex_evals.web.results import Results, results_of
from convex_evals.web.site import Site, site_of

router = APIRouter()
Order = Literal["name", "failing", "disagreement", "difficulty"]
ORDERS: Final[tuple[Order, ...]] = ("name", "failing", "disagreement")
"""`difficulty` is what `failing` was called in older links."""


@dataclass(frozen=True, slots=True)
class Column:
    """One model, with all its runs of the version."""

    provider: str
    model: str
    runs: tuple[RunFigures, ...]
    tallies: dict[str, Tally]


@dataclass(frozen=True, slots=True)
class Line:
    """One eval. `failing` is the share that fails, `disagreement` the variance of the models' pass rates."""

    eval: str
    tallies: tuple[Tally | None, ...]
    failing: float
    disagreement: float


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]


@page(router, "/matrix")
def matrix(
    request: Request,
    site: Annotated[Site, Depends(site_of)],
    results: Annotated[Results, Depends(results_of)],
    benchmark: Annotated[str, Query()] = "",
    experiment: Annotated[str, Query()] = WITH_GUIDELINES,
    order: Annotated[Order, Query()] = "name",
    tag: Annotated[str, Query()] = "",
) -> Response:
    versions = results.benchmarks()
    version = find_version(versions, benchmark) if versions else None
    table = _table(results, version, experiment) if version else Table((), ())
    order = "failing" if order == "difficulty" else order
    tags = site.suite.tags if site.suite else {}
    columns, lines = table.columns, tuple(each for each in table.lines if not tag or tag in tags.get(each.eval, ()))
    levels = {
        name: level for level, names in by_difficulty({each.eval: () for each in lines}, tags).items() for name in names
    }
    return show(
        request,
        "matrix.html",
        title="Matrix",
        crumbs=(Crumb("home", "/"), Crumb("matrix")),
        twin=_twin(columns, lines, levels),
        levels=levels,
        level_names=LEVELS,
        versions=versions,
        version=version,
        minted=version is not None and version.name != UNMINTED,
        experiments=experiments(results),
        experiment=experiment,
        orders=ORDERS,
        order=order,
        tags=sorted({name for names in tags.values() for name in names}),
        tag=tag,
        columns=columns,
        lines=sorted(lines, key=lambda each: (*_key(each, order), each.eval)),
        overview=_overview(request, results, (version.name, experiment, tag), Table(columns, lines))
        if version and columns and lines
        else None,
    )


def _table(results: Results, version: Benchmark, experiment: str) -> Table:
    def compute() -> Table:
        columns = _columns(results, version, experiment)
        return Table(columns, tuple(_line(each.eval, columns) for each in version.evals))

    return results.once_settled(("matrix", version.name, experiment), compute)


def _key(line: Line, order: Order) -> tuple[float, ...]:
    return () if order == "name" else (-line.failing if order == "failing" else -line.disagreement,)


def _columns(results: Results, version: Benchmark, experiment: str) -> tuple[Column, ...]:
    """Samples come last, then the best first."""
    groups: dict[tuple[str, str], list[RunFigures]] = {}
    choice = results.choice(version)
    left_out = {each.run.id for each in choice.left_out if is_sample(each.run.model)}
    samples = [each for each in results.runs() if each.run.id in left_out and each.is_whole]
    for each in (*choice.runs, *samples):
        if each.run.experiment == experiment:
            groups.setdefault((each.run.provider, each.run.model), []).append(each)
    found = [Column(*key, tuple(runs), merged([each.tallies for each in runs])) for key, runs in groups.items()]
    return tuple(sorted(found, key=lambda each: (is_sample(each.model), -_mean(each), each.model)))


def _mean(column: Column) -> float:
    return fmean(each.rate for each in column.tallies.values())


def _line(name: str, columns: Sequence[Column]) -> Line:
    tallies = tuple(each.tallies.get(name) for each in columns)
    rates = [each.rate for each in tallies if each is not None]
    return Line(name, tallies, 1 - fmean(rates) if rates else 0.0, pvariance(rates) if rates else 0.0)


def _overview(request: Request, results: Results, chosen: tuple[str, ...], table: Table) -> Chart:
    key = ("overview", links_of(request), request.url.path, *chosen)
    return results.once_settled(key, lambda: _heat_map(request, table.columns, table.lines))


def _heat_map(request: Request, columns: Sequence[Column], lines: Sequence[Line]) -> Chart:
    link = links_of(request)
    rows = [
        (
            column.model,
            [
                Cell(
                    None if (tally := line.tallies[place]) is None else tally.rate,
                    f"{line.eval}: {_said(tally)}",
                    link(request.url.path, eval_address(line.eval)),
                )
                for line in lines
            ],
        )
        for place, column in enumerate(columns)
    ]
    categories = groupby(line.eval.partition("/")[0] for line in lines)
    groups = [(name, sum(1 for _ in members)) for name, members in categories]
    return heat_map(
        "Pass rate by model and eval: filled passes, a cross fails, an empty frame was not run", rows, groups
    )


def _said(tally: Tally | None) -> str:
    return "not run" if tally is None else f"{tally.passed} of {tally.trials} passed"


def _twin(columns: Sequence[Column], lines: Sequence[Line], levels: Mapping[str, str]) -> Twin:
    """`difficulty` is the older name of `failing`; the difficulty of the suite is `level`."""
    heads = ("eval", "difficulty", "disagreement", "failing", "level", *(each.model for each in columns))
    rows = (
        (
            *(each.eval, each.failing, each.disagreement, each.failing, levels.get(each.eval)),
            *(None if one is None else one.rate for one in each.tallies),
        )
        for each in lines
    )
    return Twin("evals", heads, rows)
