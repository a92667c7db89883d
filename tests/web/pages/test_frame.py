import re

import pytest
from starlette.testclient import TestClient

from convex_evals.web.static_files import FOLDER

LARGEST = 100_000


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
