"""A page without a framework: live queries, changes that are visible at once, and elements that stay."""

import json
import random
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect

from convex_evals.pipeline.grading.kit import App, Deployment, Sources, wait_until

STATE = """({
  rooms: [...document.querySelectorAll('nav button')].map((each) => each.textContent.trim()),
  shown: document.querySelector('nav button[aria-pressed=true]')?.textContent.trim() ?? null,
  items: document.querySelector('ul') === null ? null : [...document.querySelectorAll('ul > li')].map((item) =>
    item.querySelector('span').textContent + ' ' + item.querySelector('button').textContent.replace(/[^0-9]/g, '')),
})"""

IDS = dict[str, str]


def create(project: Deployment, **rooms: str) -> IDS:
    """Rooms with messages. The ids of all of them, by name."""
    ids = {}
    for name, texts in rooms.items():
        ids[name] = project.insert("rooms", name=name, isBroken=False)
        for text in texts.split():
            ids[text] = project.insert("messages", roomId=ids[name], text=text, likes=0)
    return ids


def set_broken(project: Deployment, id: str, is_broken: bool) -> None:
    room = project.get(id)
    assert room is not None
    project.replace(id, {"name": room["name"], "isBroken": is_broken})


@dataclass
class Followed:
    """What the page asks the deployment to keep it up to date about."""

    queries: dict[int, str] = field(default_factory=dict)

    def listen(self, socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: self._hear(json.loads(frame)))

    def _hear(self, message: dict[str, Any]) -> None:
        if message["type"] == "ModifyQuerySet":
            for change in message["modifications"]:
                if change["type"] == "Add":
                    self.queries[change["queryId"]] = f"{change['udfPath']} {json.dumps(change['args'])}"
                else:
                    self.queries.pop(change["queryId"], None)


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def item(page: Page, text: str) -> Locator:
    return page.locator("ul > li").filter(has=page.get_by_text(text, exact=True))


def like(page: Page, text: str) -> Locator:
    return item(page, text).get_by_role("button", name="Like")


def remove(page: Page, text: str) -> Locator:
    return item(page, text).get_by_role("button", name="Remove", exact=True)


