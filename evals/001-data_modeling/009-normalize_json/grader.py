"""Nested orders taken apart into tables, and put together again."""

from typing import Any

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, assert_same, same_function_spec

TABLES = ("customers", "products", "orders", "orderLines")
ADA = {"email": "ada@example.com", "name": "Ada"}
PEN = {"sku": "P-1", "name": "Pen", "price": 1.5}
PAD = {"sku": "P-2", "name": "Pad", "price": 4}
INK = {"sku": "P-3", "name": "Ink", "price": 2.25}


def an_order(number: str, *lines: tuple[dict[str, Any], float], customer: dict[str, Any] = ADA) -> dict[str, Any]:
    ordered = [{"product": product, "quantity": quantity} for product, quantity in lines]
    return {"number": number, "customer": customer, "lines": ordered}


def import_order(project: Deployment, order: dict[str, Any]) -> str:
    return str(project.mutation("index:importOrder", order=order))


def test_the_tables_and_the_functions_have_the_described_types(project: Deployment, answer: Deployment) -> None:
    for table in TABLES:
        assert project.schema().table(table).fields == answer.schema().table(table).fields, f"fields of {table}"
    same_function_spec(project, answer)


def test_an_order_is_taken_apart_into_four_tables(project: Deployment) -> None:
    order_id = import_order(project, an_order("A-17", (PAD, 3), (PEN, 1)))
    [customer], products = project.documents("customers"), project.documents("products")
    assert_same([customer], [ADA], what="customers")
    assert_same(products, [PEN, PAD], ordered=False, what="products")
    ids = {product["sku"]: product["_id"] for product in products}
    assert project.get(order_id) == project.documents("orders")[0]
    assert_same(project.get(order_id), {"number": "A-17", "customerId": customer["_id"]}, what="the order")
    lines = [
        {"orderId": order_id, "productId": ids["P-2"], "quantity": 3},
        {"orderId": order_id, "productId": ids["P-1"], "quantity": 1},
    ]
    assert_same(project.documents("orderLines"), lines, what="orderLines")


def test_an_order_comes_back_as_it_was_imported(project: Deployment) -> None:
    orders = [
        an_order("A-1", (INK, 2), (PAD, 7), (PEN, 0.5)),
        an_order("A-2", customer={"email": "ben@example.com", "name": "Ben"}),
        an_order("A-3", (PEN, 1), (PAD, 1), (PEN, 4)),
    ]
    for order in orders:
        import_order(project, order)
    for order in orders:
        assert project.query("index:getOrder", number=order["number"]) == order
    assert project.query("index:getOrder", number="A-4") is None


def test_known_customers_and_products_are_used_again(project: Deployment) -> None:
    import_order(project, an_order("A-1", (PEN, 1), (PEN, 2)))
    import_order(project, an_order("A-2", (PAD, 1), (PEN, 3)))
    assert [len(project.documents(table)) for table in TABLES] == [1, 2, 2, 4]


def test_names_and_prices_that_differ_are_changed_for_all_orders(project: Deployment) -> None:
    import_order(project, an_order("A-1", (PEN, 1), (PAD, 1)))
    lady = {**ADA, "name": "Lady Ada"}
    fountain = {**PEN, "name": "Fountain pen", "price": 30}
    import_order(project, an_order("A-2", (fountain, 1), customer=lady))
    assert_same(project.documents("customers"), [lady], what="customers")
    assert_same(project.documents("products"), [fountain, PAD], ordered=False, what="products")
    expected = an_order("A-1", (fountain, 1), (PAD, 1), customer=lady)
    assert project.query("index:getOrder", number="A-1") == expected


def test_an_order_whose_number_is_known_changes_nothing(project: Deployment) -> None:
    import_order(project, an_order("A-1", (PEN, 1)))
    before = [project.documents(table) for table in TABLES]
    with project.fails():
        import_order(project, an_order("A-1", ({**PEN, "price": 9}, 1), (INK, 1), customer={**ADA, "name": "Eve"}))
    assert [project.documents(table) for table in TABLES] == before


def test_orders_of_another_shape_are_refused(project: Deployment) -> None:
    order = an_order("A-1", (PEN, 1))
    wrong = [
        {**order, "customer": "ada@example.com"},
        {**order, "customer": {"email": "ada@example.com"}},
        {**order, "lines": [{"product": PEN}]},
        {**order, "lines": [{"product": {**PEN, "price": "1.5"}, "quantity": 1}]},
        {**order, "lines": [{"product": {**PEN, "color": "red"}, "quantity": 1}]},
        {**order, "note": "urgent"},
    ]
    assert [each for each in wrong if is_accepted(project, each)] == []
    assert [project.documents(table) for table in TABLES] == [[], [], [], []]


def is_accepted(project: Deployment, order: dict[str, Any]) -> bool:
    try:
        import_order(project, order)
    except CallFailed:
        return False
    return True


def test_only_documents_of_the_order_are_read(project: Deployment) -> None:
    many = range(20)
    customers = project.insert_many("customers", [{"email": f"{n}@example.com", "name": "Other"} for n in many])
    products = project.insert_many("products", [{"sku": f"X-{n}", "name": "Other", "price": n} for n in many])
    orders = project.insert_many("orders", [{"number": f"B-{n}", "customerId": customers[n]} for n in many])
    lines = [{"orderId": orders[n], "productId": products[n], "quantity": 1} for n in many]
    project.insert_many("orderLines", lines)
    with project.trace() as imported:
        import_order(project, an_order("A-1", (PEN, 1), (PAD, 1), customer={"email": "7@example.com", "name": "Zoe"}))
    with project.trace() as read:
        project.query("index:getOrder", number="A-1")
    # The order, its customer, two lines and two products; who changes the customer reads it twice.
    assert imported.documents_read <= 6, f"importOrder read {imported.documents_read} documents"
    assert read.documents_read <= 6, f"getOrder read {read.documents_read} documents"
