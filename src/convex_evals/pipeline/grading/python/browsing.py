"""The fixture `app`, and what is told of a test that fails while it looks at a page."""

from collections.abc import Generator, Iterator
from typing import Final

import pytest
from _pytest.outcomes import Skipped

from convex_evals.pipeline.grading.kit.app import App
from convex_evals.pipeline.grading.kit.app_build import build_app
from convex_evals.pipeline.grading.kit.app_site import serve_app
from convex_evals.pipeline.grading.kit.chromium import Chromium
from convex_evals.pipeline.grading.kit.deployment import Deployment
from convex_evals.pipeline.grading.kit.errors import EvalBroken, ToolCrashed
from convex_evals.pipeline.grading.python.job import Job

_MOST_COMPLAINTS: Final = 3
_CALL_LOG: Final = "\nCall log:\n"
_LOCATOR: Final = "- waiting for "


class NoBrowser(Skipped):
    """The app was built, but there is nothing to look at it with."""


class Browsing:
    """A pytest plugin. The app is built and the browser started for the first test that asks for them."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._app: App | None = None

    @pytest.fixture
    def app(self, project: Deployment, _site: str, _chromium: Chromium) -> Iterator[App]:
        """The model's React app in a browser."""
        self._app = App(_site, _chromium)
        yield self._app
        self._app = None
        _chromium.close_pages()

    @pytest.fixture(scope="session")
    def _site(self) -> Iterator[str]:
        job = self._job
        if job.project is None or job.files is None or job.esbuild is None:
            raise EvalBroken("nothing is deployed for the fixture `app`; a static eval has only `files`")
        built = job.temporary / "site"
        build_app(job.files, job.project.url, job.esbuild, built)
        with serve_app(built) as address:
            yield address

    @pytest.fixture(scope="session")
    def _chromium(self) -> Iterator[Chromium]:
        if self._job.chromium is None:
            raise NoBrowser("there is no Chromium on this machine")
        with Chromium.run(self._job.chromium) as chromium:
            yield chromium

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        try:
            return (yield)
        except Exception as error:
            if self._app is None:
                raise
            from playwright.sync_api import Error

            if not self._app.chromium.works():
                raise ToolCrashed(f"Chromium crashed: {error}") from error
            if not isinstance(error, AssertionError | Error):
                raise
            self._app.chromium.hurry()
            raise AssertionError(_told(error, self._app.complaints)).with_traceback(error.__traceback__) from error


def _told(error: Exception, complaints: list[str]) -> str:
    """Without Playwright's call log, except for what it waited for, and with what went wrong in the page."""
    text, _, log = str(error).partition(_CALL_LOG)
    awaited = next((line.partition(_LOCATOR)[2] for line in log.splitlines() if _LOCATOR in line), None)
    lines = [text.strip(), *([f"looked for: {awaited}"] if awaited else [])]
    reported = [f"the page reported: {complaint.strip()}" for complaint in dict.fromkeys(complaints)]
    return "\n".join([*lines, *reported[:_MOST_COMPLAINTS]])
