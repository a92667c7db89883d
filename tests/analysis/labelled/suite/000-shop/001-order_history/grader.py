"""Orders since a moment."""

from convex_evals.pipeline.grading.kit import Deployment, same_schema


def seed(project: Deployment) -> None:
    for customer, placed_at in (("ada", 100), ("ada", 200), ("alan", 250), ("ada", 300)):
        project.insert("orders", customer=customer, placedAt=placed_at, total=placed_at / 10)


def totals(project: Deployment, time: int) -> list[float]:
    return [order["total"] for order in project.query("index:ordersSince", customer="ada", time=time)]


def test_the_orders_of_the_customer_alone_are_returned(project: Deployment) -> None:
    seed(project)
    assert totals(project, 150) == [30, 20]


def test_an_order_of_that_very_moment_is_in_the_result(project: Deployment) -> None:
    seed(project)
    assert totals(project, 300) == [30]


def test_the_schema_is_that_of_the_answer(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
