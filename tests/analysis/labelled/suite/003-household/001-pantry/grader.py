"""What is in the pantry."""

from convex_evals.pipeline.grading.kit import Deployment


def test_what_is_put_is_there(project: Deployment) -> None:
    project.mutation("index:put", name="rice", amount=3)
    project.mutation("index:put", name="rice", amount=2)
    assert project.query("index:getStock", name="rice") == 5


def test_what_is_taken_is_gone(project: Deployment) -> None:
    project.mutation("index:put", name="rice", amount=3)
    assert project.mutation("index:take", name="rice", amount=2) == 1
    assert project.query("index:getStock", name="rice") == 1


def test_no_more_can_be_taken_than_there_is(project: Deployment) -> None:
    project.mutation("index:put", name="rice", amount=3)
    with project.fails(data={"code": "NOT_ENOUGH"}):
        project.mutation("index:take", name="rice", amount=4)
    assert project.query("index:getStock", name="rice") == 3


def test_of_unknown_supplies_there_is_nothing(project: Deployment) -> None:
    assert project.query("index:getStock", name="beans") == 0
