"""Notes of several owners: who sees what, in which order, and what is refused."""

from convex_evals.pipeline.grading.kit import Deployment, same_schema


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_notes_are_added_and_listed_in_order(project: Deployment) -> None:
    for owner, text in (("ada", "one"), ("ben", "two"), ("ada", "three")):
        project.mutation("notes:add", owner=owner, text=text)
    assert project.query("notes:list", owner="ada") == ["one", "three"]
    assert project.query("notes:list", owner="nobody") == []


def test_a_note_without_text_is_refused(project: Deployment) -> None:
    with project.fails("ArgumentValidationError"):
        project.mutation("notes:add", owner="ada")
    assert project.documents("notes") == []
