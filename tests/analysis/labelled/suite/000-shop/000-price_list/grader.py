"""Prices of products."""

from convex_evals.pipeline.grading.kit import Deployment


def test_the_price_of_a_product_is_found_by_its_name(project: Deployment) -> None:
    project.mutation("index:addProduct", name="pen", cents=250, shelf="A")
    project.mutation("index:addProduct", name="ink", cents=1250, shelf="B")
    assert project.query("index:getPrice", name="ink") == 12.5


def test_an_unknown_product_has_no_price(project: Deployment) -> None:
    assert project.query("index:getPrice", name="chalk") is None


def test_a_product_without_a_name_can_be_stored(project: Deployment) -> None:
    project.mutation("index:addProduct", name="", cents=100, shelf="C")
    assert [product["name"] for product in project.documents("products")] == [""]
