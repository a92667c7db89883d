"""Figures over the orders of one customer."""

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema


def insert_orders(project: Deployment, **amounts: list[float]) -> None:
    for customer, values in amounts.items():
        project.insert_many("orders", [{"customer": customer, "amount": value} for value in values])


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_computes_the_figures_of_the_customer_alone(project: Deployment) -> None:
    insert_orders(project, ada=[30, 10, 20], alan=[9, 100], grace=[1, 2, 2, 2], kurt=[5])
    for customer, expected in {
        "ada": {"count": 3, "total": 60, "average": 20, "smallest": 10, "largest": 30},
        "alan": {"count": 2, "total": 109, "average": 54.5, "smallest": 9, "largest": 100},
        "grace": {"count": 4, "total": 7, "average": 1.75, "smallest": 1, "largest": 2},
        "kurt": {"count": 1, "total": 5, "average": 5, "smallest": 5, "largest": 5},
    }.items():
        found = project.query("index:getOrderStatistics", customer=customer)
        assert_same(found, expected, what=f"the figures of {customer}")


def test_negative_amounts_and_zero_count_like_all_others(project: Deployment) -> None:
    insert_orders(project, ada=[-4, -1, -2.5], alan=[10, -10], grace=[0])
    for customer, expected in {
        "ada": {"count": 3, "total": -7.5, "average": -2.5, "smallest": -4, "largest": -1},
        "alan": {"count": 2, "total": 0, "average": 0, "smallest": -10, "largest": 10},
        "grace": {"count": 1, "total": 0, "average": 0, "smallest": 0, "largest": 0},
    }.items():
        found = project.query("index:getOrderStatistics", customer=customer)
        assert_same(found, expected, what=f"the figures of {customer}")


def test_without_orders_only_count_and_total_are_numbers(project: Deployment) -> None:
    insert_orders(project, alan=[1, 2])
    expected = {"count": 0, "total": 0, "average": None, "smallest": None, "largest": None}
    assert_same(project.query("index:getOrderStatistics", customer="ada"), expected)


def test_all_of_some_thousand_orders_count_and_are_read_once(project: Deployment) -> None:
    insert_orders(project, ada=list(range(3000)), alan=[-1] * 500)
    expected = {"count": 3000, "total": 4498500, "average": 1499.5, "smallest": 0, "largest": 2999}
    with project.trace() as work:
        found = project.query("index:getOrderStatistics", customer="ada")
    assert_same(found, expected)
    assert work.documents_read <= 3000, f"of 3500 orders 3000 are hers, and {work.documents_read} were read"


def test_rejects_arguments_that_are_not_one_customer(project: Deployment) -> None:
    for arguments in ({}, {"customer": 5}, {"customer": "ada", "currency": "EUR"}):
        with project.fails("ArgumentValidationError"):
            project.query("index:getOrderStatistics", arguments)
