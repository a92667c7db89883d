"""The fixture `app`: a React app, built and shown in a real browser; and what is told when one of these is missing."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.examples import examples, exhaustively

from convex_evals.core.supervisor import descendants
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
    import http.server, threading

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

    def test_frames_are_recorded(app: App, project: Deployment):
        page = app.open()
        texts = "[...document.querySelectorAll('li')].map((item) => item.textContent)"
        expect(page.get_by_role("list")).to_have_count(1)
        with app.frames(page, texts) as states:
            for number in (1, 2):
                project.insert("messages", channel="a", body=f"{number}")
                expect(page.get_by_role("listitem")).to_have_count(number)
                page.evaluate("new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))")
        assert states == [[], ["1"], ["1", "2"]]

    def test_a_connection_is_lost_and_comes_back(app: App, project: Deployment):
        page = app.blank()
        page.add_init_script("localStorage.setItem('prepared', 'yes')")
        page.goto(app.url)
        expect(page.get_by_role("list")).to_have_count(1)
        with app.holding(page):
            page.get_by_role("button").click()
            wait_until(lambda: len(project.documents("messages")) == 1)
            with app.offline(page):
                assert page.evaluate("navigator.onLine") is False
                assert page.evaluate(f"fetch('{project.url}/version').then(() => true, () => false)") is False
                page.get_by_role("button").click()
        expect(page.get_by_role("listitem")).to_have_text(["from the page"] * 2)
        assert len(project.documents("messages")) == 2
        assert page.evaluate("localStorage.prepared") == "yes"

    def test_the_page_is_another_document(app: App, project: Deployment):
        app.serve("<!doctype html><title>Elsewhere</title><div id='root'>rendered</div>")
        page = app.open()
        expect(page).to_have_title("Elsewhere")
        expect(page.locator("#root")).to_have_text("rendered")
        app.serve("<div id='root'>rendered</div><script type='module' src='/app.js'></script>")
        page.reload()
        expect(page.get_by_role("list")).to_have_count(1)

    def test_every_test_starts_anew(app: App, files):
        page = app.open()
        expect(page).to_have_title("App")
        expect(page.get_by_role("list")).to_have_text("")
        assert page.evaluate("localStorage.length") == 0
        assert files.imported_calls("convex/react", "useQuery")

    def test_reaches_its_site_and_its_deployment_and_nothing_else(app: App, project: Deployment):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        other = f"http://127.0.0.1:{server.server_address[1]}/"
        page = app.open()
        urls = {project.url + "/version": True, other: False}
        for url, reached in (urls | {"http://192.0.2.1/": False, "file:///etc/passwd": False}).items():
            ask = f"fetch('{url}', {{ mode: 'no-cors' }}).then(() => true, () => false)"
            assert page.evaluate(ask) == reached, url
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

    async def look(
        eval: Eval,
        app: str = APP,
        main: str = MAIN,
        search_path: str | None = None,
        options: GradingOptions | None = None,
    ) -> GraderResult:
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
            options=options or GradingOptions(),
            tools=replace(tools, settings=replace(tools.settings, search_path=path)),
        )

    return look


@pytest.mark.usefixtures("chromium")
async def test_an_app_is_shown_follows_its_deployment_and_reaches_nothing_else(
    write_eval: WriteEval, look: Look
) -> None:
    result = await look(write_eval(LIVE))
    assert result.step.status == "passed", result.step.log.read_text()
    assert (result.tests.passed, result.tests.total, result.step.notes) == (6, 6, ())


@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize(
    ("app", "main", "excerpt"),
    [
        (APP.replace("const send", "throw new Error('oh no'); const send"), MAIN, ["the page reported: oh no"]),
        *exhaustively(
            (APP.replace("Send", "Post"), MAIN, ["'Send'", "Post", 'looked for: get_by_role("button")']),
            (APP.replace("list,", "lost,"), MAIN, ["the page reported:", "messages:lost"]),
        ),
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
        expect(app.open().get_by_role("button")).to_have_text("Post", timeout=3000)

    def test_is_quick(app):
        button = app.open().get_by_role("button")
        started = time.monotonic()
        with pytest.raises(AssertionError):
            expect(button).to_have_text("Post")
        assert time.monotonic() - started < 8
    """
    result = await look(write_eval(grader))
    assert (result.tests.passed, result.tests.total) == (1, 2), result.step.log.read_text()
    assert "✗ test_fails (grader.py:8)" in result.step.excerpt
    assert all(text in result.step.excerpt for text in ("'Post'", "Send", 'looked for: get_by_role("button")'))


