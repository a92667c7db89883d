"""Files that come and go over HTTP: bytes, types, names, and files that take the place of others."""

from urllib.parse import quote

import pytest

from convex_evals.pipeline.grading.kit import Deployment, same_function_spec, same_schema

FUNCTIONS = ("files:save", "files:find")
EVERY_BYTE = bytes(range(256)) * 4


def upload(project: Deployment, name: str, content: bytes, content_type: str = "text/plain") -> str:
    """The storage id that the endpoint answers with."""
    response = project.http.post(f"/files?name={quote(name)}", body=content, headers={"Content-Type": content_type})
    assert response.status == 201, f"expected status 201, received {response!r}"
    answer = response.json()
    assert answer.keys() == {"storageId"}
    return str(answer["storageId"])


def documents(project: Deployment) -> list[tuple[str, str]]:
    return [(file["name"], file["storageId"]) for file in project.documents("files")]


def stored(project: Deployment) -> list[str]:
    return [file.id for file in project.storage.files()]


@pytest.mark.parametrize(("content", "content_type"), [(EVERY_BYTE, "image/png"), (b"", "text/css")])
def test_an_upload_is_stored_byte_by_byte_with_its_type(project: Deployment, content: bytes, content_type: str) -> None:
    storage_id = upload(project, "a/grün & 1.png", content, content_type)
    assert documents(project) == [("a/grün & 1.png", storage_id)]
    [file] = project.storage.files()
    assert (file.id, file.content_type) == (storage_id, content_type)
    assert project.storage.download(file.url).body == content


@pytest.mark.parametrize(("content", "content_type"), [(EVERY_BYTE, "image/png"), (b"a{}", "text/css")])
def test_a_file_is_served_with_its_bytes_and_its_type(project: Deployment, content: bytes, content_type: str) -> None:
    project.insert("files", name="other", storageId=project.storage.upload(b"other", "text/html"))
    project.insert("files", name="a & b", storageId=project.storage.upload(content, content_type))
    response = project.http.get("/files?name=a%20%26%20b")
    assert (response.status, response.header("Content-Type"), response.body) == (200, content_type, content)


def test_a_file_without_a_type_is_served_as_plain_bytes(project: Deployment) -> None:
    response = project.http.post("/files?name=a", body=b"\x00\x01")
    assert response.status == 201
    served = project.http.get("/files?name=a")
    assert (served.status, served.header("Content-Type")) == (200, "application/octet-stream")
    assert served.body == b"\x00\x01"


def test_a_new_file_takes_the_place_of_the_old_one(project: Deployment) -> None:
    other = upload(project, "b", b"other")
    upload(project, "a", b"old")
    new = upload(project, "a", b"new", "text/html")
    assert documents(project) == [("b", other), ("a", new)]
    assert sorted(stored(project)) == sorted([other, new])
    served = project.http.get("/files?name=a")
    assert (served.body, served.header("Content-Type")) == (b"new", "text/html")


def test_a_new_file_may_follow_one_whose_bytes_are_gone(project: Deployment) -> None:
    project.insert("files", name="a", storageId=project.storage.upload(b"gone"))
    project.storage.clear()
    new = upload(project, "a", b"new")
    assert documents(project) == [("a", new)]


@pytest.mark.parametrize("query", ["", "?name=", "?title=a"])
def test_an_upload_without_a_name_is_refused_and_stores_nothing(project: Deployment, query: str) -> None:
    assert project.http.post(f"/files{query}", body=b"hello").status == 400
    assert (documents(project), stored(project)) == ([], [])


def test_what_is_not_there_is_not_found(project: Deployment) -> None:
    upload(project, "a", b"hello")
    for query in ("?name=A", "?name=b", "?name=", ""):
        assert project.http.get(f"/files{query}").status == 404
    project.storage.clear()
    assert project.http.get("/files?name=a").status == 404


def test_the_internal_functions_save_and_find(project: Deployment) -> None:
    old, new = (project.storage.upload(content) for content in (b"old", b"new"))
    assert project.admin.query("files:find", name="a") is None
    assert project.admin.mutation("files:save", name="a", storageId=old) is None
    assert project.admin.query("files:find", name="a") == old
    assert project.admin.mutation("files:save", name="a", storageId=new) is None
    assert project.admin.query("files:find", name="a") == new
    assert (documents(project), stored(project)) == ([("a", new)], [new])


def test_other_files_are_not_read(project: Deployment) -> None:
    storage_id = project.storage.upload(b"hello")
    project.insert_many("files", [{"name": f"file {number}", "storageId": storage_id} for number in range(50)])
    with project.trace() as work:
        project.admin.query("files:find", name="file 49")
        project.admin.mutation("files:save", name="new", storageId=storage_id)
    assert work.documents_read < 10


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, FUNCTIONS)
    assert [name for name, spec in project.functions().items() if spec.is_public] == []
    with project.fails("ArgumentValidationError"):
        project.admin.mutation("files:save", name="a", storageId="some text")
