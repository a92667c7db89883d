"""What all tests share: where they run, no network but this machine's own, and these fixtures:

`browser` shows pages in a real Chromium; `provider_server` is a provider of models on this machine; `files` and
`postgresql` have databases for scores; `ready_scores` and `ready_workers` save tests what takes long to make;
`processes` looks at processes that may end meanwhile; `until` waits
for what will happen, however busy the machine is.
"""

import asyncio
import compileall
import gc
import importlib.util
import ipaddress
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import httpcore2
import pytest
import pytest_asyncio
from _pytest.assertion import rewrite
from _pytest.assertion.rewrite import assertstate_key
from hypothesis import settings
from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache
from tests.warm import ScoresTemplate, WarmWorkers

from convex_evals.core.browser import FLAGS, ONLY_THIS_MACHINE
from convex_evals.core.settings import read_settings

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Error, Page

SECONDS = 60
BROWSER_SECONDS = 240
PATIENCE_MS = 30_000
# Only our own pages are visited, so they may share what each would start for itself.
ONE_PROCESS = ("--renderer-process-limit=1", "--disable-site-isolation-trials", "--in-process-gpu")


class NetworkError(Exception):
    """No OSError, because a test could take that for the failure it waits for."""


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    """Python itself calls this before it connects. Programs that tests start are not guarded."""
    if event == "socket.connect" and arguments[0].family in (socket.AF_INET, socket.AF_INET6):
        _refuse_unless_ours(arguments[1][0])
    elif event == "socket.getaddrinfo":
        _refuse_unless_ours(arguments[0])


def _refuse_unless_ours(host: str | bytes | None) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    try:
        ours = name in (None, "", "localhost") or ipaddress.ip_address(str(name).partition("%")[0]).is_loopback
    except ValueError:
        ours = False
    if not ours:
        raise NetworkError(f"A test wants to connect to {name}, but tests may use no network but 127.0.0.1.")


sys.addaudithook(_guard)

# Clients that a test makes talk to this machine; each would read the certificates of all authorities, for 25 ms.
httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)

# Every test has databases of its own; each would compile the same statements again, for 3 ms each.
_COMPILED: LRUCache[Any, Any] = LRUCache(2000)
SQLiteDialect_pysqlite.__hash__ = lambda dialect: hash(type(dialect))  # type: ignore[method-assign]
SQLiteDialect_pysqlite.__eq__ = lambda one, other: type(one) is type(other)  # type: ignore[method-assign]


@event.listens_for(Engine, "engine_connect")
def _share_what_is_compiled(connection: Connection) -> None:
    if isinstance(connection.dialect, SQLiteDialect_pysqlite):
        connection.execution_options(compiled_cache=_COMPILED)


settings.load_profile("ci")  # the same examples each time, and no limits that only an idle machine keeps


# Files that take longest, longest first: nobody waits at the end for the one who has just begun with one of them.
LONGEST = (
    "security/test_corpus.py",
    "pipeline/grading/kit/test_app.py",
    "pipeline/grading/kit/test_written_tests.py",
    "backend/conformance/test_conformance.py",
    "pipeline/test_projects.py",
    "scores/test_chaos.py",
    "pipeline/test_grade.py",
    "pipeline/test_hostile.py",
    "backend/cli/test_versions.py",
    "backend/components/test_published.py",
    "docs/test_examples.py",
    "pipeline/warm/test_eslint.py",
    "pipeline/grading/test_vitest.py",
    "pipeline/grading/test_run.py",
    "core/toolchain/test_hostile_packages.py",
    "backend/faults/test_hostile_functions.py",
    "backend/faults/test_processes.py",
    "backend/faults/test_crashes.py",
    "runner/test_execution.py",
    "cli/test_analyze.py",
    "cli/test_interruptions.py",
    "cli/test_model_requests.py",
    "cli/test_run.py",
    "cli/test_new_eval.py",
    "cli/menu/test_menu.py",
    "pipeline/test_programs.py",
    "backend/react/test_app.py",
    "backend/runtime/test_limits.py",
    "backend/scheduler/test_scheduler.py",
    "scores/test_backup.py",
    "core/toolchain/test_store.py",
    "backend/cli/test_failing_pushes.py",
)


