"""The page of one result: everything that was kept of it, and what to compare it with."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from convex_evals.analysis.classification import Classification
from convex_evals.analysis.evidence import Found
from convex_evals.analysis.report import FailureReport, Recommendations, Report, RunFacts, keep_report, report_paths
from convex_evals.core.diagnostics import Place, type_error
from convex_evals.core.steps import StepResult
from convex_evals.scores import Generation, Outcome, PlannedEval
from convex_evals.suite import Suite, load_suite
from convex_evals.web import Site, create_app

EVAL = "000-basics/001-second"
HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e`javascript:alert(1)`"


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    folder = tmp_path / "evals" / EVAL
    (folder / "answer" / "convex").mkdir(parents=True)
    (folder / "TASK.txt").write_text("Write a backend.\n")
    (folder / "answer" / "convex" / "index.ts").write_text("export const name = 'the reference';\n")
    (folder / "grader.py").write_text("def test_counts() -> None:\n    assert count == 2\n")
    return load_suite(tmp_path / "evals")


@pytest.fixture
def desk(store: Any, suite: Suite, tmp_path: Path) -> Iterator[TestClient]:
    """A server with a suite, for the user who started it."""
    site = Site(store, suite=suite, reports=tmp_path / "reports", desk=True)
    with TestClient(create_app(site), base_url="http://127.0.0.1") as made:
        yield made


def address(run_id: str, name: str = EVAL) -> str:
    return f"/experiment/default/run/{run_id}/{name}"


def answered(
    record: Any, *, files: dict[str, str], response: str = "an answer", steps: tuple[StepResult, ...] = ()
) -> str:
    run_id: str = record.begin(evals=(PlannedEval(EVAL),))
    begun = record.store.begin_attempt(run_id, EVAL)
    record.store.record_generation(begun.id, Generation("a task", response, files))
    for step in steps:
        record.store.record_step(begun.id, step)
    record.store.finish_attempt(begun.id, Outcome("failed", "tsc"))
    return run_id


def test_a_failure_says_what_was_expected_and_received(desk: TestClient, record: Any) -> None:
    page = desk.get(address(record.run())).text
    for text in ("counts", "expected 2, got 3", "assert count == 2", "all of the output", "failure 1 of 1"):
        assert text in page
    assert '<h4>expected</h4><pre tabindex="0">2</pre>' in page


def test_the_answer_stands_against_the_reference_and_the_grader_is_there(desk: TestClient, record: Any) -> None:
    page = desk.get(address(record.run())).text
    assert ">the reference</span>" in page and 'id="d1-1"' in page
    assert 'id="g-2"' in page


def test_a_changed_reference_is_reported_as_changed(desk: TestClient, record: Any) -> None:
    assert "has changed since this run" in desk.get(address(record.run())).text


def test_an_unchanged_reference_is_not_reported_as_changed(desk: TestClient, record: Any, suite: Suite) -> None:
    prints = suite.evals[0].fingerprints
    run_id = record.begin(evals=(PlannedEval(EVAL, prints.content, prints.grader),))
    record.attempt(run_id, EVAL, passes=False)
    assert "has changed since this run" not in desk.get(address(run_id)).text


def test_without_a_suite_the_page_says_that_there_is_no_reference(client: TestClient, record: Any) -> None:
    assert "This server has no suite at hand" in client.get(address(record.run())).text


def test_a_type_error_leads_to_its_line_in_the_diff(desk: TestClient, record: Any) -> None:
    found = type_error("TS2339", "Property 'x' does not exist", Place("convex/index.ts", 2))
    files = {"convex/index.ts": "const a = 1;\nexport default a.x;\n"}
    run_id = answered(record, files=files, steps=(StepResult("tsc", "failed", diagnostics=(found,)),))
    page = desk.get(address(run_id)).text
    assert 'href="#d1-2"' in page and 'id="d1-2"' in page


def write_report(folder: Path, run_id: str, found: Found) -> None:
    judged = Classification("MODEL_FAULT", 0.9, "It is wrong.", "It is wrong.")
    failure = FailureReport(
        *(EVAL, 1, "tests", "", "count = 3", "count = 2", found, "How it was found.", judged, (), (), ()),
        repeat=False,
        history="",
        cure="",
    )
    facts = RunFacts(
        *(run_id, "2026-02-11", "acme", "tiny", None, "default", "completed", 0, 1, 1), 0.0, 0.1, evals=1, pass_rate=0.0
    )
    report = Report(facts, "2026-02-12", "rules", (), (failure,), (), (), Recommendations(), "All wrong.")
    keep_report(report, report_paths(folder, "acme", "tiny", run_id, report.date))


@pytest.mark.parametrize(
    ("found", "term"), [("isolated", "isolated cause"), ("located", "located cause"), ("unknown", "cause")]
)
def test_a_cause_is_called_what_the_analysis_calls_it(
    desk: TestClient, record: Any, tmp_path: Path, found: Found, term: str
) -> None:
    run_id = record.run()
    write_report(tmp_path / "reports", run_id, found)
    assert f"<dt>{term}</dt><dd>How it was found." in desk.get(address(run_id)).text


def test_hostile_text_of_a_model_stays_text_everywhere(desk: TestClient, record: Any) -> None:
    found = type_error("TS1", HOSTILE, Place(HOSTILE, 1))
    step = StepResult("tsc", "failed", excerpt=HOSTILE, notes=(HOSTILE,), diagnostics=(found,))
    files = {f"convex/{HOSTILE}.ts": HOSTILE, "long.ts": "x" * 1_000_000}
    page = desk.get(address(answered(record, files=files, response=HOSTILE, steps=(step,)))).text
    assert "<script>alert" not in page and "\x1b" not in page and "\u202e" not in page
    assert 'href="javascript:' not in page
    assert len(page) < 200_000


def test_every_file_can_be_had_as_it_was(desk: TestClient, record: Any) -> None:
    run_id = answered(record, files={"convex/a b.ts": "<b>\r\n"})
    (details,) = record.store.details(run_id)
    answer = desk.get(f"/artifact/{details.generation.files}/file/convex/a b.ts")
    assert answer.content == b"<b>\r\n"
    assert answer.headers["content-disposition"] == 'attachment; filename="a_b.ts"'
    assert (answer.headers["content-type"], answer.headers["x-content-type-options"]) == (
        *("application/octet-stream", "nosniff"),
    )
    assert desk.get(f"/artifact/{details.generation.response}/response.txt").text == "an answer"
    assert desk.get(f"/artifact/{'0' * 64}/x").status_code == 404


def test_a_damaged_artifact_is_reported_as_damaged_and_the_rest_is_shown(
    desk: TestClient, record: Any, execute: Any
) -> None:
    run_id = answered(record, files={"convex/a.ts": "export {};\n"}, response="the response")
    (details,) = record.store.details(run_id)
    execute("UPDATE artifact_chunks SET content = ? WHERE sha256 = ?", zlib.compress(b"?"), details.generation.response)
    page = desk.get(address(run_id)).text
    assert "is damaged; restore these scores from a backup" in page and "export" in page


def test_brackets_lead_through_the_failures(desk: TestClient, record: Any) -> None:
    run_id = record.run(failing=("000-basics/000-first", EVAL, "001-queries/000-index"))
    page = desk.get(address(run_id)).text
    assert f'data-previous href="{address(run_id, "000-basics/000-first")}"' in page
    assert f'data-next href="{address(run_id, "001-queries/000-index")}"' in page
    assert "failure 2 of 3" in page


def test_every_attempt_is_kept_and_the_last_counts(desk: TestClient, record: Any) -> None:
    run_id = record.begin()
    begun = record.store.begin_attempt(run_id, EVAL)
    record.store.finish_attempt(begun.id, Outcome("infrastructure", failure="worker-crashed"))
    record.attempt(run_id, EVAL)
    page = desk.get(address(run_id)).text
    assert "worker-crashed" in page and 'class="badge">counts' in page


@pytest.mark.parametrize("rest", ["000-basics/009-none", f"{EVAL}?trial=7"])
def test_what_is_not_in_the_run_is_not_found(desk: TestClient, record: Any, rest: str) -> None:
    assert desk.get(address(record.run(), rest)).status_code == 404


def test_a_short_id_or_another_experiment_leads_to_the_result(desk: TestClient, record: Any) -> None:
    run_id = record.run()
    for given in (f"/experiment/default/run/{run_id[:6]}/{EVAL}", f"/experiment/other/run/{run_id}/{EVAL}"):
        assert desk.get(given, follow_redirects=False).headers["location"] == address(run_id)


def test_a_label_is_added_by_the_local_user(desk: TestClient, record: Any) -> None:
    run_id = record.run()
    said = {"class": "OVERLY_STRICT", "note": "Two is right.", "who": "Ada"}
    answer = desk.post(f"{address(run_id)}/labels", data=said, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{address(run_id)}?tab=why")
    page = desk.get(address(run_id)).text
    assert "Two is right." in page and "Ada" in page


def test_a_cross_origin_page_cannot_label(desk: TestClient, record: Any) -> None:
    headers = {"Origin": "https://evil.example"}
    answer = desk.post(f"{address(record.run())}/labels", data={"class": "MODEL_FAULT"}, headers=headers)
    assert answer.status_code == 403


def test_a_label_needs_the_right_to_label_on_a_server_for_others(client: TestClient, record: Any) -> None:
    run_id = record.run()
    assert "Labelling needs a token" in client.get(address(run_id)).text
    assert client.post(f"{address(run_id)}/labels", data={"class": "MODEL_FAULT"}).status_code == 401
    token = record.store.tokens.create("grace", ("label",)).token
    headers = {"Authorization": f"Bearer {token}"}
    sent = client.post(
        f"{address(run_id)}/labels", data={"class": "MODEL_FAULT"}, headers=headers, follow_redirects=False
    )
    assert sent.status_code == 303
    assert [label.who for label in record.store.labels.of_run(run_id)] == ["grace"]
