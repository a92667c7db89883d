"""The pages: a module each, with its route and its view; the template has the same name."""

from fastapi import APIRouter

from convex_evals.web.pages import (
    api,
    compare,
    errors,
    evals,
    graders,
    home,
    leaderboard,
    matrix,
    model,
    reports,
    result,
    run,
    runs,
    schedule,
    search,
)
from convex_evals.web.pages.errors import error_page
from convex_evals.web.pages.frame import load_templates, show

__all__ = ["error_page", "load_templates", "pages", "show"]

pages = APIRouter(include_in_schema=False)
for module in (home, runs, run, result, search, errors):
    pages.include_router(module.router)
for module in (leaderboard, model, evals, matrix, compare, reports, graders, schedule, api):
    pages.include_router(module.router)
