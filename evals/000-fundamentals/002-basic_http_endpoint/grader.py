"""Two HTTP endpoints on one path, in front of internal functions."""

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Route, assert_same, same_function_spec, same_schema

FUNCTIONS = ("signups:add", "signups:emails")
NO_EMAIL: dict[str, str] = {
    "nothing": "",
    "no JSON": "email=ada@example.com",
    "broken JSON": '{"email": "ada@example.com"',
    "null": "null",
    "a text": '"ada@example.com"',
    "a list": '["ada@example.com"]',
    "no email": '{"mail": "ada@example.com"}',
    "a number": '{"email": 5}',
    "null as email": '{"email": null}',
    "an object as email": '{"email": {"address": "ada@example.com"}}',
    "an empty email": '{"email": ""}',
}


def sign_up(project: Deployment, email: str) -> str:
    response = project.http.post("/signups", json={"email": email})
    assert response.status == 201, f"expected status 201, received {response!r}"
    return str(response.json()["id"])


def test_a_post_stores_the_email_and_answers_with_the_new_id(project: Deployment) -> None:
    response = project.http.post("/signups", json={"email": " Ada@Example.com ", "source": "fair"})
    assert response.status == 201
    [stored] = project.documents("signups")
    assert_same(stored, {"email": " Ada@Example.com "}, what="the stored signup")
    assert response.json() == {"id": stored["_id"]}


def test_a_body_is_read_as_json_whatever_its_content_type(project: Deployment) -> None:
    response = project.http.post("/signups", body='{"email": "a@b.c"}', headers={"Content-Type": "text/plain"})
    assert response.status == 201
    assert [signup["email"] for signup in project.documents("signups")] == ["a@b.c"]


@pytest.mark.parametrize("body", NO_EMAIL.values(), ids=NO_EMAIL)
def test_a_body_without_an_email_is_answered_with_400_and_stores_nothing(project: Deployment, body: str) -> None:
    response = project.http.post("/signups", body=body, headers={"Content-Type": "application/json"})
    assert (response.status, response.json()) == (400, {"error": "email is required"})
    assert project.documents("signups") == []


def test_a_get_lists_all_emails_the_oldest_first(project: Deployment) -> None:
    empty = project.http.get("/signups")
    assert (empty.status, empty.json()) == (200, {"emails": []})
    emails = ["c@example.com", "a@example.com", "b@example.com", "a@example.com"]
    for email in emails:
        sign_up(project, email)
    listed = project.http.get("/signups")
    assert (listed.status, listed.json()) == (200, {"emails": emails})


def test_every_answer_says_that_it_is_json(project: Deployment) -> None:
    responses = {
        "POST": project.http.post("/signups", json={"email": "ada@example.com"}),
        "POST without an email": project.http.post("/signups", json={}),
        "GET": project.http.get("/signups"),
    }
    types = {name: (response.header("Content-Type") or "").split(";")[0] for name, response in responses.items()}
    assert types == dict.fromkeys(responses, "application/json")


def test_other_methods_and_paths_are_not_found(project: Deployment) -> None:
    assert project.routes() == [Route("GET", "/signups"), Route("POST", "/signups")]
    assert project.http.delete("/signups").status == 404
    assert project.http.put("/signups", json={"email": "ada@example.com"}).status == 404
    assert project.http.get("/signups/5").status == 404


def test_signups_are_out_of_reach_of_clients(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, FUNCTIONS)
    assert [name for name, spec in project.functions().items() if spec.is_public] == []
    with project.fails("Could not find public function"):
        project.mutation("signups:add", email="ada@example.com")
    added = project.admin.mutation("signups:add", email="ada@example.com")
    assert [signup["_id"] for signup in project.documents("signups")] == [added]
    assert project.admin.query("signups:emails") == ["ada@example.com"]
