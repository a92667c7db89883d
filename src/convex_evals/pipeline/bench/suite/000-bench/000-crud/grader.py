"""Create, read, update, delete."""

from convex_evals.pipeline.grading.kit import Deployment


def test_a_note_is_created_read_changed_and_removed(project: Deployment) -> None:
    note = project.mutation("index:create", {"text": "first"})
    assert project.query("index:read", {"id": note})["text"] == "first"
    project.mutation("index:update", {"id": note, "text": "second"})
    assert project.query("index:read", {"id": note})["text"] == "second"
    project.mutation("index:remove", {"id": note})
    assert project.query("index:read", {"id": note}) is None


def test_text_must_be_a_string(project: Deployment) -> None:
    with project.fails("ArgumentValidationError"):
        project.mutation("index:create", {"text": 5})
