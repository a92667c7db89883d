"""Pages of other sites, in Chromium: a deployment is on this machine, and so is its user's browser.

Their names lead to this machine, so that Chromium's own checks of requests to local networks do not come first.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from convex_evals.backend.deployment import Deployment, DeploymentSettings
from convex_evals.core.browser import FLAGS
from convex_evals.core.http import LoopbackServer

pytestmark = pytest.mark.asyncio(loop_scope="session")

RULES = "--host-resolver-rules=MAP *.example 127.0.0.1"
USE = """
async (url) => {
  const post = (type) => fetch(url + "/api/query", {
    method: "POST", headers: { "Content-Type": type }, body: JSON.stringify({ path: "x:y", args: {} }),
  }).then((answer) => answer.status, () => "refused");
  const connect = () => new Promise((resolve) => {
    const socket = new WebSocket(url.replace("http", "ws") + "/api/1.44.0/sync");
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
  });
  return [await post("application/json"), await post("text/plain"), await connect()];
}
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def chrome(chromium: Path, chromium_setup: Any) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=chromium, args=[*FLAGS, RULES], chromium_sandbox=chromium_setup.sandboxes_itself()
        )
        yield launched
        await launched.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def port() -> AsyncIterator[str]:
    """Of a web server with a page under every name."""

    async def page(request: Request) -> Response:
        return HTMLResponse("<h1>page</h1>")

    async with LoopbackServer() as server:
        await server.start(Starlette(routes=[Route("/", page)]))
        yield server.origin.rpartition(":")[2]


@pytest.mark.parametrize(
    ("host", "is_allowed", "expected"),
    [
        ("foreign.example", False, ["refused", "refused", "refused"]),
        ("localhost.example", False, ["refused", "refused", "refused"]),
        ("foreign.example", True, [200, 400, "open"]),
        ("localhost", False, [200, 400, "open"]),
        ("127.0.0.1", False, [200, 400, "open"]),
    ],
)
async def test_only_pages_of_this_machine_and_allowed_ones_can_call_and_connect(
    chrome: Browser, port: str, host: str, is_allowed: bool, expected: list[object]
) -> None:
    origin = f"http://{host}:{port}"
    settings = DeploymentSettings(allow_origins=(origin,) if is_allowed else ())
    async with Deployment.run(settings) as deployment:
        page = await chrome.new_page()
        await page.goto(origin)
        assert await page.evaluate(USE, deployment.url) == expected


async def test_a_name_that_external_dns_points_here_opens_nothing(chrome: Browser) -> None:
    """For the browser, page and deployment have one origin then: only the Host tells."""
    async with Deployment.start() as deployment:
        rebound = deployment.url.replace("127.0.0.1", "foreign.example")
        page = await chrome.new_page()
        answer = await page.goto(f"{rebound}/version")
        assert answer is not None
        assert answer.status == 403
        assert await page.evaluate(USE, rebound) == [403, 403, "refused"]
