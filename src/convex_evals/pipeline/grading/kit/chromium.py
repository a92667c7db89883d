"""The browser of a grader: a real Chromium, driven by Playwright."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.core.browser import FLAGS, ONLY_THIS_MACHINE, sandboxes_itself
from convex_evals.pipeline.grading.kit.errors import ToolCrashed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Playwright

PATIENCE_MS: Final = 10_000
LESS_PATIENCE_MS: Final = 2_000  # once the verdict is known


@dataclass
class Chromium:
    """One per grader at most. `pages` belong to new visitors each: no cookies, nothing stored."""

    browser: "Browser"
    _visitors: "list[BrowserContext]" = field(default_factory=list)
    _crashed: bool = False
    _patience_ms: int = PATIENCE_MS

    @classmethod
    @contextmanager
    def run(cls, executable: Path) -> Iterator["Chromium"]:
        """Raises ToolCrashed when it does not start."""
        from playwright.sync_api import expect, sync_playwright  # takes half a second, which most graders need not wait

        expect.set_options(timeout=PATIENCE_MS)
        with sync_playwright() as playwright:
            browser = _launch(playwright, executable)
            try:
                yield cls(browser)
            finally:
                with suppress(Exception):  # it may be dead; what is left of it is killed with the grader
                    browser.close()

    def new_page(self, script: str) -> "Page":
        """An empty page; the script will run before those of any site it visits."""
        context = self.browser.new_context(locale="en-US", timezone_id="UTC")
        self._visitors.append(context)
        context.set_default_timeout(self._patience_ms)
        context.add_init_script(script)
        page = context.new_page()
        page.on("crash", lambda _: self._note_crash())
        return page

    def close_pages(self) -> None:
        while self._visitors:
            self._visitors.pop().close()

    def hurry(self) -> None:
        """A test has failed: the others only say what else is wrong, and nobody wants to wait for each of them."""
        from playwright.sync_api import expect

        self._patience_ms = LESS_PATIENCE_MS
        expect.set_options(timeout=LESS_PATIENCE_MS)

    def works(self) -> bool:
        """Whether it still answers, and no page of it has crashed."""
        try:
            self.browser.new_context().close()
        except Exception:  # whatever keeps it from opening a window: it does not work
            return False
        return not self._crashed

    def _note_crash(self) -> None:
        self._crashed = True


def _launch(playwright: "Playwright", executable: Path) -> "Browser":
    from playwright.sync_api import Error

    try:
        return playwright.chromium.launch(
            executable_path=executable, args=[*FLAGS, *ONLY_THIS_MACHINE], chromium_sandbox=sandboxes_itself()
        )
    except Error as error:
        raise ToolCrashed(f"Chromium ({executable}) does not start: {error.message}") from error
