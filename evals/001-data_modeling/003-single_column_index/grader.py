"""Indexes on one field each, chosen so that queries read only what they return."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, same_function_spec

CATEGORIES = ("toys", "books", "garden", "music")


def fill(project: Deployment) -> list[dict[str, Any]]:
    """Forty products, oldest first; every weight from 0 to 900 occurs four times."""
    products = [
        {
            "sku": f"sku-{n}",
            "name": f"Product {n}",
            "category": CATEGORIES[n % 4],
            "shipping": {"weightGrams": n * 7 % 10 * 100, "isFragile": n % 2 == 0},
        }
        for n in range(40)
    ]
    project.insert_many("products", products)
    return project.documents("products")


def test_the_fields_and_the_functions_have_the_described_types(project: Deployment, answer: Deployment) -> None:
    assert project.schema().table("products").fields == answer.schema().table("products").fields
    same_function_spec(project, answer)


def test_a_product_is_found_by_its_sku(project: Deployment) -> None:
    products = fill(project)
    assert project.query("index:bySku", sku="sku-17") == products[17]
    assert project.query("index:bySku", sku="sku-1") == products[1]
    assert project.query("index:bySku", sku="sku-") is None


def test_products_of_a_category_come_newest_first(project: Deployment) -> None:
    products = fill(project)
    assert project.query("index:byCategory", category="garden") == products[2::4][::-1]
    assert project.query("index:byCategory", category="gard") == []


def test_light_products_come_lightest_first_up_to_the_limit(project: Deployment) -> None:
    products = fill(project)
    lightest = sorted(products, key=lambda product: product["shipping"]["weightGrams"])
    assert project.query("index:lightEnough", maxWeightGrams=200, limit=100) == lightest[:12]
    assert project.query("index:lightEnough", maxWeightGrams=199.5, limit=100) == lightest[:8]
    assert project.query("index:lightEnough", maxWeightGrams=5000, limit=6) == lightest[:6]
    assert project.query("index:lightEnough", maxWeightGrams=-1, limit=5) == []


def test_a_sku_is_found_without_reading_other_products(project: Deployment) -> None:
    fill(project)
    with project.trace() as work:
        project.query("index:bySku", sku="sku-17")
        project.query("index:bySku", sku="sku-40")
    assert work.documents_read == 1


def test_a_category_is_listed_without_reading_other_products(project: Deployment) -> None:
    fill(project)
    with project.trace() as work:
        project.query("index:byCategory", category="toys")
    assert work.documents_read == 10


def test_light_products_are_listed_without_reading_others(project: Deployment) -> None:
    fill(project)
    with project.trace() as few:
        project.query("index:lightEnough", maxWeightGrams=200, limit=100)
    assert few.documents_read == 12
    with project.trace() as limited:
        project.query("index:lightEnough", maxWeightGrams=5000, limit=3)
    assert limited.documents_read == 3
