from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from convex_evals.scores import ScoresStore
from convex_evals.suite import load_suite
from convex_evals.web import Site, create_app


def test_a_run_is_found_by_the_beginning_of_its_id(client: TestClient, run: str) -> None:
    answer = client.get(f"/run/{run[:8]}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (308, f"/experiment/default/run/{run}")


def test_a_model_is_found_by_its_short_name(client: TestClient, run: str) -> None:
    answer = client.get("/model/gpt-5", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (308, "/model/openai/gpt-5")


def test_an_eval_is_found_by_its_slug(client: TestClient, run: str) -> None:
    answer = client.get("/eval/index_and_filter", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (308, "/eval/002-queries/012-index_and_filter")


def test_what_several_things_are_called_leads_to_the_search(client: TestClient, run: str) -> None:
    assert client.get("/eval/0", follow_redirects=False).headers["location"] == "/search?q=0"


def test_parts_of_an_address_may_be_short_and_the_rest_of_it_stays(client: TestClient, run: str) -> None:
    whole = f"/experiment/default/run/{run}/002-queries/012-index_and_filter?tab=diff&diff=inline"
    for short in (f"{run[:8]}/002-queries/012-index_and_filter", f"{run}/002/012", f"{run}/queries/index_and_filter"):
        given = f"/experiment/other/run/{short}?tab=diff&diff=inline"
        answer = client.get(given)
        assert (answer.status_code, str(answer.url)) == (200, f"http://127.0.0.1{whole}")
    assert client.get(f"/experiment/default/run/{run}/mutations").url.path.endswith(f"{run}/003-mutations")
    assert client.get(f"/experiment/default/run/{run}/queries/0").status_code == 200
    assert client.get(f"/experiment/default/run/{run}/00/0").status_code == 404  # of two evals


def test_a_beginning_that_two_runs_share_leads_to_the_search(client: TestClient, record: Any, execute: Any) -> None:
    for _ in range(2):
        record.begin()
    execute("UPDATE runs SET id = 'aaaa' || substr(id, 5)")
    for rest in ("", "/000-basics", "/000-basics/000-first"):
        answer = client.get(f"/experiment/default/run/aaaa{rest}", follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (308, "/search?q=aaaa")


def test_an_eval_of_the_suite_is_found_before_it_is_run(store: ScoresStore, tmp_path: Path) -> None:
    folder = tmp_path / "evals/000-basics/007-never_run"
    (folder / "answer/convex").mkdir(parents=True)
    for name in ("TASK.txt", "grader.py", "answer/convex/index.ts"):
        (folder / name).write_text("# nothing yet\n")
    site = Site(store, suite=load_suite(tmp_path / "evals"))
    with TestClient(create_app(site), base_url="http://127.0.0.1") as client:
        found = client.get("/search.json", params={"q": "never"}).json()["found"]
        assert [each["address"] for each in found] == ["/eval/000-basics/007-never_run"]
        assert client.get("/eval/never_run").url.path == "/eval/000-basics/007-never_run"


def test_an_unknown_run_says_how_runs_are_named(client: TestClient) -> None:
    answer = client.get("/run/zzzz9999")
    assert answer.status_code == 404
    assert "There is no run &#39;zzzz9999&#39;" in answer.text and "first four characters" in answer.text


def test_the_search_finds_runs_models_and_evals(client: TestClient, run: str) -> None:
    found = client.get("/search.json", params={"q": "GPT"}).json()["found"]
    assert [each["kind"] for each in found] == ["run", "model"]
    assert [each["name"] for each in client.get("/search.json", params={"q": "insert"}).json()["found"]] == [
        "003-mutations/000-insert"
    ]


def test_a_percent_sign_is_searched_for_and_not_obeyed(client: TestClient, run: str) -> None:
    assert client.get("/search.json", params={"q": "%%%%"}).json() == {"found": []}


def test_what_is_searched_for_is_shown_as_text(client: TestClient) -> None:
    page = client.get("/search", params={"q": "<script>\u202e"}).text
    assert "Found for “&lt;script&gt;" in page and "\u202e" not in page
