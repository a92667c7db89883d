"""The fixture `app`: the model's React app, built and shown in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from convex_evals.pipeline.grading.kit.chromium import Chromium

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page

_HOLDING: Final = files(__package__) / "hold_messages.js"


@dataclass
class App:
    """Pages are Playwright's own (`playwright.sync_api.Page`), connected to the deployment of the fixture `project`.

    `complaints` are what the pages threw or logged as errors; they are told when the test fails.
    """

    url: str
    chromium: Chromium
    complaints: list[str] = field(default_factory=list)

    def open(self) -> "Page":
        """The app, as a new visitor sees it."""
        return self._open(held=False)

    @contextmanager
    def opening(self) -> Iterator["Page"]:
        """In the block, the app before the deployment has answered; the answers arrive when it ends."""
        page = self._open(held=True)
        yield page
        self._release(page)

    @contextmanager
    def holding(self, page: "Page") -> Iterator[None]:
        """In the block, nothing that the deployment sends arrives at the page; what the page sends, does."""
        page.evaluate("holdMessages(true)")
        yield
        self._release(page)

    def _open(self, *, held: bool) -> "Page":
        page = self.chromium.new_page(_HOLDING.read_text().replace("HELD", str(held).lower()))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._listen)
        page.goto(self.url)
        return page

    def _release(self, page: "Page") -> None:
        page.evaluate("holdMessages(false)")

    def _listen(self, message: "ConsoleMessage") -> None:
        if message.type == "error":
            self.complaints.append(message.text)
