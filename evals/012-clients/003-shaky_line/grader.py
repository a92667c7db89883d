"""A page for people whose connection breaks off: nothing that they do is lost, done twice or hidden from them."""

import json
import re
import threading
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

import pytest
from playwright.sync_api import Dialog, Locator, Page, expect

from convex_evals.pipeline.grading.kit import App, Deployment, Reply, Sources, WebRequest, WebServer, wait_until

STATE = """({
  status: document.querySelector('[role=status], output')?.textContent.trim() ?? null,
  notes: [...document.querySelectorAll('ul > li')].map((item) => {
    const [text, rest] = item.textContent.split('Vote (');
    return text.trim() + ' ' + parseInt(rest);
  }).join(', '),
})"""


@dataclass
class MailServer:
    """Sends one mail per id. While it is held, it has received a request and does not respond."""

    status: int = 200
    requests: list[dict[str, str]] = field(default_factory=list)
    _open: threading.Event = field(default_factory=threading.Event)

    @property
    def mails(self) -> list[str]:
        return list({each["mailId"]: each["text"] for each in self.requests}.values())

    def __call__(self, request: WebRequest) -> Reply:
        self.requests.append(request.json())
        self._open.wait(15)
        return Reply.json({}, self.status)

    def hold(self) -> None:
        self._open.clear()

    def release(self) -> None:
        self._open.set()


@pytest.fixture
def mail_server(project: Deployment, web_server: WebServer) -> MailServer:
    server = MailServer()
    server.release()
    project.env.set(MAIL_SERVER=web_server.reply("POST", "/mail", server))
    return server


def write(project: Deployment, notes: str) -> dict[str, str]:
    return {text: project.insert("notes", text=text, votes=0) for text in notes.split()}


def stored(project: Deployment) -> str:
    return ", ".join(f"{note['text']} {note['votes']}" for note in project.documents("notes"))


def are_stored(project: Deployment, notes: int) -> bool:
    return len(project.documents("notes")) == notes


def item(page: Page, text: str) -> Locator:
    return page.get_by_role("listitem").filter(has_text=re.compile(rf"^\s*{text}\s*Vote"))


def vote(page: Page, text: str) -> Locator:
    return item(page, text).get_by_role("button", name="Vote")


def mail(page: Page, text: str) -> Locator:
    return item(page, text).get_by_role("button").filter(has_text="Mail")


def add(page: Page, text: str) -> None:
    page.get_by_label("Note", exact=True).fill(text)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_label("Note", exact=True)).to_have_value("")


def expect_notes(page: Page, notes: str) -> None:
    """`a 0, b 2`: texts and votes."""
    wanted = [note.rsplit(" ", 1) for note in notes.split(", ")] if notes else []
    expect(page.get_by_role("listitem")).to_have_count(len(wanted))
    for place, (text, votes) in zip(page.get_by_role("listitem").all(), wanted, strict=True):
        expect(place).to_contain_text(text)
        expect(place.get_by_role("button", name=f"Vote ({votes})", exact=True)).to_have_count(1)


def expect_status(page: Page, text: str) -> None:
    expect(page.get_by_role("status")).to_have_text(text)


def expect_online(page: Page) -> None:
    """The client takes its time to connect again, the more the less it succeeds."""
    expect(page.get_by_role("status")).to_have_text("Online", timeout=30_000)


def asks_before_leaving(page: Page) -> bool:
    """Reloads the page; if the browser asks, the user stays."""
    asked: list[Dialog] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog)
        dialog.dismiss()

    page.once("dialog", stay)
    page.evaluate("window.isStillHere = true; setTimeout(() => location.reload())")
    wait_until(lambda: bool(asked) or is_reloaded(page), "a question, or the page as it is after a reload")
    if not asked:
        page.remove_listener("dialog", stay)
    return bool(asked)


def is_reloaded(page: Page) -> bool:
    try:
        return bool(page.evaluate("document.readyState === 'complete' && window.isStillHere !== true"))
    except Exception:  # it is about to be
        return False


def changes(states: list[dict[str, Any]], name: str) -> list[Any]:
    return [each for each, _ in groupby(state[name] for state in states)]


def test_the_page_uses_the_functions_of_the_given_backend(files: Sources) -> None:
    assert files.exists("src/main.tsx")
    assert any("convex/react" in files.text(path) for path in files.paths("src/**/*"))


