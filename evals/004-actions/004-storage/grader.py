"""Actions that store, read, replace and delete files."""

from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, same_function_spec

EVERY_BYTE = bytes(range(256))
TAKE_AN_ID = ("read", "append", "remove")


def call(project: Deployment, function: str, storage_id: str) -> Any:
    args = {"storageId": storage_id} | ({"text": "more"} if function == "append" else {})
    return project.action(f"index:{function}", args)


def contents(project: Deployment) -> list[tuple[str, bytes, str | None]]:
    """Id, bytes and content type of every stored file."""
    files = project.storage.files()
    return [(file.id, project.storage.download(file.url).body, file.content_type) for file in files]


@pytest.fixture
def gone(project: Deployment) -> str:
    """The storage id of a file that is deleted."""
    storage_id = project.storage.upload(b"gone", "text/plain")
    project.storage.clear()
    return storage_id


@pytest.mark.parametrize("text", ["hello", "grün 🌱", ""])
def test_a_text_is_stored_in_utf_8(project: Deployment, text: str) -> None:
    stored = project.action("index:saveText", text=text)
    assert contents(project) == [(stored, text.encode(), "text/plain")]


@pytest.mark.parametrize("content_type", ["image/png", "application/x-ours"])
def test_bytes_are_stored_as_they_are_and_can_be_downloaded(project: Deployment, content_type: str) -> None:
    saved: dict[str, Any] = project.action("index:saveBytes", bytes=EVERY_BYTE, contentType=content_type)
    assert saved.keys() == {"storageId", "url"}
    downloaded = project.storage.download(saved["url"])
    assert (downloaded.status, downloaded.body) == (200, EVERY_BYTE)
    assert contents(project) == [(saved["storageId"], EVERY_BYTE, content_type)]


def test_a_file_is_read_as_text_with_its_size_and_content_type(project: Deployment) -> None:
    page = project.storage.upload("<p>grün</p>".encode(), "text/html")
    empty = project.storage.upload(b"", "image/png")
    assert call(project, "read", page) == {"text": "<p>grün</p>", "size": 12, "contentType": "text/html"}
    assert call(project, "read", empty) == {"text": "", "size": 0, "contentType": "image/png"}
    assert len(project.storage.files()) == 2


def test_appending_replaces_the_file_by_a_longer_one(project: Deployment) -> None:
    other = project.storage.upload(b"other", "text/html")
    old = project.storage.upload(b"a,b\n", "text/csv")
    new = project.action("index:append", storageId=old, text="ü,d\n")
    assert new != old
    assert contents(project) == [(other, b"other", "text/html"), (new, "a,b\nü,d\n".encode(), "text/csv")]


def test_appending_keeps_bytes_that_are_not_text(project: Deployment) -> None:
    old = project.storage.upload(EVERY_BYTE, "image/png")
    new = project.action("index:append", storageId=old, text="end")
    assert contents(project) == [(new, EVERY_BYTE + b"end", "image/png")]


def test_appending_to_a_file_that_is_gone_is_an_error(project: Deployment, gone: str) -> None:
    with project.fails():
        call(project, "append", gone)
    assert project.storage.files() == []


def test_removing_deletes_one_file_and_tells_whether_there_was_one(project: Deployment) -> None:
    removed, kept = (project.storage.upload(content, "text/plain") for content in (b"", b"kept"))
    assert call(project, "remove", removed) is True
    assert [file.id for file in project.storage.files()] == [kept]
    assert call(project, "remove", removed) is False
    assert [file.id for file in project.storage.files()] == [kept]


def test_a_file_that_is_gone_is_read_as_null(project: Deployment, gone: str) -> None:
    assert call(project, "read", gone) is None


def test_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_function_spec(project, answer)
    for function in TAKE_AN_ID:
        with project.fails("ArgumentValidationError"):
            call(project, function, "some text")
    with project.fails("ArgumentValidationError"):
        project.action("index:saveBytes", bytes="aGVsbG8=", contentType="text/plain")