def _turn(item: pytest.Item) -> int:
    name = item.path.relative_to(Path(__file__).parent).as_posix()
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


def pytest_sessionstart() -> None:
    gc.disable()  # what is collected stays, and there is much of it


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """In a fresh clone, processes that start at once would each compile everything: it is done before they start."""
    if sys.dont_write_bytecode:
        return
    tests = Path(__file__).parent
    compileall.compile_dir(tests.parent / "src", quiet=2)
    for path in (*tests.rglob("test_*.py"), *tests.rglob("conftest.py")):
        _compile_with_rewritten_assertions(path, config)


def _compile_with_rewritten_assertions(path: Path, config: pytest.Config) -> None:
    """Where pytest looks for it; there is no public way to do this without importing the file."""
    compiled = rewrite.get_cache_dir(path) / (path.stem + rewrite.PYC_TAIL)
    if rewrite._read_pyc(path, compiled) is None and rewrite.try_makedirs(compiled.parent):
        stat, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(config.stash[assertstate_key], code, stat, compiled)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--exhaustive", action="store_true", help="run the tests that are marked exhaustive, too")


@pytest.hookimpl(trylast=True)  # pytest itself puts tests together that share something
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("exhaustive"):
        _leave_out(config, items, [item for item in items if item.get_closest_marker("exhaustive")])
    items.sort(key=_turn)
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            _lend_browser(item)


def _leave_out(config: pytest.Config, items: list[pytest.Item], chosen: list[pytest.Item]) -> None:
    config.hook.pytest_deselected(items=chosen)
    left_out = set(chosen)
    items[:] = [item for item in items if item not in left_out]


def _lend_browser(item: pytest.Item) -> None:
    """One Chromium serves all tests of a worker, hence the loop; it may have to be installed, hence the timeout."""
    item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
    item.add_marker(pytest.mark.timeout(BROWSER_SECONDS, func_only=True), append=False)


@dataclass
class Visitors:
    """Windows of their own, with cookies and storage. One takes half a processor second to make, so an ordinary one
    that a test has left is emptied for the next test."""

    chromium: "Browser"
    _idle: list["BrowserContext"] = field(default_factory=list)

    async def arrive(self, opened: AsyncExitStack, **options: Any) -> "BrowserContext":
        if self._idle and not options:
            context = self._idle.pop()
        else:
            context = await self.chromium.new_context(locale="en-US", timezone_id="UTC", **options)
            context.set_default_timeout(PATIENCE_MS)
        opened.push_async_callback(context.close if options else partial(self._leave, context))
        return context

    async def _leave(self, context: "BrowserContext") -> None:
        last = context.pages[0] if context.pages else await context.new_page()
        for page in context.pages[1:]:
            await page.close()
        session = await context.new_cdp_session(last)
        await last.goto("about:blank")
        await session.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
        await context.clear_cookies()
        await last.close()
        self._idle.append(context)


@dataclass
class Visits:
    """Every page belongs to a new visitor: no cookies, nothing stored, another window."""

    visitors: Visitors
    opened: AsyncExitStack
    _complaints: list[str] = field(default_factory=list)

    async def page(self, **options: Any) -> "Page":
        """`options` are what Playwright's `new_context` takes."""
        context = await self.visitors.arrive(self.opened, **options)
        page = await context.new_page()
        page.on("pageerror", self._hear)
        page.on("console", self._listen)
        self.opened.push_async_callback(self._stop_listening, page)
        return page

    async def visit(self, url: str, **options: Any) -> "Page":
        page = await self.page(**options)
        await page.goto(url)
        return page

    def take_complaints(self) -> list[str]:
        """What pages threw or logged as errors so far; what nobody takes fails the test."""
        taken, self._complaints = self._complaints, []
        return taken

    async def _stop_listening(self, page: "Page") -> None:
        """What a page says because it is left does not count; what it said before arrives before any answer."""
        if not page.is_closed():
            await page.context.new_cdp_session(page)
        page.remove_listener("pageerror", self._hear)
        page.remove_listener("console", self._listen)

    def _hear(self, error: "Error") -> None:
        self._complaints.append(str(error))

    def _listen(self, message: "ConsoleMessage") -> None:
        if message.type == "error":
            self._complaints.append(message.text)