def message_field(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


def send(page: Page, text: str) -> None:
    message_field(page).fill(text)
    button(page, "Send").click()
    expect(message_field(page)).to_have_value("")


def expect_rooms(page: Page, *rooms: str, shown: str) -> None:
    expect(page.locator("nav button")).to_have_text(list(rooms))
    for name in rooms:
        expect(button(page, name)).to_have_attribute("aria-pressed", "true" if name == shown else "false")


def expect_messages(page: Page, messages: str) -> None:
    """`a 0, b 2`: texts and likes."""
    wanted = [message.rsplit(" ", 1) for message in messages.split(", ")] if messages else []
    expect(page.locator("ul")).to_have_count(1)
    expect(page.locator("ul > li span")).to_have_text([text for text, _ in wanted])
    expect(page.locator("ul > li").get_by_role("button", name="Like")).to_have_text(
        [f"Like ({likes})" for _, likes in wanted]
    )
    expect(page.get_by_text("Loading…")).to_have_count(0)


def stored(project: Deployment) -> str:
    return ", ".join(f"{message['text']} {message['likes']}" for message in project.documents("messages"))


def check_frames(states: list[dict[str, Any]]) -> None:
    for state in states:
        if state["items"] is not None and state["shown"] is not None:
            assert state["shown"].endswith(f"({len(state['items'])})"), f"a frame contradicts itself: {state}"


def lists(states: list[dict[str, Any]]) -> list[str | None]:
    seen = [None if state["items"] is None else ", ".join(state["items"]) for state in states]
    return [each for each, _ in groupby(seen)]


def test_the_page_needs_no_framework(files: Sources) -> None:
    assert files.exists("src/main.tsx")
    assert set(files.package_json["dependencies"]) == {"convex"}
    assert any("convex/browser" in files.text(path) for path in files.paths("src/**/*"))


def test_it_shows_the_oldest_room_and_others_on_a_click(app: App, project: Deployment) -> None:
    create(project, Hall="a b", Yard="c", Attic="")
    page = app.open()
    expect_rooms(page, "Hall (2)", "Yard (1)", "Attic (0)", shown="Hall (2)")
    expect_messages(page, "a 0, b 0")
    expect(page.get_by_role("alert")).to_have_count(0)
    with app.holding(page):
        button(page, "Yard (1)").click()
        expect(page.get_by_text("Loading…", exact=True)).to_have_count(1)
        expect(page.locator("p", has_text="Loading…")).to_have_count(1)
        expect(page.locator("ul")).to_have_count(0)
        expect_rooms(page, "Hall (2)", "Yard (1)", "Attic (0)", shown="Yard (1)")
    expect_messages(page, "c 0")
    button(page, "Attic (0)").click()
    expect_messages(page, "")
    button(page, "Send").click()
    expect_messages(page, "")
    button(page, "Hall (2)").click()
    expect_messages(page, "a 0, b 0")


def test_what_others_do_appears_without_a_reload(app: App, project: Deployment) -> None:
    ids = create(project, Hall="a b", Yard="")
    page = app.open()
    expect_messages(page, "a 0, b 0")
    with app.frames(page, STATE) as states:
        project.mutation("messages:send", roomId=ids["Hall"], text="c")
        expect_messages(page, "a 0, b 0, c 0")
        project.mutation("messages:like", messageId=ids["b"])
        expect_messages(page, "a 0, b 1, c 0")
        project.mutation("messages:remove", messageId=ids["a"])
        expect_messages(page, "b 1, c 0")
        project.mutation("messages:send", roomId=ids["Yard"], text="d")
        expect_rooms(page, "Hall (2)", "Yard (1)", shown="Hall (2)")
        project.insert("rooms", name="Attic", isBroken=False)
        expect_rooms(page, "Hall (2)", "Yard (1)", "Attic (0)", shown="Hall (2)")
    check_frames(states)


def test_what_the_user_does_is_visible_at_once(app: App, project: Deployment) -> None:
    create(project, Hall="a b c", Yard="d")
    page = app.open()
    expect_messages(page, "a 0, b 0, c 0")
    with app.frames(page, STATE) as states:
        with app.holding(page):
            like(page, "a").click()
            expect_messages(page, "a 1, b 0, c 0")
            like(page, "a").click()
            like(page, "c").click()
            expect_messages(page, "a 2, b 0, c 1")
            remove(page, "b").click()
            expect_messages(page, "a 2, c 1")
            expect_rooms(page, "Hall (2)", "Yard (1)", shown="Hall (2)")
            send(page, "e")
            expect_messages(page, "a 2, c 1, e 0")
            expect_rooms(page, "Hall (3)", "Yard (1)", shown="Hall (3)")
            send(page, "f")
            remove(page, "a").click()
            expect_messages(page, "c 1, e 0, f 0")
            for text in ("e", "f"):
                for each in item(page, text).get_by_role("button").all():
                    expect(each).to_be_disabled()
            expect(like(page, "c")).to_be_enabled()
        expect(like(page, "f")).to_be_enabled()
        expect(like(page, "e")).to_be_enabled()
        expect_messages(page, "c 1, e 0, f 0")
    check_frames(states)
    assert lists(states) == [
        "a 0, b 0, c 0",
        "a 1, b 0, c 0",
        *[each for each in lists(states)[2:4] if each in ("a 2, b 0, c 0",)],
        "a 2, b 0, c 1",
        "a 2, c 1",
        "a 2, c 1, e 0",
        "a 2, c 1, e 0, f 0",
        "c 1, e 0, f 0",
    ]
    like(page, "f").click()
    expect_messages(page, "c 1, e 0, f 1")
    wait_until(lambda: stored(project) == "c 1, d 0, e 0, f 1", "all that the user has done")


def test_what_is_refused_disappears_and_the_rest_stays(app: App, project: Deployment) -> None:
    ids = create(project, Hall="a b c", Yard="")
    page = app.open()
    expect_messages(page, "a 0, b 0, c 0")
    long = "this-is-far-too-long-for-a-message"
    with app.frames(page, STATE) as states:
        with app.holding(page):
            project.delete("messages", ids["b"])
            like(page, "b").click()
            like(page, "a").click()
            send(page, "d")
            send(page, long)
            send(page, "e")
            expect_messages(page, f"a 1, b 1, c 0, d 0, {long} 0, e 0")
            expect_rooms(page, "Hall (6)", "Yard (0)", shown="Hall (6)")
            expect(page.get_by_role("alert")).to_have_count(0)
        expect_messages(page, "a 1, c 0, d 0, e 0")
        expect_rooms(page, "Hall (4)", "Yard (0)", shown="Hall (4)")
        expect(page.get_by_role("alert")).to_have_text(f"{long} is too long")
        expect(like(page, "e")).to_be_enabled()
    check_frames(states)
    seen = lists(states)
    begun = next(number for number, each in enumerate(seen) if each is not None and "a 1" in each)
    assert all("a 1" in (each or "") for each in seen[begun:]), f"a like disappeared: {seen}"
    parts = [(each or "").split(", ") for each in seen]
    sent = next(number for number, each in enumerate(parts) if "e 0" in each)
    assert all(each.count("d 0") == each.count("e 0") == 1 for each in parts[sent:]), seen
    like(page, "a").click()
    expect_messages(page, "a 2, c 0, d 0, e 0")


def test_a_message_that_somebody_else_removes_meanwhile_counts_once(app: App, project: Deployment) -> None:
    ids = create(project, Hall="a b c", Yard="")
    page = app.open()
    expect_messages(page, "a 0, b 0, c 0")
    with app.frames(page, STATE) as states:
        with app.holding(page):
            project.mutation("messages:remove", messageId=ids["b"])
            remove(page, "b").click()
            remove(page, "c").click()
            expect_messages(page, "a 0")
            expect_rooms(page, "Hall (1)", "Yard (0)", shown="Hall (1)")
        expect_messages(page, "a 0")
        expect_rooms(page, "Hall (1)", "Yard (0)", shown="Hall (1)")
        wait_until(lambda: stored(project) == "a 0", "the removal")
        project.mutation("messages:like", messageId=ids["a"])
        expect_messages(page, "a 1")
    check_frames(states)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_changes_go_on_in_a_room_that_is_no_longer_shown(app: App, project: Deployment) -> None:
    create(project, Hall="a b", Yard="c")
    page = app.open()
    expect_messages(page, "a 0, b 0")
    with app.holding(page):
        send(page, "d")
        send(page, "this-is-far-too-long-for-a-message")
        remove(page, "a").click()
        expect_rooms(page, "Hall (3)", "Yard (1)", shown="Hall (3)")
        button(page, "Yard (1)").click()
        expect_rooms(page, "Hall (3)", "Yard (1)", shown="Yard (1)")
        expect(page.locator("ul")).to_have_count(0)
    expect_messages(page, "c 0")
    expect_rooms(page, "Hall (2)", "Yard (1)", shown="Yard (1)")
    expect(page.get_by_role("alert")).to_have_text("this-is-far-too-long-for-a-message is too long")
    button(page, "Hall (2)").click()
    expect_messages(page, "b 0, d 0")


def test_only_what_is_shown_is_followed(app: App, project: Deployment) -> None:
    ids = create(project, Hall="a", Yard="b", Attic="c")
    page = app.blank()
    followed = Followed()
    page.on("websocket", followed.listen)
    page.goto(app.url)
    expect_messages(page, "a 0")
    with app.frames(page, STATE) as states:
        with app.holding(page):
            for name in ("Yard (1)", "Attic (1)", "Yard (1)"):
                button(page, name).click()
        expect_messages(page, "b 0")
        project.mutation("messages:like", messageId=ids["a"])
        project.mutation("messages:like", messageId=ids["b"])
        expect_messages(page, "b 1")
    names = sorted(query.split()[0].removesuffix(".js").replace(".js:", ":") for query in followed.queries.values())
    assert names == ["messages:list", "rooms:list"]
    assert ids["Yard"] in " ".join(followed.queries.values())
    assert lists(states) == ["a 0", None, "b 0", "b 1"]
    button(page, "Attic (1)").click()
    expect_messages(page, "c 0")
    wait_until(lambda: page.evaluate("0") == 0 and len(followed.queries) == 2, "the former room to be left")


def test_a_room_that_cannot_be_read_says_so_and_comes_back(app: App, project: Deployment) -> None:
    ids = create(project, Hall="a", Yard="b c")
    set_broken(project, ids["Yard"], True)
    page = app.open()
    unreadable = page.locator("p").filter(has_text="Yard cannot be read")
    expect_messages(page, "a 0")
    button(page, "Yard (2)").click()
    expect(unreadable).to_have_count(1)
    expect(page.locator("ul")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)
    set_broken(project, ids["Yard"], False)
    expect_messages(page, "b 0, c 0")
    expect(unreadable).to_have_count(0)
    set_broken(project, ids["Yard"], True)
    expect(unreadable).to_have_count(1)
    expect(page.locator("ul")).to_have_count(0)
    project.mutation("messages:remove", messageId=ids["b"])
    expect_rooms(page, "Hall (1)", "Yard (1)", shown="Yard (1)")
    button(page, "Hall (1)").click()
    expect_messages(page, "a 0")
    like(page, "a").click()
    expect_messages(page, "a 1")


def test_elements_stay_and_keep_the_focus(app: App, project: Deployment) -> None:
    ids = create(project, Hall="a b c", Yard="")
    page = app.open()
    expect_messages(page, "a 0, b 0, c 0")
    handles = [item(page, text).element_handle() for text in ("b", "c")] + [like(page, "b").element_handle()]
    rooms = page.locator("nav button").element_handles()
    message_field(page).fill("draft")
    like(page, "b").focus()
    with app.holding(page):
        page.keyboard.press("Enter")
        expect_messages(page, "a 0, b 1, c 0")
        page.keyboard.press("Enter")
        expect_messages(page, "a 0, b 2, c 0")
        expect(like(page, "b")).to_be_focused()
    project.mutation("messages:send", roomId=ids["Hall"], text="d")
    expect_messages(page, "a 0, b 2, c 0, d 0")
    project.mutation("messages:remove", messageId=ids["a"])
    expect_messages(page, "b 2, c 0, d 0")
    project.mutation("messages:like", messageId=ids["c"])
    expect_messages(page, "b 2, c 1, d 0")
    expect(like(page, "b")).to_be_focused()
    expect(message_field(page)).to_have_value("draft")
    assert all(handle.evaluate("(element) => element.isConnected") for handle in [*handles, *rooms])
    button(page, "Hall (3)").focus()
    project.mutation("messages:send", roomId=ids["Yard"], text="e")
    project.insert("rooms", name="Attic", isBroken=False)
    expect_rooms(page, "Hall (3)", "Yard (1)", "Attic (0)", shown="Hall (3)")
    expect(button(page, "Hall (3)")).to_be_focused()
    message_field(page).focus()
    page.keyboard.type("s")
    project.mutation("messages:send", roomId=ids["Hall"], text="f")
    expect_messages(page, "b 2, c 1, d 0, f 0")
    expect(message_field(page)).to_be_focused()
    expect(message_field(page)).to_have_value("drafts")


def test_texts_are_shown_exactly_as_they_are(app: App, project: Deployment) -> None:
    room = project.insert("rooms", name="<i>Hall</i>", isBroken=False)
    project.insert("messages", roomId=room, text="<b>bold</b> &amp; $&", likes=0)
    page = app.open()
    expect_rooms(page, "<i>Hall</i> (1)", shown="<i>Hall</i> (1)")
    expect(page.locator("ul span")).to_have_text(["<b>bold</b> &amp; $&"])
    send(page, "<script>x</script> {{y}}")
    expect(page.locator("ul span")).to_have_text(["<b>bold</b> &amp; $&", "<script>x</script> {{y}}"])
    expect(page.locator("ul span *")).to_have_count(0)


@pytest.mark.parametrize("seed", range(2))
def test_whatever_happens_the_page_shows_it(app: App, project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    create(project, Hall="a b", Yard="")
    page = app.open()
    expect_messages(page, "a 0, b 0")
    truth: dict[str, int] = {"a": 0, "b": 0}
    names = iter("cdefghijklmnop")
    with app.frames(page, STATE) as states:
        for _ in range(3):
            with app.holding(page):
                known = list(truth)
                for _ in range(4):
                    kind = chance.choice(["like", "like", "remove", "send"])
                    open_ = [text for text in known if text in truth]
                    if kind == "send" or not open_:
                        truth[text := next(names)] = 0
                        send(page, text)
                    elif kind == "like":
                        text = chance.choice(open_)
                        truth[text] += 1
                        like(page, text).click()
                    else:
                        text = chance.choice(open_)
                        del truth[text]
                        remove(page, text).click()
                    expect_messages(page, ", ".join(f"{text} {likes}" for text, likes in truth.items()))
            for text in truth:
                expect(like(page, text)).to_be_enabled()
    check_frames(states)
    expected = ", ".join(f"{text} {likes}" for text, likes in truth.items())
    wait_until(lambda: stored(project) == expected, "all that the user has done")
    expect_messages(page, expected)
