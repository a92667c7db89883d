"""A guestbook made with React, in Chromium, against an embedded deployment."""

from typing import Any

import pytest
from playwright.async_api import Locator, Page, WebSocketRoute, expect

Browser = Any
BuiltApp = Any
Guestbook = Any


def bodies(page: Page) -> Locator:
    return page.get_by_label("Messages", exact=True).locator("li p")


def authors(page: Page) -> Locator:
    return page.get_by_label("Messages", exact=True).locator("li small")


def account(page: Page) -> Locator:
    return page.get_by_label("Account").locator("p")


async def send(page: Page, body: str) -> None:
    await page.get_by_label("Message", exact=True).fill(body)
    await page.get_by_role("button", name="Send").click()


class HeldAnswers:
    """Keeps back what the server says to a page until it is told to let go."""

    def __init__(self) -> None:
        self._holding = False
        self._held: list[str | bytes] = []
        self._page: WebSocketRoute | None = None

    async def install(self, page: Page) -> None:
        await page.route_web_socket("**/sync", self._connect)

    def hold(self) -> None:
        self._holding = True

    def release(self) -> None:
        assert self._page is not None
        self._holding = False
        for message in self._held:
            self._page.send(message)
        self._held.clear()

    def _connect(self, page: WebSocketRoute) -> None:
        self._page = page
        page.connect_to_server().on_message(self._deliver)

    def _deliver(self, message: str | bytes) -> None:
        assert self._page is not None
        if self._holding:
            self._held.append(message)
        else:
            self._page.send(message)


async def visit_slowly(browser: Browser, guestbook: Guestbook, answers: HeldAnswers) -> Page:
    page: Page = await browser.page()
    await answers.install(page)
    await page.goto(guestbook.url)
    await expect(page.get_by_text("That is all")).to_be_visible()
    answers.hold()
    return page


async def test_two_pages_see_each_others_changes(browser: Browser, guestbook: Guestbook) -> None:
    one, two = await browser.visit(guestbook.url), await browser.visit(guestbook.url)
    await expect(two.get_by_text("That is all")).to_be_visible()
    await send(one, "hello")
    await expect(bodies(two)).to_have_text(["hello"])
    await send(two, "hello yourself")
    await expect(bodies(one)).to_have_text(["hello yourself", "hello"])
    await two.get_by_label("Like hello", exact=True).click()
    await expect(one.get_by_label("Like hello", exact=True)).to_have_text("♥ 1")
    await one.get_by_label("Remove hello yourself").click()
    for page in (one, two):
        await expect(bodies(page)).to_have_text(["hello"])
        await expect(page.get_by_role("status")).to_have_text("Messages: 1")


@pytest.mark.exhaustive
async def test_a_page_shows_what_functions_write_behind_its_back(browser: Browser, guestbook: Guestbook) -> None:
    page = await browser.visit(guestbook.url)
    await expect(page.get_by_role("status")).to_have_text("Messages: 0")
    await guestbook.fill(2)
    await expect(bodies(page)).to_have_text(["message 2", "message 1"])


async def test_an_optimistic_message_is_there_before_the_server_answers(browser: Browser, guestbook: Guestbook) -> None:
    answers = HeldAnswers()
    page, other = await visit_slowly(browser, guestbook, answers), await browser.visit(guestbook.url)
    await send(page, "hurry")
    await expect(authors(page)).to_have_text(["being sent"])
    await expect(page.get_by_role("status")).to_have_text("Messages: 1")
    await expect(bodies(other)).to_have_text(["hurry"])  # so the server has long answered
    await expect(authors(page)).to_have_text(["being sent"])
    answers.release()
    await expect(authors(page)).to_have_text(["a visitor"])
    await expect(bodies(page)).to_have_text(["hurry"])


