from starlette.testclient import TestClient


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
