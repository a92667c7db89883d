"""Time that people have worked."""

from convex_evals.pipeline.grading.kit import Deployment

HOUR = 3_600_000


def seed(project: Deployment) -> None:
    for person, started_at, ended_at in (("ada", 0, HOUR), ("alan", 0, 5 * HOUR), ("ada", 2 * HOUR, 4 * HOUR)):
        project.insert("entries", person=person, startedAt=started_at, endedAt=ended_at)


def test_all_entries_of_the_person_count(project: Deployment) -> None:
    seed(project)
    assert project.query("index:getTimeWorked", person="ada") == 180


def test_nobody_has_worked_without_entries(project: Deployment) -> None:
    seed(project)
    assert project.query("index:getTimeWorked", person="grace") == 0


def test_entries_of_others_are_not_read(project: Deployment) -> None:
    seed(project)
    with project.trace() as work:
        project.query("index:getTimeWorked", person="ada")
    assert work.documents_read == 2
