"""Payments of three kinds in one table."""

from collections.abc import Callable
from functools import partial
from typing import Any

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, assert_same, same_function_spec

CARD: dict[str, Any] = {"kind": "card", "amount": 12.5, "brand": "Visa", "lastDigits": "4242"}
TRANSFER: dict[str, Any] = {"kind": "transfer", "amount": 80, "iban": "DE02120300000000202051"}
CASH: dict[str, Any] = {"kind": "cash", "amount": 3, "receivedBy": "Ada"}
PAYMENTS = (CARD, TRANSFER, CASH)
WRONG: list[dict[str, Any]] = [
    *({**payment, "kind": "cheque"} for payment in PAYMENTS),
    *({**payment, "note": "thanks"} for payment in PAYMENTS),
    *({**payment, field: None} for payment in PAYMENTS for field in payment),
    *({name: payment[name] for name in payment if name != missing} for payment in PAYMENTS for missing in payment),
    {**CARD, "kind": "cash"},
    {**CASH, "kind": "transfer"},
    {**CARD, "iban": "DE02120300000000202051"},
    {**TRANSFER, "receivedBy": "Ada"},
    {**CASH, "brand": "Visa", "lastDigits": "4242"},
    {**CARD, "lastDigits": 4242},
    {**CASH, "amount": "3"},
]


def accepted(write: Callable[[dict[str, Any]], object]) -> list[dict[str, Any]]:
    """Those wrong payments that can be written."""
    return [payment for payment in WRONG if succeeds(write, payment)]


def succeeds(write: Callable[[dict[str, Any]], object], payment: dict[str, Any]) -> bool:
    try:
        write(payment)
    except CallFailed:
        return False
    return True


def record(project: Deployment, payment: dict[str, Any]) -> str:
    return str(project.mutation("index:record", payment=payment))


def correct(project: Deployment, payment_id: str, payment: dict[str, Any]) -> object:
    return project.mutation("index:correct", paymentId=payment_id, payment=payment)


def test_the_arguments_have_the_described_types(project: Deployment, answer: Deployment) -> None:
    same_function_spec(project, answer)


def test_payments_of_every_kind_are_stored_as_they_are(project: Deployment) -> None:
    for payment in PAYMENTS:
        assert_same(project.get(record(project, payment)), payment, what="the payment")


def test_the_table_refuses_everything_else(project: Deployment) -> None:
    project.insert_many("payments", PAYMENTS)
    assert accepted(partial(project.insert, "payments")) == [], "payments that the table accepts"
    assert_same(project.documents("payments"), list(PAYMENTS), what="the payments")


def test_functions_refuse_everything_else(project: Deployment) -> None:
    card = record(project, CARD)
    assert accepted(partial(record, project)) == [], "payments that record accepts"
    assert accepted(partial(correct, project, card)) == [], "payments that correct accepts"
    with project.fails():
        project.query("index:byKind", kind="cheque")
    assert_same(project.documents("payments"), [CARD], what="the payments")


def test_a_corrected_payment_has_nothing_of_the_earlier_one(project: Deployment) -> None:
    payment_id, other = record(project, CARD), record(project, CARD)
    for payment in ({**CARD, "amount": 1}, CASH, TRANSFER, CARD):
        assert correct(project, payment_id, payment) is None
        assert_same(project.get(payment_id), payment, what="the corrected payment")
    assert_same(project.get(other), CARD, what="another payment")


def test_payments_are_described_by_their_kind(project: Deployment) -> None:
    ids = [record(project, payment) for payment in PAYMENTS]
    assert [project.query("index:describe", paymentId=payment_id) for payment_id in ids] == [
        "card Visa ending in 4242",
        "transfer from DE02120300000000202051",
        "cash received by Ada",
    ]


def test_a_payment_that_is_gone_has_no_description_and_cannot_be_corrected(project: Deployment) -> None:
    payment_id = record(project, CARD)
    project.delete("payments", payment_id)
    assert project.query("index:describe", paymentId=payment_id) is None
    with project.fails():
        correct(project, payment_id, CASH)
    assert project.documents("payments") == []


def test_payments_of_a_kind_come_oldest_first_and_are_the_only_ones_read(project: Deployment) -> None:
    project.insert_many("payments", [CARD, CASH, CARD, CARD, {**CASH, "amount": 1}, CARD, {**CASH, "amount": 2}])
    cash = [payment for payment in project.documents("payments") if payment["kind"] == "cash"]
    with project.trace() as work:
        assert project.query("index:byKind", kind="cash") == cash
    assert work.documents_read == 3
    assert project.query("index:byKind", kind="transfer") == []
