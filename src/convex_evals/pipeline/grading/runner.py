"""What a grader's runner is given, and what the two kinds of them have in common."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from convex_evals.core.processes import ProcessResult
from convex_evals.pipeline.grading.network import GraderNetwork
from convex_evals.pipeline.grading.types import AS_WRITTEN, GivenProject, GradedDeployment, OrderOfTests, Report
from convex_evals.pipeline.tools import LOOPBACK
from convex_evals.pipeline.types import GradingOptions
from convex_evals.suite import Eval, Grader


@dataclass(frozen=True, slots=True)
class GraderRequest:
    """`files` is the model's project; `private` is a folder that neither it nor the grader's tests know about."""

    eval: Eval
    grader: Grader
    project: GradedDeployment | None
    answer: GradedDeployment | None
    files: Path
    private: Path
    options: GradingOptions
    network: GraderNetwork  # what the functions of the deployments may connect to
    given: GivenProject | None = None
    order: OrderOfTests = AS_WRITTEN

    @property
    def own_home(self) -> Path:
        """HOME of the grader: a folder that no tool could leave anything in."""
        home = self.private / "home"
        home.mkdir(exist_ok=True)
        return home

    @property
    def ports(self) -> tuple[int, ...]:
        """Of the deployments, on this machine."""
        graded = (deployment for deployment in (self.project, self.answer) if deployment is not None)
        urls = [urlsplit(url) for deployment in graded for url in (deployment.url, deployment.site_url)]
        return tuple(dict.fromkeys(url.port for url in urls if url.port is not None and url.hostname in LOOPBACK))

    @property
    def suite(self) -> Path:
        """The folder of the categories."""
        return self.eval.path.parent.parent

    @property
    def shared(self) -> Path | None:
        """The folder that holds the suite's own `grader/`: beside the categories, or one level up."""
        return next((each for each in (self.suite, self.suite.parent) if (each / "grader").is_dir()), None)


@dataclass(frozen=True, slots=True)
class GraderRun:
    """A grader's process that has ended, its report if it came to write one, and what was run on its behalf."""

    result: ProcessResult
    report: Report | None
    others: tuple[ProcessResult, ...] = ()


class GraderRunner(Protocol):
    async def collect(self) -> GraderRun:
        """Lists the tests, without any model's answer at hand."""

    async def run(self, expected: tuple[str, ...]) -> GraderRun:
        """Runs them."""
