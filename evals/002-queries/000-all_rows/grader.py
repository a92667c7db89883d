"""The whole table, complete documents, oldest first."""

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema

PRODUCTS = [
    {"name": "pear", "price": 3, "inStock": True},
    {"name": "apple", "price": 0.5, "inStock": False},
    {"name": "zucchini", "price": 0, "inStock": True},
    {"name": "apple", "price": 2, "inStock": True},
    {"name": "mango", "price": 1, "inStock": False},
]


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_returns_an_empty_array_when_there_are_no_products(project: Deployment) -> None:
    assert_same(project.query("index:getAllProducts"), [])


def test_returns_complete_documents_oldest_first(project: Deployment) -> None:
    project.insert_many("products", PRODUCTS)
    assert_same(project.query("index:getAllProducts"), project.documents("products"), ignore=())


def test_leaves_none_of_several_hundred_products_out(project: Deployment) -> None:
    products = [{"name": f"product {number}", "price": number, "inStock": number % 3 == 0} for number in range(900)]
    project.insert_many("products", products)
    assert_same(project.query("index:getAllProducts"), products)


def test_does_not_return_products_that_are_gone(project: Deployment) -> None:
    first, second, *_ = project.insert_many("products", PRODUCTS)
    project.delete("products", second)
    project.replace(first, {"name": "quince", "price": 4, "inStock": False})
    expected = [{"name": "quince", "price": 4, "inStock": False}, *PRODUCTS[2:]]
    assert_same(project.query("index:getAllProducts"), expected)


def test_rejects_arguments(project: Deployment) -> None:
    with project.fails("ArgumentValidationError"):
        project.query("index:getAllProducts", limit=5)
