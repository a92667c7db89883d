"""Notes are created, read, changed in part, overwritten as a whole, and deleted."""

from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, assert_same, same_function_spec, same_schema

Note = dict[str, Any]
NOTE: Note = {"title": "tea", "body": "green", "color": "red", "isPinned": True}
PLAIN: Note = {"title": "tea", "body": "green", "isPinned": False}


def is_accepted(project: Deployment, function: str, args: Note) -> bool:
    try:
        project.mutation(f"index:{function}", args)
    except CallFailed:
        return False
    return True


def test_a_note_is_created_unpinned_and_without_what_was_not_given(project: Deployment) -> None:
    plain = project.mutation("index:create", title="tea", body="green")
    red = project.mutation("index:create", title="", body="", color="red")
    assert_same(project.get(plain), PLAIN, what="the note without a color")
    assert_same(project.get(red), {"title": "", "body": "", "color": "red", "isPinned": False}, what="the red note")


def test_a_note_is_read_as_it_is_stored_and_is_null_when_it_is_gone(project: Deployment) -> None:
    note, other = project.insert_many("notes", [NOTE, PLAIN])
    assert project.query("index:get", noteId=note) == project.get(note)
    assert project.query("index:get", noteId=other) == project.get(other)
    project.delete("notes", note)
    assert project.query("index:get", noteId=note) is None


def test_all_notes_are_listed_the_newest_first(project: Deployment) -> None:
    assert project.query("index:list") == []
    for title in ("b", "c", "a"):
        project.insert("notes", {**PLAIN, "title": title})
    assert project.query("index:list") == project.documents("notes")[::-1]


@pytest.mark.parametrize(
    "changes", [{"title": "coffee"}, {"color": "blue", "body": ""}, {"isPinned": False}, {}], ids=str
)
def test_an_update_changes_the_given_fields_only(project: Deployment, changes: Note) -> None:
    note, other = project.insert("notes", NOTE), project.insert("notes", NOTE)
    before: Any = project.get(note)
    assert project.mutation("index:update", {"noteId": note, **changes}) is None
    assert project.get(note) == {**before, **changes}
    assert_same(project.get(other), NOTE, what="the other note")


def test_an_overwritten_note_has_exactly_the_given_fields(project: Deployment) -> None:
    note, other = project.insert("notes", NOTE), project.insert("notes", NOTE)
    before: Any = project.get(note)
    for replacement in ({"title": "coffee", "body": "", "isPinned": False}, {**NOTE, "color": "blue"}):
        assert project.mutation("index:overwrite", noteId=note, note=replacement) is None
        kept = {"_id": note, "_creationTime": before["_creationTime"]}
        assert project.get(note) == {**kept, **replacement}
    assert_same(project.get(other), NOTE, what="the other note")


def test_a_removed_note_is_gone_and_others_stay(project: Deployment) -> None:
    first, second, third = project.insert_many("notes", [NOTE, PLAIN, NOTE])
    assert project.mutation("index:remove", noteId=second) is None
    assert [note["_id"] for note in project.documents("notes")] == [first, third]


@pytest.mark.parametrize(
    ("function", "args"),
    [("update", {"title": "coffee"}), ("overwrite", {"note": NOTE}), ("remove", {})],
    ids=["update", "overwrite", "remove"],
)
def test_changing_a_note_that_is_gone_is_an_error(project: Deployment, function: str, args: Note) -> None:
    gone, other = project.insert_many("notes", [PLAIN, PLAIN])
    project.delete("notes", gone)
    with project.fails():
        project.mutation(f"index:{function}", {"noteId": gone, **args})
    assert [note["_id"] for note in project.documents("notes")] == [other]


def test_other_arguments_are_rejected_and_change_nothing(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer)
    note = project.insert("notes", NOTE)
    [before] = project.documents("notes")
    wrong: list[tuple[str, Note]] = [
        ("create", {"title": "tea"}),
        ("create", {"title": "tea", "body": 5}),
        ("create", {"title": "tea", "body": "green", "color": None}),
        ("create", {"title": "tea", "body": "green", "isPinned": True}),
        ("update", {"noteId": note, "isPinned": "yes"}),
        ("update", {"noteId": note, "size": 5}),
        ("update", {"noteId": "tea", "title": "coffee"}),
        ("overwrite", {"noteId": note, "note": {"title": "coffee"}}),
        ("overwrite", {"noteId": note, "note": {**NOTE, "size": 5}}),
        ("remove", {}),
        ("remove", {"noteId": "tea"}),
        ("remove", {"noteId": project.storage.upload(b"not a note")}),
    ]
    assert [case for case in wrong if is_accepted(project, *case)] == []
    assert project.documents("notes") == [before]
