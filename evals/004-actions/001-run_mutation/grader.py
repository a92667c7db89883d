"""An action that leaves what it found to a mutation, because it cannot write by itself."""

import pytest

from convex_evals.pipeline.grading.kit import (
    Deployment,
    Reply,
    WebServer,
    assert_same,
    same_function_spec,
    same_schema,
)

FUNCTIONS = ("index:record", "index:check")


def record(project: Deployment, url: str, status: int = 200, size: int = 10) -> int:
    return int(project.admin.mutation("index:record", url=url, status=status, size=size))


def test_a_first_check_is_recorded_in_a_new_document(project: Deployment, web_server: WebServer) -> None:
    url = web_server.reply("GET", "/a", Reply.text("grün", 201))
    assert project.action("index:check", url=url) == {"status": 201, "checks": 1}
    assert_same(project.documents("pages"), [{"url": url, "status": 201, "size": 4, "checks": 1}])
    assert [(request.method, request.path) for request in web_server.requests] == [("GET", "/a")]


def test_further_checks_change_the_document_of_their_url_only(project: Deployment, web_server: WebServer) -> None:
    first, second = (web_server.reply("GET", path, Reply.text("hello")) for path in ("/a", "/b"))
    project.action("index:check", url=first)
    project.action("index:check", url=second)
    [before, _] = project.documents("pages")
    web_server.reply("GET", "/b", Reply())
    assert project.action("index:check", url=second) == {"status": 200, "checks": 2}
    [unchanged, changed] = project.documents("pages")
    assert unchanged == before
    assert_same(changed, {"url": second, "status": 200, "size": 0, "checks": 2})


@pytest.mark.parametrize("status", [404, 500])
def test_error_statuses_are_recorded_as_well(project: Deployment, web_server: WebServer, status: int) -> None:
    url = web_server.reply("GET", "/a", Reply.text("sorry", status))
    assert project.action("index:check", url=url) == {"status": status, "checks": 1}
    assert_same(project.documents("pages"), [{"url": url, "status": status, "size": 5, "checks": 1}])


def test_nothing_is_recorded_when_nobody_answers(project: Deployment, web_server: WebServer) -> None:
    with project.fails():
        project.action("index:check", url=web_server.nobody)
    assert project.documents("pages") == []


def test_a_check_calls_record_exactly_once_and_nothing_else(project: Deployment, web_server: WebServer) -> None:
    url = web_server.reply("GET", "/a", Reply.text("hello"))
    record(project, url)
    with project.trace() as work:
        project.action("index:check", url=url)
    assert [(call.function, call.kind) for call in work.nested_calls] == [("index:record", "mutation")]


def test_recording_inserts_or_changes_one_document(project: Deployment) -> None:
    assert record(project, "x", 200, 10) == 1
    assert record(project, "y", 301, 0) == 1
    assert [record(project, "x", 404, 3), record(project, "x", 500, 7)] == [2, 3]
    expected = [
        {"url": "x", "status": 500, "size": 7, "checks": 3},
        {"url": "y", "status": 301, "size": 0, "checks": 1},
    ]
    assert_same(project.documents("pages"), expected)


def test_recording_does_not_read_other_pages(project: Deployment) -> None:
    others = [{"url": f"https://example.com/{number}", "status": 200, "size": 1, "checks": 1} for number in range(50)]
    project.insert_many("pages", others)
    with project.trace() as work:
        record(project, "https://example.com/49")
        record(project, "https://example.com/new")
    assert work.documents_read < 10


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, FUNCTIONS)
    with project.fails("Could not find public function"):
        project.mutation("index:record", url="x", status=200, size=1)
    with project.fails("ArgumentValidationError"):
        project.action("index:check", url=5)
