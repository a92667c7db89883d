"""The table of runs: filtered, sorted and paged by its address; two or more that are ticked can be compared."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.runner import NOT_SCORES, RunFigures, Sum
from convex_evals.scores import RunRecord
from convex_evals.web.pages.addresses import with_query
from convex_evals.web.pages.frame import Crumb, Twin, page, show
from convex_evals.web.results import Results, results_of

router = APIRouter()
PER_PAGE: Final = 50
FILTERS: Final = ("model", "provider", "experiment", "status")
ORDERS: Final[Mapping[str, Callable[[RunFigures], Any]]] = {
    "started": lambda each: each.run.started_at,
    "model": lambda each: each.run.model,
    "experiment": lambda each: each.run.experiment,
    "rate": lambda each: -1.0 if each.score is None else each.score.value,
    "cost": lambda each: each.cost.value if each.cost.value is not None else -1.0,
    "tokens": lambda each: each.tokens.value if each.tokens.value is not None else -1.0,
    "time": lambda each: each.run.worked,
    "status": lambda each: each.run.status,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address says. `sort` is a name of ORDERS, with `-` before it from large to small."""

    model: str = ""
    provider: str = ""
    experiment: str = ""
    status: str = ""
    q: str = ""
    sort: str = "-started"
    page: int = 1

    def address(self, **changes: object) -> str:
        """Of the same table with something else chosen; what is usual is left out."""
        chosen = {name: getattr(self, name) for name in (*FILTERS, "q", "sort")} | changes
        if chosen["sort"] == "-started":
            del chosen["sort"]
        return with_query("/runs", **chosen)

    def sorted_by(self, name: str) -> str:
        """The address that sorts by this column; the other way round when it does already."""
        return self.address(sort=name if self.sort == f"-{name}" else f"-{name}")

    def direction(self, name: str) -> str | None:
        return {name: "ascending", f"-{name}": "descending"}.get(self.sort)

    def admits(self, run: RunRecord) -> bool:
        words = f"{run.id} {run.provider} {run.model} {run.experiment} {' '.join(run.labels)}".lower()
        return self.q.lower() in words and all(getattr(self, name) in ("", getattr(run, name)) for name in FILTERS)


@dataclass(frozen=True, slots=True)
class Row:
    """`version` is the benchmark version that the run belongs to; `checked` are labels of runs that score nobody."""

    figures: RunFigures
    version: str | None
    checked: tuple[str, ...]


async def asked_of(
    model: Annotated[str, Query()] = "",
    provider: Annotated[str, Query()] = "",
    experiment: Annotated[str, Query()] = "",
    status: Annotated[str, Query()] = "",
    q: Annotated[str, Query()] = "",
    sort: Annotated[str, Query()] = "-started",
    page: Annotated[int, Query(ge=1)] = 1,
) -> Asked:
    known = sort if sort.removeprefix("-") in ORDERS else "-started"
    return Asked(model, provider, experiment, status, q.strip(), known, page)


@page(router, "/runs")
def runs(
    request: Request,
    results: Annotated[Results, Depends(results_of)],
    asked: Annotated[Asked, Depends(asked_of)],
) -> Response:
    every = results.runs()
    chosen = [each for each in every if asked.admits(each.run)]
    chosen.sort(key=ORDERS[asked.sort.removeprefix("-")], reverse=asked.sort.startswith("-"))
    start = (asked.page - 1) * PER_PAGE
    rows = [row_of(each, results) for each in chosen[start : start + PER_PAGE]]
    return show(
        request,
        "runs.html",
        title="Runs",
        crumbs=(Crumb("home", "/"), Crumb("runs")),
        twin=runs_twin(row_of(each, results) for each in chosen),
        asked=asked,
        rows=rows,
        total=len(chosen),
        every=len(every),
        pages=-(-len(chosen) // PER_PAGE),
        choices={name: sorted({getattr(each.run, name) for each in every}) for name in FILTERS},
    )


def row_of(figures: RunFigures, results: Results) -> Row:
    return Row(
        figures, results.version_of(figures), tuple(label for label in figures.run.labels if label in NOT_SCORES)
    )


COLUMNS: Final = (
    *("id", "model", "provider", "experiment", "benchmark", "status", "passed", "failed", "infrastructure", "total"),
    *("passRate", "low", "high", "costUsd", "costUnknown", "tokens", "seconds", "startedAt", "finishedAt", "labels"),
)


def runs_twin(rows: Iterable[Row]) -> Twin:
    return Twin("runs", COLUMNS, (_values(row) for row in rows))


def _values(row: Row) -> tuple[Any, ...]:
    run, counts, score = row.figures.run, row.figures.run.counts, row.figures.score
    interval = (None, None, None) if score is None else (score.value, score.interval.low, score.interval.high)
    cost: Sum = row.figures.cost
    return (
        *(run.id, run.model, run.provider, run.experiment, row.version, run.status),
        *(counts.passed, counts.failed, counts.infrastructure, counts.total, *interval),
        *(cost.value, cost.unknown, row.figures.tokens.value, run.worked.total_seconds()),
        *(run.started_at, run.finished_at, " ".join(run.labels)),
    )