def test_the_status_says_how_things_are(app: App, project: Deployment, mail_server: MailServer) -> None:
    write(project, "a b")
    page = app.blank()
    with app.offline(page):
        page.context.set_offline(False)
        page.goto(app.url)
        expect_status(page, "Connecting…")
        expect(page.locator("ul")).to_have_count(0)
    expect_online(page)
    expect_notes(page, "a 0, b 0")
    with app.frames(page, STATE) as states:
        with app.offline(page):
            expect_status(page, "Offline")
            vote(page, "a").click()
            expect_status(page, "Offline, 1 not saved")
            add(page, "c")
            vote(page, "a").click()
            expect_status(page, "Offline, 3 not saved")
            expect_notes(page, "a 2, b 0, c 0")
        expect_online(page)
        expect_notes(page, "a 2, b 0, c 0")
    assert changes(states, "notes") == ["a 0, b 0", "a 1, b 0", "a 1, b 0, c 0", "a 2, b 0, c 0"]
    assert "Connecting…" not in changes(states, "status")
    with app.holding(page):
        vote(page, "b").click()
        expect_status(page, "Saving 1…")
        add(page, "d")
        expect_status(page, "Saving 2…")
        mail_server.hold()
        mail(page, "a").click()
        expect(mail(page, "a")).to_have_text("Mailing…")
        expect_status(page, "Saving 2…")
    expect_online(page)
    expect(mail(page, "a")).to_have_text("Mailing…")
    mail_server.release()
    expect(mail(page, "a")).to_have_text("Mailed")
    assert stored(project) == "a 2, b 1, c 0, d 0"


def test_changes_made_without_a_connection_take_effect_once_and_in_order(app: App, project: Deployment) -> None:
    write(project, "a b")
    page = app.open()
    expect_notes(page, "a 0, b 0")
    with app.frames(page, STATE) as states:
        with app.offline(page):
            expect_status(page, "Offline")
            for text in ("c", "d", "e"):
                add(page, text)
                vote(page, "b").click()
            expect_notes(page, "a 0, b 3, c 0, d 0, e 0")
            for text in ("c", "d", "e"):
                expect(vote(page, text)).to_be_disabled()
                expect(mail(page, text)).to_be_disabled()
            assert stored(project) == "a 0, b 0"
            project.insert("notes", text="z", votes=5)
        expect_online(page)
        expect_notes(page, "a 0, b 3, z 5, c 0, d 0, e 0")
        expect(vote(page, "e")).to_be_enabled()
    assert stored(project) == "a 0, b 3, z 5, c 0, d 0, e 0"
    for state in changes(states, "notes")[6:]:
        assert state.startswith("a 0, b 3"), state
        assert [note[0] for note in state.split(", ") if note[0] in "cde"] == ["c", "d", "e"], state


def test_a_change_whose_confirmation_is_lost_takes_effect_once(app: App, project: Deployment) -> None:
    write(project, "a")
    page = app.open()
    expect_notes(page, "a 0")
    for number in (1, 2):
        with app.holding(page):
            vote(page, "a").click()
            add(page, "bc"[number - 1])
            wait_until(partial(are_stored, project, number + 1), "the note")
            with app.offline(page):
                expect_status(page, "Offline, 2 not saved")
                vote(page, "a").click()
                expect_status(page, "Offline, 3 not saved")
        expect_online(page)
    assert stored(project) == "a 4, b 0, c 0"
    expect_notes(page, "a 4, b 0, c 0")


def test_what_is_refused_disappears_and_the_rest_stays(app: App, project: Deployment) -> None:
    ids = write(project, "a b")
    page = app.open()
    expect_notes(page, "a 0, b 0")
    expect(page.get_by_role("alert")).to_have_count(0)
    with app.offline(page):
        add(page, "c")
        add(page, "this-is-far-too-long-for-a-note")
        add(page, "d")
        vote(page, "b").click()
        vote(page, "a").click()
        expect_status(page, "Offline, 5 not saved")
        expect(page.get_by_role("listitem")).to_have_count(5)
        expect(page.get_by_role("alert")).to_have_count(0)
        project.delete("notes", ids["b"])
    expect_online(page)
    expect(page.get_by_role("alert")).to_have_text("This note has been removed")
    expect_notes(page, "a 1, c 0, d 0")
    assert stored(project) == "a 1, c 0, d 0"
    add(page, "this-is-far-too-long-for-a-note")
    expect(page.get_by_role("alert")).to_have_text("this-is-far-too-long-for-a-note is too long")
    expect_notes(page, "a 1, c 0, d 0")


def test_the_browser_asks_before_unsaved_changes_are_lost(
    app: App, project: Deployment, mail_server: MailServer
) -> None:
    write(project, "a")
    page = app.open()
    expect_notes(page, "a 0")
    with app.offline(page):
        expect_status(page, "Offline")
        vote(page, "a").click()
        expect_status(page, "Offline, 1 not saved")
        assert asks_before_leaving(page), "without a connection"
    expect_online(page)
    with app.holding(page):
        vote(page, "a").click()
        expect_status(page, "Saving 1…")
        assert asks_before_leaving(page), "before the confirmation has arrived"
    expect_online(page)
    expect_notes(page, "a 2")
    mail_server.hold()
    mail(page, "a").click()
    wait_until(lambda: mail_server.requests, "a request to the mail server")
    expect(mail(page, "a")).to_have_text("Mailing…")
    assert not asks_before_leaving(page), "a mail is not a change"
    mail_server.release()
    expect_notes(page, "a 2")


