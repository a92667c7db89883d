from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.requests import Request

from convex_evals.web.pages.twins import Twin, csv_text, form_of, twin_response

TWIN = Twin("runs", ("id", "cost", "worked"), [("a", None, timedelta(seconds=90))], {"total": 1})


def asked(path: str, accept: str | None = None) -> Request:
    headers: list[Any] = [] if accept is None else [(b"accept", accept.encode())]
    return Request({"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers})


@pytest.mark.parametrize(
    ("path", "accept", "form"),
    [
        ("/runs", None, "html"),
        ("/runs", "*/*", "html"),
        ("/runs", "text/html,application/xhtml+xml,*/*;q=0.8", "html"),
        ("/runs", "application/json", "json"),
        ("/runs", "text/csv;q=0.9, text/html;q=0.5", "csv"),
        ("/runs", "application/json;q=0, text/html", "html"),
        ("/runs", "text/csv;q=nonsense", "html"),
        ("/runs", "image/png", "html"),
        ("/runs.json", "text/html", "json"),
        ("/runs.csv", None, "csv"),
    ],
)
def test_the_suffix_decides_and_then_the_client(path: str, accept: str | None, form: str) -> None:
    assert form_of(asked(path, accept)) == form


def test_json_names_every_value() -> None:
    assert twin_response(TWIN, "json").body == b'{"total":1,"runs":[{"id":"a","cost":null,"worked":90.0}]}'


def test_csv_has_a_head_and_leaves_unknown_values_empty() -> None:
    assert csv_text(TWIN) == "id,cost,worked\r\na,,90.0\r\n"


def test_a_spreadsheet_computes_nothing_that_a_model_wrote() -> None:
    assert csv_text(Twin("t", ("a", "b"), [("=1+1", "@x")])) == "a,b\r\n'=1+1,'@x\r\n"


def test_times_are_written_with_their_zone() -> None:
    assert "2026-11-17T04:00:00+00:00" in csv_text(Twin("t", ("at",), [(datetime(2026, 11, 17, 4, tzinfo=UTC),)]))
