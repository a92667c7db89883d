"""The frame of every page: templates and what they can say, static files, and the answer as HTML, CSV or JSON."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

import orjson
from fastapi import APIRouter
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from convex_evals.core.ids import prefix
from convex_evals.core.text import count, shortened, visible
from convex_evals.web.pages import addresses, figures
from convex_evals.web.pages.text import clipped, shown, with_code
from convex_evals.web.site import current_site
from convex_evals.web.static_files import static_address

Form = Literal["html", "csv", "json"]
SUFFIXES: Final[Mapping[str, Form]] = {".csv": "csv", ".json": "json"}
_TYPES: Final[Mapping[str, Form]] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "*/*": "html",
    "text/csv": "csv",
    "application/json": "json",
}
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
View = TypeVar("View", bound=Callable[..., Any])
FOLDER: Final = Path(__file__).parent.parent
THEMES: Final = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Twin:
    """One table, and what holds for all of it. The JSON is `{**facts, name: [{column: value}]}`, or `document`."""

    name: str
    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]  # may be a generator: they are needed only when the twin is asked for
    facts: Mapping[str, Any] = field(default_factory=dict)
    document: Callable[[], dict[str, Any]] | None = None

    def json(self) -> dict[str, Any]:
        if self.document is not None:
            return self.document()
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {**self.facts, self.name: rows}


def form_of(request: Request) -> Form:
    """By the suffix of the address, else by what the client would rather have."""
    for suffix, form in SUFFIXES.items():
        if request.url.path.endswith(suffix):
            return form
    return next(_accepted(request.headers.get("accept", "*/*")), "html")


def _accepted(header: str) -> Iterator[Form]:
    """The forms we have, the most wanted first."""
    wanted: list[tuple[float, Form]] = []
    for part in header.split(","):
        kind, *parameters = (each.strip() for each in part.split(";"))
        if kind in _TYPES:
            wanted.append((_weight(parameters), _TYPES[kind]))
    return (form for weight, form in sorted(wanted, key=lambda each: -each[0]) if weight > 0)


def _weight(parameters: Sequence[str]) -> float:
    given = next((each[2:] for each in parameters if each.startswith("q=")), "1")
    try:
        return float(given)
    except ValueError:
        return 0.0


def twin_response(twin: Twin, form: Form) -> Response:
    if form == "csv":
        return Response(csv_text(twin), media_type="text/csv; charset=utf-8")
    return Response(orjson.dumps(twin.json(), default=_plain, option=orjson.OPT_UTC_Z), media_type="application/json")


def csv_text(twin: Twin) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(twin.columns)
    writer.writerows([_cell(value) for value in row] for row in twin.rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"  # a spreadsheet would compute it
    return value


def _plain(value: object) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


class Crumb(NamedTuple):
    title: str
    address: str | None = None
    """None: where one is."""


NAVIGATION: Final[tuple[Crumb, ...]] = (
    Crumb("Leaderboard", "/leaderboard"),
    Crumb("Runs", "/runs"),
    Crumb("Matrix", "/matrix"),
    Crumb("Compare", "/compare"),
    Crumb("Reports", "/reports"),
    Crumb("Graders", "/graders"),
    Crumb("Schedule", "/schedule"),
)

NEED_A_SERVER: Final = ("/compare", "/schedule")
"""Pages that no publication has."""


def page(router: APIRouter, address: str, *, twins: bool = True) -> Callable[[View], View]:
    """Registers a view at its address and, for its twins, at the same with `.csv` and `.json`."""

    def register(view: View) -> View:
        for suffix in (*SUFFIXES, "") if twins else ("",):
            router.add_api_route(f"{address}{suffix}", view, methods=["GET", "HEAD"], response_model=None)
        return view

    return register


def show(
    request: Request,
    template: str,
    *,
    title: str,
    crumbs: tuple[Crumb, ...] = (),
    twin: Twin | None = None,
    status: int = 200,
    **values: Any,
) -> Response:
    """The page in the form that was asked for. `values` are what its template shows."""
    form = form_of(request)
    if twin is not None and form == "html" and hasattr(request.app.state, "twins"):
        twin = _keep_twins(request, twin)
    if twin is not None and form != "html":
        response = twin_response(twin, form)
    else:
        context = {**_frame(request), "title": title, "crumbs": crumbs, "twin": twin, **values}
        response = HTMLResponse(environment().get_template(template).render(context), status)
    response.headers["vary"] = "Accept, Cookie"
    return response


def _keep_twins(request: Request, twin: Twin) -> Twin:
    """Makes them together with the page, for `publish`, which wants all three."""
    whole = replace(twin, rows=tuple(twin.rows))
    query = f"?{request.url.query}" if request.url.query else ""
    for suffix, form in SUFFIXES.items():
        request.app.state.twins[f"{request.url.path}{suffix}{query}"] = bytes(twin_response(whole, form).body)
    return whole


def download(content: bytes, name: str) -> Response:
    """A file as it was recorded: never shown by the browser, whatever is in it."""
    plain = "".join(each if each.isascii() and (each.isalnum() or each in "._-") else "_" for each in name)
    headers = {"content-disposition": f'attachment; filename="{plain or "file"}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


def _frame(request: Request) -> Mapping[str, Any]:
    chosen = request.cookies.get("theme", "")
    link = partial(addresses.links_of(request), request.url.path)
    served = addresses.links_of(request) is addresses.as_it_is
    return {
        "site": current_site(request),
        "here": request.url.path,
        "query": request.url.query,
        "theme": chosen if chosen in THEMES else None,
        "link": link,
        "served": served,
        "navigation": tuple(each for each in NAVIGATION if served or each.address not in NEED_A_SERVER),
        "static": lambda name: link(static_address(name)),
    }


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_spelled_out,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    named = (
        "percent",
        "dollars",
        "number",
        "tokens",
        "milliseconds",
        "duration",
        "moment",
        "ago",
        "size",
        "sign",
        "mark",
        "p_value",
    )
    made.filters.update({name: getattr(figures, name) for name in named})
    made.filters.update({"shown": shown, "clipped": clipped, "with_code": with_code})
    made.filters.update({"short_id": prefix, "shortened": shortened})
    made.globals.update({name: value for name, value in vars(addresses).items() if name.endswith("_address")})
    made.globals.update({"with_query": addresses.with_query, "count": count})
    return made


def load_templates() -> None:
    """Compiles all of them; each is compiled once, and that takes longer than to fill it."""
    for name in environment().list_templates():
        environment().get_template(name)


def _spelled_out(value: object) -> object:
    """Whatever a template says, in text or in an attribute, has its control characters shown and not obeyed."""
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return visible(value)
