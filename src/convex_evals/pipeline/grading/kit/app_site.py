"""The built app as a web site on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from convex_evals.pipeline.grading.kit.web_server import Reply, WebServer

BUNDLE: Final = "app"
_PAGE: Final = f"""\
<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>App</title><link rel="stylesheet" href="/{BUNDLE}.css"></head>
  <body><div id="root"></div><script type="module" src="/{BUNDLE}.js"></script></body>
</html>
"""


@contextmanager
def serve_app(built: Path) -> Iterator[str]:
    """The address of the page, while the block runs."""
    styles = built / f"{BUNDLE}.css"
    with WebServer.run() as server:
        server.reply("GET", f"/{BUNDLE}.js", _reply((built / f"{BUNDLE}.js").read_bytes(), "text/javascript"))
        server.reply("GET", f"/{BUNDLE}.css", _reply(styles.read_bytes() if styles.exists() else b"", "text/css"))
        server.reply("GET", "/favicon.ico", Reply(status=204))
        yield server.reply("GET", "/", _reply(_PAGE.encode(), "text/html"))


def _reply(body: bytes, kind: str) -> Reply:
    return Reply(body, headers={"Content-Type": f"{kind}; charset=utf-8"})
