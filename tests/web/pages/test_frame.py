import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from convex_evals.web.pages.frame import Twin, csv_text, form_of, twin_response
from convex_evals.web.static_files import FOLDER

LARGEST = 100_000
TWIN = Twin("runs", ("id", "cost", "worked"), [("a", None, timedelta(seconds=90))], {"total": 1})


def test_scripts_and_styles_together_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.*")) < LARGEST


def test_a_page_allows_no_script_but_ours(client: TestClient) -> None:
    answer = client.get("/search")
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", answer.text)


def test_every_static_file_that_a_page_names_is_there_forever(client: TestClient) -> None:
    named = re.findall(r'(?:src|href)="(/static/[^"]+)"', client.get("/search").text)
    assert len(named) > 5
    for address in named:
        assert "immutable" in client.get(address).headers["cache-control"]


def test_an_unknown_page_says_what_was_looked_for(client: TestClient) -> None:
    answer = client.get("/nowhere/at-all")
    assert answer.status_code == 404
    assert "There is nothing at /nowhere/at-all." in answer.text


def test_an_unknown_address_of_the_api_is_not_a_page(client: TestClient) -> None:
    assert client.get("/api/v1/nowhere").headers["content-type"] == "application/json"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_chosen_theme_comes_with_the_page(client: TestClient, theme: str) -> None:
    assert f'data-theme="{theme}"' in client.get("/search", headers={"Cookie": f"theme={theme}"}).text


def test_a_theme_that_nobody_offers_is_ignored(client: TestClient) -> None:
    assert "data-theme=" not in client.get("/search", headers={"Cookie": 'theme="><script>'}).text


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
