"""Reminders that are sent later."""

from convex_evals.pipeline.grading.kit import Deployment


def test_a_reminder_is_sent_when_it_is_due(project: Deployment) -> None:
    project.mutation("index:remind", text="tea", minutes=5)
    assert [reminder["sent"] for reminder in project.documents("reminders")] == [False]
    project.advance(minutes=6)
    assert [reminder["sent"] for reminder in project.documents("reminders")] == [True]


def test_the_newest_are_listed_first(project: Deployment) -> None:
    project.insert_many("reminders", [{"text": text, "sent": True} for text in ("a", "b", "c")])
    assert project.query("index:listReminders", limit=2) == ["c", "b"]


def test_without_a_limit_the_newest_ten_are_listed(project: Deployment) -> None:
    project.insert_many("reminders", [{"text": str(number), "sent": True} for number in range(12)])
    assert project.query("index:listReminders") == ["11", "10", "9", "8", "7", "6", "5", "4", "3", "2"]


def test_mark_sent_is_what_is_scheduled(project: Deployment) -> None:
    project.mutation("index:remind", text="tea", minutes=5)
    assert [job.function for job in project.scheduled()] == ["index:markSent"]
