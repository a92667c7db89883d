"""A table between two shapes of its documents."""

from typing import Any

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, assert_same, same_function_spec, without

OLD: dict[str, Any] = {"title": "Pen", "price": 1.5}
NEW: dict[str, Any] = {"title": "Ink", "priceCents": 250, "tags": ["blue"]}


def is_accepted(project: Deployment, product: dict[str, Any]) -> bool:
    try:
        project.insert("products", product)
    except CallFailed:
        return False
    return True


def migrate(project: Deployment, limit: int) -> int:
    return int(project.admin.mutation("index:migrate", limit=limit))


def test_the_functions_have_the_described_types_and_only_migrate_is_internal(
    project: Deployment, answer: Deployment
) -> None:
    same_function_spec(project, answer, ["index:create", "index:migrate"])
    with project.fails("Could not find public function"):
        project.mutation("index:migrate", limit=1)


def test_the_table_accepts_both_shapes_and_nothing_else(project: Deployment) -> None:
    right = [OLD, NEW, {**NEW, "tags": []}]
    assert [product for product in right if not is_accepted(project, product)] == []
    wrong: list[dict[str, Any]] = [
        {**OLD, "color": "red"},
        {**NEW, "color": "red"},
        {**OLD, "price": "1.50"},
        {**OLD, "price": None},
        {**NEW, "priceCents": "250"},
        {**NEW, "priceCents": None},
        {**NEW, "tags": "blue"},
        {**NEW, "tags": [1]},
        {"price": 1.5},
        {"priceCents": 250, "tags": []},
    ]
    assert [product for product in wrong if is_accepted(project, product)] == []


def test_new_products_have_the_new_shape(project: Deployment) -> None:
    tagged = project.mutation("index:create", NEW)
    plain = project.mutation("index:create", title="Pad", priceCents=99)
    assert_same(project.get(tagged), NEW, what="the product with tags")
    assert_same(project.get(plain), {"title": "Pad", "priceCents": 99, "tags": []}, what="the product without tags")


def test_products_of_both_shapes_are_listed_alike(project: Deployment) -> None:
    dollars = {1.5: 150, 19.99: 1999, 0.29: 29, 4.35: 435, 0: 0}
    old = [{"title": f"Old {price}", "price": price} for price in dollars]
    ids = [*project.insert_many("products", old[:3]), project.insert("products", NEW)]
    ids += project.insert_many("products", old[3:])
    expected = [{"title": f"Old {price}", "priceCents": cents, "tags": []} for price, cents in dollars.items()]
    expected.insert(3, NEW)
    received = project.query("index:list")
    assert received == [{"_id": ids[n], **product} for n, product in enumerate(expected)]


def test_a_migration_takes_the_oldest_products_up_to_the_limit(project: Deployment) -> None:
    new, *old = project.insert_many("products", [NEW] + [{"title": f"{n}", "price": n + 0.29} for n in range(5)])
    before = project.documents("products")
    listed = project.query("index:list")
    assert migrate(project, 2) == 2
    after = project.documents("products")
    assert [product["_id"] for product in after] == [new, *old], "documents must keep their ids"
    migrated = [{"title": f"{n}", "priceCents": n * 100 + 29, "tags": []} for n in range(2)]
    assert without(after) == without([before[0], *migrated, *before[3:]])
    assert project.query("index:list") == listed, "a migration must not change what list returns"


def test_migrations_come_to_an_end_and_leave_only_the_new_shape(project: Deployment) -> None:
    project.insert_many("products", [OLD, OLD, NEW, OLD, NEW, OLD, OLD])
    assert [migrate(project, 2) for _ in range(4)] == [2, 2, 1, 0]
    pen = {"title": "Pen", "priceCents": 150, "tags": []}
    migrated = project.documents("products")
    assert without(migrated) == [pen, pen, NEW, pen, NEW, pen, pen]
    with project.trace() as work:
        assert migrate(project, 100) == 0
        project.admin.mutation("index:migrate", limit=1)
    assert work.documents_written == 0
    assert project.documents("products") == migrated
