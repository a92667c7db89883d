"""Files go the whole way: upload URL, upload, save, download, removal; and files that are gone on the way."""

from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_function_spec, same_schema

GONE = {"url": None, "size": None, "contentType": None}


@pytest.fixture
def stored(project: Deployment) -> str:
    """The storage id of an uploaded file."""
    return project.storage.upload(b"hello", "text/plain")


def forget(project: Deployment, storage_id: str) -> None:
    """Deletes a stored file behind the functions' backs; the only one, so that all may go."""
    assert [file.id for file in project.storage.files()] == [storage_id]
    project.storage.clear()
    assert project.storage.get(storage_id) is None


def test_a_file_can_be_uploaded_saved_and_downloaded(project: Deployment) -> None:
    content = bytes(range(256)) * 8
    urls: list[str] = [project.mutation("index:generateUploadUrl") for _ in range(2)]
    assert urls[0] != urls[1], "every call must return a new URL"
    storage_id = project.storage.upload_to(urls[0], content, "image/png")
    document = project.mutation("index:save", name="picture", storageId=storage_id)
    assert_same(project.get(document), {"name": "picture", "storageId": storage_id}, what="the saved document")
    received: dict[str, Any] = project.query("index:get", documentId=document)
    downloaded = project.storage.download(received.pop("url"))
    assert received == {"name": "picture", "size": 2048, "contentType": "image/png"}
    assert (downloaded.status, downloaded.body) == (200, content)


def test_a_file_without_a_content_type_and_without_bytes_is_a_file_too(project: Deployment) -> None:
    storage_id = project.storage.upload_to(project.mutation("index:generateUploadUrl"), b"")
    expected = project.storage.get(storage_id)
    assert expected is not None
    document = project.mutation("index:save", name="", storageId=storage_id)
    received: dict[str, Any] = project.query("index:get", documentId=document)
    assert isinstance(received.pop("url"), str)
    assert received == {"name": "", "size": 0, "contentType": expected.content_type}


def test_saving_a_file_that_is_not_stored_is_an_error(project: Deployment, stored: str) -> None:
    forget(project, stored)
    with project.fails():
        project.mutation("index:save", name="gone", storageId=stored)
    assert project.documents("documents") == []


def test_ids_of_other_tables_are_rejected(project: Deployment, stored: str) -> None:
    document = project.insert("documents", name="a", storageId=stored)
    for wrong in (document, "a", 5):
        with project.fails("ArgumentValidationError"):
            project.mutation("index:save", name="b", storageId=wrong)
    with project.fails("ArgumentValidationError"):
        project.query("index:get", documentId=stored)
    assert len(project.documents("documents")) == 1


def test_a_document_that_is_gone_is_null(project: Deployment, stored: str) -> None:
    document = project.insert("documents", name="a", storageId=stored)
    project.delete("documents", document)
    assert project.query("index:get", documentId=document) is None


def test_a_document_whose_file_is_gone_has_no_url_size_and_type(project: Deployment, stored: str) -> None:
    document = project.insert("documents", name="a", storageId=stored)
    forget(project, stored)
    assert project.query("index:get", documentId=document) == {"name": "a", **GONE}


def test_removing_deletes_the_document_and_its_file_only(project: Deployment, stored: str) -> None:
    other = project.storage.upload(b"other", "text/plain")
    document, kept = project.insert_many(
        "documents", [{"name": "a", "storageId": stored}, {"name": "b", "storageId": other}]
    )
    url: str = project.query("index:get", documentId=document)["url"]
    assert project.mutation("index:remove", documentId=document) is None
    assert [each["_id"] for each in project.documents("documents")] == [kept]
    assert [file.id for file in project.storage.files()] == [other]
    assert project.storage.download(url).status == 404


def test_removing_a_document_that_is_gone_is_an_error_but_a_file_may_be_gone(project: Deployment, stored: str) -> None:
    document = project.insert("documents", name="a", storageId=stored)
    forget(project, stored)
    assert project.mutation("index:remove", documentId=document) is None
    assert project.documents("documents") == []
    with project.fails():
        project.mutation("index:remove", documentId=document)


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer)
