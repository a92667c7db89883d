"""An answer as a project that people can look at: written, installed and deployed as for its grading."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from convex_evals.core.processes import use_sandbox
from convex_evals.core.settings import Settings
from convex_evals.core.steps import StepResult
from convex_evals.core.toolchain import Progress
from convex_evals.pipeline.deploy import deploy_project, open_backend
from convex_evals.pipeline.filesystem import write_project
from convex_evals.pipeline.grading import GradedDeployment
from convex_evals.pipeline.install import install_packages
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools, open_tools
from convex_evals.pipeline.types import Assignment
from convex_evals.pipeline.workspace import Workspace
from convex_evals.suite import Pipeline, read_given


@dataclass(frozen=True, slots=True)
class OpenProject:
    """`steps` are those that were taken, up to the first that failed. Files alone have no deployment."""

    folder: Path
    steps: tuple[StepResult, ...]
    deployment: GradedDeployment | None = None

    @property
    def failed(self) -> StepResult | None:
        return next((step for step in self.steps if step.status != "passed"), None)


@asynccontextmanager
async def open_project(assignment: Assignment, settings: Settings, progress: Progress) -> AsyncIterator[OpenProject]:
    """The deployment runs until the block is left; the folder stays the caller's. Raises InfrastructureError."""
    use_sandbox(assignment.options.sandbox)
    workspace = Workspace(assignment.folder)
    workspace.prepare()
    async with AsyncExitStack() as opened:
        tools = await opened.enter_async_context(open_tools(settings, progress))
        yield await _prepare(assignment, workspace, tools, opened)


async def _prepare(assignment: Assignment, workspace: Workspace, tools: Tools, opened: AsyncExitStack) -> OpenProject:
    options = assignment.options.completed(assignment.eval.settings)
    given = read_given(assignment.eval)
    written = write_project(RunningStep("filesystem", workspace, tools), assignment.files, given, assignment.cut_off)
    if written.status != "passed" or assignment.eval.pipeline is Pipeline.STATIC:
        return OpenProject(workspace.project, (written,))
    installed = await install_packages(RunningStep("install", workspace, tools), options)
    if installed.status != "passed":
        return OpenProject(workspace.project, (written, installed))
    backend = await opened.enter_async_context(open_backend(options, tools, workspace.root / "backend"))
    deployed = await deploy_project(RunningStep("deploy", workspace, tools), backend, options)
    return OpenProject(workspace.project, (written, installed, deployed), backend.target)
