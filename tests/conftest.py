"""What all tests share: where they run, and `browser`, which shows pages in a real Chromium."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from convex_evals.core.browser import FLAGS, ONLY_THIS_MACHINE, prepare_chromium, sandboxes_itself
from convex_evals.core.errors import BrowserError
from convex_evals.core.settings import read_settings

if TYPE_CHECKING:
    from playwright.async_api import Browser, ConsoleMessage, Page

SECONDS = 60
PATIENCE_MS = 10_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            _lend_browser(item)


def _lend_browser(item: pytest.Item) -> None:
    """One Chromium serves all tests of a worker, hence the loop; it may have to be installed, hence the timeout."""
    item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
    item.add_marker(pytest.mark.timeout(SECONDS, func_only=True), append=False)


@dataclass
class Visits:
    """Every page belongs to a new visitor: no cookies, nothing stored, another window."""

    chromium: "Browser"
    opened: AsyncExitStack
    _complaints: list[str] = field(default_factory=list)

    async def page(self) -> "Page":
        context = await self.chromium.new_context(locale="en-US", timezone_id="UTC")
        self.opened.push_async_callback(context.close)
        context.set_default_timeout(PATIENCE_MS)
        page = await context.new_page()
        page.on("pageerror", lambda error: self._complaints.append(str(error)))
        page.on("console", self._listen)
        return page

    async def visit(self, url: str) -> "Page":
        page = await self.page()
        await page.goto(url)
        return page

    def take_complaints(self) -> list[str]:
        """What pages threw or logged as errors so far; what nobody takes fails the test."""
        taken, self._complaints = self._complaints, []
        return taken

    def _listen(self, message: "ConsoleMessage") -> None:
        if message.type == "error":
            self._complaints.append(message.text)


@pytest.fixture(scope="session")
def chromium() -> Path:
    try:
        return asyncio.run(prepare_chromium(read_settings()))
    except BrowserError as error:
        pytest.skip(str(error))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_chromium(chromium: Path) -> AsyncIterator["Browser"]:
    from playwright.async_api import async_playwright, expect  # takes half a second, which most tests need not wait

    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=chromium, args=[*FLAGS, *ONLY_THIS_MACHINE], chromium_sandbox=sandboxes_itself()
        )
        yield launched
        await launched.close()


@pytest_asyncio.fixture(loop_scope="session")
async def browser(shared_chromium: "Browser") -> AsyncIterator[Visits]:
    """`page = await browser.visit(url)`. Errors of a page fail the test, unless it takes them."""
    async with AsyncExitStack() as opened:
        visits = Visits(shared_chromium, opened)
        yield visits
    assert visits.take_complaints() == []
