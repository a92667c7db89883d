"""An action turns texts into stored files, a mutation keeps the record, and failures leave no file behind."""

from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_function_spec, same_schema

FUNCTIONS = ("index:saveReport", "index:insertReport", "index:getReport")


@pytest.fixture
def folder(project: Deployment) -> str:
    return project.insert("folders", name="2026")


@pytest.fixture
def gone(project: Deployment, folder: str) -> str:
    """The id of a folder that no longer exists."""
    deleted = project.insert("folders", name="2025")
    project.delete("folders", deleted)
    return deleted


def save(project: Deployment, folder: str, title: str, text: str) -> str:
    return str(project.action("index:saveReport", folderId=folder, title=title, text=text))


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, FUNCTIONS)


@pytest.mark.parametrize("text", ["Sales went up.\n", "Größe: 5 €", ""], ids=["plain", "other letters", "empty"])
def test_a_text_becomes_a_stored_file_and_a_report(project: Deployment, folder: str, text: str) -> None:
    report = save(project, folder, "Sales", text)
    [file] = project.storage.files()
    expected = {"folderId": folder, "title": "Sales", "storageId": file.id, "size": len(text.encode())}
    assert [each["_id"] for each in project.documents("reports")] == [report]
    assert_same(project.get(report), expected, what="the report")
    assert (file.content_type, file.size) == ("text/plain", len(text.encode()))
    assert project.storage.download(file.url).body == text.encode()


def test_a_report_can_be_read_and_downloaded(project: Deployment, folder: str) -> None:
    save(project, folder, "Costs", "Costs went down.")
    report = save(project, folder, "Sales", "Sales went up.")
    received: dict[str, Any] = project.query("index:getReport", reportId=report)
    downloaded = project.storage.download(received.pop("url"))
    assert received == {"title": "Sales", "size": 14}
    assert (downloaded.status, downloaded.body) == (200, b"Sales went up.")


def test_a_subscribed_report_becomes_null_when_it_is_gone(project: Deployment, folder: str) -> None:
    report = save(project, folder, "Sales", "Sales went up.")
    with project.subscribe("index:getReport", reportId=report) as live:
        live.wait_until(lambda value: value is not None)
        project.delete("reports", report)
        live.wait_until(lambda value: value is None)


def test_equal_reports_have_files_of_their_own(project: Deployment, folder: str) -> None:
    reports = [save(project, folder, "Sales", "Sales went up.") for _ in range(2)]
    assert [each["_id"] for each in project.documents("reports")] == reports
    assert_same([each["storageId"] for each in project.documents("reports")], [f.id for f in project.storage.files()])


def test_a_folder_that_is_gone_leaves_neither_a_report_nor_a_file(project: Deployment, folder: str, gone: str) -> None:
    kept = save(project, folder, "Costs", "Costs went down.")
    files = project.storage.files()
    with project.fails():
        save(project, gone, "Sales", "Sales went up.")
    assert [each["_id"] for each in project.documents("reports")] == [kept]
    assert_same([file.id for file in project.storage.files()], [file.id for file in files], what="the stored files")


def test_only_the_backend_itself_inserts_reports(project: Deployment, folder: str, gone: str) -> None:
    storage_id = project.storage.upload(b"Sales went up.", "text/plain")
    report = {"folderId": folder, "title": "Sales", "storageId": storage_id, "size": 14}
    with project.fails("Could not find public function"):
        project.mutation("index:insertReport", report)
    inserted = project.admin.mutation("index:insertReport", report)
    assert_same(project.get(inserted), report, what="the report")
    with project.fails():
        project.admin.mutation("index:insertReport", {**report, "folderId": gone})
    assert [each["_id"] for each in project.documents("reports")] == [inserted]


def test_other_arguments_are_rejected(project: Deployment, folder: str) -> None:
    storage_id = project.storage.upload(b"", "text/plain")
    right: dict[str, Any] = {"folderId": folder, "title": "Sales", "text": ""}
    record: dict[str, Any] = {"folderId": folder, "title": "Sales", "storageId": storage_id, "size": 0}
    wrong: list[tuple[Any, str, dict[str, Any]]] = [
        (project.action, "saveReport", {"folderId": folder, "title": "Sales"}),
        (project.action, "saveReport", {"folderId": folder, "text": ""}),
        (project.action, "saveReport", {**right, "folderId": "2026"}),
        (project.action, "saveReport", {**right, "title": 5}),
        (project.action, "saveReport", {**right, "text": b"Sales"}),
        (project.action, "saveReport", {**right, "size": 0}),
        (project.admin.mutation, "insertReport", {**record, "storageId": folder}),
        (project.admin.mutation, "insertReport", {**record, "folderId": storage_id}),
        (project.admin.mutation, "insertReport", {**record, "size": "0"}),
        (project.query, "getReport", {}),
        (project.query, "getReport", {"reportId": folder}),
    ]
    for call, function, arguments in wrong:
        with project.fails("ArgumentValidationError"):
            call(f"index:{function}", arguments)
    assert project.documents("reports") == []
    assert [file.id for file in project.storage.files()] == [storage_id]
