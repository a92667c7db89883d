"""The home page: what happens, and what has changed."""

from typing import Any

from starlette.testclient import TestClient


def test_without_runs_the_page_says_what_to_type(client: TestClient) -> None:
    assert "convex-evals demo" in client.get("/").text


def test_evals_that_turned_are_told_apart(client: TestClient, record: Any) -> None:
    record.run(failing=("000-basics/000-first",))
    latest = record.run(failing=("000-basics/001-second",))
    page = client.get("/").text
    failing, passing = page.index("Newly failing"), page.index("Newly passing")
    assert failing < page.index(f"{latest}/000-basics/001-second") < passing
    assert page.index(f"{latest}/000-basics/000-first") > passing


def test_runs_of_other_models_are_not_held_against_each_other(client: TestClient, record: Any) -> None:
    record.run("large", failing=())
    record.run("tiny")
    assert "No eval that passed before fails" in client.get("/").text


def test_what_runs_now_is_shown_with_its_progress(client: TestClient, record: Any) -> None:
    run_id = record.begin()
    record.attempt(run_id, "000-basics/000-first")
    page = client.get("/").text
    assert "1 of 3 done" in page and 'data-live="/api/v1/events"' in page


def test_what_was_spent_is_added_up(client: TestClient, record: Any) -> None:
    record.run()
    record.run()
    assert "$1.50" in client.get("/").text
