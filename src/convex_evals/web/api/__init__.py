"""The scores API: what pages show, for programs, and what runners record."""

from fastapi import APIRouter

from convex_evals.web.api.evals import evals
from convex_evals.web.api.records import records
from convex_evals.web.api.results import labels, results
from convex_evals.web.api.runs import events, runs
from convex_evals.web.api.standings import schedule, standings

__all__ = ["api"]

api = APIRouter(prefix="/api/v1")
for router in (runs, results, standings, evals, labels, schedule, events, records):
    api.include_router(router)
