"""The page of a run: what happened in it, eval by eval."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from convex_evals.core.diagnostics import Place, type_error
from convex_evals.core.steps import StepResult
from convex_evals.scores import Outcome, PlannedEval, RunPlan, ScoresStore
from convex_evals.web.pages.run import setting_text

EVALS = ("000-basics/000-first", "000-basics/001-second", "001-queries/000-index")


@pytest.fixture
def run_id(record: Any) -> str:
    made: str = record.run()
    return made


def address(run_id: str, rest: str = "") -> str:
    return f"/experiment/default/run/{run_id}{rest}"


def test_failures_come_first_and_say_why(client: TestClient, run_id: str) -> None:
    page = client.get(address(run_id)).text
    places = [page.index(f"/{name}") for name in ("001-second", "000-first", "000-index")]
    assert places[0] < min(places[1:])
    assert "expected 2, got 3" in page


def test_every_step_is_shown_by_icon_and_word(client: TestClient, run_id: str) -> None:
    page = client.get(address(run_id)).text
    assert "tests failed</span>" in page and "tsc passed</span>" in page and "1/2" in page


def test_ten_thousand_results_come_in_pages_with_failures_first(client: TestClient, record: Any) -> None:
    run_id = record.begin(trials=3_400)
    record.attempt(run_id, "001-queries/000-index", passes=False)
    first, last = client.get(address(run_id)).text, client.get(address(run_id, "?page=21")).text
    assert first.count("<tr data-row>") == 500 and last.count("<tr data-row>") == 200
    assert "page 1 of 21" in first and f'rel="next" href="{address(run_id)}?page=2"' in first
    assert "tests failed</span>" in first and "tests failed</span>" not in last and "data-sortable" not in first
    assert len(client.get(address(run_id, ".json")).json()["evals"]) == 10_200


def test_a_category_is_a_page_of_its_own(client: TestClient, run_id: str) -> None:
    page = client.get(address(run_id, "/001-queries")).text
    assert "000-index" in page and "001-second" not in page


def test_an_unknown_category_says_so(client: TestClient, run_id: str) -> None:
    answer = client.get(address(run_id, "/009-nothing"))
    assert answer.status_code == 404 and "has no category &#39;009-nothing&#39;" in answer.text


def test_another_experiment_or_a_short_id_leads_to_the_run(client: TestClient, run_id: str) -> None:
    for given in (f"/experiment/other/run/{run_id}", f"/experiment/default/run/{run_id[:8]}"):
        assert client.get(given, follow_redirects=False).headers["location"] == address(run_id)
    moved = client.get(f"/experiment/other/run/{run_id}/001-queries", follow_redirects=False)
    assert moved.headers["location"] == address(run_id, "/001-queries")


def test_an_unknown_run_is_looked_for_by_name(client: TestClient) -> None:
    answer = client.get(address("z" * 32))
    assert answer.status_code == 404 and "z" * 32 in answer.text


def test_the_twin_has_a_row_per_eval_with_its_steps(client: TestClient, run_id: str) -> None:
    rows = {row["eval"]: row for row in client.get(f"{address(run_id)}.json").json()["evals"]}
    failed = rows["000-basics/001-second"]
    assert (failed["status"], failed["failedStep"], failed["tsc"], failed["tests"]) == (
        *("failed", "tests", "passed", "failed"),
    )
    assert client.get(f"{address(run_id)}.csv").text.count("\r\n") == 4


def test_infrastructure_is_counted_apart(client: TestClient, record: Any) -> None:
    run_id = record.begin()
    begun = record.store.begin_attempt(run_id, "000-basics/000-first")
    record.store.finish_attempt(begun.id, Outcome("infrastructure", failure="worker-crashed"))
    record.attempt(run_id, "000-basics/001-second")
    page = client.get(address(run_id)).text
    assert "1 infrastructure" in page and "100.0%" in page


def test_compiler_errors_with_one_code_are_one_cause_only_if_they_say_the_same(client: TestClient, record: Any) -> None:
    run_id = record.begin()
    said = ("Property 'iter' does not exist on type 'Query<A>'.", "Property 'iter' does not exist on type 'Query<B>'.")
    for name, message in zip(EVALS, (*said, "Property 'getToken' does not exist on type 'Auth'."), strict=True):
        begun = record.store.begin_attempt(run_id, name)
        found = type_error("TS2339", message, Place("convex/index.ts", 1))
        record.store.record_step(begun.id, StepResult("tsc", "failed", diagnostics=(found,)))
        record.store.finish_attempt(begun.id, Outcome("failed", "tsc", "type-errors"))
    causes = client.get(address(run_id)).text.partition('data-part="causes"')[2].partition("</section>")[0]
    assert causes.count('<strong class="mono">TS2339</strong>') == 2
    assert causes.index("2 failures") < causes.index("Query") < causes.index("1 failure<") < causes.index("getToken")
    assert len(set(re.findall(r'id="(cause-\w+)"', causes))) == 2


def test_a_run_under_way_shows_what_runs_and_what_is_to_come(client: TestClient, record: Any) -> None:
    run_id = record.begin()
    record.attempt(run_id, "000-basics/000-first")
    record.store.begin_attempt(run_id, "000-basics/001-second")
    page = client.get(address(run_id)).text
    assert "1 running" in page and "1 to come" in page and "time left" in page
    assert f'data-live="/api/v1/events?run={run_id}"' in page


def test_the_time_left_does_not_count_the_pause_before_a_run_was_resumed(
    client: TestClient, record: Any, execute: Callable[..., None]
) -> None:
    run_id = record.begin()
    record.attempt(run_id, "000-basics/000-first")
    record.store.finish_run(run_id, "stopped", "interrupted")
    execute("UPDATE attempts SET started_at = datetime(started_at, '-1 day')")
    execute("UPDATE work_periods SET started_at = datetime(ended_at, '-1 day', '-20 minutes')")
    execute("UPDATE work_periods SET ended_at = datetime(ended_at, '-1 day')")
    record.store.resume_run(run_id)
    shown = re.search(r"time left</dt><dd[^>]*>([^<]*)", client.get(address(run_id)).text)
    assert shown is not None and shown[1].strip().startswith("about 40 min"), "twice what the first eval took"


def test_an_answer_that_was_graded_again_shows_what_it_cost(client: TestClient, record: Any) -> None:
    run_id, store = record.begin(), record.store
    asked = store.begin_attempt(run_id, "000-basics/000-first")
    store.record_generation(asked.id, record.generation("000-basics/000-first"))
    store.finish_attempt(asked.id, Outcome("infrastructure", failure="worker-died"))
    again = store.begin_attempt(run_id, "000-basics/000-first")
    store.reuse_generation(again.id, asked.id)
    store.finish_attempt(again.id, Outcome("passed"))
    rows = client.get(address(run_id, ".json")).json()["evals"]
    costs = {row["eval"]: row["costUsd"] for row in rows}
    assert costs["000-basics/000-first"] == 0.25 and set(costs.values()) == {0.25, None}


def test_trials_have_a_row_each(client: TestClient, record: Any) -> None:
    run_id = record.begin(trials=2, evals=(PlannedEval("000-basics/000-first"),))
    assert len(client.get(f"{address(run_id)}.json").json()["evals"]) == 2
    assert "?trial=2" in client.get(address(run_id)).text


def test_trials_that_were_added_bend_no_score(client: TestClient, record: Any) -> None:
    run_id = record.run()
    added = [("000-basics/001-second", trial) for trial in (2, 3)]
    before = client.get(address(run_id)).text
    record.store.add_trials(run_id, added)
    record.store.resume_run(run_id)
    for name, trial in added:
        record.store.finish_attempt(record.store.begin_attempt(run_id, name, trial).id, Outcome("passed"))
    page = client.get(address(run_id)).text
    assert "66.7%" in before and "66.7%" in page and page.count("50.0%") == before.count("50.0%") > 0
    assert "4 passed" in page


def test_without_a_report_the_page_says_how_to_write_one(client: TestClient, run_id: str) -> None:
    assert f"convex-evals analyze {run_id[:8]}" in client.get(address(run_id)).text


def test_what_a_model_is_called_is_text(client: TestClient, record: Any) -> None:
    run_id = record.run("<script>alert(1)</script>\u202e")
    page = client.get(address(run_id)).text
    assert "<script>alert" not in page and "\u202e" not in page


def test_the_command_that_repeats_a_run_selects_the_same_evals_at_the_same_address(
    client: TestClient, store: ScoresStore
) -> None:
    options = {
        "filtered": True,
        "selection": {"categories": ["basics"]},
        "asking": {"baseUrl": "http://127.0.0.1:8080/v1"},
    }
    run = store.create_run(
        RunPlan("local/slow", "local", "default", (PlannedEval("000-basics/000-first"),), 2, options=options)
    )
    page = client.get(address(run)).text
    assert "convex-evals run -m local/slow --base-url http://127.0.0.1:8080/v1 -c basics --trials 2" in page
    assert "<dt>selected</dt><dd><code>-c basics</code></dd>" in page


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "yes"), (False, "no"), (None, "–"), (["**/*"], "**/*"), ([], "–"), ({"a": [1, 2]}, "a: 1, 2"), ("x", "x")],
)
def test_settings_are_written_as_people_write_them(value: object, text: str) -> None:
    assert setting_text(value) == text


def test_a_run_that_was_stopped_is_called_interrupted_as_in_the_terminal(client: TestClient, record: Any) -> None:
    run_id = record.begin()
    record.store.finish_run(run_id, "stopped", "interrupted")
    for place in ("/", "/runs", address(run_id)):
        page = client.get(place).text
        assert "</span> interrupted</span>" in page and "</span> stopped</span>" not in page
    assert "It ended early" not in client.get(address(run_id)).text


def test_a_run_without_any_verdict_says_so(client: TestClient, store: ScoresStore) -> None:
    name = "000-basics/000-first"
    run_id = store.create_run(RunPlan("openai/gpt-5", "openai", "default", (PlannedEval(name),)))
    store.finish_attempt(store.begin_attempt(run_id, name).id, Outcome("infrastructure", failure="worker-died"))
    store.finish_run(run_id, "completed")
    for place in ("/", "/runs", address(run_id)):
        page = client.get(place).text
        assert "</span> no verdict</span>" in page and "</span> completed</span>" not in page
    assert "1 without verdict" in client.get("/").text and "1 without verdict" in client.get("/runs").text
