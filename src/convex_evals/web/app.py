"""The application: routes of the API and of the pages, and what holds for every answer."""

from copy import copy
from functools import cache
from importlib.metadata import version
from typing import Any, Final

from fastapi import FastAPI
from starlette.datastructures import State
from starlette.middleware.gzip import GZipMiddleware

from convex_evals.web.api import api
from convex_evals.web.errors import Errors, pass_errors_on
from convex_evals.web.events import Broadcast
from convex_evals.web.functions import functions
from convex_evals.web.gate import BodyLimits, Gate
from convex_evals.web.headers import EntityTags, SecurityHeaders
from convex_evals.web.health import Measured, Metrics, health
from convex_evals.web.identity import Authenticator, Guard
from convex_evals.web.login import login
from convex_evals.web.pages import error_page, pages
from convex_evals.web.results import ResultsCache
from convex_evals.web.site import Site
from convex_evals.web.static_files import static_files
from convex_evals.web.turns import Turns

OPENAPI: Final = "/api/openapi.json"
DURATION: Final = r"^-?P([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?$"
GZIP_LEVEL: Final = 5
GZIP_FROM_BYTES: Final = 500


def create_app(site: Site) -> FastAPI:
    app = copy(_application())
    app.state, app.user_middleware, app.exception_handlers = State(), [], dict(app.exception_handlers)
    app.state.site, app.state.authenticator = site, Authenticator(site)
    app.state.results, app.state.turns = ResultsCache(site.store), Turns()
    app.state.metrics, app.state.broadcast = Metrics(), Broadcast(site)
    pass_errors_on(app)
    _add_middleware(app, site)
    return app


@cache
def _application() -> FastAPI:
    """The routes are the same for every site, and costly: FastAPI examines every parameter and every answer."""
    made = FastAPI(
        title="convex-evals", version=version("convex-evals"), docs_url=None, redoc_url=None, openapi_url=OPENAPI
    )
    made.router.redirect_slashes = False
    for router in (api, functions, login, health, static_files, pages):
        made.include_router(router)
    made.openapi = lambda: _document(made)  # type: ignore[method-assign]
    return made


def _document(app: FastAPI) -> dict[str, Any]:
    """Made once. JSON Schema's durations have no fractions of a second, ours have."""
    if app.openapi_schema is None:
        _allow_fractions(FastAPI.openapi(app))
    assert app.openapi_schema is not None
    return app.openapi_schema


def _allow_fractions(schema: Any) -> None:
    if isinstance(schema, dict) and schema.get("format") == "duration":
        schema["pattern"] = DURATION
        del schema["format"]
    for each in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        _allow_fractions(each)


def _add_middleware(app: FastAPI, site: Site) -> None:
    """The last one that is added sees a request first."""
    app.add_middleware(Guard, site=site, authenticator=app.state.authenticator, turns=app.state.turns)
    app.add_middleware(Errors, page=error_page)
    app.add_middleware(EntityTags)
    app.add_middleware(GZipMiddleware, minimum_size=GZIP_FROM_BYTES, compresslevel=GZIP_LEVEL)
    app.add_middleware(BodyLimits)
    app.add_middleware(Gate, access=site.access)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Measured, metrics=app.state.metrics)
