"""Pages about models, evals and comparisons: what they say of a few runs whose results are known."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from convex_evals.analysis.classification import Classification
from convex_evals.analysis.report import FailureReport, Recommendations, Report, RunFacts, keep_report, report_paths
from convex_evals.cli import main
from convex_evals.scores import Benchmark, Fingerprints, ScoresStore
from convex_evals.suite import load_suite
from convex_evals.web import Site, create_app

DOCUMENTED = Path(__file__).parents[3] / "docs" / "web.md"
PRINTS = Fingerprints(pipeline="pipeline", toolchain="toolchain", prompt="prompt")
BARE = Fingerprints(pipeline="pipeline", toolchain="toolchain", prompt="bare")
EVALS = ("000-basics/000-first", "000-basics/001-second", "001-queries/000-index")
Run = Callable[..., str]


@pytest.fixture
def run(record: Any) -> Run:
    """A finished run that can be ranked."""

    def run(model: str = "acme/tiny", failing: tuple[str, ...] = (), **changes: Any) -> str:
        made: str = record.run(model, failing=failing, **{"fingerprints": PRINTS, **changes})
        return made

    return run


def mint(store: ScoresStore, run_id: str, name: str) -> None:
    prompts = {"default": "prompt", "no_guidelines": "bare"}
    version = Benchmark(name, store.planned(run_id), prompts, "pipeline", "toolchain", datetime.now(UTC))
    store.mint_benchmark(version)


def test_models_are_ranked_with_intervals_costs_and_what_guidelines_are_worth(
    client: TestClient, store: ScoresStore, run: Run
) -> None:
    mint(store, run("acme/good"), "v1")
    run("acme/bad", failing=EVALS[:2])
    run("acme/good", experiment="no_guidelines", fingerprints=BARE, failing=EVALS[:1])
    found = client.get("/leaderboard.json").json()
    assert found["benchmark"]["name"] == "v1"
    good, bad = found["models"]
    assert (good["model"], good["score"]["value"]) == ("acme/good", 1.0)
    assert good["withoutGuidelines"]["value"] == pytest.approx(2 / 3)
    assert good["guidelines"]["difference"] == pytest.approx(1 / 3)
    assert (bad["model"], bad["score"]["value"], bad["costPerSuite"]) == ("acme/bad", pytest.approx(1 / 3), 0.75)
    assert bad["rank"] == [1, 2]
    text = client.get("/leaderboard").text
    assert "benchmark v1" in text and "1–2" in text and "$0.75" in text and 'class="pareto"' in text


def test_the_page_and_the_terminal_say_the_same_in_json(
    client: TestClient, store: ScoresStore, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    mint(store, run("acme/good"), "v1")
    run("acme/bad", failing=EVALS[:2])
    run("acme/good", experiment="no_guidelines", fingerprints=BARE, failing=EVALS[:1])
    run("sample/expert")
    page = client.get("/leaderboard.json").json()
    assert main.run(["leaderboard", "--json", "--scores", str(store.location)]) == 0
    assert json.loads(capsys.readouterr().out) == page
    documented = DOCUMENTED.read_text().partition("### The leaderboard as JSON")[2]
    missing = [name for name in names_in(page) if f"`{name}`" not in documented]
    assert missing == []


def names_in(value: object) -> set[str]:
    """Of all fields, but for those that are names of models, evals or categories."""
    if isinstance(value, list):
        return set().union(*map(names_in, value)) if value else set()
    if not isinstance(value, dict):
        return set()
    named = {name for name in value if "/" not in name and not name[0].isdigit()}
    return named.union(*map(names_in, value.values()))


def test_a_version_and_an_experiment_can_be_chosen_and_unknown_ones_are_named(
    client: TestClient, store: ScoresStore, run: Run
) -> None:
    mint(store, run("acme/good"), "v1")
    run("acme/bare", experiment="no_guidelines", fingerprints=BARE)
    names = [each["model"] for each in client.get("/leaderboard/without-guidelines.json").json()["models"]]
    assert names == ["acme/bare"]
    assert client.get("/leaderboard.json?experiment=no_guidelines").json()["models"][0]["model"] == "acme/bare"
    missing = client.get("/leaderboard?benchmark=v7")
    assert missing.status_code == 404
    assert "There is no benchmark version &#39;v7&#39;; there are: v1." in missing.text


def test_what_is_not_ranked_is_listed_with_the_reason(client: TestClient, store: ScoresStore, run: Run) -> None:
    mint(store, run(), "v1")
    other = run(fingerprints=Fingerprints(pipeline="other", toolchain="toolchain", prompt="prompt"))
    run("sample/expert")
    left = {each["run"]: each["why"] for each in client.get("/leaderboard.json").json()["notRanked"]}
    assert left[other] == "graded with other options or another version of convex-evals"
    assert "a sample, not a model" in left.values()


def test_without_a_minted_version_complete_runs_are_compared_and_the_page_says_so(client: TestClient, run: Run) -> None:
    run("sample/expert")
    text = client.get("/leaderboard").text
    assert "No benchmark version is minted" in text
    assert '<span class="badge" title="recorded answers, not a model that can be called">sample</span>' in text


def test_samples_that_answered_a_part_of_the_suite_are_ranked_where_there_is_nothing_else(
    client: TestClient, run: Run
) -> None:
    """As after `demo`, whose evals are those that both samples have answered."""
    run("sample/good", (), options={"filtered": True})
    run("sample/bad", EVALS[:2], options={"filtered": True})
    models = client.get("/leaderboard.json").json()["models"]
    assert [each["model"] for each in models] == ["sample/good", "sample/bad"]
    run("acme/part", (), options={"filtered": True})
    ranked = client.get("/leaderboard.json").json()
    assert [each["model"] for each in ranked["models"]] == ["acme/part"]  # it answered the same evals


@pytest.mark.parametrize("address", ["/leaderboard", "/matrix", "/compare", "/reports", "/graders", "/schedule"])
def test_with_nothing_to_show_a_page_says_what_to_type(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 200
    assert "convex-evals " in answer.text


def test_a_filter_leaves_the_models_with_that_name(client: TestClient, run: Run) -> None:
    run("acme/one")
    run("acme/two")
    assert [each["model"] for each in client.get("/leaderboard.json?q=TWO").json()["models"]] == ["acme/two"]
    assert "No ranked model has this in its name." in client.get("/leaderboard?q=three").text


def test_the_csv_has_the_rows_of_the_page(client: TestClient, run: Run) -> None:
    run()
    head, row = client.get("/leaderboard", headers={"accept": "text/csv"}).text.splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=True))["category:000-basics"] == "1.0"


def test_a_model_has_its_runs_categories_and_causes(client: TestClient, run: Run) -> None:
    first = run(failing=EVALS[:1])
    run()
    text = client.get("/model/acme/tiny").text
    assert first[:8] in text
    assert "Score by category in the newest run of the whole suite" in text
    assert [each["failed"] for each in client.get("/model/acme/tiny.json").json()["runs"]] == [0, 1]
    assert client.get("/model/acme/ti", follow_redirects=False).headers["location"] == "/model/acme/tiny"
    assert client.get("/model/acme/nobody").status_code == 404


def write_report(folder: Path, causes: list[str]) -> None:
    """On acme/tiny, with a failure for each of the causes."""
    judged = Classification("MODEL_FAULT", 0.9, "It is wrong.", "It is wrong.")
    failures = [
        FailureReport(
            *(f"000-basics/{number:03}-x", 1, "tests", "", "", "", "stated", "", judged, (), (), (cause,)),
            repeat=False,
            history="",
            cure="",
        )
        for number, cause in enumerate(causes)
    ]
    run = RunFacts(
        *("a" * 32, "2026-02-11", "acme", "acme/tiny", None, "default", "completed", 0, len(causes), len(causes)),
        low=0.0,
        high=0.1,
        evals=len(causes),
        pass_rate=0.0,
    )
    report = Report(run, "2026-02-12", "rules", (), tuple(failures), (), (), Recommendations(), "All wrong.")
    keep_report(report, report_paths(folder, "acme", "acme/tiny", run.id, report.date))


def test_the_most_frequent_causes_come_first_and_the_others_are_counted(site: Site, run: Run) -> None:
    run()
    client = TestClient(create_app(site), base_url="http://127.0.0.1")
    write_report(site.reports, [*(f"lint:rule-{number:02}" for number in range(16)), *["test:zebra"] * 2])
    text = client.get("/model/acme/tiny").text
    assert text.index("zebra") < text.index("rule-00")
    assert "rule-13" in text and "rule-14" not in text
    assert "The 15 most frequent of 17 causes" in text


def test_an_eval_shows_who_passes_it_and_what_fails(client: TestClient, run: Run) -> None:
    failed = run(failing=EVALS[:1])
    run("acme/other")
    text = client.get(f"/eval/{EVALS[0]}").text
    assert "counts" in text and failed[:8] in text
    rows = {each["model"]: each for each in client.get(f"/eval/{EVALS[0]}.json").json()["runs"]}
    assert (rows["acme/tiny"]["failed_step"], rows["acme/other"]["passed"]) == ("tests", 1)
    assert client.get("/eval/000-basics/first", follow_redirects=False).headers["location"] == f"/eval/{EVALS[0]}"
    assert client.get("/eval/000-basics/999-nothing").status_code == 404


def test_the_matrix_is_sorted_by_what_fails_or_by_disagreement(client: TestClient, run: Run) -> None:
    run("acme/one", failing=EVALS[1:])
    run("acme/two", failing=EVALS[2:])
    rows = {each["eval"]: each for each in client.get("/matrix.json").json()["evals"]}
    assert [rows[name]["failing"] for name in EVALS] == [0, 0.5, 1]
    assert [(rows[name]["difficulty"], rows[name]["level"]) for name in EVALS] == [(0, None), (0.5, None), (1, None)]
    assert [rows[name]["disagreement"] for name in EVALS] == [0, 0.25, 0]
    text = client.get("/matrix?order=disagreement").text
    places = [text.rindex(f'data-open href="/eval/{name}"') for name in EVALS]
    assert places[1] < min(places[0], places[2])
    assert client.get("/matrix?order=failing").text == client.get("/matrix?order=difficulty").text.replace(
        "order=difficulty", "order=failing"
    )
    assert ">Failing</th>" in text and ">Difficulty</th>" not in text


def test_two_runs_are_compared_with_what_flipped_first(client: TestClient, run: Run) -> None:
    first, second = run("acme/one", failing=EVALS[:1]), run("acme/two", failing=EVALS[1:])
    text = client.get(f"/compare?runs={first[:8]},{second[:8]}").text
    assert text.index("Passed only by the first") < text.index("Passed only by the second")
    assert "cannot tell" in text
    facts = client.get(f"/compare.json?runs={first},{second}").json()
    assert facts["pairs"][0]["difference"] == pytest.approx(-1 / 3)
    assert {each["eval"]: each["change"] for each in facts["evals"]}[EVALS[0]] == "better"


def test_two_answers_to_an_eval_are_shown_side_by_side(client: TestClient, run: Run) -> None:
    first, second = run("acme/one"), run("acme/two")
    text = client.get(f"/compare?runs={first},{second}&eval={EVALS[0]}").text
    assert "the same in both" in text and "convex/index.ts" in text
    assert client.get(f"/compare?runs={first},{second}&eval=000-basics/999-no").status_code == 404


def test_more_than_two_runs_are_compared_in_pairs(client: TestClient, run: Run) -> None:
    runs = ",".join(run(f"acme/{number}") for number in range(3))
    assert client.get(f"/compare?runs={runs}").text.count("Passed by both") == 3


def test_grader_health_says_what_was_measured_and_what_was_not(client: TestClient, run: Run, site: Any) -> None:
    run("reference", labels=("validate",))
    text = client.get("/graders").text
    assert "not measured" in text
    row = client.get("/graders.json").json()["graders"][0]
    assert (row["eval"], row["reference_passed"], row["mutants"], row["flaky"]) == (EVALS[0], 1, None, None)


def test_checks_that_unrelated_models_fail_alike_are_listed_with_what_all_of_them_returned(
    client: TestClient, run: Run
) -> None:
    run("acme/one", failing=EVALS[:1], provider="acme")
    assert "unrelated models" not in client.get("/graders").text
    run("other/two", failing=EVALS[:1], provider="other")
    text = client.get("/graders").text
    assert "Checks that unrelated models fail alike" in text
    assert 'title="acme/one, other/two">2 of 2</td><td><code>2</code></td><td><code>3</code></td>' in text


def test_a_run_that_is_hidden_is_on_no_page(client: TestClient, store: ScoresStore, run: Run) -> None:
    hidden = run()
    assert hidden[:8] in client.get("/model/acme/tiny").text
    store.decisions.hide(hidden, "ada", "a mistake")
    assert client.get("/model/acme/tiny").status_code == 404


def test_difficulties_of_the_suite_are_on_the_pages(store: ScoresStore, run: Run, tmp_path: Path) -> None:
    first, second = run(failing=EVALS[:2]), run(failing=EVALS[:1])
    for name, level in zip(EVALS, ("hard", "easy", None), strict=True):
        (tmp_path / "evals" / name / "answer").mkdir(parents=True)
        (tmp_path / "evals" / name / "answer/index.ts").write_text("export {};\n")
        (tmp_path / "evals" / name / "TASK.txt").write_text("Do it.\n")
        tags = {"difficulty": {"level": level, "source": "author"}} if level else {}
        (tmp_path / "evals" / name / "eval.json").write_text(json.dumps({"tags": tags}))
    with TestClient(
        create_app(Site(store, suite=load_suite(tmp_path / "evals"))), base_url="http://127.0.0.1"
    ) as client:
        page = client.get(f"/experiment/default/run/{first}").text
        assert '<td class="nowrap">easy</td>' in page and '<td class="nowrap">no difficulty</td>' in page
        assert "Score by difficulty in the newest run" in client.get("/model/acme/acme/tiny").text
        rows = client.get(f"/compare?runs={first},{second}").text.split("<tr>")
        assert any("easy" in row and "0.0%" in row and "100.0%" in row for row in rows)
        header, row = (line.split(",") for line in client.get("/leaderboard.csv").text.splitlines())
        assert header[-3:] == ["difficulty:easy", "difficulty:hard", "difficulty:no difficulty"]
        assert row[-3:] == ["0.5", "0.0", "1.0"]
        assert [each["level"] for each in client.get("/matrix.json").json()["evals"]] == [
            "hard",
            "easy",
            "no difficulty",
        ]
        assert ">Difficulty</th>" in client.get("/matrix?tag=hard").text


def test_runs_of_selected_evals_have_no_score_on_the_page_of_their_model(client: TestClient, run: Run) -> None:
    run(failing=EVALS[:1], options={"filtered": True})
    (listed,) = client.get("/model/acme/acme/tiny.json").json()["runs"]
    assert (listed["score"], listed["low"], listed["passed"], listed["planned"]) == (None, None, 2, 3)
    text = client.get("/model/acme/acme/tiny").text
    assert ">2 of 3 passed</span>" in text and "66.7%" not in text
