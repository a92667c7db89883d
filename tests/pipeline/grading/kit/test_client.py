"""Clients on WebSockets: what they call at the same time, and how often what they subscribe to is run."""

from functools import partial
from pathlib import Path

import pytest
from tests.pipeline.grading.conftest import Deploy

from convex_evals.pipeline.grading import GradedDeployment
from convex_evals.pipeline.grading.kit import CallFailed, Deployment, at_once, clean
from convex_evals.pipeline.grading.kit.transport import Clock, Transport

TIMED = Path(__file__).parents[1] / "timed"
CLIENTS = 6


@pytest.fixture
def project(deploy: Deploy, clock: Clock) -> Deployment:
    graded: GradedDeployment = deploy(TIMED)
    transport = Transport("project", graded.url, graded.site_url, graded.admin_key, clock)
    clean(transport)
    return Deployment(transport)


def test_of_clients_that_book_a_seat_at_once_one_gets_it(project: Deployment) -> None:
    with project.clients(CLIENTS) as clients:
        calls = [partial(each.mutation, "jobs:book", name="1A", holder=f"{n}") for n, each in enumerate(clients)]
        results = at_once(calls)
    (winner,) = [result for result in results if not isinstance(result, CallFailed)]
    assert [seat["holder"] for seat in project.documents("seats")] == [winner]
    assert {result.message for result in results if isinstance(result, CallFailed)} == {"taken"}


def test_a_race_between_two_transactions_shows_in_lockstep(project: Deployment) -> None:
    with project.clients(CLIENTS) as clients, project.lockstep(CLIENTS):
        calls = [
            partial(each.action, "jobs:bookInTwoSteps", name="1A", holder=f"{n}") for n, each in enumerate(clients)
        ]
        at_once(calls)
    assert len(project.documents("seats")) > 1


@pytest.mark.parametrize(("function", "executions"), [("jobs:book", 2 * CLIENTS - 1), ("jobs:add", CLIENTS)])
def test_mutations_that_overlap_are_executed_again_if_they_read_what_others_write(
    project: Deployment, function: str, executions: int
) -> None:
    with project.trace() as work, project.overlapping(CLIENTS):
        holder = {"holder": "x"} if function == "jobs:book" else {}
        at_once([partial(project.mutation, function, name="1A", **holder) for _ in range(CLIENTS)])
    assert [call.function for call in work.calls] == [function] * executions


def test_mutations_do_not_wait_for_others_that_do_not_come(project: Deployment) -> None:
    with project.overlapping(2):
        project.mutation("jobs:add", name="a")
        project.mutation("jobs:add", name="b")
    assert project.query("jobs:byIndex", name="a") == 1


def test_a_mutation_commits_after_others_that_began_later(project: Deployment) -> None:
    with project.trace() as work, project.late_commit("jobs:add", name="late") as late:
        assert (project.query("jobs:byIndex", name="late"), late.done()) == (0, False)
        for _ in range(3):
            project.mutation("jobs:add", name="early")
        assert (project.query("jobs:byIndex", name="early"), late.done()) == (3, False)
    assert late.done()
    assert project.query("jobs:byIndex", name="late") == 1
    assert [call.function for call in work.calls].count("jobs:add") == 4, "nothing that it has read was written"


def test_a_mutation_that_commits_late_is_executed_again_if_what_it_has_read_was_written(project: Deployment) -> None:
    with (
        project.trace() as work,
        pytest.raises(CallFailed, match="taken"),
        project.late_commit("jobs:book", name="1A", holder="late"),
    ):
        project.mutation("jobs:book", name="1A", holder="early")
    assert [call.function for call in work.calls] == ["jobs:book"] * 3
    assert [seat["holder"] for seat in project.documents("seats")] == ["early"]


def test_a_mutation_that_fails_has_nothing_to_commit_late(project: Deployment) -> None:
    project.mutation("jobs:book", name="1A", holder="early")
    with pytest.raises(CallFailed, match="taken"), project.late_commit("jobs:book", name="1A", holder="late"):
        pass
    project.mutation("jobs:add", name="a")
    assert project.query("jobs:byIndex", name="a") == 1


def test_a_call_that_does_not_get_through_has_no_result(project: Deployment) -> None:
    def stumble() -> None:
        raise KeyError("a mistake of the grader")

    with pytest.raises(KeyError):
        at_once([stumble, lambda: 1])


def test_functions_learn_where_a_client_calls_from_and_what_it_is(project: Deployment) -> None:
    with project.clients(1) as (client,):
        received = client.mutation("jobs:caller")
    assert received["ip"] == "127.0.0.1"
    assert "websockets" in received["userAgent"]


def test_one_client_has_several_subscriptions_and_calls(project: Deployment) -> None:
    with project.clients(1) as (client,):
        first, second = (client.subscribe("jobs:byIndex", name=name) for name in ("a", "b"))
        client.mutation("jobs:add", name="b")
        assert second.wait_until(lambda count: count == 1, seconds=60) == 1
        assert (first.updates, second.updates) == ([0], [0, 1])


@pytest.mark.parametrize(("function", "expected"), [("jobs:byIndex", 2), ("jobs:scanned", 7)])
def test_executions_show_whether_unrelated_writes_invalidate_a_query(
    project: Deployment, function: str, expected: int
) -> None:
    with project.subscribe(function, name="mine") as live:
        assert live.executions() == 1
        for name in (*"abcde", "mine"):
            project.mutation("jobs:add", name=name)
            live.client.catch_up()
        assert live.executions() == expected
        assert live.value == 1
