"""What runs on a node of a cluster: a grading worker like that of one machine, and what the node is checked for.

Everything comes and goes as values: the suite, the answer, the grade with its logs. Ray imports this module there.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import gettempdir
from typing import Self

from convex_evals import __version__
from convex_evals.core.browser import why_blind
from convex_evals.core.files import remove_folder
from convex_evals.core.machine import SandboxSupport, probe_sandbox
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.steps import StepResult
from convex_evals.core.toolchain import find_node, prepare_toolchain, toolchain_packages
from convex_evals.core.verdicts import StepName
from convex_evals.pipeline import Assignment, Grade, ignore_step
from convex_evals.runner.pool import open_workspace
from convex_evals.runner.worker import GradingWorker, grading_worker
from convex_evals.suite import SuiteParcel, moved

SUITES = "convex-evals-suites"
NOWHERE = Path("/")
"""Where no `.env` with keys is looked for."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What a machine grades with. `fingerprint` is what runs record; it depends on Node.js, whose version is `node`."""

    version: str
    node: str
    fingerprint: str
    blind: str | None = None
    """Why it cannot look at pages."""

    @classmethod
    async def of(cls, settings: Settings) -> Self:
        """Those of this machine, installed or not."""
        node = await find_node(settings)
        packages = toolchain_packages().fingerprint(node.version)
        return cls(__version__, node.version, packages, why_blind(settings))


@dataclass(frozen=True, slots=True)
class NodeReport:
    """What a node has."""

    tools: Tools
    sandbox: SandboxSupport


@dataclass(frozen=True, slots=True)
class RemoteGrade:
    """A grade whose logs are values, too."""

    grade: Grade
    logs: dict[StepName, bytes]

    @classmethod
    def of(cls, grade: Grade) -> Self:
        logs = {step.name: step.log.read_bytes() for step in grade.steps if step.log is not None}
        return cls(replace(grade, steps=tuple(replace(step, log=None) for step in grade.steps)), logs)

    def written(self, folder: Path) -> Grade:
        """With its logs as files in `folder`."""
        return replace(self.grade, steps=tuple(self._with_log(step, folder) for step in self.grade.steps))

    def _with_log(self, step: StepResult, folder: Path) -> StepResult:
        if step.name not in self.logs:
            return step
        log = folder / f"{step.name}.log"
        log.write_bytes(self.logs[step.name])
        return replace(step, log=log)


async def prepare_node() -> NodeReport:
    """Installs the tools, once per node: a second one who asks waits for the first."""
    settings = read_settings(cwd=NOWHERE)
    await prepare_toolchain(settings)
    return NodeReport(await Tools.of(settings), await probe_sandbox())


class NodeWorker:
    """The actor: one grading worker. It ends with the runner that made it."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._worker: GradingWorker | None = None
        self._folder: Path | None = None
        self._number = 0

    async def grade(self, assignment: Assignment, suite: SuiteParcel) -> RemoteGrade:
        worker, folder = await self._ready()
        self._number += 1
        grading = folder / str(self._number)
        grading.mkdir()
        here = moved(assignment.eval, suite.unpack(Path(gettempdir()) / SUITES))
        try:
            return RemoteGrade.of(await worker.grade(replace(assignment, eval=here, folder=grading), ignore_step))
        finally:
            await asyncio.to_thread(remove_folder, grading)

    async def _ready(self) -> tuple[GradingWorker, Path]:
        if self._worker is None or self._folder is None:
            self._folder = self._stack.enter_context(open_workspace(None))
            settings = read_settings(cwd=NOWHERE)
            opening = grading_worker(settings, self._folder / "worker")
            self._worker = await self._stack.enter_async_context(opening)
        return self._worker, self._folder
