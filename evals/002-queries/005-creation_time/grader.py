"""Notes created after a time, without a field for it and without reading the others."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema

TEXTS = ["c", "a", "e", "b", "d"]


def insert_notes(project: Deployment) -> list[dict[str, Any]]:
    """Each in a transaction of its own; oldest first."""
    for text in TEXTS:
        project.insert("notes", text=text)
    return project.documents("notes")[-len(TEXTS) :]


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_returns_complete_notes_newest_first(project: Deployment) -> None:
    notes = insert_notes(project)
    assert_same(project.query("index:getNotesCreatedAfter", time=0), notes[::-1], ignore=())


def test_a_note_created_exactly_at_the_time_is_not_returned(project: Deployment) -> None:
    notes = insert_notes(project)
    for position, note in enumerate(notes):
        found = project.query("index:getNotesCreatedAfter", time=note["_creationTime"])
        assert_same(found, notes[position + 1 :][::-1], ignore=(), what=f"the notes after number {position + 1}")


def test_fractions_of_a_millisecond_count(project: Deployment) -> None:
    project.insert_many("notes", [{"text": text} for text in TEXTS])
    notes = project.documents("notes")
    found = project.query("index:getNotesCreatedAfter", time=notes[1]["_creationTime"])
    assert_same(found, notes[2:][::-1], ignore=(), what="the notes of the same transaction after number 2")


def test_returns_an_empty_array_when_nothing_is_newer(project: Deployment) -> None:
    assert_same(project.query("index:getNotesCreatedAfter", time=0), [])
    newest = insert_notes(project)[-1]
    assert_same(project.query("index:getNotesCreatedAfter", time=newest["_creationTime"] + 60_000), [])


def test_reads_only_the_notes_it_returns(project: Deployment) -> None:
    project.insert_many("notes", [{"text": f"old {number}"} for number in range(200)])
    newest_old = project.documents("notes")[-1]
    notes = insert_notes(project)
    with project.trace() as work:
        found = project.query("index:getNotesCreatedAfter", time=newest_old["_creationTime"])
    assert_same(found, notes[::-1])
    assert work.documents_read <= 5, f"of 205 notes it returned 5, and read {work.documents_read}"


def test_rejects_arguments_that_are_not_a_time(project: Deployment) -> None:
    for arguments in ({}, {"time": "2026-01-01"}, {"time": None}):
        with project.fails("ArgumentValidationError"):
            project.query("index:getNotesCreatedAfter", arguments)
