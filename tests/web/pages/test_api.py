"""The page of the API and the page for logging in."""

from starlette.testclient import TestClient

from convex_evals.scores import ScoresStore
from convex_evals.web import Site, create_app


def test_every_route_of_the_description_is_listed(client: TestClient) -> None:
    page = client.get("/api").text
    for path in client.get("/api/openapi.json").json()["paths"]:
        assert path in page
    assert 'href="/api/openapi.json"' in page
    assert '<a data-open href="/api/v1/runs">' in page
    assert '<a data-open href="/api/v1/runs/{run}">' not in page


def test_an_unknown_reader_is_led_from_the_page_of_the_api_to_the_login(store: ScoresStore) -> None:
    app = create_app(Site(store, name="production", read="token"))
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=True) as client:
        page = client.get("/api").text
    assert "Log in to production" in page and 'name="next" value="/api"' in page
    assert "Leaderboard" not in page
