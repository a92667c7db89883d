"""Which models are due."""

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from convex_evals.models import load_registry
from convex_evals.schedule import agenda_json, read_agenda
from convex_evals.web.api.answers import REFUSALS, Served, answer

schedule = APIRouter(tags=["schedule"], responses=REFUSALS)


@schedule.get("/schedule", response_model=dict[str, Any], summary="Show which models are due, when and why")
def show_schedule(site: Served) -> Response:
    return answer(agenda_json(read_agenda(site.store, site.settings, load_registry())))
