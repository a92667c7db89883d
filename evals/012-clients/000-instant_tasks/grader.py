"""A page on which everything the user does is visible at once, and what the server refuses is taken back."""

import json
import random
import re
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from convex_evals.pipeline.grading.kit import App, Deployment, Sources, wait_until

STATE = """({
  status: document.querySelector('[role=status], output')?.textContent?.trim() ?? '',
  projects: [...document.querySelectorAll('button')]
    .map((each) => each.textContent.trim())
    .filter((each) => /[(][0-9]+[)]$/.test(each)),
  tasks: [...document.querySelectorAll('li')].map((item) => {
    const box = item.querySelector('input[type=checkbox]');
    return [(box.labels?.[0]?.textContent ?? box.getAttribute('aria-label') ?? '').trim(), box.checked];
  }),
})"""


def create(project: Deployment, **projects: str) -> dict[str, str]:
    """Projects with tasks, oldest first: `!` is one that is done. The ids of all of them, by name."""
    ids = {}
    for name, titles in projects.items():
        ids[name] = project.insert("projects", name=name)
        for title in titles.split():
            ids[title.strip("!")] = project.insert(
                "tasks", projectId=ids[name], title=title.strip("!"), done=title.endswith("!"), locked=False
            )
    return ids


def lock(project: Deployment, id: str) -> None:
    """Somebody else locks it. The page learns of it when it is no longer held."""
    document = project.get(id)
    assert document is not None
    project.replace(id, {**{key: document[key] for key in ("projectId", "title", "done")}, "locked": True})


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def box(page: Page, title: str) -> Locator:
    return page.get_by_role("checkbox", name=title, exact=True)


def item(page: Page, title: str) -> Locator:
    return page.get_by_role("listitem").filter(has=box(page, title))


def add(page: Page, title: str) -> None:
    page.get_by_label("Title", exact=True).fill(title)
    button(page, "Add").click()
    expect(page.get_by_label("Title", exact=True)).to_have_value("")


def listed(page: Page) -> list[str]:
    return [f"{title}{'!' if done else ''}" for title, done in page.evaluate(STATE)["tasks"]]


def expect_page(page: Page, tasks: str, status: str, *projects: str) -> None:
    titles = tasks.split()
    expect(page.get_by_role("listitem")).to_have_count(len(titles))
    for title in titles:
        expect(box(page, title.strip("!"))).to_be_checked(checked=title.endswith("!"))
    assert listed(page) == titles
    expect(page.get_by_role("status")).to_have_text(status)
    for name in projects:
        expect(button(page, name)).to_have_count(1)


def check_frames(states: list[dict[str, Any]], current: str) -> None:
    """In each frame, the numbers say what the list shows; all tasks of the project must be loaded."""
    for state in states:
        done = sum(checked for _, checked in state["tasks"])
        open_ = len(state["tasks"]) - done
        assert state["status"] == f"{open_} open, {done} done", f"a frame contradicts itself: {state}"
        assert f"{current} ({open_})" in state["projects"], f"a frame contradicts itself: {state}"


@dataclass
class SlowLine:
    """A page's connection: once the page has sent a mutation, whatever else it sends waits until it may go on."""

    is_slow: bool = True
    is_blocked: bool = False
    waiting: list[tuple[WebSocketRoute, str | bytes]] = field(default_factory=list)

    def connect(self, near: WebSocketRoute) -> None:
        far = near.connect_to_server()

        def send(message: str | bytes) -> None:
            if self.is_blocked:
                self.waiting.append((far, message))
            else:
                far.send(message)
                self.is_blocked = self.is_slow and json.loads(message)["type"] == "Mutation"

        near.on_message(send)

    def go_on(self) -> None:
        self.is_slow = self.is_blocked = False
        for far, message in self.waiting:
            far.send(message)


def test_the_page_uses_the_functions_of_the_given_backend(files: Sources) -> None:
    assert files.exists("src/App.tsx")
    assert any("convex/react" in files.text(path) for path in files.paths("src/**/*"))


