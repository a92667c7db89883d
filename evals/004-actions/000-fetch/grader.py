"""Actions that fetch: what they send, and what they make of every kind of answer."""

from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Reply, WebServer, same_function_spec

INVALID = {"code": "INVALID_RESPONSE"}
NO_BOOK: dict[str, Reply] = {
    "no JSON": Reply.text("<html></html>"),
    "nothing": Reply(),
    "null": Reply.json(None),
    "a list": Reply.json(["Emma", 1815]),
    "a text": Reply.json("Emma"),
    "no title": Reply.json({"year": 1815}),
    "no year": Reply.json({"title": "Emma"}),
    "a year as text": Reply.json({"title": "Emma", "year": "1815"}),
    "a number as title": Reply.json({"title": 1815, "year": 1815}),
}
NO_ID: dict[str, Reply] = {
    "no JSON": Reply.text("created", 201),
    "null": Reply.json(None, 201),
    "no id": Reply.json({"title": "Emma"}, 201),
    "a number as id": Reply.json({"id": 5}, 201),
}


def get(project: Deployment, base_url: str, isbn: str = "1") -> Any:
    return project.action("index:getBook", baseUrl=base_url, isbn=isbn)


def add(project: Deployment, base_url: str) -> Any:
    return project.action("index:addBook", baseUrl=base_url, title="Emma", year=1815, token="key-5")


def test_a_book_is_fetched_with_one_request(project: Deployment, web_server: WebServer) -> None:
    web_server.reply("GET", "/books/978-1", Reply.json({"title": "Emma", "year": 1815, "pages": 474}))
    assert get(project, web_server.url, "978-1") == {"title": "Emma", "year": 1815}
    [request] = web_server.requests
    assert (request.method, request.path, request.query) == ("GET", "/books/978-1", {})
    assert request.headers["accept"] == "application/json"


def test_an_isbn_is_one_segment_of_the_path(project: Deployment, web_server: WebServer) -> None:
    web_server.reply("GET", "/books/a%2Fb%20c%3Fd%23e", Reply.json({"title": "", "year": 0}))
    assert get(project, web_server.url, "a/b c?d#e") == {"title": "", "year": 0}


def test_a_book_that_is_not_found_is_null(project: Deployment, web_server: WebServer) -> None:
    web_server.reply("GET", "/books/1", Reply.text("not here", 404))
    assert get(project, web_server.url) is None
    assert len(web_server.requests) == 1


def test_a_book_is_added_with_one_request(project: Deployment, web_server: WebServer) -> None:
    web_server.reply("POST", "/books", Reply.json({"id": "b7", "title": "Emma"}, 201))
    assert add(project, web_server.url) == "b7"
    [request] = web_server.requests
    assert (request.method, request.path, request.json()) == ("POST", "/books", {"title": "Emma", "year": 1815})
    assert request.headers["content-type"].split(";")[0] == "application/json"
    assert request.headers["authorization"] == "Bearer key-5"


@pytest.mark.parametrize("status", [400, 403, 410, 500, 503])
def test_other_statuses_are_errors_that_tell_the_status(
    project: Deployment, web_server: WebServer, status: int
) -> None:
    web_server.reply("GET", "/books/1", Reply.json({"title": "Emma", "year": 1815}, status))
    web_server.reply("POST", "/books", Reply.json({"id": "b7"}, status))
    with project.fails(data={"code": "HTTP_ERROR", "status": status}):
        get(project, web_server.url)
    with project.fails(data={"code": "HTTP_ERROR", "status": status}):
        add(project, web_server.url)
    assert len(web_server.requests) == 2


def test_adding_where_there_is_nothing_is_an_error(project: Deployment, web_server: WebServer) -> None:
    with project.fails(data={"code": "HTTP_ERROR", "status": 404}):
        add(project, web_server.url)


@pytest.mark.parametrize("reply", NO_BOOK.values(), ids=NO_BOOK)
def test_an_answer_that_is_no_book_is_invalid(project: Deployment, web_server: WebServer, reply: Reply) -> None:
    web_server.reply("GET", "/books/1", reply)
    with project.fails(data=INVALID):
        get(project, web_server.url)


@pytest.mark.parametrize("reply", NO_ID.values(), ids=NO_ID)
def test_an_answer_without_an_id_is_invalid(project: Deployment, web_server: WebServer, reply: Reply) -> None:
    web_server.reply("POST", "/books", reply)
    with project.fails(data=INVALID):
        add(project, web_server.url)


def test_a_server_that_does_not_answer_is_unreachable(project: Deployment, web_server: WebServer) -> None:
    with project.fails(data={"code": "UNREACHABLE"}):
        get(project, web_server.nobody)
    with project.fails(data={"code": "UNREACHABLE"}):
        add(project, web_server.nobody)


def test_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_function_spec(project, answer)
    with project.fails("ArgumentValidationError"):
        project.action("index:getBook", baseUrl="", isbn=5)
    with project.fails("ArgumentValidationError"):
        project.action("index:addBook", baseUrl="", title="Emma", year="1815", token="key-5")
