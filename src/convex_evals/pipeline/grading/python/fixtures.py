"""The fixtures that graders use."""

from collections.abc import Iterator

import pytest

from convex_evals.pipeline.grading.kit import Clock, Deployment, EvalBroken, Sources, Transport, WebServer, clean
from convex_evals.pipeline.grading.python.job import Job
from convex_evals.pipeline.grading.types import GradedDeployment


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

    @pytest.fixture(scope="session")
    def files(self) -> Sources:
        """The model's sources."""
        if self._job.files is None:
            raise EvalBroken("there are no files to look at")
        return Sources(self._job.files)

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
