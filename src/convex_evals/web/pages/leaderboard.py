"""The leaderboard: who is ahead and how sure that is, what it costs, and what was left out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.runner import (
    LEVELS,
    UNMINTED,
    WITH_GUIDELINES,
    WITHOUT_GUIDELINES,
    Leaderboard,
    RankedModel,
    RunFigures,
    leaderboard_json,
    tag_names,
)
from convex_evals.scores import Benchmark
from convex_evals.statistics import Comparison, Durations, Interval, Score
from convex_evals.web.charts import Chart, Moment, Point, Series, history_chart, scatter_chart
from convex_evals.web.errors import NotFound
from convex_evals.web.pages.addresses import links_of, model_address, run_address
from convex_evals.web.pages.frame import Crumb, Twin, page, show
from convex_evals.web.results import Results, results_of
from convex_evals.web.site import Site, site_of

router = APIRouter()
DRAWN: Final = 5
LATEST: Final = 12
"""Models in the history, and runs of each: more lines and points than that cannot be told apart."""
LEFT_OUT_SHOWN: Final = 20
FIXED: Final = {"/leaderboard/with-guidelines": WITH_GUIDELINES, "/leaderboard/without-guidelines": WITHOUT_GUIDELINES}
COLUMNS: Final = (
    *("rank_best", "rank_worst", "model", "provider", "sample", "score", "low", "high", "evals", "trials", "runs"),
    *("spread", "without_guidelines", "guidelines_difference", "guidelines_low", "guidelines_high", "guidelines_p"),
    *("cost_usd", "cost_low", "cost_high", "cost_unknown", "first_token_ms", "first_token_p90_ms"),
    *("generation_ms", "generation_p90_ms", "last_run_at"),
)


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be switched to, and what is shown."""

    benchmarks: tuple[Benchmark, ...]
    benchmark: Benchmark
    experiments: tuple[str, ...]
    experiment: str
    text: str

    @property
    def minted(self) -> bool:
        return self.benchmark.name != UNMINTED


@dataclass(frozen=True, slots=True)
class GroupScores:
    """A category or tag with the scores of all models in the order of the table; `evals` is the most that one has."""

    name: str
    evals: int
    scores: tuple[Score | None, ...]


@page(router, "/leaderboard")
@page(router, "/leaderboard/with-guidelines")
@page(router, "/leaderboard/without-guidelines")
def leaderboard(
    request: Request,
    site: Annotated[Site, Depends(site_of)],
    results: Annotated[Results, Depends(results_of)],
    benchmark: Annotated[str, Query()] = "",
    experiment: Annotated[str, Query()] = "",
    q: Annotated[str, Query()] = "",
) -> Response:
    path = request.url.path.removesuffix(".csv").removesuffix(".json")
    crumbs = (Crumb("home", "/"), Crumb("leaderboard"))
    versions = results.benchmarks()
    if not versions:
        return show(request, "leaderboard.html", title="Leaderboard", crumbs=crumbs, twin=_twin(None, ()), board=None)
    chosen = Choices(
        versions,
        find_version(versions, benchmark),
        experiments(results),
        FIXED.get(path) or experiment or WITH_GUIDELINES,
        q,
    )
    board = results.leaderboard(chosen.benchmark, chosen.experiment, site.suite)
    shown = tuple(each for each in board.standings if q.lower() in each.ranked.name.lower())
    runs = results.by_id()
    drawn = (links_of(request), request.url.path, chosen.benchmark.name, chosen.experiment, q)
    return show(
        request,
        "leaderboard.html",
        title=f"Leaderboard, {chosen.experiment}",
        crumbs=crumbs,
        twin=_twin(board, shown),
        board=board,
        choices=chosen,
        path=path,
        shown=shown,
        runs=runs,
        categories=_groups([each.categories for each in shown], _categories(shown)),
        tags=_groups([each.tags for each in shown], tag_names(shown)),
        left_out=board.left_out[:LEFT_OUT_SHOWN],
        scatter=results.once_settled(("scatter", *drawn), lambda: _scatter(request, shown)),
        history=results.once_settled(
            ("history", *drawn), lambda: _history(request, shown, runs, versions if chosen.minted else ())
        ),
    )


def experiments(results: Results) -> tuple[str, ...]:
    """Those that were ever run, the usual two first."""
    found = results.once("experiments", lambda: {each.run.experiment for each in results.runs()})
    usual = [each for each in (WITH_GUIDELINES, WITHOUT_GUIDELINES) if each in found]
    return (*usual, *sorted(found - set(usual)))


