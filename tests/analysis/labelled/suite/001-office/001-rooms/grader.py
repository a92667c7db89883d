"""Rooms and who has them."""

from convex_evals.pipeline.grading.kit import Deployment, same_schema


def test_a_room_cannot_be_booked_twice(project: Deployment) -> None:
    assert project.mutation("index:book", room="A", start=10, end=20) is True
    assert project.mutation("index:book", room="A", start=15, end=25) is False
    assert len(project.documents("bookings")) == 1


def test_other_rooms_are_still_free(project: Deployment) -> None:
    project.mutation("index:book", room="A", start=10, end=20)
    assert project.query("index:isFree", room="B", start=10, end=20) is True


def test_a_meeting_can_begin_when_another_ends(project: Deployment) -> None:
    project.mutation("index:book", room="A", start=10, end=20)
    assert project.query("index:isFree", room="A", start=20, end=30) is True


def test_the_tables_are_those_of_the_answer(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer, exact=True)
