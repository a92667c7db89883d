"""A trash: what is in it is nowhere else, comes back exactly as it went, and is gone after a week."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, GivenDeployment

TABLES = ("projects", "tasks", "comments")
NOT_FOUND = {"code": "NOT_FOUND"}
PEOPLE = ("ada", "ben")
ARGUMENT = {"project": "projectId", "task": "taskId", "comment": "commentId"}


class Item:
    """A project, task or comment; `deletion` is the item whose deletion put it into the trash."""

    def __init__(self, kind: str, id: str, title: str, parent: "Item | None" = None, **fields: Any) -> None:
        self.kind, self.id, self.title, self.parent, self.fields = kind, id, title, parent, fields
        self.deletion: Item | None = None
        self.deleted_at = 0.0

    @property
    def argument(self) -> dict[str, str]:
        return {ARGUMENT[self.kind]: self.id}

    def is_in(self, other: "Item") -> bool:
        return self is other or (self.parent is not None and self.parent.is_in(other))


class Board:
    """A deployment and a model of what it must show."""

    def __init__(self, deployment: Deployment, seed: int = 0) -> None:
        self.deployment, self.chance = deployment, random.Random(seed)
        self.items: list[Item] = []
        self.deletions: list[Item] = []

    def live(self, kind: str) -> list[Item]:
        return [item for item in self.items if item.kind == kind and item.deletion is None]

    # ------------------------------------------------------------------ what people do

    def project(self, name: str) -> Item:
        return self._new(Item("project", self.deployment.mutation("projects:create", name=name), name))

    def task(self, project: Item, title: str, assignee: str = "ada") -> Item:
        arguments = {**project.argument, "title": title, "assignee": assignee}
        task = self.deployment.mutation("tasks:create", arguments)
        return self._new(Item("task", task, title, project, assignee=assignee, done=False))

    def comment(self, task: Item, text: str) -> Item:
        return self._new(
            Item("comment", self.deployment.mutation("comments:add", task.argument, text=text), text, task)
        )

    def _new(self, item: Item) -> Item:
        self.items.append(item)
        return item

    def finish(self, task: Item) -> None:
        self.deployment.mutation("tasks:update", task.argument, done=True)
        task.fields["done"] = True

    def remove(self, item: Item) -> None:
        self.deployment.advance(seconds=1)
        assert self.deployment.mutation(f"{item.kind}s:remove", item.argument) is None
        item.deleted_at = self.deployment.now()
        for each in self.items:
            if each.is_in(item) and each.deletion is None:
                each.deletion = item
        self.deletions.insert(0, item)

    def restore(self, item: Item) -> None:
        """Or be refused, if the model says so."""
        name = f"trash:restore{item.kind.title()}"
        if code := self.refusal(item):
            with self.deployment.fails(data={"code": code}):
                self.deployment.mutation(name, item.argument)
            return
        assert self.deployment.mutation(name, item.argument) is None
        self.deletions.remove(item)
        for each in self.items:
            if each.deletion is item:
                each.deletion = None

    def refusal(self, item: Item) -> str | None:
        if item not in self.deletions:
            return "NOT_FOUND"
        if item.parent and item.parent.deletion:
            return "PARENT_DELETED"
        is_taken = item.kind == "project" and item.title in [each.title for each in self.live("project")]
        return "NAME_TAKEN" if is_taken else None

    def forget(self, item: Item) -> None:
        self.deletions.remove(item)
        self.items = [each for each in self.items if each.deletion is not item]

    # ------------------------------------------------------------------ what it must show

    def check(self) -> None:
        assert self.shown() == self.expected()

    def shown(self) -> dict[str, Any]:
        query, pages = self.deployment.query, self.deployment.pages
        shown: dict[str, Any] = {
            "projects": query("projects:list"),
            "overview": query("reports:overview"),
            "trash": [self._timed(each) for each in query("trash:list")],
        }
        for project in self.live("project"):
            found = pages("tasks:list", num_items=3, **project.argument)
            shown[f"tasks {project.title}"] = [page.items for page in found if page.items]
        for task in self.live("task"):
            shown[f"comments {task.title}"] = query("comments:list", task.argument)
        for person in PEOPLE:
            found = pages("people:todo", num_items=2, assignee=person)
            shown[f"todo {person}"] = [page.items for page in found if page.items]
        found_tasks = query("people:search", text="task")
        shown["search"] = sorted(each["title"] for each in found_tasks)
        return shown

    def _timed(self, listed: dict[str, Any]) -> dict[str, Any]:
        """With the time that the model knows, if it is about the same."""
        for each in self.deletions:
            if each.id == listed["id"] and abs(listed["deletedAt"] - each.deleted_at) < 5000:
                return {**listed, "deletedAt": each.deleted_at}
        return listed

    def expected(self) -> dict[str, Any]:
        projects, tasks, comments = (self.live(kind) for kind in ARGUMENT)
        shown: dict[str, Any] = {
            "projects": [
                {**brief(each, "name"), "taskCount": len([task for task in tasks if task.parent is each])}
                for each in projects
            ],
            "overview": {
                "projects": len(projects),
                "tasks": len(tasks),
                "done": len([task for task in tasks if task.fields["done"]]),
                "comments": len(comments),
            },
            "trash": [{**brief(each), "kind": each.kind, "deletedAt": each.deleted_at} for each in self.deletions],
        }
        for project in projects:
            shown[f"tasks {project.title}"] = paged([task for task in tasks if task.parent is project], 3)
        for task in tasks:
            shown[f"comments {task.title}"] = [brief(each, "text") for each in comments if each.parent is task]
        for person in PEOPLE:
            todo = [each for each in tasks if each.fields["assignee"] == person and not each.fields["done"]]
            shown[f"todo {person}"] = paged(todo[::-1], 2)
        assert len(tasks) <= 10, "the grader's searches find everything"
        shown["search"] = sorted(task.title for task in tasks)
        return shown


def brief(item: Item, title: str = "title") -> dict[str, Any]:
    return {"id": item.id, title: item.title}


def paged(items: list[Item], size: int) -> list[Any]:
    return [[brief(each) for each in items[start : start + size]] for start in range(0, len(items), size)]


def filled(deployment: Deployment, seed: int = 0) -> Board:
    board = Board(deployment, seed)
    for name in ("x", "y"):
        project = board.project(name)
        for number in range(5):
            task = board.task(project, f"task {name}{number}", PEOPLE[number % 2])
            for comment in range(number % 3):
                board.comment(task, f"comment {name}{number}{comment}")
    board.finish(board.live("task")[1])
    return board


def act(board: Board) -> str:
    chance, number = board.chance, len(board.items)
    tasks, projects, comments = board.live("task"), board.live("project"), board.live("comment")
    acts: dict[str, Callable[[], object]] = {
        "restore": lambda: board.restore(chance.choice(board.deletions or board.items)),
        "restore any": lambda: board.restore(chance.choice(board.items)),
    }
    if projects:
        acts["remove project"] = lambda: board.remove(chance.choice(projects))
        if len(tasks) < 10:
            acts["add task"] = lambda: board.task(chance.choice(projects), f"task {number}", chance.choice(PEOPLE))
    if tasks:
        acts["remove task"] = lambda: board.remove(chance.choice(tasks))
        acts["comment"] = lambda: board.comment(chance.choice(tasks), f"comment {number}")
    if comments:
        acts["remove comment"] = lambda: board.remove(chance.choice(comments))
    weights = [1 if name == "remove project" else 3 if name == "restore" else 2 for name in acts]
    name = chance.choices([*acts], weights)[0]
    if name.startswith("restore") and would_be_too_many(board):
        name = "restore any"
        board.restore(board.items[0])
    else:
        acts[name]()
    return name


def would_be_too_many(board: Board) -> bool:
    """Searches show ten tasks."""
    most = max(sum(each.deletion is item and each.kind == "task" for each in board.items) for item in board.items)
    return len(board.live("task")) + most > 10


@pytest.mark.parametrize("seed", range(2))
def test_what_is_in_the_trash_is_nowhere_else_and_comes_back_as_it_went(project: Deployment, seed: int) -> None:
    board = filled(project, seed)
    board.check()
    done = []
    for _ in range(16):
        done.append(act(board))
        assert board.shown() == board.expected(), f"after {done}"


def test_what_was_deleted_earlier_stays_in_the_trash(project: Deployment) -> None:
    board = filled(project)
    x, task, comment = board.items[0], board.items[4], board.items[5]
    board.remove(comment)
    board.remove(task)
    board.remove(x)
    board.check()
    for item in (task, comment, board.live("task")[0], board.items[1]):
        board.restore(item)
    board.restore(x)
    board.check()
    board.restore(comment)
    board.restore(task)
    board.check()
    board.restore(comment)
    board.check()
    board.restore(x)


def test_the_name_of_a_deleted_project_is_free(project: Deployment) -> None:
    board = filled(project)
    old, other = board.live("project")
    board.remove(old)
    new = board.project("x")
    board.restore(old)
    board.check()
    with project.fails(data={"code": "NAME_TAKEN"}):
        project.mutation("projects:rename", other.argument, name="x")
    project.mutation("projects:rename", new.argument, name="z")
    new.title = "z"
    board.restore(old)
    board.check()
    board.remove(other)
    project.mutation("projects:rename", new.argument, name="y")
    new.title = "y"
    board.restore(other)
    board.check()
    board.remove(new)
    board.restore(other)
    board.check()


def test_calls_with_the_id_of_something_in_the_trash_fail(project: Deployment) -> None:
    board = filled(project)
    x, task, comment = board.items[0], board.items[4], board.items[5]
    board.remove(x)
    page: dict[str, object] = {"paginationOpts": {"numItems": 3, "cursor": None}}
    for name, item, arguments in (
        ("projects:rename", x, {"name": "new"}),
        ("projects:remove", x, {}),
        ("tasks:create", x, {"title": "new", "assignee": "ada"}),
        ("tasks:update", task, {"done": True}),
        ("tasks:remove", task, {}),
        ("comments:add", task, {"text": "new"}),
        ("comments:remove", comment, {}),
    ):
        with project.fails(data=NOT_FOUND):
            project.mutation(name, item.argument, **arguments)
    for name, item, options in (("tasks:get", task, {}), ("tasks:list", x, page), ("comments:list", task, {})):
        with project.fails(data=NOT_FOUND):
            project.query(name, item.argument, **options)
    board.restore(x)
    board.check()
    assert project.query("tasks:get", task.argument) == {"title": task.title, "assignee": "ada", "done": False}


def test_a_search_finds_ten_tasks_although_others_are_in_the_trash(project: Deployment) -> None:
    board = Board(project)
    kept, deleted = board.project("kept"), board.project("deleted")
    for number in range(12):
        board.task(deleted, f"report {number}")
    tasks = [board.task(kept, f"report {number + 20}") for number in range(12)]
    for number in range(12):
        board.task(deleted, f"report {number + 40}")
    board.remove(deleted)
    for task in tasks[:2]:
        board.remove(task)
    found = {each["id"] for each in project.query("people:search", text="report")}
    assert found == {task.id for task in tasks[2:]}


def test_a_page_reads_little_more_than_it_shows(project: Deployment) -> None:
    board = Board(project)
    kept, deleted = board.project("kept"), board.project("deleted")
    for number in range(40):
        task = board.task(kept if number % 2 else deleted, f"task {number}")
        if number % 4 == 1:
            project.mutation("tasks:remove", task.argument)
    board.remove(deleted)
    for name, arguments in (("tasks:list", kept.argument), ("people:todo", {"assignee": "ada"})):
        with project.trace() as work:
            page = project.query(name, arguments, paginationOpts={"numItems": 4, "cursor": None})
        assert len(page["page"]) == 4
        assert work.documents_read <= 8, f"{name} read {work.documents_read} documents for a page of 4"


def test_after_a_week_nothing_is_left(project: Deployment) -> None:
    board = filled(project)
    x, y = board.live("project")
    task, comment = board.items[4], board.items[5]
    board.remove(comment)
    project.advance(days=2)
    board.remove(task)
    project.advance(days=2)
    board.remove(x)
    project.advance(days=2, hours=23)
    board.check()
    project.advance(hours=26)
    board.forget(comment)
    board.check()
    project.advance(days=2)
    board.forget(task)
    board.check()
    project.advance(hours=22)
    board.check()
    board.restore(x)
    board.check()
    board.remove(x)
    project.advance(days=6, hours=23, minutes=50)
    board.check()
    project.advance(days=1, hours=1)
    board.forget(x)
    board.check()
    board.restore(x)
    left = {each["_id"] for table in TABLES for each in project.documents(table)}
    assert left == {item.id for item in board.items if item.is_in(y)}
    assert all(each.is_in(y) for each in board.items)


def test_reminders_go_out_every_day_and_leave_out_what_is_in_the_trash(project: Deployment) -> None:
    board = filled(project)
    board.remove(board.items[0])
    board.remove(board.live("task")[-1])
    project.clear("reminders")
    project.advance(days=1)
    reminders = {each["assignee"]: each["titles"] for each in project.documents("reminders")}
    assert reminders == {"ada": ["task y0", "task y2"], "ben": ["task y1", "task y3"]}
    assert len(project.documents("reminders")) == 2
    assert project.crons()["remind everybody"].function == "reports:remind"


def test_documents_from_before_can_be_deleted_and_restored(given: GivenDeployment) -> None:
    board = filled(given)
    before = {table: given.documents(table) for table in TABLES}
    board.deployment = project = given.upgrade()
    board.check()
    for item in (board.items[5], board.items[4], board.items[0]):
        board.remove(item)
        board.check()
    assert len(project.query("trash:list")) == 3
    for item in (board.items[0], board.items[4], board.items[5]):
        board.restore(item)
        board.check()
    shown = {"projects": ("name", "taskCount"), "tasks": ("title", "assignee", "done"), "comments": ("text",)}
    for table, fields in shown.items():
        after = [[each.get(field) for field in fields] for each in project.documents(table)]
        assert after == [[each[field] for field in fields] for each in before[table]]


def test_the_functions_are_the_old_ones_and_the_trash(
    project: Deployment, given: GivenDeployment, answer: Deployment
) -> None:
    functions, trash = project.functions(), answer.functions()
    wanted = {**given.functions(), **{name: spec for name, spec in trash.items() if spec.is_public}}
    for name, spec in wanted.items():
        assert name in functions, f"{name} is missing"
        new = functions[name]
        assert (new.kind, new.visibility, new.arguments) == (spec.kind, spec.visibility, spec.arguments), name
    assert {name for name, spec in functions.items() if spec.is_public} == {
        name for name, spec in wanted.items() if spec.is_public
    }