def test_it_shows_one_project_at_a_time(app: App, project: Deployment) -> None:
    create(project, Home="a b! c", Work="d e f! g h i", Club="")
    with app.opening() as page:
        expect(page.locator("body")).to_have_text("Loading…")
    expect(page.get_by_role("heading", level=1)).to_have_text("Home")
    expect_page(page, "c b! a", "2 open, 1 done", "Home (2)", "Work (5)", "Club (0)")
    expect(button(page, "Load more")).to_have_count(0)
    for name, pressed in (("Home (2)", "true"), ("Work (5)", "false"), ("All", "true"), ("Open", "false")):
        expect(button(page, name)).to_have_attribute("aria-pressed", pressed)
    assert page.get_by_role("alert").count() == 0
    button(page, "Open").click()
    expect_page(page, "c a", "2 open, 1 done")
    button(page, "Work (5)").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Work")
    expect_page(page, "i h g e", "5 open, 1 done")
    for name, pressed in (("Home (2)", "false"), ("Work (5)", "true"), ("All", "false"), ("Open", "true")):
        expect(button(page, name)).to_have_attribute("aria-pressed", pressed)
    assert item(page, "h").get_by_role("button").all_text_contents() == ["Remove", "Move to Home", "Move to Club"]
    button(page, "Done").click()
    expect_page(page, "f!", "5 open, 1 done")
    button(page, "Club (0)").click()
    expect(page.get_by_role("status")).to_have_text("0 open, 0 done")
    expect(page.locator("ul")).to_have_count(1)


def test_more_tasks_are_loaded_four_at_a_time(app: App, project: Deployment) -> None:
    create(project, Home="a b c d e f g h i j")
    page = app.open()
    expect_page(page, "j i h g", "10 open, 0 done")
    with app.holding(page):
        button(page, "Load more").click()
        expect(button(page, "Load more")).to_be_disabled()
        expect_page(page, "j i h g", "10 open, 0 done")
    expect_page(page, "j i h g f e d c", "10 open, 0 done")
    with app.holding(page):
        box(page, "d").click()
        item(page, "h").get_by_role("button", name="Remove").click()
        expect_page(page, "j i g f e d! c", "8 open, 1 done", "Home (8)")
    button(page, "Load more").click()
    expect_page(page, "j i g f e d! c b a", "8 open, 1 done")
    expect(button(page, "Load more")).to_have_count(0)


def test_a_task_that_no_longer_belongs_into_the_list_leaves_it_at_once(app: App, project: Deployment) -> None:
    create(project, Home="a b! c d!", Work="x")
    page = app.open()
    button(page, "Open").click()
    expect_page(page, "c a", "2 open, 2 done")
    with app.frames(page, STATE) as states:
        with app.holding(page):
            box(page, "a").click()
            expect_page(page, "c", "1 open, 3 done", "Home (1)", "Work (1)")
            item(page, "c").get_by_role("button", name="Move to Work").click()
            expect_page(page, "", "0 open, 3 done", "Home (0)", "Work (2)")
        wait_until(lambda: [task["title"] for task in project.documents("tasks") if task["done"]] == ["a", "b", "d"])
        expect_page(page, "", "0 open, 3 done", "Home (0)", "Work (2)")
    seen = [titles for titles, _ in groupby(["".join(title for title, _ in state["tasks"]) for state in states])]
    assert seen == ["ca", "c", ""]
    button(page, "Done").click()
    expect_page(page, "d! b! a!", "0 open, 3 done")
    with app.holding(page):
        box(page, "b").click()
        expect_page(page, "d! a!", "1 open, 2 done", "Home (1)")
        button(page, "Finish all").click()
        expect(page.get_by_role("status")).to_have_text("0 open, 3 done")
    expect_page(page, "d! b! a!", "0 open, 3 done", "Home (0)")
    button(page, "Work (2)").click()
    expect(page.get_by_role("status")).to_have_text("2 open, 0 done")


def test_what_the_server_refuses_is_taken_back_and_the_rest_stays(app: App, project: Deployment) -> None:
    ids = create(project, Home="a b c d!", Work="")
    page = app.open()
    expect_page(page, "d! c b a", "3 open, 1 done")
    with app.frames(page, STATE) as states:
        with app.holding(page):
            lock(project, ids["b"])
            for title in ("a", "b", "d"):
                box(page, title).click()
            expect_page(page, "d c b! a!", "2 open, 2 done", "Home (2)")
            assert page.get_by_role("alert").count() == 0
            item(page, "c").get_by_role("button", name="Remove").click()
            expect_page(page, "d b! a!", "1 open, 2 done", "Home (1)")
        expect(page.get_by_role("alert")).to_have_text("b is locked")
        expect_page(page, "d b a!", "2 open, 1 done", "Home (2)")
    check_frames(states, "Home")
    steps = [dict(state["tasks"]) for state in states]
    for title, is_done in (("a", True), ("d", False)):
        seen = [step[title] for step in steps]
        assert seen == sorted(seen, reverse=not is_done), f"{title} was shown as it had been before: {seen}"
    seen = ["c" in step for step in steps]
    assert seen == sorted(seen, reverse=True), f"c came back: {seen}"