@pytest.fixture(scope="session")
def chromium_setup() -> Any:
    """`chromium_setup.prepare_chromium(settings)`, and what else `chromium.py` has."""
    return _load("chromium.py")


@pytest.fixture(scope="session")
def chromium(chromium_setup: Any) -> Path:
    try:
        found: Path = asyncio.run(chromium_setup.prepare_chromium(read_settings()))
    except chromium_setup.NoChromium as error:
        pytest.skip(str(error))
    return found


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_chromium(chromium: Path, chromium_setup: Any) -> AsyncIterator[Visitors]:
    from playwright.async_api import async_playwright, expect  # takes half a second, which most tests need not wait

    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=chromium,
            args=[*FLAGS, *ONLY_THIS_MACHINE, *ONE_PROCESS],
            chromium_sandbox=chromium_setup.sandboxes_itself(),
        )
        yield Visitors(launched)
        await launched.close()


@pytest_asyncio.fixture(loop_scope="session")
async def browser(shared_chromium: Visitors) -> AsyncIterator[Visits]:
    """`page = await browser.visit(url)`. Errors of a page fail the test, unless it takes them."""
    async with AsyncExitStack() as opened:
        visits = Visits(shared_chromium, opened)
        yield visits
    assert visits.take_complaints() == []


@pytest.fixture(scope="session")
def scores_template(tmp_path_factory: pytest.TempPathFactory) -> ScoresTemplate:
    return ScoresTemplate(tmp_path_factory.mktemp("scores-template"))


@pytest.fixture(scope="session")
def warm_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmWorkers]:
    workers = WarmWorkers(tmp_path_factory.mktemp("warm"))
    yield workers
    workers.close()


@pytest.fixture
def ready_scores(scores_template: ScoresTemplate, monkeypatch: pytest.MonkeyPatch) -> None:
    """New scores that the test's own process opens are a copy of empty ones."""
    monkeypatch.setattr("convex_evals.scores.store.upgrade_schema", scores_template.upgrade_schema)


@pytest.fixture
def ready_workers(warm_workers: WarmWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's own process has answers graded by workers that earlier tests have started."""
    monkeypatch.setattr("convex_evals.runner.worker.grading_worker", warm_workers.worker)


@pytest.fixture
def provider_server() -> Iterator[Any]:
    """Speaks as OpenAI does, and misbehaves on demand; see `servers/provider.py`."""
    with _load("servers/provider.py").serve_provider() as server:
        yield server


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """SQLite files: `files.empty()` and, with tables, `files.ready()` are places for one."""
    return _load("servers/databases.py").Files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Any]:
    """The same of a real PostgreSQL server."""
    with _load("servers/databases.py").serve_postgresql() as server:
        yield server


async def wait_until(condition: Callable[[], bool | Awaitable[bool]], seconds: float = SECONDS) -> None:
    async with asyncio.timeout(seconds):
        while True:
            answer = condition()
            if answer if isinstance(answer, bool) else await answer:
                return
            await asyncio.sleep(0.01)


@pytest.fixture(scope="session")
def until() -> Callable[..., Awaitable[None]]:
    """`await until(condition)`; the condition may be asynchronous."""
    return wait_until


@pytest.fixture(scope="session")
def processes() -> Any:
    """`processes.is_alive(one)`, and what else `processes.py` has."""
    return _load("processes.py")


def _load(path: str) -> ModuleType:
    """A module beside the tests, which are no package."""
    name = f"tests_{Path(path).stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / path)
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
