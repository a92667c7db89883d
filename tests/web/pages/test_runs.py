"""The table of runs. `record` makes runs of three evals, of which the second fails."""

from typing import Any

import pytest
from starlette.testclient import TestClient


@pytest.fixture
def recorded(record: Any) -> list[str]:
    return [record.run("tiny"), record.run("large", experiment="no_guidelines"), record.run("tiny", failing=())]


def shown(client: TestClient, **query: str) -> list[str]:
    return [each["id"] for each in client.get("/runs.json", params=query).json()["runs"]]


def test_without_runs_the_page_says_what_to_type(client: TestClient) -> None:
    assert "convex-evals run -m sample/apprentice" in client.get("/runs").text


def test_runs_come_newest_first_with_their_rate_and_interval(client: TestClient, recorded: list[str]) -> None:
    assert shown(client) == recorded[::-1]
    first = client.get("/runs.json").json()["runs"][-1]
    assert (first["passed"], first["failed"], first["costUsd"]) == (2, 1, 0.75)
    assert first["low"] < first["passRate"] < first["high"]
    assert "66.7%" in client.get("/runs").text


@pytest.mark.parametrize(
    ("query", "chosen"),
    [
        ({"model": "large"}, [1]),
        ({"experiment": "default", "model": "tiny"}, [2, 0]),
        ({"status": "running"}, []),
        ({"q": "GUIDELINES"}, [1]),
        ({"sort": "started"}, [0, 1, 2]),
        ({"sort": "-rate", "model": "tiny"}, [2, 0]),
        ({"sort": "nonsense"}, [2, 1, 0]),
    ],
)
def test_the_address_filters_and_sorts(
    client: TestClient, recorded: list[str], query: dict[str, str], chosen: list[int]
) -> None:
    assert shown(client, **query) == [recorded[index] for index in chosen]


def test_a_filter_is_a_chip_that_removes_it(client: TestClient, recorded: list[str]) -> None:
    page = client.get("/runs", params={"model": "large", "sort": "cost"}).text
    assert 'class="chip on" href="/runs?sort=cost"' in page


def test_many_runs_are_shown_in_pages(client: TestClient, record: Any) -> None:
    for _ in range(51):
        record.begin()
    assert client.get("/runs").text.count("<tr data-row>") == 50
    assert client.get("/runs", params={"page": "2"}).text.count("<tr data-row>") == 1


def test_a_hidden_run_is_not_listed(client: TestClient, record: Any, recorded: list[str]) -> None:
    record.store.decisions.hide(recorded[0], "ada", "a wrong key")
    assert shown(client) == recorded[:0:-1]


def test_a_run_that_ends_while_the_server_is_up_is_read_again(client: TestClient, record: Any) -> None:
    run_id = record.begin()
    assert client.get("/runs.json").json()["runs"][0]["status"] == "running"
    record.attempt(run_id, "000-basics/000-first")
    record.store.finish_run(run_id, "completed")
    assert client.get("/runs.json").json()["runs"][0]["status"] == "completed"
