"""The fixture `app`: a React app, built and shown in a real browser; and what is told when one of these is missing."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.examples import exhaustively

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


# What pages do, by the hash of their address.
HOSTILE = {
    "takes-all-memory": "const kept = []; for (;;) kept.push(new Array(1e6).fill(Math.random()));",
    "goes-elsewhere": "location.href = 'about:blank';",
    "opens-windows-and-dialogs": "for (let i = 0; i < 200; i++) { window.open('/'); alert(i); }",
    "loops": "for (;;);",
    "fills-the-storage": "for (let i = 0; ; i++) localStorage.setItem('k' + i, 'x'.repeat(1e6));",
}
DOWN = {"page": "the page crashed", "browser": "the browser did not survive"}
# Talks to the deployment from a worker of its own and overwrites what it finds.
TALKS = """
    (window as any).holdMessages = () => {};
    const code = `fetch("${VITE_CONVEX_URL}/version", { mode: "no-cors" }).then(() => postMessage("reached"))`;
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = ({ data }) => { document.title = data; };
"""
DEEDS = "".join(f'if (location.hash === "#{name}") {{ {deed} }} else\n' for name, deed in HOSTILE.items())
HOSTILE_MAIN = MAIN.replace("createRoot(", f'if (location.hash === "#talks") {{ {TALKS} }}\n{DEEDS}createRoot(', 1)
HOSTILE_APP = APP.replace("const send", "if (location.hash === '#throws') throw new Error('oh no'); const send")
LOOKS_AT_HOSTILE = """
    import time
    from contextlib import suppress

    import pytest
    from playwright.sync_api import expect

    def visit(app, page, deed):
        page.goto(f"{app.url}#{deed}", timeout=10_000)

    def test_throws(app):
        page = app.blank()
        visit(app, page, "throws")
        expect(page.get_by_role("button")).to_have_text("Send", timeout=3000)

    def test_has_another_text(app):
        expect(app.open().get_by_role("button")).to_have_text("Post", timeout=3000)

    def test_waits_less_once_a_test_has_failed(app):
        button = app.open().get_by_role("button")
        started = time.monotonic()
        with pytest.raises(AssertionError):
            expect(button).to_have_text("Post")
        assert time.monotonic() - started < 8

    def test_releases_nothing_that_is_held(app):
        page = app.blank()
        with app.holding(page):
            visit(app, page, "talks")
            page.wait_for_timeout(1500)
            assert page.title() == "App"
        expect(page).to_have_title("reached")

    @pytest.mark.parametrize("deed", DEEDS)
    def test_does(app, deed):
        page = app.blank()
        visit(app, page, deed)
        expect(page.get_by_role("button")).to_have_text("Send", timeout=3000)

    @pytest.mark.parametrize("accident", ACCIDENTS)
    def test_brings_down(app, accident):
        page = app.open()
        if accident == "page":
            with suppress(Exception):
                page.goto("chrome://crash")
        else:
            app.chromium.browser.new_browser_cdp_session().send("Browser.crash")
        page.get_by_role("button").click()

    def test_has_another_browser(app):
        app.open().get_by_role("button").click(timeout=10_000)
    """
NEVER_ANSWERS = """
    def test_never_answers(app):
        app.open().evaluate("globalThis.kept = new Promise(() => {})")
    """


@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize(
    ("deeds", "accidents", "more"),
    [(["goes-elsewhere"], ["browser"], ""), *exhaustively(([*HOSTILE], ["page", "browser"], NEVER_ANSWERS))],
    ids=["examples", "all"],
)
async def test_what_a_page_does_is_the_failure_of_the_test_that_looks_at_it(
    write_eval: WriteEval, look: Look, deeds: list[str], accidents: list[str], more: str
) -> None:
    grader = LOOKS_AT_HOSTILE.replace("DEEDS", repr(deeds)).replace("ACCIDENTS", repr(accidents))
    result = await look(write_eval(grader + more), HOSTILE_APP, HOSTILE_MAIN, options=GradingOptions(test_seconds=30.0))
    assert result.step.failure == "tests-failed", result.step.excerpt
    told = {
        "test_throws": ["the page reported: oh no"],
        "test_has_another_text": ["'Post'", "Send", 'looked for: get_by_role("button")'],
        **{f"test_does[{deed}]": [] for deed in deeds},
        **{f"test_brings_down[{each}]": [DOWN[each]] for each in accidents},
        **({"test_never_answers": ["the page never answered"]} if more else {}),
    }
    failed = {test.name: test.message for test in result.step.diagnostics}
    assert list(failed) == list(told)
    assert [text for name, texts in told.items() for text in texts if text not in failed[name]] == []


@pytest.mark.exhaustive
@pytest.mark.usefixtures("chromium")
async def test_a_query_that_fails_is_the_answers_failure(write_eval: WriteEval, look: Look) -> None:
    result = await look(write_eval(LOOKS), APP.replace("list,", "lost,"))
    assert (result.step.failure, result.tests.passed, result.tests.total) == ("tests-failed", 1, 2)
    assert "✗ test_looks (grader.py:8)" in result.step.excerpt
    assert all(text in result.step.excerpt for text in ("the page reported:", "messages:lost"))


@pytest.mark.parametrize("search_path", ["", *exhaustively(None)], ids=["without a browser", "with one"])
async def test_an_app_that_cannot_be_built_is_the_answers_failure_and_bundles_no_file_from_outside_its_project(
    write_eval: WriteEval, look: Look, tmp_path: Path, search_path: str | None
) -> None:
    (tmp_path / "secret.json").write_text('{"key": "s3cr3t"}')
    main = f'import it from "{tmp_path}/secret.json"; import "./App"; document.title = it.key;'
    app = APP.replace("convex/react", "convex/recat")
    result = await look(write_eval(LOOKS), app, main, search_path=search_path)
    assert (result.step.failure, result.tests.passed, result.tests.total) == ("tests-failed", 1, 2)
    assert "the app cannot be built from src/main.tsx" in result.step.excerpt
    assert 'Could not resolve "convex/recat"' in result.step.excerpt
    assert "src/App.tsx:1:" in result.step.excerpt
    assert f'"{tmp_path}/secret.json"' in result.step.excerpt
    assert "s3cr3t" not in result.step.log.read_text()


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
