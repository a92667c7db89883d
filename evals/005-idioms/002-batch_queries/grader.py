"""An action that reads everything in one transaction and writes everything in another, however much it is."""

from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import (
    Deployment,
    Reply,
    WebRequest,
    WebServer,
    same_function_spec,
    same_schema,
)

PATH = "/prices"
GONE = {"code": "PRODUCT_NOT_FOUND"}


def double(request: WebRequest) -> Reply:
    return Reply.json({"prices": [2 * price for price in request.json()["prices"]]})


def insert(project: Deployment, count: int) -> list[str]:
    products = [{"name": f"product {number}", "price": number + 0.5} for number in range(count)]
    return project.insert_many("products", products)


def reprice(project: Deployment, ids: list[str], url: str) -> Any:
    return project.action("index:reprice", productIds=ids, pricingUrl=url)


def prices(project: Deployment) -> list[float]:
    return [product["price"] for product in project.documents("products")]


def test_the_prices_are_those_of_the_server_in_the_order_of_the_ids(project: Deployment, web_server: WebServer) -> None:
    ids = insert(project, 5)
    url = web_server.reply("POST", PATH, double)
    assert reprice(project, [ids[3], ids[0], ids[4]], url) == [
        {"name": "product 3", "price": 7},
        {"name": "product 0", "price": 1},
        {"name": "product 4", "price": 9},
    ]
    assert prices(project) == [1, 1.5, 2.5, 7, 9]
    assert [product["name"] for product in project.documents("products")] == [f"product {each}" for each in range(5)]
    assert [request.json() for request in web_server.requests] == [{"prices": [3.5, 0.5, 4.5]}]


@pytest.mark.parametrize("count", [1, 12])
def test_there_is_one_call_to_read_and_one_to_write(project: Deployment, web_server: WebServer, count: int) -> None:
    ids = insert(project, count)
    url = web_server.reply("POST", PATH, double)
    with project.trace() as work:
        reprice(project, ids, url)
    assert [call.kind for call in work.nested_calls] == ["query", "mutation"]
    assert prices(project) == [2 * number + 1 for number in range(count)]


def test_no_other_product_is_read(project: Deployment, web_server: WebServer) -> None:
    ids = insert(project, 60)
    url = web_server.reply("POST", PATH, double)
    with project.trace() as work:
        reprice(project, ids[:2], url)
    assert work.documents_read < 15


def test_a_product_that_is_gone_is_an_error_before_anything_is_sent(project: Deployment, web_server: WebServer) -> None:
    ids = insert(project, 3)
    project.delete("products", ids[1])
    url = web_server.reply("POST", PATH, double)
    with project.fails(data=GONE):
        reprice(project, ids, url)
    assert web_server.requests == []
    assert prices(project) == [0.5, 2.5]


@pytest.mark.parametrize("position", [0, 1, 2])
def test_when_one_product_goes_in_the_meantime_no_price_is_set(
    project: Deployment, web_server: WebServer, position: int
) -> None:
    ids = insert(project, 3)

    def delete_one(request: WebRequest) -> Reply:
        project.delete("products", ids[position])
        return double(request)

    url = web_server.reply("POST", PATH, delete_one)
    with project.fails(data=GONE):
        reprice(project, ids, url)
    assert prices(project) == [number + 0.5 for number in range(3) if number != position]


@pytest.mark.parametrize("status", [404, 500])
def test_without_new_prices_nothing_is_changed(project: Deployment, web_server: WebServer, status: int) -> None:
    ids = insert(project, 2)
    url = web_server.reply("POST", PATH, Reply.json({"prices": [1, 2]}, status))
    with project.fails(data={"code": "NO_PRICES"}):
        reprice(project, ids, url)
    assert prices(project) == [0.5, 1.5]


def test_without_products_nothing_is_sent(project: Deployment, web_server: WebServer) -> None:
    insert(project, 2)
    assert reprice(project, [], web_server.reply("POST", PATH, double)) == []
    assert web_server.requests == []
    assert prices(project) == [0.5, 1.5]


def test_the_schema_and_the_public_function_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, ["index:reprice"])
    assert [name for name, spec in project.functions().items() if spec.is_public] == ["index:reprice"]
    with project.fails("ArgumentValidationError"):
        reprice(project, [project.storage.upload(b"no product")], "")