async def test_an_optimistic_like_is_counted_once(browser: Browser, guestbook: Guestbook) -> None:
    await guestbook.fill(1)
    answers = HeldAnswers()
    page, other = await visit_slowly(browser, guestbook, answers), await browser.visit(guestbook.url)
    likes = "Like message 1"
    await page.get_by_label(likes).click()
    await page.get_by_label(likes).click()
    await expect(page.get_by_label(likes)).to_have_text("♥ 2")
    await expect(other.get_by_label(likes)).to_have_text("♥ 2")
    await other.get_by_label(likes).click()
    await expect(other.get_by_label(likes)).to_have_text("♥ 3")
    await expect(page.get_by_label(likes)).to_have_text("♥ 2")
    answers.release()
    await expect(page.get_by_label(likes)).to_have_text("♥ 3")


@pytest.mark.exhaustive
async def test_an_optimistic_message_vanishes_when_the_server_refuses_it(
    browser: Browser, guestbook: Guestbook
) -> None:
    answers = HeldAnswers()
    page = await visit_slowly(browser, guestbook, answers)
    await send(page, "spam and eggs")
    await expect(bodies(page)).to_have_text(["spam and eggs"])
    answers.release()
    await expect(page.get_by_role("alert")).to_have_text("No advertisements, please.")
    await expect(bodies(page)).to_have_count(0)
    await expect(page.get_by_role("status")).to_have_text("Messages: 0")
    assert await guestbook.count() == 0
    [complaint] = browser.take_complaints()
    assert complaint.startswith("[CONVEX M(messages:send)]")
    assert "Uncaught ConvexError: No advertisements, please.\n    at handler (../convex/messages.ts:18:37)" in complaint


async def test_more_messages_are_loaded_page_by_page_and_stay_live(browser: Browser, guestbook: Guestbook) -> None:
    await guestbook.fill(12)
    page = await browser.visit(guestbook.url)
    newest_first = [f"message {number}" for number in range(12, 0, -1)]
    more = page.get_by_role("button", name="Load more")
    await expect(bodies(page)).to_have_text(newest_first[:5])
    await more.click()
    await expect(bodies(page)).to_have_text(newest_first[:10])
    other = await browser.visit(guestbook.url)
    await send(other, "news")
    await other.get_by_label("Remove message 11").click()
    await expect(bodies(page)).to_have_text(["news", "message 12", *newest_first[2:10]])
    await more.click()
    await expect(bodies(page)).to_have_text(["news", "message 12", *newest_first[2:]])
    await expect(page.get_by_text("That is all")).to_be_visible()
    await page.get_by_label("Remove message 1", exact=True).click()
    await expect(bodies(page)).to_have_text(["news", "message 12", *newest_first[2:11]])


async def test_signing_in_and_out_changes_what_queries_return(browser: Browser, guestbook: Guestbook) -> None:
    page, other = await browser.visit(guestbook.url), await browser.visit(guestbook.url)
    await expect(account(page)).to_have_text("You are a visitor")
    await page.get_by_role("button", name="Sign in as Ada").click()
    await expect(account(page)).to_have_text("You are Ada; messages written: 0")
    await send(page, "hello")
    await expect(account(page)).to_have_text("You are Ada; messages written: 1")
    await expect(authors(other)).to_have_text(["Ada"])
    await expect(account(other)).to_have_text("You are a visitor")
    await page.get_by_role("button", name="Sign out").click()
    await expect(account(page)).to_have_text("You are a visitor")
    await page.get_by_role("button", name="Sign in as Grace").click()
    await expect(account(page)).to_have_text("You are Grace; messages written: 0")


@pytest.mark.exhaustive
async def test_a_forged_token_signs_nobody_in(browser: Browser, guestbook: Guestbook) -> None:
    page = await browser.visit(guestbook.url)
    async with page.expect_console_message(lambda message: message.text.startswith("Failed to authenticate")):
        await page.get_by_role("button", name="Sign in as Mallory").click()
    await expect(account(page)).to_have_text("You are a visitor")
    await send(page, "hello")
    await expect(authors(page)).to_have_text(["a visitor"])
    [complaint] = browser.take_complaints()
    assert complaint.startswith('Failed to authenticate: "Could not decode token.')


async def test_the_app_type_checks_against_the_generated_api(built_app: BuiltApp) -> None:
    await built_app.project.type_check()
