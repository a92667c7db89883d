"""One task is deleted and returned; many are deleted together or not at all."""

from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, same_function_spec, same_schema


@pytest.fixture
def tasks(project: Deployment) -> list[str]:
    """The ids of five tasks."""
    return project.insert_many("tasks", [{"title": f"task {i}", "isDone": i % 2 == 0} for i in range(5)])


def left(project: Deployment) -> list[str]:
    return [task["_id"] for task in project.documents("tasks")]


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer)


def test_a_removed_task_is_gone_and_returned_as_it_was(project: Deployment, tasks: list[str]) -> None:
    for removed in (tasks[1], tasks[4]):
        before = project.get(removed)
        assert project.mutation("index:removeTask", taskId=removed) == before
    assert left(project) == [tasks[0], tasks[2], tasks[3]]


def test_removing_a_task_that_is_gone_is_null_and_changes_nothing(project: Deployment, tasks: list[str]) -> None:
    project.delete("tasks", tasks[1])
    assert project.mutation("index:removeTask", taskId=tasks[1]) is None
    assert left(project) == [tasks[0], *tasks[2:]]


def test_several_tasks_are_removed_and_counted(project: Deployment, tasks: list[str]) -> None:
    before = project.get(tasks[2])
    assert project.mutation("index:removeTasks", taskIds=[]) == 0
    assert left(project) == tasks
    assert project.mutation("index:removeTasks", taskIds=[tasks[3], tasks[0], tasks[4]]) == 3
    assert left(project) == [tasks[1], tasks[2]]
    assert project.get(tasks[2]) == before
    assert project.mutation("index:removeTasks", taskIds=[tasks[2]]) == 1
    assert left(project) == [tasks[1]]


def test_an_id_that_occurs_several_times_counts_once(project: Deployment, tasks: list[str]) -> None:
    one, two = tasks[0], tasks[3]
    assert project.mutation("index:removeTasks", taskIds=[one, one, two, one]) == 2
    assert left(project) == [tasks[1], tasks[2], tasks[4]]


@pytest.mark.parametrize("place", [0, 1, 2], ids=["first", "in the middle", "last"])
def test_if_one_task_is_gone_none_is_removed(project: Deployment, tasks: list[str], place: int) -> None:
    asked, gone = tasks[:2], tasks[2]
    project.delete("tasks", gone)
    with project.fails():
        project.mutation("index:removeTasks", taskIds=[*asked[:place], gone, *asked[place:]])
    assert left(project) == [*asked, *tasks[3:]]
    assert project.mutation("index:removeTasks", taskIds=asked) == 2


def test_no_other_tasks_are_read(project: Deployment) -> None:
    ids = project.insert_many("tasks", [{"title": "task", "isDone": False}] * 200)
    with project.trace() as work:
        project.mutation("index:removeTask", taskId=ids[7])
        project.mutation("index:removeTasks", taskIds=ids[10:15])
    # Looking and deleting may count as two reads of the same task.
    assert work.documents_read <= 2 * 6, f"6 of 200 tasks were to be removed, and {work.documents_read} were read"
    assert len(left(project)) == 194


def test_other_arguments_are_rejected(project: Deployment, tasks: list[str]) -> None:
    stored = project.storage.upload(b"not a task")
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("removeTask", {}),
        ("removeTask", {"taskId": "task 1"}),
        ("removeTask", {"taskId": stored}),
        ("removeTask", {"taskId": None}),
        ("removeTasks", {}),
        ("removeTasks", {"taskIds": tasks[0]}),
        ("removeTasks", {"taskIds": [tasks[0], "task 1"]}),
        ("removeTasks", {"taskIds": [tasks[0], stored]}),
    ]
    for function, arguments in wrong:
        with project.fails("ArgumentValidationError"):
            project.mutation(f"index:{function}", arguments)
    assert left(project) == tasks
