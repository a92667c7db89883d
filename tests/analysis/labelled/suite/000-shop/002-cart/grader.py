"""Carts with lines."""

from convex_evals.pipeline.grading.kit import Deployment


def test_the_same_item_is_one_line(project: Deployment) -> None:
    for item, quantity in (("pen", 2), ("ink", 1), ("pen", 3)):
        project.mutation("index:addItem", cart="a", item=item, quantity=quantity)
    expected = [{"item": "pen", "quantity": 5}, {"item": "ink", "quantity": 1}]
    assert project.query("index:getCart", cart="a") == expected


def test_an_item_is_taken_out(project: Deployment) -> None:
    project.mutation("index:addItem", cart="a", item="pen", quantity=2)
    project.mutation("index:removeItem", cart="a", item="pen")
    assert project.query("index:getCart", cart="a") == []


def test_taking_out_what_is_not_there_changes_nothing(project: Deployment) -> None:
    project.mutation("index:addItem", cart="a", item="pen", quantity=2)
    project.mutation("index:removeItem", cart="a", item="ink")
    assert project.query("index:getCart", cart="a") == [{"item": "pen", "quantity": 2}]


def test_a_quantity_of_zero_is_an_error(project: Deployment) -> None:
    with project.fails("The quantity must be positive"):
        project.mutation("index:addItem", cart="a", item="pen", quantity=0)
