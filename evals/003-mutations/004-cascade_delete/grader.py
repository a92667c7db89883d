"""A project is deleted with its tasks and memberships: all of them and nothing else, or nothing at all."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_function_spec

TABLES = ("projects", "tasks", "memberships")
Documents = dict[str, list[dict[str, Any]]]


def insert_project(project: Deployment, tasks: int = 3, memberships: int = 2, locked: int | None = None) -> str:
    """The id of a project whose tasks and members have the same names as those of all others."""
    made = project.insert("projects", name="Apollo")
    project.insert_many(
        "tasks", [{"projectId": made, "title": f"task {i}", "isLocked": i == locked} for i in range(tasks)]
    )
    project.insert_many("memberships", [{"projectId": made, "userName": f"user {i}"} for i in range(memberships)])
    return made


def stored(project: Deployment) -> Documents:
    return {table: project.documents(table) for table in TABLES}


def others(documents: Documents, deleted: str) -> Documents:
    """What must be left when this project is deleted."""
    return {
        table: [each for each in documents[table] if deleted not in (each["_id"], each.get("projectId"))]
        for table in TABLES
    }


def test_the_fields_and_the_function_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    for table in TABLES:
        assert_same(project.schema().table(table).fields, answer.schema().table(table).fields)
    same_function_spec(project, answer)


def test_a_project_is_deleted_with_all_that_belongs_to_it_and_nothing_else(project: Deployment) -> None:
    insert_project(project)
    deleted = insert_project(project, tasks=4, memberships=3)
    insert_project(project, locked=1)
    expected = others(stored(project), deleted)
    assert project.mutation("index:deleteProject", projectId=deleted) == {"tasks": 4, "memberships": 3}
    assert_same(stored(project), expected, ignore=())
    assert project.scheduled() == [], "nothing must be left to be done"


def test_a_project_without_tasks_and_memberships_is_deleted(project: Deployment) -> None:
    tasks_only, empty = insert_project(project, memberships=0), insert_project(project, tasks=0, memberships=0)
    members_only = insert_project(project, tasks=0)
    assert project.mutation("index:deleteProject", projectId=empty) == {"tasks": 0, "memberships": 0}
    assert [each["_id"] for each in project.documents("projects")] == [tasks_only, members_only]
    assert project.mutation("index:deleteProject", projectId=members_only) == {"tasks": 0, "memberships": 2}
    assert project.mutation("index:deleteProject", projectId=tasks_only) == {"tasks": 3, "memberships": 0}
    assert stored(project) == {table: [] for table in TABLES}


def test_a_locked_task_keeps_everything(project: Deployment) -> None:
    insert_project(project)
    for locked in (0, 1, 2):
        kept = insert_project(project, locked=locked)
        before = stored(project)
        with project.fails():
            project.mutation("index:deleteProject", projectId=kept)
        assert_same(stored(project), before, ignore=(), what=f"everything, with task {locked} locked")
    assert project.mutation("index:deleteProject", projectId=insert_project(project)) == {"tasks": 3, "memberships": 2}


def test_a_project_that_is_gone_is_an_error(project: Deployment) -> None:
    deleted, other = insert_project(project), insert_project(project)
    project.mutation("index:deleteProject", projectId=deleted)
    before = stored(project)
    with project.fails():
        project.mutation("index:deleteProject", projectId=deleted)
    assert_same(stored(project), before, ignore=())
    # Tasks that outlived their project by accident are not deleted either.
    project.delete("projects", other)
    before = stored(project)
    with project.fails():
        project.mutation("index:deleteProject", projectId=other)
    assert_same(stored(project), before, ignore=())


def test_large_projects_are_deleted_as_a_whole(project: Deployment) -> None:
    deleted = insert_project(project, tasks=300, memberships=250)
    assert project.mutation("index:deleteProject", projectId=deleted) == {"tasks": 300, "memberships": 250}
    assert stored(project) == {table: [] for table in TABLES}


def test_nothing_of_other_projects_is_read(project: Deployment) -> None:
    insert_project(project, tasks=200, memberships=10)
    insert_project(project, tasks=10, memberships=200)
    project.insert_many("projects", [{"name": "Gemini"}] * 200)
    deleted = insert_project(project, tasks=10, memberships=10)
    with project.trace() as work:
        project.mutation("index:deleteProject", projectId=deleted)
    # Looking and deleting may count as two reads of the same document.
    assert work.documents_read <= 2 * 21 + 5, f"21 documents belong to the project, and {work.documents_read} were read"


def test_other_arguments_are_rejected(project: Deployment) -> None:
    kept = insert_project(project)
    before = stored(project)
    task = before["tasks"][0]["_id"]
    for arguments in ({}, {"projectId": "Apollo"}, {"projectId": task}, {"projectId": kept, "force": True}):
        with project.fails("ArgumentValidationError"):
            project.mutation("index:deleteProject", arguments)
    assert_same(stored(project), before, ignore=())
