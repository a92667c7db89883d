"""The fixtures that graders use, and what is told of a test that fails while it looks at a page."""

import sys
from collections.abc import Generator, Iterator
from types import ModuleType
from typing import Final
from urllib.parse import urlsplit

import pytest

from convex_evals.core.distribution import BROWSER
from convex_evals.pipeline.grading.kit import (
    App,
    AppBroken,
    BrowserNetwork,
    Chromium,
    Clock,
    Deployment,
    EvalBroken,
    GivenDeployment,
    Service,
    Sources,
    ToolCrashed,
    Transport,
    TypeChecks,
    WebServer,
    WrittenTests,
    clean,
    push_given,
    serve_app,
)
from convex_evals.pipeline.grading.python.process import Job
from convex_evals.pipeline.grading.types import GradedDeployment

_MOST_COMPLAINTS: Final = 3
_CALL_LOG: Final = "\nCall log:\n"
_BROWSER_LOG: Final = "\nBrowser logs:\n"
_LOCATOR: Final = "- waiting for "


class Fixtures:
    """A pytest plugin."""

    def __init__(self, job: Job, clock: Clock) -> None:
        self._job = job
        self._clock = clock

    @pytest.fixture
    def project(self) -> Deployment:
        """The model's deployment, empty."""
        return self._deployment("project", self._job.project)

    @pytest.fixture
    def answer(self) -> Deployment:
        """The reference answer's deployment, empty."""
        return self._deployment("answer", self._job.answer)

    @pytest.fixture
    def given(self) -> GivenDeployment:
        """A deployment of the given project, empty, over which the model's can be deployed."""
        if self._job.given is None:
            raise EvalBroken("nothing is deployed for the fixture `given`; only an eval with a folder given/ has it")
        empty = self._deployment("given", self._job.given)
        push_given(empty.transport, self._job.given_push)
        return GivenDeployment(empty.transport, project_push=self._job.project_push)

    @pytest.fixture(scope="session")
    def files(self) -> Sources:
        """The model's sources."""
        if self._job.files is None:
            raise EvalBroken("there are no files to look at")
        return Sources(self._job.files)

    @pytest.fixture(scope="session")
    def written_tests(self) -> WrittenTests:
        """The tests that the model wrote."""
        if self._job.written_tests is None:
            raise EvalBroken("there is nobody who could run the fixture `written_tests`")
        return WrittenTests(self._job.grader.parent, Service(self._job.written_tests, self._clock))

    @pytest.fixture(scope="session")
    def type_checks(self) -> TypeChecks:
        """The compiler, for code that uses what the model wrote."""
        if self._job.type_checks is None:
            raise EvalBroken(
                "there is nothing to compile for the fixture `type_checks`; a static eval has only `files`"
            )
        return TypeChecks(Service(self._job.type_checks, self._clock))

    @pytest.fixture
    def web_server(self) -> Iterator[WebServer]:
        """A web server on this machine, for functions that fetch."""
        with WebServer.run() as server:
            yield server

    def _deployment(self, name: str, graded: GradedDeployment | None) -> Deployment:
        if graded is None:
            raise EvalBroken(f"nothing is deployed for the fixture `{name}`; a static eval has only `files`")
        transport = Transport(name, graded.url, graded.site_url, graded.admin_key, self._clock)
        clean(transport)
        return Deployment(transport)


class NoBrowser(pytest.skip.Exception):  # type: ignore[name-defined, misc]
    """The app was built, but there is nothing to look at it with."""


class AppFixture:
    """A pytest plugin. The browser is started for the first test that asks for it."""

    def __init__(self, job: Job, clock: Clock) -> None:
        self._job = job
        self._clock = clock
        self._app: App | None = None
        if not BROWSER.is_installed:
            _stand_in_for_playwright()

    @pytest.fixture
    def app(self, project: Deployment, _site: WebServer, _chromium: Chromium) -> Iterator[App]:
        """The model's React app in a browser."""
        self._app = App(_site, _chromium)
        _chromium.begin_test()
        yield self._app
        self._app = None
        _chromium.end_test()

    @pytest.fixture(scope="session")
    def _site(self) -> Iterator[WebServer]:
        site = self._job.site
        if site is None:
            raise EvalBroken("nothing is deployed for the fixture `app`; a static eval has only `files`")
        if site.crashed:
            raise ToolCrashed(site.crashed)
        if site.broken:
            raise AppBroken(site.broken)
        with serve_app(site.folder) as server:
            yield server

    @pytest.fixture(scope="session")
    def _chromium(self, _site: WebServer) -> Iterator[Chromium]:
        if self._job.blind is not None:
            raise NoBrowser(self._job.blind)
        assert self._job.chromium is not None, "whoever can look at pages has a browser"
        folder = self._job.temporary / "browser"
        folder.mkdir()
        ports, deployments = self._ports(_site.url)
        with (
            BrowserNetwork.run(ports, deployments, self._job.temporary) as network,
            Chromium.run(self._job.chromium, network, folder, self._clock) as chromium,
        ):
            yield chromium

    def _ports(self, site: str) -> tuple[tuple[int, ...], frozenset[int]]:
        """All that a page may reach, and which of it is the deployment."""
        project = self._job.project
        assert project is not None, "an app is only built for a project that is deployed"
        own = frozenset(urlsplit(url).port or 80 for url in (project.url, project.site_url))
        return (urlsplit(site).port or 80, *sorted(own)), own

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        try:
            return (yield)
        except Exception as error:
            if self._app is None:
                raise
            from playwright.sync_api import Error

            trouble = self._app.chromium.trouble()
            if trouble is None and not isinstance(error, AssertionError | Error):
                raise
            self._app.chromium.hurry()
            told = _browser_message(error, self._app.complaints)
            text = told if trouble is None else f"{trouble}: {told}"
            raise AssertionError(text).with_traceback(error.__traceback__) from error


def _stand_in_for_playwright() -> None:
    """So that a grader that imports it can be loaded: its tests that need no page still run."""
    for name in (BROWSER.module, f"{BROWSER.module}.sync_api"):
        sys.modules[name] = _StandIn(name)


class _StandIn(ModuleType):
    """Has every name, for annotations; tests that would use one skip first, without the fixture `app`."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return object


def _browser_message(error: Exception, complaints: list[str]) -> str:
    """Without Playwright's call log, except for what it waited for, and with what went wrong in the page."""
    text, _, log = str(error).partition(_BROWSER_LOG)[0].partition(_CALL_LOG)
    awaited = next((line.partition(_LOCATOR)[2] for line in log.splitlines() if _LOCATOR in line), None)
    lines = [text.strip(), *([f"looked for: {awaited}"] if awaited else [])]
    reported = [f"the page reported: {complaint.strip()}" for complaint in dict.fromkeys(complaints)]
    return "\n".join([*lines, *reported[:_MOST_COMPLAINTS]])