def test_the_browser_does_not_ask_when_everything_is_saved(app: App, project: Deployment) -> None:
    write(project, "a")
    page = app.open()
    expect_notes(page, "a 0")
    vote(page, "a").click()
    add(page, "this-is-far-too-long-for-a-note")
    expect(page.get_by_role("alert")).to_have_count(1)
    expect_online(page)
    assert not asks_before_leaving(page)
    expect_notes(page, "a 1")


def test_notes_are_mailed(app: App, project: Deployment, mail_server: MailServer) -> None:
    write(project, "a b")
    page = app.open()
    mail_server.hold()
    mail(page, "a").click()
    expect(mail(page, "a")).to_have_text("Mailing…")
    expect(mail(page, "a")).to_be_disabled()
    expect(mail(page, "b")).to_have_text("Mail")
    expect_online(page)
    mail_server.release()
    expect(mail(page, "a")).to_have_text("Mailed")
    expect(mail(page, "a")).to_be_disabled()
    mail(page, "b").click()
    expect(mail(page, "b")).to_have_text("Mailed")
    vote(page, "a").click()
    expect_notes(page, "a 1, b 0")
    expect(mail(page, "a")).to_have_text("Mailed")
    assert mail_server.mails == ["a", "b"]
    assert len(mail_server.requests) == 2


@pytest.mark.parametrize(("status", "alert"), [(422, "a is not fit to be mailed"), (500, "Something went wrong")])
def test_a_mail_that_fails_is_not_tried_again(
    app: App, project: Deployment, mail_server: MailServer, status: int, alert: str
) -> None:
    write(project, "a b")
    page = app.open()
    mail_server.status = status
    mail(page, "a").click()
    expect(page.get_by_role("alert")).to_have_text(alert)
    expect(mail(page, "a")).to_have_text("Mail")
    expect(mail(page, "a")).to_be_enabled()
    mail_server.status = 200
    mail(page, "b").click()
    expect(mail(page, "b")).to_have_text("Mailed")
    assert [each["text"] for each in mail_server.requests] == ["a", "b"]
    mail(page, "a").click()
    expect(mail(page, "a")).to_have_text("Mailed")
    assert [each["text"] for each in mail_server.requests] == ["a", "b", "a"]


def test_a_mail_is_sent_once_although_the_connection_is_lost_meanwhile(
    app: App, project: Deployment, mail_server: MailServer
) -> None:
    write(project, "a b")
    page = app.open()
    expect_notes(page, "a 0, b 0")
    mail_server.hold()
    for note in ("a", "b"):
        mail(page, note).click()
    wait_until(lambda: len(mail_server.requests) == 2, "two requests to the mail server")
    with app.offline(page):
        expect_status(page, "Offline")
        mail_server.release()
        for note in ("a", "b"):
            expect(mail(page, note)).to_have_text("Mailing…")
            expect(mail(page, note)).to_be_disabled()
    expect_online(page)
    for note in ("a", "b"):
        expect(mail(page, note)).to_have_text("Mailed")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert sorted(mail_server.mails) == ["a", "b"]


def test_mails_asked_for_without_a_connection_are_sent_when_it_is_back(
    app: App, project: Deployment, mail_server: MailServer
) -> None:
    write(project, "a b")
    page = app.open()
    expect_notes(page, "a 0, b 0")
    with app.offline(page):
        expect_status(page, "Offline")
        mail(page, "a").click()
        expect(mail(page, "a")).to_have_text("Mailing…")
        expect_status(page, "Offline")
        assert mail_server.requests == []
    expect_online(page)
    expect(mail(page, "a")).to_have_text("Mailed")
    mail_server.hold()
    mail(page, "b").click()
    wait_until(lambda: len(mail_server.requests) == 2, "the second request to the mail server")
    with app.offline(page):
        expect_status(page, "Offline")
    expect_online(page)
    expect(mail(page, "b")).to_have_text("Mailing…")
    mail_server.release()
    expect(mail(page, "b")).to_have_text("Mailed")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert mail_server.mails == ["a", "b"]


def test_a_mail_that_fails_after_the_connection_was_lost_is_reported(
    app: App, project: Deployment, mail_server: MailServer
) -> None:
    write(project, "a")
    page = app.open()
    expect_notes(page, "a 0")
    mail_server.hold()
    mail(page, "a").click()
    wait_until(lambda: mail_server.requests, "a request to the mail server")
    mail_server.status = 422
    with app.offline(page):
        expect_status(page, "Offline")
        mail_server.release()
    expect_online(page)
    expect(page.get_by_role("alert")).to_have_text("a is not fit to be mailed")
    expect(mail(page, "a")).to_have_text("Mail")
    assert json.dumps(mail_server.mails) == '["a"]'