@pytest.mark.parametrize("search_path", ["", *exhaustively(None)], ids=["without a browser", "with one"])
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
    ("accident", "told"),
    [
        *exhaustively(("with suppress(Exception): page.goto('chrome://crash')", "the page crashed")),
        ("app.chromium.browser.new_browser_cdp_session().send('Browser.crash')", "the browser did not survive"),
    ],
    ids=["page", "browser"],
)
async def test_a_page_that_brings_the_browser_down_fails_its_test_and_the_next_has_another(
    write_eval: WriteEval, look: Look, accident: str, told: str
) -> None:
    grader = f"""
        from contextlib import suppress

        def test_looks(app):
            page = app.open()
            {accident}
            page.get_by_role("button").click()

        def test_looks_again(app):
            app.open().get_by_role("button").click(timeout=10_000)
        """
    result = await look(write_eval(grader))
    assert (result.step.failure, result.tests.passed, result.tests.total) == ("tests-failed", 1, 2), result.step.excerpt
    assert told in result.step.excerpt


HOSTILE = {
    "goes elsewhere": "location.href = 'about:blank';",
    "takes all memory": "const kept = []; for (;;) kept.push(new Array(1e6).fill(Math.random()));",
    "opens windows and dialogs": "for (let i = 0; i < 200; i++) { window.open('/'); alert(i); }",
    "loops": "for (;;);",
    "fills the storage": "for (let i = 0; ; i++) localStorage.setItem('k' + i, 'x'.repeat(1e6));",
}
HOSTILE_ALWAYS = ("takes all memory",)


@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize("name", examples(HOSTILE, HOSTILE_ALWAYS))
async def test_a_hostile_page_fails_its_test(write_eval: WriteEval, look: Look, name: str) -> None:
    result = await look(write_eval(LOOKS), APP, HOSTILE[name])
    assert (result.step.failure, result.tests.passed, result.tests.total) == ("tests-failed", 1, 2), result.step.excerpt


@pytest.mark.usefixtures("chromium")
async def test_a_page_that_never_answers_ends_with_the_time_of_the_test(write_eval: WriteEval, look: Look) -> None:
    grader = """
        def test_asks(app):
            page = app.open()
            page.evaluate("new Promise(() => {})")

        def test_is_fine(app):
            assert app.open().title() == "App"
        """
    result = await look(write_eval(grader), options=GradingOptions(test_seconds=30.0))
    assert (result.step.failure, result.tests.passed) == ("tests-failed", 1), result.step.excerpt
    assert "the page never answered" in result.step.excerpt


@pytest.mark.usefixtures("chromium")
async def test_an_app_cannot_release_what_is_held(write_eval: WriteEval, look: Look) -> None:
    """It talks to the deployment from a worker of its own and overwrites what it finds."""
    main = """
    (window as any).holdMessages = () => {};
    const url = import.meta.env.VITE_CONVEX_URL + "/version";
    const code = `fetch("${url}", { mode: "no-cors" }).then(() => postMessage("reached"))`;
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = ({ data }) => { document.title = data; };
    """
    grader = """
        from playwright.sync_api import expect

        def test_it(app):
            with app.opening() as page:
                page.wait_for_timeout(1500)
                assert page.title() == "App"
            expect(page).to_have_title("reached")
        """
    result = await look(write_eval(grader), APP, main)
    assert result.step.status == "passed", result.step.excerpt


@pytest.mark.usefixtures("chromium")
async def test_an_app_bundles_no_file_from_outside_its_project(
    write_eval: WriteEval, look: Look, tmp_path: Path
) -> None:
    (tmp_path / "secret.json").write_text('{"key": "s3cr3t"}')
    result = await look(write_eval(LOOKS), APP, f'import it from "{tmp_path}/secret.json"; document.title = it.key;')
    assert result.step.failure == "tests-failed"
    assert "the app cannot be built" in result.step.excerpt
    assert "s3cr3t" not in result.step.log.read_text()


@pytest.mark.usefixtures("chromium")
async def test_a_grader_that_is_killed_leaves_no_browser_behind(
    write_eval: WriteEval, look: Look, tools: Tools
) -> None:
    grader = """
        import os, signal

        def test_dies(app):
            app.open()
            os.kill(os.getpid(), signal.SIGKILL)
        """
    result = await look(write_eval(grader))
    assert result.step.failure == "grader-crashed"
    assert descendants(await tools.graders.prepare()) == []
