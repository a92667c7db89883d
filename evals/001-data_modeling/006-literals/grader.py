"""Fields and arguments that allow only certain values."""

from collections.abc import Callable
from functools import partial
from typing import Any

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, Int64, assert_same, same_function_spec

TICKET: dict[str, Any] = {"subject": "Printer", "priority": 2, "hasConsented": True}
WRONG: dict[str, list[Any]] = {
    "status": ["Open", "done", "", None, 1, True],
    "priority": [0, 4, 1.5, "1", Int64(1), None, True],
    "hasConsented": [False, "true", 1, None],
}


def accepted(call: Callable[[dict[str, Any]], object], arguments: dict[str, Any], field: str) -> list[Any]:
    """Those of the wrong values of a field with which the call does not fail."""
    return [value for value in WRONG[field] if succeeds(call, {**arguments, field: value})]


def succeeds(call: Callable[[dict[str, Any]], object], arguments: dict[str, Any]) -> bool:
    try:
        call(arguments)
    except CallFailed:
        return False
    return True


def test_the_table_and_the_arguments_allow_exactly_the_described_values(
    project: Deployment, answer: Deployment
) -> None:
    assert project.schema().table("tickets").fields == answer.schema().table("tickets").fields
    same_function_spec(project, answer)


def test_a_new_ticket_is_open(project: Deployment) -> None:
    for priority in (1, 2, 3):
        ticket = project.mutation("index:create", {**TICKET, "priority": priority})
        assert_same(project.get(ticket), {**TICKET, "priority": priority, "status": "open"}, what="the ticket")


def test_functions_refuse_every_other_value(project: Deployment) -> None:
    ticket = project.mutation("index:create", TICKET)
    create = partial(project.mutation, "index:create")
    set_status = partial(project.mutation, "index:setStatus")
    by_status = partial(project.query, "index:byStatus")
    assert accepted(create, TICKET, "priority") == [], "priorities that create accepts"
    assert accepted(create, TICKET, "hasConsented") == [], "values of hasConsented that create accepts"
    assert accepted(set_status, {"ticketId": ticket}, "status") == [], "statuses that setStatus accepts"
    assert accepted(by_status, {}, "status") == [], "statuses that byStatus accepts"
    with project.fails():
        project.mutation("index:create", subject="Printer", priority=2)
    assert_same(project.documents("tickets"), [{**TICKET, "status": "open"}], what="the tickets")


def test_the_table_refuses_every_other_value(project: Deployment) -> None:
    insert = partial(project.insert, "tickets")
    for field in WRONG:
        assert accepted(insert, {**TICKET, "status": "open"}, field) == [], f"values of {field} that the table accepts"
    assert project.documents("tickets") == []


def test_the_status_of_a_ticket_changes_and_nothing_else_does(project: Deployment) -> None:
    ticket, other = (project.mutation("index:create", TICKET) for _ in range(2))
    for status in ("waiting", "open", "closed"):
        assert project.mutation("index:setStatus", ticketId=ticket, status=status) is None
        assert_same(project.get(ticket), {**TICKET, "status": status}, what="the ticket")
    assert_same(project.get(other), {**TICKET, "status": "open"}, what="another ticket")


def test_tickets_that_are_closed_or_gone_do_not_change(project: Deployment) -> None:
    closed = project.insert("tickets", TICKET, status="closed")
    for status in ("open", "waiting", "closed"):
        with project.fails():
            project.mutation("index:setStatus", ticketId=closed, status=status)
    assert_same(project.get(closed), {**TICKET, "status": "closed"}, what="the closed ticket")
    project.delete("tickets", closed)
    with project.fails():
        project.mutation("index:setStatus", ticketId=closed, status="open")
    assert project.documents("tickets") == []


def test_tickets_of_a_status_come_oldest_first_and_are_the_only_ones_read(project: Deployment) -> None:
    statuses = ["open", "waiting", "open", "open"] * 8
    project.insert_many("tickets", [{**TICKET, "subject": f"{9 - n}", "status": s} for n, s in enumerate(statuses)])
    waiting = [ticket for ticket in project.documents("tickets") if ticket["status"] == "waiting"]
    with project.trace() as work:
        assert project.query("index:byStatus", status="waiting") == waiting
    assert work.documents_read == 8
    assert project.query("index:byStatus", status="closed") == []
