"""An action between two transactions: it reads, asks somebody else, and writes what still holds."""

from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import (
    Deployment,
    Reply,
    WebRequest,
    WebServer,
    same_function_spec,
    same_schema,
    without,
)

FUNCTIONS = ("index:getOrder", "index:finish", "index:pay")
PENDING: dict[str, Any] = {"item": "pen", "amount": 2.5, "status": "pending"}
PAID = {**PENDING, "status": "paid", "receipt": "R-1"}


def finish(project: Deployment, order: str, status: str, **receipt: str) -> Any:
    return project.admin.mutation("index:finish", orderId=order, status=status, **receipt)


def stored(project: Deployment, order: str) -> Any:
    return without(project.get(order))


def test_a_paid_order_keeps_the_receipt(project: Deployment, web_server: WebServer) -> None:
    order, other = project.insert_many("orders", [PENDING, {**PENDING, "amount": 9}])
    bank = web_server.reply("POST", "/pay", Reply.text("R-1", 201))
    assert project.action("index:pay", orderId=order, bankUrl=bank) == "paid"
    assert (stored(project, order), stored(project, other)) == (PAID, {**PENDING, "amount": 9})
    [request] = web_server.requests
    assert (request.method, request.json()) == ("POST", {"orderId": order, "amount": 2.5})


@pytest.mark.parametrize("status", [402, 500])
def test_an_order_that_the_bank_refuses_is_failed(project: Deployment, web_server: WebServer, status: int) -> None:
    order = project.insert("orders", PENDING)
    bank = web_server.reply("POST", "/pay", Reply.text("no", status))
    assert project.action("index:pay", orderId=order, bankUrl=bank) == "failed"
    assert stored(project, order) == {**PENDING, "status": "failed"}
    assert len(web_server.requests) == 1


@pytest.mark.parametrize("status", ["paid", "failed"])
def test_an_order_that_is_not_pending_is_left_alone(project: Deployment, web_server: WebServer, status: str) -> None:
    order = project.insert("orders", {**PENDING, "status": status})
    bank = web_server.reply("POST", "/pay", Reply.text("R-2"))
    with project.trace() as work:
        assert project.action("index:pay", orderId=order, bankUrl=bank) == status
    assert web_server.requests == []
    assert [call.function for call in work.nested_calls] == ["index:getOrder"]
    assert stored(project, order) == {**PENDING, "status": status}


def test_an_order_that_is_gone_is_an_error(project: Deployment, web_server: WebServer) -> None:
    order = project.insert("orders", PENDING)
    project.delete("orders", order)
    with project.fails(data={"code": "ORDER_NOT_FOUND"}):
        project.action("index:pay", orderId=order, bankUrl=web_server.url)
    assert web_server.requests == []


def test_what_others_write_while_the_bank_is_asked_stays(project: Deployment, web_server: WebServer) -> None:
    order = project.insert("orders", PENDING)

    def pay_meanwhile(_: WebRequest) -> Reply:
        project.replace(order, PAID)
        return Reply.text("no", 402)

    bank = web_server.reply("POST", "/pay", pay_meanwhile)
    assert project.action("index:pay", orderId=order, bankUrl=bank) == "paid"
    assert stored(project, order) == PAID


def test_an_order_that_goes_while_the_bank_is_asked_is_null(project: Deployment, web_server: WebServer) -> None:
    order = project.insert("orders", PENDING)

    def delete_meanwhile(_: WebRequest) -> Reply:
        project.delete("orders", order)
        return Reply.text("R-1")

    bank = web_server.reply("POST", "/pay", delete_meanwhile)
    assert project.action("index:pay", orderId=order, bankUrl=bank) is None
    assert project.documents("orders") == []


def test_paying_is_one_query_and_one_mutation(project: Deployment, web_server: WebServer) -> None:
    order = project.insert("orders", PENDING)
    bank = web_server.reply("POST", "/pay", Reply.text("R-1"))
    with project.trace() as work:
        project.action("index:pay", orderId=order, bankUrl=bank)
    assert [call.function for call in work.nested_calls] == ["index:getOrder", "index:finish"]


def test_the_internal_functions_read_and_finish_an_order(project: Deployment) -> None:
    first, second = project.insert_many("orders", [PENDING, PENDING])
    assert project.admin.query("index:getOrder", orderId=first) == project.get(first)
    assert finish(project, first, "paid", receipt="R-1") == "paid"
    assert stored(project, first) == PAID
    assert finish(project, first, "failed", receipt="R-2") == "paid"
    assert stored(project, first) == PAID
    assert finish(project, second, "failed") == "failed"
    assert stored(project, second) == {**PENDING, "status": "failed"}
    project.delete("orders", second)
    assert project.admin.query("index:getOrder", orderId=second) is None
    assert finish(project, second, "paid") is None


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, FUNCTIONS)
    with project.fails("Could not find public function"):
        project.mutation("index:finish", orderId="", status="paid")
    with project.fails("Could not find public function"):
        project.query("index:getOrder", orderId="")
    with project.fails("ArgumentValidationError"):
        project.action("index:pay", orderId=project.storage.upload(b"no order"), bankUrl="")
