"""The content of a workspace is deleted in batches that can be stopped and go on."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, wait_until

MOST_DOCUMENTS = 300
LEAST_DELETED = 50
patience = [40.0]


def wait(condition: Callable[[], object], what: str) -> None:
    """Once something has not come, nothing else gets that much time: the answer is wrong anyway."""
    try:
        wait_until(condition, what, seconds=patience[0])
    except AssertionError:
        patience[0] = 1.0
        raise


def seed(project: Deployment, workspace: str, comments: Sequence[int]) -> int:
    """A note with so many comments for each number; how many documents that makes."""
    notes = project.insert_many("notes", [{"workspace": workspace, "text": "n"} for _ in comments])
    rows = [
        {"noteId": note, "text": str(number)}
        for note, count in zip(notes, comments, strict=True)
        for number in range(count)
    ]
    if rows:
        project.insert_many("comments", rows)
    return len(notes) + len(rows)


def remaining(project: Deployment, workspace: str) -> int:
    """Notes and comments of the workspace. Fails if there is a comment without a note.

    Notes are read first, because an erasure may go on between the two calls."""
    places = {note["_id"]: note["workspace"] for note in project.documents("notes")}
    comments = project.documents("comments")
    assert [each for each in comments if each["noteId"] not in places] == [], "comments without a note"
    mine = [each for each in comments if places[each["noteId"]] == workspace]
    return list(places.values()).count(workspace) + len(mine)


def start(project: Deployment, workspace: str = "w") -> None:
    assert project.mutation("erasure:start", workspace=workspace) is None


def cancel(project: Deployment, workspace: str = "w") -> None:
    assert project.mutation("erasure:cancel", workspace=workspace) is None


def progress(project: Deployment, workspace: str = "w") -> Any:
    return project.query("erasure:progress", workspace=workspace)


def finish(project: Deployment, total: int, workspace: str = "w") -> None:
    project.advance(minutes=1)
    wait(lambda: progress(project, workspace) == {"state": "done", "deleted": total}, "the end of the erasure")
    assert remaining(project, workspace) == 0


def erase(project: Deployment, total: int) -> list[Any]:
    """All that was executed for it."""
    with project.trace(scheduled=True) as work:
        start(project)
        project.advance(minutes=1)
        wait(lambda: remaining(project, "w") == 0, "the end of the erasure")
    finish(project, total)
    return work.calls


MANY_NOTES = [0, 1, 0, 2, 5] * 40
ONE_NOTE = [420, 0, 1]


@pytest.mark.parametrize("comments", [MANY_NOTES, ONE_NOTE, [90, 110, 99, 100, 101, 10]], ids=["many", "one", "edges"])
def test_everything_is_deleted_in_transactions_of_bounded_size(project: Deployment, comments: list[int]) -> None:
    total = seed(project, "w", comments)
    others = seed(project, "other", [3, 0])
    calls = erase(project, total)
    assert remaining(project, "other") == others
    writing = [call for call in calls if call.kind == "mutation" and call.documents_written]
    assert max(call.documents_read for call in calls if call.kind != "action") <= MOST_DOCUMENTS
    assert max(call.documents_written for call in writing) <= MOST_DOCUMENTS
    bookkeeping = 3
    assert len(writing) <= total / LEAST_DELETED + bookkeeping, "transactions that delete too little"


def test_a_workspace_beside_a_large_one_is_erased_in_transactions_of_bounded_size(project: Deployment) -> None:
    others = seed(project, "other", [MOST_DOCUMENTS, *[0] * MOST_DOCUMENTS])
    total = seed(project, "w", [2] * 40)
    calls = erase(project, total)
    assert remaining(project, "other") == others
    assert max(call.documents_read for call in calls if call.kind != "action") <= MOST_DOCUMENTS


def test_an_empty_workspace_is_done_soon(project: Deployment) -> None:
    assert progress(project) is None
    cancel(project)
    assert progress(project) is None
    start(project)
    finish(project, 0)
    start(project, "v")
    finish(project, 0, "v")


def test_the_state_is_running_until_everything_is_gone(project: Deployment) -> None:
    total = seed(project, "w", [250, 250])
    start(project)
    found = progress(project)
    assert found["state"] == "running" or found["deleted"] == total
    finish(project, total)


def test_nothing_is_deleted_after_a_cancellation(project: Deployment) -> None:
    total = seed(project, "w", [800, 30, *[1] * 100])
    start(project)
    cancel(project)
    found, left = progress(project), remaining(project, "w")
    assert found["deleted"] == total - left
    assert found["state"] == "canceled" or not left
    project.advance(hours=1)
    assert (progress(project), remaining(project, "w")) == (found, left)
    cancel(project)
    assert progress(project) == found
    if found["state"] == "canceled":
        start(project)
    finish(project, total)
    cancel(project)
    assert progress(project) == {"state": "done", "deleted": total}


def test_what_was_deleted_before_a_cancellation_still_counts(project: Deployment) -> None:
    total = seed(project, "w", [2000, *[1] * 200])
    start(project)
    wait(lambda: progress(project)["deleted"] > 0, "the first deletions")
    cancel(project)
    found = progress(project)
    assert 0 < found["deleted"] == total - remaining(project, "w")
    if found["state"] == "canceled":
        start(project)
        assert progress(project)["deleted"] >= found["deleted"]
    finish(project, total)


@pytest.mark.parametrize("seed_number", range(2))
def test_whenever_it_is_stopped_and_goes_on_the_count_is_right(project: Deployment, seed_number: int) -> None:
    chance = random.Random(seed_number)
    total = seed(project, "w", [*[chance.randrange(5) for _ in range(60)], 400, *[1] * 50])
    others = seed(project, "other", [2, 2])
    start(project)
    for _ in range(6):
        chance.choice([start, cancel, cancel, progress])(project)
        if chance.random() < 0.5:
            cancel(project)
            found = progress(project)
            assert found["deleted"] + remaining(project, "w") == total
            assert found["state"] == "canceled" or found["deleted"] == total
            start(project)
            if found["state"] == "done":
                total = 0  # a new erasure has begun
    start(project)
    assert remaining(project, "other") == others
    project.advance(minutes=1)
    wait(lambda: progress(project)["state"] == "done", "the end of the erasure")
    assert progress(project)["deleted"] in (total, 0)
    assert remaining(project, "w") == 0


def test_a_restart_in_the_middle_does_not_end_it(project: Deployment) -> None:
    total = seed(project, "w", [400, 30, *[1] * 60])
    start(project)
    project.restart()
    found = progress(project)
    assert found["state"] == "running" or found["deleted"] == total
    finish(project, total)


def test_nothing_is_added_while_a_workspace_is_erased(project: Deployment) -> None:
    other = project.mutation("notes:addNote", workspace="other", text="other")
    for _ in range(10):
        note = project.mutation("notes:addNote", workspace="w", text="old")
        project.mutation("notes:addComment", noteId=note, text="hi")
        total = 2 + seed(project, "w", [900, *[1] * 100])
        start(project)
        cancel(project)
        if remaining(project, "w"):  # unless the erasure was quicker
            break
    assert progress(project)["state"] == "canceled"
    kept = next(each["_id"] for each in project.documents("notes") if each["workspace"] == "w")
    for path, arguments in (("addNote", {"workspace": "w"}), ("addComment", {"noteId": kept})):
        with project.fails(data={"code": "BEING_ERASED"}):
            project.mutation(f"notes:{path}", arguments, text="new")
    assert project.mutation("notes:addNote", workspace="fresh", text="new")
    assert project.mutation("notes:addComment", noteId=other, text="new")
    start(project)
    finish(project, total)
    with project.fails(data={"code": "NO_NOTE"}):
        project.mutation("notes:addComment", noteId=note, text="late")
    again = project.mutation("notes:addNote", workspace="w", text="new")
    project.mutation("notes:addComment", noteId=again, text="new")
    assert [each["text"] for each in project.documents("comments")] == ["new", "new"]
    start(project)
    finish(project, 2)


def test_progress_is_known_without_counting(project: Deployment) -> None:
    total = seed(project, "w", [20] * 10)
    start(project)
    finish(project, total)
    seed(project, "w", [20] * 10)
    with project.trace() as work:
        progress(project)
    assert work.documents_read <= 10


def test_progress_is_known_without_a_look_at_other_erasures(project: Deployment) -> None:
    for number in range(12):
        start(project, f"w{number}")
    finish(project, 0, "w0")
    with project.trace() as work:
        progress(project, "w0")
    assert work.documents_read <= 10


def test_notes_and_comments_are_stored_as_given(project: Deployment) -> None:
    note = project.mutation("notes:addNote", workspace="w", text="a")
    comment = project.mutation("notes:addComment", noteId=note, text="b")
    (stored_note,), (stored_comment,) = project.documents("notes"), project.documents("comments")
    assert (stored_note["_id"], stored_note["workspace"], stored_note["text"]) == (note, "w", "a")
    assert (stored_comment["_id"], stored_comment["noteId"], stored_comment["text"]) == (comment, note, "b")


def test_clients_can_call_nothing_else(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {
        "notes:addNote": "mutation",
        "notes:addComment": "mutation",
        "erasure:start": "mutation",
        "erasure:cancel": "mutation",
        "erasure:progress": "query",
    }
    for name, arguments in (
        ("erasure:start", {"workspace": 1}),
        ("erasure:cancel", {"workspace": 1}),
        ("notes:addNote", {"workspace": 1, "text": ""}),
        ("notes:addNote", {"workspace": "w", "text": 1}),
        ("notes:addComment", {"noteId": "x", "text": ""}),
    ):
        with project.fails("ArgumentValidationError"):
            project.mutation(name, arguments)
    with project.fails("ArgumentValidationError"):
        project.query("erasure:progress", workspace=1)
