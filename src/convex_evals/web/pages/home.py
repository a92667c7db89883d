"""Home: what runs now, what finished lately, which evals flipped, what was spent, and what is due next."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.core.settings import read_settings
from convex_evals.models import load_registry
from convex_evals.runner import NOT_SCORES, RunFigures, Sum
from convex_evals.schedule import Agenda, read_agenda
from convex_evals.scores import RunRecord
from convex_evals.web.pages.frame import page, show
from convex_evals.web.results import Results, results_of
from convex_evals.web.site import Site, site_of

router = APIRouter()
FINISHED: Final = 10
FLIPPED: Final = 10
PERIODS: Final = (("24 hours", timedelta(days=1)), ("7 days", timedelta(days=7)), ("30 days", timedelta(days=30)))


@dataclass(frozen=True, slots=True)
class FlippedEval:
    """An eval that went the other way than in the run before of the same model and experiment."""

    eval: str
    run: RunRecord
    before: RunRecord
    step: str | None


@dataclass(frozen=True, slots=True)
class Period:
    name: str
    cost: Sum
    runs: int


@page(router, "/", twins=False)
def home(
    request: Request, site: Annotated[Site, Depends(site_of)], results: Annotated[Results, Depends(results_of)]
) -> Response:
    every, now = results.runs(), datetime.now(UTC)
    scored = [each for each in every if not NOT_SCORES & set(each.run.labels)]
    finished = [each for each in scored if each.run.status != "running"][:FINISHED]
    failing, passing = flipped_evals(scored, finished)
    minute = now.replace(second=0, microsecond=0)
    agenda: Agenda = results.once(
        ("agenda", minute), lambda: read_agenda(site.store, read_settings(), load_registry(), now)
    )
    return show(
        request,
        "home.html",
        title="Home",
        every=len(every),
        running=[each for each in every if each.run.status == "running"],
        finished=finished,
        failing=failing,
        passing=passing,
        most=FLIPPED,
        periods=[spent_in(name, every, now - length) for name, length in PERIODS],
        due=[turn for turn in agenda.turns if turn.state != "running"][:5],
    )


def flipped_evals(
    runs: Sequence[RunFigures], latest: Iterable[RunFigures]
) -> tuple[list[FlippedEval], list[FlippedEval]]:
    """Newly failing and newly passing ones, newest first. Each run is held against the one before of its kind."""
    failing, passing = list[FlippedEval](), list[FlippedEval]()
    for each in latest:
        before = _before(runs, each)
        if before is None:
            continue
        for name, standing in each.standings.items():
            earlier = before.standings.get(name)
            if earlier is None or not earlier.verdicts or not standing.verdicts:
                continue
            if standing.failed and not earlier.failed:
                failing.append(FlippedEval(name, each.run, before.run, standing.failed_step))
            elif earlier.failed and not standing.failed:
                passing.append(FlippedEval(name, each.run, before.run, None))
    return failing, passing


def _before(runs: Sequence[RunFigures], figures: RunFigures) -> RunFigures | None:
    """The latest run that began before this one, of the same model and experiment; runs come newest first."""
    run = figures.run
    kind = (run.model, run.provider, run.experiment)
    return next(
        (
            each
            for each in runs
            if (each.run.model, each.run.provider, each.run.experiment) == kind and each.run.started_at < run.started_at
        ),
        None,
    )


def spent_in(name: str, runs: Iterable[RunFigures], since: datetime) -> Period:
    """By when runs began."""
    inside = [each for each in runs if each.run.started_at >= since]
    costs = [each.cost for each in inside]
    return Period(
        name,
        Sum(sum(each.total for each in costs), sum(each.known for each in costs), sum(each.unknown for each in costs)),
        len(inside),
    )
