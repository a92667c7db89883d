"""Pages of orders, each order with its customer."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema

ADA = {"name": "Ada", "city": "London"}
ALAN = {"name": "Alan", "city": "Manchester"}


def insert_orders(project: Deployment, customers: list[str], count: int) -> list[str]:
    """Customers take turns; the totals are 100, 101, 102 …"""
    turns = [customers[i % len(customers)] for i in range(count)]
    return project.insert_many("orders", [{"customerId": who, "total": 100 + i} for i, who in enumerate(turns)])


def ask(project: Deployment, num_items: int, cursor: str | None, **others: object) -> Any:
    options = {"numItems": num_items, "cursor": cursor, **others}
    return project.query("index:listOrders", paginationOpts=options)


def totals(page: list[Any]) -> list[float]:
    return [item["total"] for item in page]


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_the_items_are_orders_with_their_customers_newest_first(project: Deployment) -> None:
    ids = insert_orders(project, project.insert_many("customers", [ADA, ALAN]), 7)
    pages = project.pages("index:listOrders", num_items=3)
    expected = [
        {"orderId": ids[i], "total": 100 + i, "customer": ADA if i % 2 == 0 else ALAN} for i in reversed(range(7))
    ]
    assert_same([item for page in pages for item in page.items], expected, ignore=())
    assert [len(page.items) for page in pages] == [3, 3, 1]


def test_a_customer_who_is_gone_is_null_and_the_order_still_counts(project: Deployment) -> None:
    gone, alan = project.insert_many("customers", [ADA, ALAN])
    insert_orders(project, [gone, alan], 5)
    project.delete("customers", gone)
    pages = project.pages("index:listOrders", num_items=3)
    assert [len(page.items) for page in pages] == [3, 2]
    customers = [item["customer"] for page in pages for item in page.items]
    assert customers == [None, ALAN, None, ALAN, None]


def test_a_customer_who_has_changed_is_shown_as_now(project: Deployment) -> None:
    ada = project.insert("customers", ADA)
    insert_orders(project, [ada], 1)
    project.replace(ada, {"name": "Ada L.", "city": "Turin"})
    assert ask(project, 5, None)["page"][0]["customer"] == {"name": "Ada L.", "city": "Turin"}


def test_without_orders_there_is_one_empty_page(project: Deployment) -> None:
    project.insert("customers", ADA)
    pages = project.pages("index:listOrders", num_items=10)
    assert [(page.items, page.is_done) for page in pages] == [([], True)]


def test_the_next_page_goes_on_where_the_last_one_ended(project: Deployment) -> None:
    ada = project.insert("customers", ADA)
    ids = insert_orders(project, [ada], 6)
    first = ask(project, 3, None)
    project.delete("orders", ids[5], ids[1])
    project.insert("orders", customerId=ada, total=1)
    second = ask(project, 10, first["continueCursor"])
    assert (totals(second["page"]), second["isDone"]) == ([102, 100], True)


def test_reactive_clients_can_load_and_split_a_page(project: Deployment) -> None:
    insert_orders(project, [project.insert("customers", ADA)], 9)
    whole = ask(project, 8, None, id=1, endCursor=None)
    missing = {"page", "isDone", "continueCursor", "splitCursor", "pageStatus"} - whole.keys()
    assert not missing, f"the pagination result has no {', '.join(sorted(missing))}"
    upper = ask(project, 8, None, id=2, endCursor=whole["splitCursor"])["page"]
    lower = ask(project, 8, whole["splitCursor"], id=3, endCursor=whole["continueCursor"])["page"]
    assert 0 < len(upper) < 8, f"the first half of 8 items has {len(upper)}"
    assert totals(upper + lower) == totals(whole["page"])


def test_reads_only_the_orders_of_the_page_and_their_customers(project: Deployment) -> None:
    customers = project.insert_many("customers", [{"name": f"{i}", "city": "Rome"} for i in range(100)])
    insert_orders(project, customers, 200)
    far = ask(project, 100, None)["continueCursor"]
    with project.trace() as work:
        page = ask(project, 10, far)["page"]
    assert [item["customer"]["name"] for item in page] == [f"{i}" for i in range(99, 89, -1)]
    assert work.documents_read <= 20, f"for 10 orders with a customer each it read {work.documents_read} documents"


def test_rejects_arguments_that_are_not_pagination_options(project: Deployment) -> None:
    options: dict[str, object] = {"numItems": 3, "cursor": None}
    for arguments in (
        {},
        {"paginationOpts": {"numItems": 3}},
        {"paginationOpts": {**options, "numItems": "3"}},
        {"paginationOpts": {**options, "cursor": 5}},
        {"paginationOpts": options, "city": "Rome"},
    ):
        with project.fails("ArgumentValidationError"):
            project.query("index:listOrders", arguments)