def test_new_tasks_come_first_and_cannot_be_changed_until_they_are_stored(app: App, project: Deployment) -> None:
    create(project, Home="a b!", Work="")
    page = app.open()
    expect_page(page, "b! a", "1 open, 1 done")
    button(page, "Add").click()
    with app.frames(page, STATE) as states:
        with app.holding(page):
            add(page, "one")
            expect_page(page, "one b! a", "2 open, 1 done", "Home (2)")
            add(page, "two")
            box(page, "a").click()
            expect_page(page, "two one b! a!", "2 open, 2 done", "Home (2)")
            for title in ("one", "two"):
                expect(box(page, title)).to_be_disabled()
                for each in item(page, title).get_by_role("button").all():
                    expect(each).to_be_disabled()
        expect(box(page, "two")).to_be_enabled()
        expect_page(page, "two one b! a!", "2 open, 2 done", "Home (2)")
    check_frames(states, "Home")
    seen = [[title for title, _ in state["tasks"]] for state in states]
    assert all(titles in (["b", "a"], ["one", "b", "a"], ["two", "one", "b", "a"]) for titles in seen), seen
    box(page, "two").click()
    expect_page(page, "two! one b! a!", "1 open, 3 done")
    assert [task["title"] for task in project.documents("tasks")] == ["a", "b", "one", "two"]
    button(page, "Done").click()
    expect_page(page, "two! b! a!", "1 open, 3 done")
    with app.holding(page):
        add(page, "three")
        expect_page(page, "two! b! a!", "2 open, 3 done", "Home (2)")
    add(page, "a title that is too long")
    expect(page.get_by_role("alert")).to_have_text("a title that is too long is too long")
    expect_page(page, "two! b! a!", "2 open, 3 done", "Home (2)")


def test_all_tasks_are_finished_also_those_that_are_not_loaded(app: App, project: Deployment) -> None:
    ids = create(project, Home="a b c d e! f", Work="x")
    page = app.open()
    expect_page(page, "f e! d c", "5 open, 1 done")
    with app.holding(page):
        lock(project, ids["a"])
        button(page, "Finish all").click()
        expect_page(page, "f! e! d! c!", "0 open, 6 done", "Home (0)", "Work (1)")
        add(page, "new")
        expect_page(page, "new f! e! d! c!", "1 open, 6 done", "Home (1)")
    expect(page.get_by_role("alert")).to_have_text("a is locked")
    expect_page(page, "new f e! d c", "6 open, 1 done", "Home (6)")
    project.mutation("tasks:remove", taskId=ids["b"])
    expect(page.get_by_role("status")).to_have_text("5 open, 1 done")
    button(page, "Open").click()
    expect_page(page, "new f d c", "5 open, 1 done")
    project.delete("tasks", ids["a"])
    expect(page.get_by_role("status")).to_have_text("4 open, 1 done")
    with app.holding(page):
        button(page, "Finish all").click()
        expect_page(page, "", "0 open, 5 done", "Home (0)")
    expect(page.get_by_role("status")).to_have_text("0 open, 5 done")
    expect(page.get_by_role("listitem")).to_have_count(0)


def test_what_was_done_after_something_that_is_refused_still_counts_once(app: App, project: Deployment) -> None:
    ids = create(project, Home="a b c")
    page, line = app.blank(), SlowLine()
    page.route_web_socket("**/sync", line.connect)
    page.goto(app.url)
    expect_page(page, "c b a", "3 open, 0 done")
    with app.frames(page, STATE) as states:
        with app.holding(page):
            lock(project, ids["c"])
            button(page, "Finish all").click()
            expect_page(page, "c! b! a!", "0 open, 3 done", "Home (0)")
            box(page, "a").click()
            expect_page(page, "c! b! a", "1 open, 2 done", "Home (1)")
            box(page, "b").click()
            box(page, "b").click()
            expect_page(page, "c! b! a", "1 open, 2 done", "Home (1)")
        expect(page.get_by_role("alert")).to_have_text("c is locked")
        expect_page(page, "c b! a", "2 open, 1 done", "Home (2)")
        line.go_on()
        wait_until(lambda: listed(page)[::-1] == home(project, ids["Home"]) == ["a", "b!", "c"], "the last change")
        expect_page(page, "c b! a", "2 open, 1 done", "Home (2)")
    check_frames(states, "Home")