def find_version(versions: Sequence[Benchmark], name: str) -> Benchmark:
    if not name:
        return versions[0]
    found = next((each for each in versions if each.name == name), None)
    if found is None:
        names = ", ".join(each.name for each in versions)
        raise NotFound(f"There is no benchmark version {name!r}; there are: {names}.")
    return found


def _categories(shown: Sequence[RankedModel]) -> tuple[str, ...]:
    return tuple(sorted({name for each in shown for name in each.categories}))


def _groups(models: Sequence[Mapping[str, Score]], names: Sequence[str]) -> tuple[GroupScores, ...]:
    found = []
    for name in names:
        scores = tuple(each.get(name) for each in models)
        found.append(GroupScores(name, max(each.evals for each in scores if each), scores))
    return tuple(found)


def _scatter(request: Request, shown: Sequence[RankedModel]) -> Chart | None:
    """Models whose cost is known."""
    points = [
        Point(
            each.ranked.name,
            each.cost.value,
            each.ranked.score.value,
            *_ends(each.cost_interval),
            *_ends(each.ranked.score.interval),
            links_of(request)(request.url.path, model_address(each.provider, each.ranked.name)),
        )
        for each in shown
        if each.cost.value is not None and not each.cost.unknown
    ]
    title = "Score against cost of one run of the suite; the stairs join the best for their price"
    return scatter_chart(title, points, "cost per suite", "score") if points else None


def _history(
    request: Request, shown: Sequence[RankedModel], runs: dict[str, RunFigures], versions: Sequence[Benchmark]
) -> Chart | None:
    series = [
        Series(each.ranked.name, tuple(_moments(request, (runs[run] for run in reversed(each.runs[:LATEST])))))
        for each in shown[:DRAWN]
    ]
    if not any(len(each.moments) > 1 for each in series):
        return None
    best = f"the best {DRAWN} models" if len(shown) > DRAWN else "each model"
    return history_chart(
        f"Scores of the latest ranked runs of {best}", series, [(v.name, v.minted_at) for v in versions]
    )


def _moments(request: Request, runs: Iterator[RunFigures]) -> Iterator[Moment]:
    link = links_of(request)
    for each in runs:
        if each.score is not None:
            yield Moment(
                each.run.finished_at or each.run.started_at,
                each.score.value,
                *_ends(each.score.interval),
                link(request.url.path, run_address(each.run.experiment, each.run.id)),
            )


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _twin(board: Leaderboard | None, shown: Sequence[RankedModel]) -> Twin:
    """The JSON is that of `convex-evals leaderboard --json`; the CSV is the table."""
    categories = _categories(shown)
    difficulties = tuple(name for name in LEVELS if any(name in each.difficulties for each in shown))
    columns = (*COLUMNS, *(f"category:{name}" for name in categories), *(f"difficulty:{name}" for name in difficulties))
    rows = ((*_row(each, categories), *_values(each.difficulties, difficulties)) for each in shown)
    return Twin("models", columns, rows, document=lambda: _document(board, shown))


def _document(board: Leaderboard | None, shown: Sequence[RankedModel]) -> dict[str, Any]:
    if board is None:
        return {"benchmark": None, "experiment": None, "models": [], "guidelines": None, "notRanked": []}
    return leaderboard_json(replace(board, standings=tuple(shown)))


def _row(each: RankedModel, categories: Sequence[str]) -> tuple[Any, ...]:
    ranked, scored = each.ranked, each.ranked.score
    return (
        *(ranked.best, ranked.worst, ranked.name, each.provider, each.is_sample),
        *(scored.value, scored.interval.low, scored.interval.high, scored.evals, scored.trials, len(each.runs)),
        *(each.spread, each.without.value if each.without else None, *_worth(each.guidelines)),
        *(each.cost.value, *_ends(each.cost_interval), each.cost.unknown),
        *(*_times(each.first_token), *_times(each.generation), each.last, *_values(each.categories, categories)),
    )


def _values(scores: Mapping[str, Score], names: Sequence[str]) -> Iterator[float | None]:
    return (scores[name].value if name in scores else None for name in names)


def _worth(found: Comparison | None) -> tuple[float | None, ...]:
    return (None,) * 4 if found is None else (found.difference, found.interval.low, found.interval.high, found.p)


def _times(found: Durations | None) -> tuple[float | None, float | None]:
    return (None, None) if found is None else (found.median, found.p90)
