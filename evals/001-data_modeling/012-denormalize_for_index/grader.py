"""Tasks sorted by a property of another table."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, same_function_spec


def create_project(project: Deployment, priority: float) -> str:
    return str(project.mutation("index:createProject", name="Project", priority=priority))


def create_task(project: Deployment, project_id: str, title: str = "Task") -> str:
    return str(project.mutation("index:createTask", projectId=project_id, title=title))


def fill(project: Deployment) -> dict[int, str]:
    """Three tasks for each of eight projects, called 5.0, 5.1, 5.2 where 5 is the priority; projects by priority."""
    projects = {priority: create_project(project, priority) for priority in (5, 1, 8, 3, 2, 7, 4, 6)}
    for number in range(3):
        for priority, project_id in projects.items():
            create_task(project, project_id, f"{priority}.{number}")
    return projects


def top_tasks(project: Deployment, limit: int) -> list[tuple[str, float]]:
    return [(task["title"], task["priority"]) for task in project.query("index:topTasks", limit=limit)]


def test_the_tables_and_the_functions_have_the_described_types(project: Deployment, answer: Deployment) -> None:
    for table, fields in {"projects": ("name", "priority"), "tasks": ("projectId", "title", "isDone")}.items():
        received, described = project.schema().table(table).fields, answer.schema().table(table).fields
        assert {name: received.get(name) for name in fields} == {name: described[name] for name in fields}
    same_function_spec(project, answer)


def test_new_projects_and_tasks_hold_what_is_given(project: Deployment) -> None:
    first = create_project(project, 2.5)
    task = create_task(project, first, "Write")
    documents: list[dict[str, Any]] = [*project.documents("projects"), *project.documents("tasks")]
    assert [document["_id"] for document in documents] == [first, task]
    expected: list[dict[str, Any]] = [
        {"name": "Project", "priority": 2.5},
        {"projectId": first, "title": "Write", "isDone": False},
    ]
    received = [{name: document.get(name) for name in each} for document, each in zip(documents, expected, strict=True)]
    assert received == expected
    assert project.query("index:topTasks", limit=5) == [{"taskId": task, "title": "Write", "priority": 2.5}]


def test_tasks_of_important_projects_come_first_and_newer_ones_before_older(project: Deployment) -> None:
    same = create_project(project, 7)
    fill(project)
    create_task(project, same, "newest")
    expected = [("8.2", 8), ("8.1", 8), ("8.0", 8), ("newest", 7), ("7.2", 7), ("7.1", 7), ("7.0", 7), ("6.2", 6)]
    assert top_tasks(project, 8) == expected
    assert len(top_tasks(project, 100)) == 25


def test_a_changed_priority_counts_for_all_tasks_of_the_project(project: Deployment) -> None:
    projects = fill(project)
    task = project.query("index:topTasks", limit=1)[0]["taskId"]
    project.mutation("index:finishTask", taskId=task)
    assert project.mutation("index:setPriority", projectId=projects[1], priority=99) is None
    project.mutation("index:setPriority", projectId=projects[8], priority=-1)
    expected = [("1.2", 99), ("1.1", 99), ("1.0", 99), ("7.2", 7)]
    assert top_tasks(project, 4) == expected
    assert top_tasks(project, 100)[-3:] == [("2.0", 2), ("8.1", -1), ("8.0", -1)]
    create_task(project, projects[1], "1.3")
    assert top_tasks(project, 1) == [("1.3", 99)]
    assert [each["priority"] for each in project.documents("projects")] == [5, 99, -1, 3, 2, 7, 4, 6]


def test_a_moved_task_has_the_priority_of_its_new_project(project: Deployment) -> None:
    high, low = create_project(project, 9), create_project(project, 1)
    task, _ = create_task(project, low, "moved"), create_task(project, low, "stays")
    assert project.mutation("index:moveTask", taskId=task, projectId=high) is None
    assert top_tasks(project, 5) == [("moved", 9), ("stays", 1)]
    project.mutation("index:setPriority", projectId=low, priority=20)
    assert top_tasks(project, 5) == [("stays", 20), ("moved", 9)]
    project.mutation("index:setPriority", projectId=high, priority=30)
    assert top_tasks(project, 5) == [("moved", 30), ("stays", 20)]
    moved = project.get(task)
    assert moved is not None and moved["projectId"] == high


def test_finished_tasks_are_not_listed(project: Deployment) -> None:
    first = create_project(project, 1)
    task, _ = create_task(project, first, "done"), create_task(project, first, "open")
    assert project.mutation("index:finishTask", taskId=task) is None
    assert top_tasks(project, 5) == [("open", 1)]
    finished = project.get(task)
    assert finished is not None and finished["isDone"] is True


def test_what_is_gone_cannot_be_changed(project: Deployment) -> None:
    gone, first = create_project(project, 1), create_project(project, 2)
    task, lost = create_task(project, first), create_task(project, first)
    project.delete("projects", gone)
    project.delete("tasks", lost)
    before = project.documents("tasks"), project.documents("projects")
    for path, arguments in (
        ("index:createTask", {"projectId": gone, "title": "Task"}),
        ("index:setPriority", {"projectId": gone, "priority": 3}),
        ("index:moveTask", {"taskId": task, "projectId": gone}),
        ("index:moveTask", {"taskId": lost, "projectId": first}),
        ("index:finishTask", {"taskId": lost}),
    ):
        with project.fails():
            project.mutation(path, arguments)
    assert (project.documents("tasks"), project.documents("projects")) == before


def test_only_what_is_needed_is_read(project: Deployment) -> None:
    projects = fill(project)
    with project.trace() as top:
        top_tasks(project, 3)
    with project.trace() as changed:
        project.mutation("index:setPriority", projectId=projects[4], priority=10)
    # Projects may be looked at for every task; who changes a document reads it once more.
    assert top.documents_read <= 2 * 3, f"topTasks read {top.documents_read} documents for 3 tasks"
    assert changed.documents_read <= 2 + 2 * 3, f"setPriority read {changed.documents_read} documents for 3 tasks"
