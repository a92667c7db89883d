"""Events by week."""

from convex_evals.pipeline.grading.kit import Deployment


def test_the_events_of_a_week_are_found(project: Deployment) -> None:
    for title, day in (("dentist", "2026-11-18"), ("choir", "2026-11-16"), ("market", "2026-11-24")):
        project.mutation("index:addEvent", title=title, day=day)
    assert project.query("index:eventsOfWeek", day="2026-11-17") == ["choir", "dentist"]


def test_a_sunday_belongs_to_the_days_before_it(project: Deployment) -> None:
    for title, day in (("choir", "2026-11-16"), ("walk", "2026-11-22"), ("market", "2026-11-23")):
        project.mutation("index:addEvent", title=title, day=day)
    assert project.query("index:eventsOfWeek", day="2026-11-18") == ["choir", "walk"]


def test_a_day_that_is_not_known_yet_can_be_stored(project: Deployment) -> None:
    project.mutation("index:addEvent", title="party", day="someday")
    assert [event["day"] for event in project.documents("events")] == ["someday"]
