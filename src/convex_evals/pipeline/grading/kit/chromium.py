"""The browser of a grader: a real Chromium, driven by Playwright, that shows pages which may do anything."""

import os
import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.core.browser import FILES, FLAGS, ONLY_THIS_MACHINE
from convex_evals.core.processes.confinement import DEVICES, SYSTEM
from convex_evals.core.supervisor import Enclosure
from convex_evals.pipeline.grading.kit.browser_network import BrowserNetwork
from convex_evals.pipeline.grading.kit.clock import Clock
from convex_evals.pipeline.grading.kit.errors import ToolCrashed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Playwright

PATIENCE_MS: Final = 10_000
LESS_PATIENCE_MS: Final = 2_000  # once the verdict is known
LESS_SECONDS: Final = 20.0  # for a test with the browser, then
EARLIER: Final = 0.8  # of the time for a test: what waits for the browser must hear of its end before the test's own
DATA_BYTES: Final = 1536 * 1024 * 1024  # of each of its processes
NEEDED: Final = (Path("/dev/shm"), Path("/proc"))
_SOURCE_ROOT: Final = Path(__file__).parents[4]
_SCRIPT: Final = """\
#!/bin/sh
exec {python} -IS -c {code} "$@"
"""
_CODE: Final = (
    "import sys; sys.path.append({root!r}); "
    "from convex_evals.core.supervisor.enclosure import become; become({enclosure!r})"
)


@dataclass
class Chromium:
    """One at a time, and a new one when a page has brought it down. Pages belong to new visitors each: no cookies,
    nothing stored."""

    playwright: "Playwright"
    program: Path
    executable: Path
    network: BrowserNetwork
    clock: Clock
    _browser: "Browser | None" = None
    _visitors: "list[BrowserContext]" = field(default_factory=list)
    _crashes: list[str] = field(default_factory=list)
    _patience_ms: int = PATIENCE_MS
    _watchdog: threading.Timer | None = None

    @classmethod
    @contextmanager
    def run(cls, executable: Path, network: BrowserNetwork, folder: Path, clock: Clock) -> Iterator["Chromium"]:
        """Raises ToolCrashed when it does not start. `folder` is all that it may write to."""
        from playwright.sync_api import expect, sync_playwright  # takes half a second, which most graders need not wait

        expect.set_options(timeout=PATIENCE_MS)
        os.environ["TMPDIR"] = str(folder)  # where Playwright makes the browser's profile
        with sync_playwright() as playwright:
            chromium = cls(playwright, _write_program(executable, network, folder), executable, network, clock)
            try:
                chromium._launch()
                yield chromium
            finally:
                chromium._close()

    @property
    def browser(self) -> "Browser":
        return self._browser if self._browser is not None else self._launch()

    def new_page(self) -> "Page":
        """An empty page. It opens no other windows, downloads nothing and outlives no visit."""
        context = self.browser.new_context(
            locale="en-US", timezone_id="UTC", accept_downloads=False, service_workers="block"
        )
        self._visitors.append(context)
        context.set_default_timeout(self._patience_ms)
        page = context.new_page()
        page.on("crash", lambda _: self._crashes.append("the page crashed"))
        return page

    def begin_test(self) -> None:
        """Whatever waits for a page that never answers ends with the time for the test: the browser is killed then."""
        seconds = EARLIER * self.clock.remaining
        if self._patience_ms != PATIENCE_MS:
            seconds = min(seconds, LESS_SECONDS)
        self._crashes.clear()
        self._watchdog = threading.Timer(max(seconds, 0.0), self._kill)
        self._watchdog.daemon = True
        self._watchdog.start()

    def end_test(self) -> None:
        """Also after a test that left the browser dead."""
        if self._watchdog is not None:
            self._watchdog.cancel()
        self.network.release()
        try:
            while self._visitors:
                self._visitors.pop().close()
        except Exception:  # whatever keeps it from closing a window: the next test gets another browser
            self._close()

    def hurry(self) -> None:
        """A test has failed: the others only say what else is wrong, and nobody wants to wait for each of them."""
        from playwright.sync_api import expect

        self._patience_ms = LESS_PATIENCE_MS
        expect.set_options(timeout=LESS_PATIENCE_MS)

    def trouble(self) -> str | None:
        """What the pages of this test have done to it."""
        if self._browser is not None and not self._browser.is_connected():
            self._close()
            self._crashes.append("the browser did not survive the page, or the page never answered")
        return self._crashes[0] if self._crashes else None

    def _launch(self) -> "Browser":
        from playwright.sync_api import Error

        try:
            self._browser = self.playwright.chromium.launch(
                executable_path=self.program,
                args=[*FLAGS, *ONLY_THIS_MACHINE],
                ignore_default_args=["--disable-popup-blocking"],
                chromium_sandbox=True,
            )
        except Error as error:
            raise ToolCrashed(f"Chromium ({self.executable}) does not start: {error.message}") from error
        return self._browser

    def _close(self) -> None:
        """What is left of it is killed with the grader."""
        self._visitors.clear()
        browser, self._browser = self._browser, None
        if browser is not None:
            with suppress(Exception):  # it may be dead
                browser.close()
        self._kill()

    def _kill(self) -> None:
        pid, self.network.pid = self.network.pid, None
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _write_program(executable: Path, network: BrowserNetwork, folder: Path) -> Path:
    """A program that locks itself in and becomes the browser, for Playwright to start."""
    enclosure: Enclosure = {
        "program": str(executable),
        "read": [str(path) for path in (*SYSTEM, *FILES, executable.resolve().parent)],
        "write": [str(path) for path in (*DEVICES, *NEEDED, folder)],
        "folder": str(folder),
        "ports": list(network.ports),
        "relay": str(network.relay),
        "data_bytes": DATA_BYTES,
    }
    code = _CODE.format(root=str(_SOURCE_ROOT), enclosure=enclosure)
    program = network.relay.with_name("browser.sh")
    program.write_text(_SCRIPT.format(python=shlex.quote(sys.executable), code=shlex.quote(code)))
    program.chmod(0o700)
    return program
