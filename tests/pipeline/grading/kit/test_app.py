"""The fixture `app`: a React app, built and shown in a real browser; and what is told when one of these is missing."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from convex_evals.pipeline.grading import GradedDeployment, GraderResult
from convex_evals.pipeline.grading.run import run_grader
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.types import GradingOptions
from convex_evals.pipeline.workspace import Workspace
from convex_evals.suite import Eval

pytestmark = pytest.mark.asyncio(loop_scope="session")

WriteEval = Callable[..., Eval]
Look = Callable[..., Awaitable[GraderResult]]

MAIN = """\
import { ConvexProvider, ConvexReactClient } from "convex/react";
import { createRoot } from "react-dom/client";
import App from "./App";
import "./style.css";

const { VITE_CONVEX_URL } = import.meta.env;
createRoot(document.getElementById("root")!).render(
  <ConvexProvider client={new ConvexReactClient(VITE_CONVEX_URL)}><App /></ConvexProvider>,
);
"""
APP = """\
import { useMutation, useQuery } from "convex/react";
import { anyApi } from "convex/server";

export default function App() {
  const messages = useQuery(anyApi.messages.list, { channel: "a" });
  const send = useMutation(anyApi.messages.send);
  if (messages === undefined) return <p role="status">Loading</p>;
  return <>
    <button onClick={() => void send({ channel: "a", body: "from the page" })}>Send</button>
    <ul>{messages.map(({ _id, body }) => <li key={_id}>{body}</li>)}</ul>
  </>;
}
"""
LIVE = """
    from playwright.sync_api import expect
    from convex_evals.pipeline.grading.kit import App, Deployment, wait_until

    def test_is_live(app: App, project: Deployment):
        with app.opening() as page:
            expect(page.get_by_role("status")).to_have_text("Loading")
        expect(page.get_by_role("listitem")).to_have_count(0)
        expect(page.locator("ul")).to_have_css("color", "rgb(255, 0, 0)")
        project.insert("messages", channel="a", body="one")
        expect(page.get_by_role("listitem")).to_have_text(["one"])
        with app.holding(page):
            page.get_by_role("button").click()
            wait_until(lambda: len(project.documents("messages")) == 2)
            expect(page.get_by_role("listitem")).to_have_text(["one"])
        expect(page.get_by_role("listitem")).to_have_text(["one", "from the page"])

    def test_every_test_starts_anew(app: App, files):
        page = app.open()
        expect(page.get_by_role("list")).to_have_text("")
        assert page.evaluate("localStorage.length") == 0
        assert files.imported_calls("convex/react", "useQuery")
    """
LOOKS = """
    from playwright.sync_api import expect

    def test_reads(files):
        assert files.exists("src/main.tsx")

    def test_looks(app):
        expect(app.open().get_by_role("button")).to_have_text("Send", timeout=3000)
    """


@pytest.fixture
def look(tools: Tools, graded: GradedDeployment, tmp_path: Path) -> Look:
    """Grades an app made of these files, or of `App.tsx` alone; `search_path` is where a browser is looked for."""

    async def look(eval: Eval, app: str = APP, main: str = MAIN, search_path: str | None = None) -> GraderResult:
        workspace = Workspace(tmp_path / "workspace")
        workspace.prepare()
        files = {"main.tsx": main, "App.tsx": app, "style.css": "ul { color: red }"}
        (workspace.project / "src").mkdir()
        for name, text in files.items():
            (workspace.project / "src" / name).write_text(text)
        (workspace.project / "node_modules").symlink_to(tools.toolchain.packages.node_modules)
        path = tools.settings.search_path if search_path is None else search_path
        return await run_grader(
            eval,
            project=graded,
            answer=None,
            files=workspace.project,
            workspace=workspace,
            options=GradingOptions(),
            tools=replace(tools, settings=replace(tools.settings, search_path=path)),
        )

    return look


@pytest.mark.usefixtures("chromium")
async def test_an_app_is_shown_and_follows_its_deployment(write_eval: WriteEval, look: Look) -> None:
    result = await look(write_eval(LIVE))
    assert result.step.status == "passed", result.step.log.read_text()
    assert (result.tests.passed, result.tests.total, result.step.notes) == (2, 2, ())


@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize(
    ("app", "main", "excerpt"),
    [
        (APP.replace("Send", "Post"), MAIN, ["'Send'", "Post", 'looked for: get_by_role("button")']),
        (APP.replace("const send", "throw new Error('oh no'); const send"), MAIN, ["the page reported: oh no"]),
        (APP.replace("list,", "lost,"), MAIN, ["the page reported:", "messages:lost"]),
    ],
)
async def test_what_is_wrong_with_a_page_is_the_answers_failure(
    write_eval: WriteEval, look: Look, app: str, main: str, excerpt: list[str]
) -> None:
    result = await look(write_eval(LOOKS), app, main)
    assert (result.step.failure, result.tests.passed, result.tests.total) == ("tests-failed", 1, 2)
    assert "✗ test_looks (grader.py:8)" in result.step.excerpt
    assert [text for text in excerpt if text not in result.step.excerpt] == [], result.step.excerpt


@pytest.mark.usefixtures("chromium")
async def test_once_a_test_has_failed_the_others_wait_less(write_eval: WriteEval, look: Look) -> None:
    grader = """
    import time

    import pytest
    from playwright.sync_api import expect

    def test_fails(app):
        expect(app.open().get_by_role("button")).to_have_text("Post", timeout=100)

    def test_is_quick(app):
        button = app.open().get_by_role("button")
        started = time.monotonic()
        with pytest.raises(AssertionError):
            expect(button).to_have_text("Post")
        assert time.monotonic() - started < 8
    """
    result = await look(write_eval(grader))
    assert (result.tests.passed, result.tests.total) == (1, 2), result.step.log.read_text()


@pytest.mark.parametrize("search_path", [None, ""], ids=["with a browser", "without"])
async def test_an_app_that_cannot_be_built_is_the_answers_failure(
    write_eval: WriteEval, look: Look, search_path: str | None
) -> None:
    result = await look(write_eval(LOOKS), APP.replace("convex/react", "convex/recat"), search_path=search_path)
    assert (result.step.failure, result.tests.passed, result.tests.total) == ("tests-failed", 1, 2)
    assert "the app cannot be built from src/main.tsx" in result.step.excerpt
    assert 'Could not resolve "convex/recat"' in result.step.excerpt
    assert "src/App.tsx:1:" in result.step.excerpt


async def test_without_a_browser_the_other_tests_decide_and_a_note_says_so(write_eval: WriteEval, look: Look) -> None:
    result = await look(write_eval(LOOKS), search_path="")
    assert (result.step.status, result.tests.passed, result.tests.total) == ("passed", 1, 1)
    [note] = result.step.notes
    assert "there is no Chromium on this machine" in note
    assert "of 2 tests, 1 did not run and the other 1, which read its source, decide" in note
    assert f"note: {note}" in result.step.log.read_text()


async def test_without_a_browser_a_grader_that_only_looks_has_no_verdict(write_eval: WriteEval, look: Look) -> None:
    result = await look(write_eval("def test_looks(app): app.open()"), search_path="")
    assert (result.step.status, result.step.failure) == ("infrastructure", "browser-missing")


async def test_a_browser_that_does_not_start_is_nobodys_failure(
    write_eval: WriteEval, look: Look, tmp_path: Path
) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    result = await look(write_eval(LOOKS), search_path=str(tmp_path))
    assert (result.step.status, result.step.failure) == ("infrastructure", "tool-crashed")
    assert f"Chromium ({broken}) does not start" in result.step.excerpt


@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize(
    "accident",
    [
        "with suppress(Exception): page.goto('chrome://crash')",
        "app.chromium.browser.new_browser_cdp_session().send('Browser.crash')",
    ],
    ids=["page", "browser"],
)
async def test_a_browser_that_crashes_is_nobodys_failure(write_eval: WriteEval, look: Look, accident: str) -> None:
    grader = f"""
        from contextlib import suppress

        def test_looks(app):
            page = app.open()
            {accident}
            page.get_by_role("button").click()
        """
    result = await look(write_eval(grader))
    assert (result.step.status, result.step.failure) == ("infrastructure", "tool-crashed"), result.step.excerpt
    assert "Chromium crashed" in result.step.excerpt


@pytest.mark.usefixtures("chromium")
async def test_a_page_reaches_nothing_but_this_machine(write_eval: WriteEval, look: Look) -> None:
    grader = """
        import http.server, socket, threading

        def test_network(app):
            server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), http.server.BaseHTTPRequestHandler)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            port = server.server_address[1]
            page = app.open()
            for host, reached in (("127.0.0.1", True), (socket.gethostname(), False), (other_address(), False)):
                ask = f"fetch('http://{host}:{port}/', {{ mode: 'no-cors' }}).then(() => true, () => false)"
                assert page.evaluate(ask) == reached, host

        def other_address():
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                try:
                    probe.connect(("192.0.2.1", 9))
                except OSError:  # no network at all
                    return "192.0.2.1"
                return probe.getsockname()[0]
        """
    result = await look(write_eval(grader))
    assert result.step.status == "passed", result.step.excerpt


@pytest.mark.usefixtures("chromium")
async def test_a_grader_that_is_killed_leaves_no_browser_behind(
    write_eval: WriteEval, look: Look, tmp_path: Path, processes: Any
) -> None:
    marker = tmp_path / "folder"
    grader = f"""
        import os, pathlib, signal

        def test_dies(app):
            app.open()
            pathlib.Path("{marker}").write_text(os.environ["TMPDIR"])
            os.kill(os.getpid(), signal.SIGKILL)
        """
    result = await look(write_eval(grader))
    assert result.step.failure == "grader-crashed"
    folder = marker.read_text()
    assert processes.of_this_machine(lambda process: folder in " ".join(processes.command(process))) == []
