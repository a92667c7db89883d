"""HTTP in both directions: endpoints that answer, and an action that asks."""

from convex_evals.pipeline.grading.kit import Deployment, Reply, WebServer


def test_the_endpoint_shouts_what_it_is_told(project: Deployment) -> None:
    response = project.http.post("/shout", body="grün")
    assert (response.status, response.text) == (200, "GRÜN")


def test_the_backend_is_healthy(project: Deployment) -> None:
    assert project.http.get("/health").json() == {"ok": True}


def test_the_title_is_fetched(project: Deployment, web_server: WebServer) -> None:
    address = web_server.reply("GET", "/book", Reply.json({"title": "Emma"}))
    assert project.action("relay:title", url=address) == "Emma"
    assert len(web_server.requests) == 1
