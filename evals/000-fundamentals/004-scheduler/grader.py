"""Reminders that a scheduled function sends: when it is to run, what it does, and how it is called off."""

import time
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_function_spec, same_schema, wait_until

HOUR = 3_600_000
FUNCTIONS = ("index:remindAfter", "index:remindAt", "index:cancel", "index:send")
SLACK_MS = 20_000


def now() -> int:
    return int(time.time() * 1000)


def remind(project: Deployment, function: str, text: str = "tea", in_ms: float = HOUR) -> str:
    when = {"delayMs": in_ms} if function == "remindAfter" else {"time": now() + in_ms}
    return str(project.mutation(f"index:{function}", {"text": text, **when}))


def is_sent(project: Deployment, reminder: str) -> bool:
    return bool((project.get(reminder) or {}).get("isSent"))


both_kinds = pytest.mark.parametrize("function", ["remindAfter", "remindAt"])


@both_kinds
def test_a_reminder_is_stored_and_its_sending_scheduled_once(project: Deployment, function: str) -> None:
    asked_at = now()
    reminder = remind(project, function)
    [job] = project.scheduled()
    assert (job.function, job.args, job.state) == ("index:send", {"reminderId": reminder}, "pending")
    assert abs(job.scheduled_for - asked_at - HOUR) < SLACK_MS, "send must run in an hour"
    assert_same(project.get(reminder), {"text": "tea", "isSent": False, "jobId": job.id}, what="the reminder")


@both_kinds
def test_a_reminder_is_sent_when_its_time_has_come(project: Deployment, function: str) -> None:
    later = remind(project, function, "later")
    soon = remind(project, function, "soon", in_ms=50)
    wait_until(lambda: is_sent(project, soon), "the sending of the reminder")
    assert not is_sent(project, later)
    states = {job.args["reminderId"]: job.state for job in project.scheduled()}
    assert states == {later: "pending", soon: "success"}


@both_kinds
def test_a_reminder_without_text_is_an_error_and_leaves_nothing_behind(project: Deployment, function: str) -> None:
    with project.fails():
        remind(project, function, text="")
    assert project.documents("reminders") == []
    assert project.scheduled() == []


@both_kinds
def test_canceling_deletes_the_reminder_and_its_sending_never_runs(project: Deployment, function: str) -> None:
    canceled, kept = remind(project, function, "canceled"), remind(project, function, "kept")
    assert project.mutation("index:cancel", reminderId=canceled) is True
    states = {job.args["reminderId"]: job.state for job in project.scheduled()}
    assert states == {canceled: "canceled", kept: "pending"}
    assert [reminder["_id"] for reminder in project.documents("reminders")] == [kept]


def test_canceling_changes_nothing_once_a_reminder_is_sent_or_gone(project: Deployment) -> None:
    sent = remind(project, "remindAfter", in_ms=0)
    wait_until(lambda: is_sent(project, sent), "the sending of the reminder")
    stored = project.get(sent)
    assert project.mutation("index:cancel", reminderId=sent) is False
    assert project.get(sent) == stored
    project.delete("reminders", sent)
    assert project.mutation("index:cancel", reminderId=sent) is False


def test_sending_marks_the_reminder_and_does_nothing_when_it_is_gone(project: Deployment) -> None:
    reminder, other = remind(project, "remindAfter"), remind(project, "remindAfter")
    before: Any = project.get(reminder)
    assert project.admin.mutation("index:send", reminderId=reminder) is None
    assert project.get(reminder) == {**before, "isSent": True}
    assert not is_sent(project, other)
    project.delete("reminders", reminder)
    assert project.admin.mutation("index:send", reminderId=reminder) is None
    assert [each["_id"] for each in project.documents("reminders")] == [other]


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, FUNCTIONS)
    assert project.crons() == {}