def test_moved_tasks_take_their_place_by_age(app: App, project: Deployment) -> None:
    create(project, Home="a", Work="b c!", Club="d")
    page = app.open()
    expect_page(page, "a", "1 open, 0 done", "Work (1)", "Club (1)")
    with app.holding(page):
        item(page, "a").get_by_role("button", name="Move to Work").click()
        expect_page(page, "", "0 open, 0 done", "Home (0)", "Work (2)", "Club (1)")
    button(page, "Work (2)").click()
    expect_page(page, "c! b a", "2 open, 1 done", "Work (2)")
    with app.holding(page):
        item(page, "c").get_by_role("button", name="Move to Club").click()
        expect_page(page, "b a", "2 open, 0 done", "Work (2)", "Club (1)")
    button(page, "Club (1)").click()
    expect_page(page, "d c!", "1 open, 1 done")


def model_step(chance: random.Random, page: Page, tasks: dict[str, bool], number: int) -> list[tuple[str, str]]:
    """Does something on the page, and the same to `tasks` (oldest first). What it did, for each task it concerns."""
    title = chance.choice([each for each in tasks if not each.startswith("new")])
    choice = chance.random()
    if choice < 0.5:
        box(page, title).click()
        tasks[title] = not tasks[title]
        return [("toggle", title)]
    if choice < 0.62 and len(tasks) > 2:
        item(page, title).get_by_role("button", name="Remove").click()
        del tasks[title]
        return [("remove", title)]
    if choice < 0.72 and len(tasks) > 2:
        item(page, title).get_by_role("button", name="Move to Work").click()
        del tasks[title]
        return [("move", title)]
    if choice < 0.87:
        add(page, f"new{number}")
        tasks[f"new{number}"] = False
        return [("add", f"new{number}")]
    button(page, "Finish all").click()
    concerned = [("finish", each) for each in tasks]
    tasks.update(dict.fromkeys(tasks, True))
    return concerned


@pytest.mark.parametrize("seed", range(3))
def test_many_things_in_a_row_are_shown_as_they_will_be(app: App, project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    ids = create(project, Home="a b! c", Work="")
    page = app.open()
    expect_page(page, "c b! a", "2 open, 1 done")
    tasks = {"a": False, "b": True, "c": False}
    refused = chance.choice("abc")
    concerned: list[tuple[str, str]] = []
    with app.frames(page, STATE) as states:
        with app.holding(page):
            lock(project, ids[refused])
            for number in range(6):
                concerned += model_step(chance, page, tasks, number)
                done = sum(tasks.values())
                expected = " ".join(f"{title}{'!' if checked else ''}" for title, checked in reversed(tasks.items()))
                open_ = len(tasks) - done
                expect_page(page, expected, f"{open_} open, {done} done", f"Home ({open_})")
        if any(title == refused for _, title in concerned):
            expect(page.get_by_role("alert")).to_have_text(re.compile(rf"^{refused} is locked$"))
        wait_until(lambda: home(project, ids["Home"]) == listed(page)[::-1], "what the server has stored")
    check_frames(states, "Home")


def home(project: Deployment, id: str) -> list[str]:
    tasks = [task for task in project.documents("tasks") if task["projectId"] == id]
    return [f"{task['title']}{'!' if task['done'] else ''}" for task in tasks]


def test_changes_made_by_others_appear(app: App, project: Deployment) -> None:
    ids = create(project, Home="a b!", Work="x")
    page = app.open()
    expect_page(page, "b! a", "1 open, 1 done")
    project.mutation("tasks:setDone", taskId=ids["a"], done=True)
    project.mutation("tasks:add", projectId=ids["Work"], title="y")
    expect_page(page, "b! a!", "0 open, 2 done", "Home (0)", "Work (2)")
    project.mutation("tasks:remove", taskId=ids["b"])
    expect_page(page, "a!", "0 open, 1 done", "Home (0)", "Work (2)")
