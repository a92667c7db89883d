"""A shelf for files: what may be on it, what is deleted when, and a page that shows how uploads are going."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from playwright.sync_api import FilePayload, Locator, Page, Request, Route, WebSocket, expect

from convex_evals.pipeline.grading.kit import App, Deployment, wait_until

TYPES: Final = "Only PNG images and plain text"
SIZE: Final = "Larger than 300000 bytes"
REMOVED: Final = "This entry has been removed"
MOST: Final = 300_000
CORS: Final = {"Access-Control-Allow-Origin": "*"}

# The texts in the items of uploads (one is the name) with their states, and names on the shelf.
STATE = """(() => {
  const texts = (ids) => ids.split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join(' ').trim();
  const label = (each) => texts(each.getAttribute('aria-labelledby') ?? '') || each.getAttribute('aria-label')?.trim();
  const list = (name) => [...document.querySelectorAll('ul')].find((each) => label(each) === name);
  return {
    uploads: [...(list('Uploads')?.querySelectorAll(':scope > li') ?? [])].map((item) =>
      [[...item.querySelectorAll('span')].map((span) => span.textContent.trim()),
        item.querySelector('[role=status], output')?.textContent]),
    shelf: [...(list('Shelf')?.querySelectorAll(':scope > li') ?? [])].map((item) =>
      item.querySelector('a')?.textContent),
  };
})()"""


def upload(project: Deployment, content: bytes, kind: str = "text/plain") -> str:
    return project.storage.upload_to(project.mutation("shelf:uploadUrl"), content, kind)


def add(project: Deployment, **contents: str) -> dict[str, str]:
    """The ids of the entries, by name."""
    for name, content in contents.items():
        assert project.mutation("shelf:add", storageId=upload(project, content.encode()), name=name) is None
    return {entry["name"]: entry["id"] for entry in project.query("shelf:list")}


def stored(project: Deployment) -> set[str]:
    return {file.id for file in project.storage.files()}


def shelf(project: Deployment) -> dict[str, str]:
    """What the files on the shelf contain, by name, in order."""
    return {entry["name"]: project.storage.download(entry["url"]).text for entry in project.query("shelf:list")}


def test_entries_are_listed_with_their_files(project: Deployment) -> None:
    assert project.query("shelf:list") == []
    assert project.mutation("shelf:add", storageId=upload(project, b"bytes", "image/png"), name="b") is None
    assert project.mutation("shelf:add", storageId=upload(project, b"text"), name="a") is None
    entries = project.query("shelf:list")
    assert [set(entry) for entry in entries] == [{"id", "name", "size", "type", "url"}] * 2
    assert [(entry["name"], entry["size"], entry["type"]) for entry in entries] == [
        ("b", 5, "image/png"),
        ("a", 4, "text/plain"),
    ]
    assert shelf(project) == {"b": "bytes", "a": "text"}
    assert [each["_id"] for each in project.documents("entries")] == [entry["id"] for entry in entries]
    files = project.storage.files()
    assert [(each["storageId"], each["sha256"]) for each in project.documents("entries")] == [
        (file.id, file.sha256) for file in files
    ]


def test_what_is_refused_is_deleted(project: Deployment) -> None:
    add(project, a="same")
    cases: list[tuple[bytes, str, str | None]] = [
        (b"<p>", "text/html", TYPES),
        (b"x", "text/plain; charset=utf-8", TYPES),
        (b"x" * (MOST + 1), "application/zip", TYPES),
        (b"same", "image/jpeg", TYPES),
        (b"x" * (MOST + 1), "text/plain", SIZE),
        (b"x" * MOST, "image/png", None),
        (b"same", "text/plain", "The same as a"),
        (b"same", "image/png", "The same as a"),
    ]
    for content, kind, wanted in cases:
        storage_id = upload(project, content, kind)
        assert project.mutation("shelf:add", storageId=storage_id, name="b") == wanted
        assert (storage_id in stored(project)) == (wanted is None)
    assert len(project.query("shelf:list")) == len(stored(project)) == 2


def test_replacing_deletes_the_former_file_or_the_refused_one(project: Deployment) -> None:
    ids = add(project, a="first", b="second")
    before = project.query("shelf:list")
    assert project.mutation("shelf:replace", entryId=ids["a"], storageId=upload(project, b"third")) is None
    assert shelf(project) == {"a": "third", "b": "second"}
    assert [entry["id"] for entry in project.query("shelf:list")] == [entry["id"] for entry in before]
    assert len(stored(project)) == 2
    for content, kind, wanted in (
        (b"third", "text/plain", "The same as a"),
        (b"second", "text/plain", "The same as b"),
        (b"fourth", "text/css", TYPES),
        (b"x" * (MOST + 1), "text/plain", SIZE),
    ):
        storage_id = upload(project, content, kind)
        assert project.mutation("shelf:replace", entryId=ids["a"], storageId=storage_id) == wanted
        assert storage_id not in stored(project)
    assert project.mutation("shelf:replace", entryId=ids["a"], storageId=upload(project, b"first")) is None
    assert shelf(project) == {"a": "first", "b": "second"}
    assert project.mutation("shelf:add", storageId=upload(project, b"third"), name="c") is None
    project.mutation("shelf:remove", entryId=ids["b"])
    for content, kind, wanted in (
        (b"new", "text/plain", REMOVED),
        (b"new", "text/css", TYPES),
        (b"third", "text/plain", "The same as c"),
    ):
        storage_id = upload(project, content, kind)
        assert project.mutation("shelf:replace", entryId=ids["b"], storageId=storage_id) == wanted
        assert storage_id not in stored(project)
    assert shelf(project) == {"a": "first", "c": "third"}


def test_files_that_are_not_there_or_already_on_the_shelf_change_nothing(project: Deployment) -> None:
    ids = add(project, a="first", b="second")
    gone = upload(project, b"gone", "text/css")
    assert project.mutation("shelf:add", storageId=gone, name="c") == TYPES
    taken = [document["storageId"] for document in project.documents("entries")]
    before = project.documents("entries"), stored(project)
    for storage_id, text in ((gone, "No such file"), *((each, "This file is on the shelf already") for each in taken)):
        with project.fails(data=text):
            project.mutation("shelf:add", storageId=storage_id, name="c")
        with project.fails(data=text):
            project.mutation("shelf:replace", entryId=ids["a"], storageId=storage_id)
    assert (project.documents("entries"), stored(project)) == before


def test_removing_deletes_the_file(project: Deployment) -> None:
    ids = add(project, a="first", b="second")
    project.mutation("shelf:remove", entryId=ids["a"])
    project.mutation("shelf:remove", entryId=ids["a"])
    assert shelf(project) == {"b": "second"}
    assert len(stored(project)) == 1
    assert add(project, c="first").keys() == {"b", "c"}


def test_what_nobody_has_added_is_deleted_after_an_hour(project: Deployment) -> None:
    add(project, a="first")
    project.advance(minutes=7)
    orphans = [upload(project, b"same"), upload(project, b"same"), upload(project, b"other", "application/zip")]
    project.advance(minutes=31)
    late = upload(project, b"late")
    project.advance(minutes=28)
    assert {*orphans, late} < stored(project)
    assert project.mutation("shelf:add", storageId=orphans[0], name="b") is None
    project.advance(minutes=11, seconds=30)
    assert not set(orphans[1:]) & stored(project)
    assert {orphans[0], late} < stored(project)
    project.advance(minutes=19)
    assert late in stored(project)
    project.advance(minutes=12)
    assert late not in stored(project)
    project.advance(hours=3)  # a cron job may run every minute
    assert shelf(project) == {"a": "first", "b": "same"}
    again = upload(project, b"again")
    project.advance(minutes=59)
    assert again in stored(project)
    project.advance(minutes=11, seconds=30)
    assert again not in stored(project)
    assert len(stored(project)) == 2


def test_many_files_are_deleted_in_time(project: Deployment) -> None:
    add(project, a="kept")
    url = project.mutation("shelf:uploadUrl")
    for number in range(620):
        project.storage.upload_to(url, str(number).encode(), "text/plain")
    with project.trace(scheduled=True) as work:
        project.advance(minutes=71)
    assert shelf(project) == {"a": "kept"}
    assert len(stored(project)) == 1
    most = max(call.documents_read + call.documents_written for call in work.calls)
    assert most <= 4000, f"one transaction reads and writes {most} documents"


def test_the_cleanup_does_not_read_what_it_has_seen(project: Deployment) -> None:
    def work() -> int:
        project.advance(hours=2)
        orphan = upload(project, b"orphan")
        with project.trace(scheduled=True) as traced:
            project.advance(minutes=71)
        assert orphan not in stored(project)
        return traced.documents_read + traced.documents_written

    add(project, a="first")
    few = work()
    add(project, **{f"n{number}": str(number) for number in range(40)})
    assert work() <= few + 10
    assert len(project.query("shelf:list")) == 41


def test_changes_do_not_read_the_whole_shelf(project: Deployment) -> None:
    ids = add(project, **{f"n{number}": str(number) for number in range(40)})
    added, other, same = (upload(project, content) for content in (b"added", b"other", b"7"))
    with project.trace() as work:
        assert project.mutation("shelf:add", storageId=added, name="added") is None
        assert project.mutation("shelf:replace", entryId=ids["n5"], storageId=other) is None
        assert project.mutation("shelf:add", storageId=same, name="same") == "The same as n7"
        project.mutation("shelf:remove", entryId=ids["n9"])
    assert work.documents_read <= 30


def test_the_functions_are_what_was_asked_for(project: Deployment) -> None:
    functions = project.functions()
    assert {name for name, function in functions.items() if function.is_public} == {
        "shelf:list",
        "shelf:uploadUrl",
        "shelf:add",
        "shelf:replace",
        "shelf:remove",
    }
    ids = add(project, a="first")
    storage_id = upload(project, b"second")
    for path, args in (
        ("shelf:uploadUrl", {"name": "a"}),
        ("shelf:add", {"storageId": storage_id}),
        ("shelf:add", {"name": "b"}),
        ("shelf:add", {"storageId": storage_id, "name": 5}),
        ("shelf:add", {"storageId": ids["a"], "name": "b"}),
        ("shelf:replace", {"storageId": storage_id}),
        ("shelf:replace", {"entryId": ids["a"]}),
        ("shelf:replace", {"entryId": storage_id, "storageId": storage_id}),
        ("shelf:remove", {}),
        ("shelf:remove", {"entryId": storage_id}),
    ):
        with project.fails("ArgumentValidationError"):
            project.mutation(path, args)
    with project.fails("ArgumentValidationError"):
        project.query("shelf:list", name="a")
    assert shelf(project) == {"a": "first"}


@pytest.mark.parametrize("seed", range(2))
def test_shelf_and_storage_agree_with_what_happened(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    entries: dict[str, str] = {}  # what they contain, by id
    done: list[str] = []
    for _ in range(14):
        content = f"content {chance.randrange(6)}"
        kind = chance.choice(["text/plain", "text/plain", "image/png", "text/css"])
        step = chance.choice(["add", "add", "replace", "remove", "orphan"] if entries else ["add"])
        done.append(f"{step} {content} {kind}")
        entry = chance.choice(list(entries)) if entries else ""
        if step == "remove":
            project.mutation("shelf:remove", entryId=entry)
            del entries[entry]
        elif step == "orphan":
            upload(project, content.encode(), kind)
            project.advance(minutes=71)
        else:
            refusal = TYPES if kind == "text/css" else "The same as x" if content in entries.values() else None
            target = {"name": "x"} if step == "add" else {"entryId": entry}
            storage_id = upload(project, content.encode(), kind)
            received = project.mutation(f"shelf:{step}", target, storageId=storage_id)
            assert received == refusal, f"after {done}"
            if refusal is None and step == "add":
                entries[project.query("shelf:list")[-1]["id"]] = content
            elif refusal is None:
                entries[entry] = content
        listed = {each["id"]: project.storage.download(each["url"]).text for each in project.query("shelf:list")}
        assert list(listed.items()) == list(entries.items()), f"after {done}"
        assert len(stored(project)) == len(entries), f"after {done}"


@dataclass
class Line:
    """What the page sends: uploads, and calls of mutations."""

    uploads: list[Request] = field(default_factory=list)
    ended: list[Request] = field(default_factory=list)
    mutations: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        page.on("websocket", self._listen_to)
        page.on("request", lambda request: self._add(self.uploads, request))
        page.on("requestfailed", lambda request: self._add(self.ended, request))
        page.on("requestfinished", lambda request: self._add(self.ended, request))

    def _add(self, requests: list[Request], request: Request) -> None:
        if request.method == "POST" and "/api/storage/upload" in request.url:
            requests.append(request)

    def _listen_to(self, socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: self._hear(json.loads(frame)))

    def _hear(self, message: dict[str, Any]) -> None:
        if message["type"] == "Mutation":
            self.mutations.append(message["udfPath"].replace(".js:", ":"))


@dataclass
class Uploads:
    """Uploads that the test has intercepted, by content type."""

    project: Deployment
    routes: dict[str, Route] = field(default_factory=dict)

    def intercept(self, page: Page) -> None:
        page.route("**/api/storage/upload**", self._take)

    def _take(self, route: Route) -> None:
        self.routes[route.request.headers.get("content-type", "")] = route

    def wait(self, page: Page, kind: str = "text/plain") -> Route:
        wait_until(lambda: page.evaluate("0") == 0 and kind in self.routes, f"an upload of type {kind}")
        return self.routes.pop(kind)

    def store(self, route: Route, content: str) -> None:
        """Stores what the page would have sent; the browser does not say what that is."""
        kind = route.request.headers["content-type"]
        storage_id = self.project.storage.upload_to(route.request.url, content.encode(), kind)
        route.fulfill(json={"storageId": storage_id}, headers=CORS)


def visit(app: App) -> tuple[Page, Line]:
    page, line = app.blank(), Line()
    line.listen(page)
    page.goto(app.url)
    expect(page.get_by_role("list", name="Shelf")).to_have_count(1)
    return page, line


@contextmanager
def slowly(page: Page, bytes_per_second: int) -> Iterator[None]:
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    conditions = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": bytes_per_second}
    session.send("Network.emulateNetworkConditions", conditions)
    yield
    session.send("Network.emulateNetworkConditions", {**conditions, "uploadThroughput": -1})


def file(name: str, content: bytes | None = None, kind: str = "text/plain") -> FilePayload:
    return {"name": name, "mimeType": kind, "buffer": name.encode() if content is None else content}


def choose(page: Page, *files: FilePayload) -> None:
    page.get_by_label("Add files", exact=True).set_input_files(list(files))


def upload_item(page: Page, name: str) -> Locator:
    uploads = page.get_by_role("list", name="Uploads").locator("> li")
    return uploads.filter(has=page.locator(f'span:text-is("{name}")'))


def button(page: Page, upload: str, name: str) -> Locator:
    return upload_item(page, upload).get_by_role("button", name=name, exact=True)


def expect_upload(page: Page, name: str, state: str, *buttons: str) -> None:
    expect(upload_item(page, name).get_by_role("status")).to_have_text(state)
    expect(upload_item(page, name).get_by_role("button")).to_have_text(list(buttons))


def expect_uploads(page: Page, *names: str) -> None:
    items = page.get_by_role("list", name="Uploads").locator("> li")
    expect(items).to_have_count(len(names))
    for position, name in enumerate(names):
        expect(items.nth(position).locator(f'span:text-is("{name}")')).to_have_count(1)


def expect_shelf(page: Page, *names: str) -> None:
    expect(page.get_by_role("list", name="Shelf").locator("> li a")).to_have_text(list(names))


def test_files_are_uploaded_replaced_and_removed(app: App, project: Deployment) -> None:
    with app.opening() as page:
        expect(page.get_by_label("Add files", exact=True)).to_have_count(1)
        expect(page.get_by_role("list", name="Shelf")).to_have_count(0)
    expect_shelf(page)
    expect_uploads(page)
    choose(page, file("a.txt"), file("b.png", b"\x89PNG", "image/png"))
    expect(page.get_by_role("list", name="Shelf").locator("> li")).to_have_count(2)
    expect_uploads(page)
    entries = {entry["name"]: (entry["size"], entry["type"]) for entry in project.query("shelf:list")}
    assert entries == {"a.txt": (5, "text/plain"), "b.png": (4, "image/png")}
    item = page.get_by_role("list", name="Shelf").locator("> li").filter(has=page.get_by_role("link", name="a.txt"))
    expect(item.locator("span").filter(has_text="bytes")).to_have_text("5 bytes")
    assert project.storage.download(item.get_by_role("link").get_attribute("href") or "").text == "a.txt"
    page.get_by_label("Replace a.txt", exact=True).set_input_files([file("other name", b"new content")])
    expect(item.locator("span").filter(has_text="bytes")).to_have_text("11 bytes")
    expect_uploads(page)
    assert set(shelf(project)) == {"a.txt", "b.png"}
    assert project.storage.download(item.get_by_role("link").get_attribute("href") or "").text == "new content"
    page.get_by_role("button", name="Remove a.txt", exact=True).click()
    expect_shelf(page, "b.png")
    choose(page, file("a.txt"))
    expect_shelf(page, "b.png", "a.txt")
    add(project, c="from elsewhere")
    expect_shelf(page, "b.png", "a.txt", "c")
    assert len(stored(project)) == 3


def test_progress_is_that_of_the_bytes_that_are_sent(app: App, project: Deployment) -> None:
    page, _ = visit(app)
    with app.frames(page, STATE) as states:
        with slowly(page, 60_000):
            choose(page, file("large", b"x" * 240_000))
            wait_until(lambda: percent(page) >= 40, "the progress of an upload", seconds=30.0)
            assert project.query("shelf:list") == []
        expect_shelf(page, "large")
    seen = [upload[1] for state in states for upload in state["uploads"]]
    assert seen[0] == "0 %"
    assert all(text == "Saving…" or text.removesuffix(" %").isdecimal() for text in seen), seen
    numbers = [int(text.removesuffix(" %")) for text in seen if text.endswith(" %")]
    assert numbers == sorted(numbers)
    assert len({number for number in numbers if 0 < number < 100}) >= 4, f"only {seen}"
    check_frames(states, "large")


def percent(page: Page) -> int:
    texts = [upload[1] for upload in page.evaluate(STATE)["uploads"]]
    return int(texts[0].removesuffix(" %")) if texts and texts[0].endswith(" %") else 0


def check_frames(states: list[dict[str, Any]], *names: str) -> None:
    """Once chosen, each is in one place in every frame."""
    for name in names:
        places = [
            sum(name in upload[0] for upload in state["uploads"]) + state["shelf"].count(name) for state in states
        ]
        begun = places.index(1)
        assert set(places[begun:]) == {1}, f"{name}: {states}"


def test_no_frame_shows_a_file_twice_or_not_at_all(app: App, project: Deployment) -> None:
    page, _ = visit(app)
    names = [f"file {number}" for number in range(6)]
    with app.frames(page, STATE) as states:
        choose(page, *(file(name) for name in names[:3]))
        choose(page, *(file(name) for name in names[3:]))
        expect(page.get_by_role("list", name="Shelf").locator("> li")).to_have_count(6)
        expect_uploads(page)
    check_frames(states, *names)
    assert set(shelf(project)) == set(names)


def test_a_canceled_upload_ends_at_once(app: App, project: Deployment) -> None:
    page, line = visit(app)
    with slowly(page, 20_000):
        choose(page, file("large", b"x" * 250_000))
        wait_until(lambda: percent(page) >= 5, "the progress of an upload", seconds=30.0)
        expect(upload_item(page, "large").get_by_role("button")).to_have_text(["Cancel"])
        button(page, "large", "Cancel").click()
        expect_uploads(page)
        wait_until(lambda: page.evaluate("0") == 0 and line.ended, "the end of the upload")
    assert [request.failure is not None for request in line.ended] == [True]
    choose(page, file("next"))
    expect_shelf(page, "next")
    expect_uploads(page)
    assert line.mutations.count("shelf:add") == 1
    assert len(stored(project)) == 1


def test_an_upload_can_be_canceled_before_there_is_a_url(app: App, project: Deployment) -> None:
    page, line = visit(app)
    with app.holding(page):
        choose(page, file("a"), file("b"))
        expect_upload(page, "a", "0 %", "Cancel")
        button(page, "a", "Cancel").click()
        expect_uploads(page, "b")
    expect_shelf(page, "b")
    choose(page, file("c"))
    expect_shelf(page, "b", "c")
    assert len(line.uploads) == 2
    assert len(stored(project)) == 2


def test_a_stored_file_is_saved(app: App, project: Deployment) -> None:
    page, _ = visit(app)
    uploads = Uploads(project)
    uploads.intercept(page)
    choose(page, file("a"))
    route = uploads.wait(page)
    with app.frames(page, STATE) as states:
        with app.holding(page):
            uploads.store(route, "a")
            expect_upload(page, "a", "Saving…")
        expect_shelf(page, "a")
        expect_uploads(page)
    check_frames(states, "a")
    assert shelf(project) == {"a": "a"}


@pytest.mark.parametrize("cause", ["500", "400", "connection"])
def test_a_failed_upload_can_be_tried_again(app: App, project: Deployment, cause: str) -> None:
    page, line = visit(app)
    uploads = Uploads(project)
    uploads.intercept(page)

    def fail(route: Route) -> None:
        if cause == "connection":
            route.abort("connectionreset")
        else:
            route.fulfill(status=int(cause), json={"code": "Broken", "message": "No"}, headers=CORS)

    choose(page, file("a", kind="image/png"), file("b"))
    fail(uploads.wait(page, "image/png"))
    expect_upload(page, "a", "Failed", "Retry", "Dismiss")
    expect_uploads(page, "a", "b")
    expect(button(page, "b", "Cancel")).to_have_count(1)
    uploads.store(uploads.wait(page), "b")
    expect_shelf(page, "b")
    expect_uploads(page, "a")
    choose(page, file("c"))
    expect_uploads(page, "a", "c")
    button(page, "a", "Retry").click()
    fail(uploads.wait(page, "image/png"))
    assert line.mutations.count("shelf:uploadUrl") == 4
    expect_upload(page, "a", "Failed", "Retry", "Dismiss")
    button(page, "a", "Retry").click()
    again = uploads.wait(page, "image/png")
    expect(upload_item(page, "a").get_by_role("button")).to_have_text(["Cancel"])
    expect_uploads(page, "a", "c")
    uploads.store(again, "a")
    expect_shelf(page, "b", "a")
    fail(uploads.wait(page))
    expect_upload(page, "c", "Failed", "Retry", "Dismiss")
    button(page, "c", "Dismiss").click()
    expect_uploads(page)
    assert line.mutations.count("shelf:add") == 2
    assert shelf(project) == {"b": "b", "a": "a"}
    assert len(stored(project)) == 2


def test_an_upload_fails_when_the_mutation_does(app: App, project: Deployment) -> None:
    page, _ = visit(app)
    uploads = Uploads(project)
    uploads.intercept(page)
    choose(page, file("a"))
    taken = upload(project, b"taken")
    assert project.mutation("shelf:add", storageId=taken, name="b") is None
    uploads.wait(page).fulfill(json={"storageId": taken}, headers=CORS)
    expect_upload(page, "a", "Failed", "Retry", "Dismiss")
    button(page, "a", "Retry").click()
    uploads.store(uploads.wait(page), "a")
    expect_shelf(page, "b", "a")
    expect_uploads(page)


def test_an_upload_fails_when_the_connection_is_lost(app: App, project: Deployment) -> None:
    page, _ = visit(app)
    with slowly(page, 20_000):
        choose(page, file("large", b"x" * 250_000))
        wait_until(lambda: percent(page) >= 5, "the progress of an upload", seconds=30.0)
        with app.offline(page):
            expect_upload(page, "large", "Failed", "Retry", "Dismiss")
    with app.frames(page, STATE) as states:
        button(page, "large", "Retry").click()
        expect_shelf(page, "large")
    texts = [upload[1] for state in states for upload in state["uploads"]]
    assert "0 %" in texts
    assert len(stored(project)) == 1


def test_the_page_refuses_what_the_deployment_would(app: App, project: Deployment) -> None:
    page, line = visit(app)
    files = [
        file("page", kind="text/html"),
        file("nothing", kind=""),
        file("zip", b"x" * (MOST + 1), "application/zip"),
        file("large", b"x" * (MOST + 1)),
        file("fine", b"x" * MOST, "image/png"),
    ]
    choose(page, *files)
    expect_shelf(page, "fine")
    expect_uploads(page, "page", "nothing", "zip", "large")
    for name, text in (("page", TYPES), ("nothing", TYPES), ("zip", TYPES), ("large", SIZE)):
        expect_upload(page, name, text, "Dismiss")
    page.get_by_label("Replace fine", exact=True).set_input_files([file("css", kind="text/css")])
    expect_upload(page, "css", TYPES, "Dismiss")
    button(page, "zip", "Dismiss").click()
    expect_uploads(page, "page", "nothing", "large", "css")
    assert len(line.uploads) == line.mutations.count("shelf:uploadUrl") == 1


def test_what_the_deployment_refuses_is_shown(app: App, project: Deployment) -> None:
    ids = add(project, a="a", b="b")
    page, _ = visit(app)
    choose(page, file("other", b"a"))
    expect_upload(page, "other", "The same as a", "Dismiss")
    uploads = Uploads(project)
    uploads.intercept(page)
    page.get_by_label("Replace b", exact=True).set_input_files([file("new")])
    route = uploads.wait(page)
    project.mutation("shelf:remove", entryId=ids["b"])
    uploads.store(route, "new")
    expect_upload(page, "new", REMOVED, "Dismiss")
    expect_uploads(page, "other", "new")
    button(page, "other", "Dismiss").click()
    expect_uploads(page, "new")
    assert len(stored(project)) == 1
