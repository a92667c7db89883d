"""The numbers of a page for programs: CSV and JSON at the same address, by suffix or by `Accept`."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import orjson
from starlette.requests import Request
from starlette.responses import Response

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
