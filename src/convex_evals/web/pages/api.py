"""The API for people: its routes, read from the description that programs read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.web.pages.frame import Crumb, page, show

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Route:
    """One thing that programs can ask for."""

    group: str
    method: str
    path: str
    summary: str
    details: str
    parameters: tuple[str, ...]
    is_plain: bool
    """It answers a browser that sends nothing but the address."""


@page(router, "/api", twins=False)
def api(request: Request) -> Response:
    app: FastAPI = request.app
    crumbs = (Crumb("home", "/"), Crumb("API"))
    routes = list(_routes(app.openapi()))
    return show(request, "api.html", title="API", crumbs=crumbs, routes=routes, description=app.openapi_url)


def _routes(description: Mapping[str, Any]) -> Iterator[Route]:
    for path, methods in description["paths"].items():
        for method, told in methods.items():
            yield _route(path, method, told)


def _route(path: str, method: str, told: Mapping[str, Any]) -> Route:
    parameters = told.get("parameters", [])
    is_plain = method == "get" and not any(each.get("required") for each in parameters) and told["tags"] != ["events"]
    details = told.get("description", "")
    names = tuple(each["name"] for each in parameters if each["in"] == "query")
    return Route(told["tags"][0], method.upper(), path, told["summary"], details, names, is_plain)
