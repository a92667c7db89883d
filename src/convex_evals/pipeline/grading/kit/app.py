"""The fixture `app`: the model's React app, built, served on this machine and shown in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from convex_evals.pipeline.grading.kit.chromium import TIMEOUT_MS, Chromium
from convex_evals.pipeline.grading.kit.web_server import Reply, WebServer
from convex_evals.pipeline.grading.types import BUNDLE

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page

EMPTY_PAGE: Final = f"""\
<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>App</title><link rel="stylesheet" href="/{BUNDLE}.css"></head>
  <body><div id="root"></div><script type="module" src="/{BUNDLE}.js"></script></body>
</html>
"""

# Before each frame is painted, the page says what it is about to show; only changes are kept.
_RECORD: Final = """\
(source) => {
  const read = new Function("return (" + source + ");");
  const seen = [];
  const look = () => {
    const state = JSON.stringify(read());
    if (state !== seen[seen.length - 1]) seen.push(state);
  };
  let request;
  const frame = () => { look(); request = requestAnimationFrame(frame); };
  frame();
  return () => { cancelAnimationFrame(request); look(); return seen.map((state) => JSON.parse(state)); };
}
"""

_MOST_COMPLAINTS: Final = 100
_LONGEST_COMPLAINT: Final = 2000


@contextmanager
def serve_app(built: Path) -> Iterator[WebServer]:
    """The site of the page, while the block runs."""
    styles = built / f"{BUNDLE}.css"
    with WebServer.run() as server:
        server.reply("GET", f"/{BUNDLE}.js", _reply((built / f"{BUNDLE}.js").read_bytes(), "text/javascript"))
        server.reply("GET", f"/{BUNDLE}.css", _reply(styles.read_bytes() if styles.exists() else b"", "text/css"))
        server.reply("GET", "/favicon.ico", Reply(status=204))
        yield server


def _reply(body: bytes, kind: str) -> Reply:
    return Reply(body, headers={"Content-Type": f"{kind}; charset=utf-8"})


@dataclass
class App:
    """Pages are Playwright's own (`playwright.sync_api.Page`), connected to the deployment of the fixture `project`.

    `complaints` are what the pages threw or logged as errors; they are reported when the test fails.
    """

    site: WebServer
    chromium: Chromium
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.serve(EMPTY_PAGE)

    @property
    def url(self) -> str:
        return f"{self.site.url}/"

    def serve(self, document: str) -> None:
        """From now on and until the test ends, instead of the page with one empty element. It includes the app with
        `<script type="module" src="/app.js"></script>`."""
        self.site.reply("GET", "/", _reply(document.encode(), "text/html"))

    def open(self) -> "Page":
        """The app, as a new visitor sees it."""
        page = self.blank()
        page.goto(self.url, timeout=TIMEOUT_MS)
        return page

    def blank(self) -> "Page":
        """An empty page of a new visitor, for what must be there before `page.goto(app.url)` opens the app."""
        page = self.chromium.new_page()
        page.on("pageerror", lambda error: self._note(str(error)))
        page.on("console", self._listen)
        return page

    @contextmanager
    def opening(self) -> Iterator["Page"]:
        """In the block, the app before the deployment has answered; the answers arrive when it ends."""
        with self._holding():
            yield self.open()

    @contextmanager
    def holding(self, page: "Page") -> Iterator[None]:
        """In the block, nothing that the deployment sends arrives at any page; what pages send, does."""
        with self._holding():
            yield

    @contextmanager
    def offline(self, page: "Page") -> Iterator[None]:
        """In the block, no page has a connection to the deployment, and this one is told that there is no network."""
        self.chromium.network.cut()
        page.context.set_offline(True)
        try:
            yield
        finally:
            self.chromium.network.mend()
            page.context.set_offline(False)

    @contextmanager
    def frames(self, page: "Page", state: str) -> Iterator[list[Any]]:
        """What `state`, an expression in JavaScript, was in each frame that the page painted in the block, without
        repetitions; in the list when the block has ended."""
        states: list[Any] = []
        recording = page.evaluate_handle(_RECORD, state)
        yield states
        states += recording.evaluate("(stop) => stop()")

    @contextmanager
    def _holding(self) -> Iterator[None]:
        self.chromium.network.hold()
        try:
            yield
        finally:
            self.chromium.network.release()

    def _listen(self, message: "ConsoleMessage") -> None:
        if message.type == "error":
            self._note(message.text)

    def _note(self, complaint: str) -> None:
        if len(self.complaints) < _MOST_COMPLAINTS:
            self.complaints.append(complaint[:_LONGEST_COMPLAINT])
