"""The schedule: which models are due, when and why."""

from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.core.settings import read_settings
from convex_evals.models import load_registry
from convex_evals.schedule import Turn, read_agenda
from convex_evals.web.pages.frame import Crumb, Twin, page, show
from convex_evals.web.results import Results, results_of
from convex_evals.web.site import Site, site_of

router = APIRouter()
COLUMNS: Final = ("model", "experiment", "state", "at", "expected_cost_usd", "why", "last_run_at", "resumes")


@page(router, "/schedule")
def schedule(
    request: Request, site: Annotated[Site, Depends(site_of)], results: Annotated[Results, Depends(results_of)]
) -> Response:
    now = datetime.now(UTC)
    key = ("agenda", now.replace(second=0, microsecond=0))
    agenda = results.once(key, lambda: read_agenda(site.store, read_settings(), load_registry(), now))
    return show(
        request,
        "schedule.html",
        title="Schedule",
        crumbs=(Crumb("home", "/"), Crumb("schedule")),
        twin=Twin("turns", COLUMNS, [_row(each) for each in agenda.turns], {"spent_this_month": agenda.spent.month}),
        agenda=agenda,
    )


def _row(turn: Turn) -> tuple[object, ...]:
    candidate = turn.candidate
    return (
        *(candidate.model, candidate.experiment, turn.state, turn.at, turn.cost, turn.why),
        *(candidate.last_run, candidate.unfinished),
    )
