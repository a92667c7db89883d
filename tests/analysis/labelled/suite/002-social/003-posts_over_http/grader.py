"""Posts that come and go over HTTP."""

from convex_evals.pipeline.grading.kit import Deployment


def test_a_post_is_stored(project: Deployment) -> None:
    response = project.http.post("/posts", json={"author": "ada", "text": "hello"})
    assert response.status == 201
    assert [post["text"] for post in project.documents("posts")] == ["hello"]


def test_a_post_without_text_is_refused(project: Deployment) -> None:
    assert project.http.post("/posts", json={"author": "ada"}).status == 400
    assert project.documents("posts") == []


def test_the_newest_post_is_listed_first(project: Deployment) -> None:
    project.insert_many("posts", [{"author": "ada", "text": "old"}, {"author": "alan", "text": "new"}])
    expected = [{"author": "alan", "text": "new"}, {"author": "ada", "text": "old"}]
    assert project.http.get("/posts").json() == expected


def test_the_list_is_json(project: Deployment) -> None:
    assert project.http.get("/posts").header("content-type") == "application/json"


def test_the_list_is_compact(project: Deployment) -> None:
    project.insert("posts", author="ada", text="hello")
    assert project.http.get("/posts").text == '[{"author":"ada","text":"hello"}]'
