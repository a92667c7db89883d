"""What every grading needs and shares: opened once per process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import PackageStore, Progress, Toolchain, no_progress, prepare_toolchain, project_store
from convex_evals.pipeline.grading.python.host import GraderHost


@dataclass(frozen=True, slots=True)
class Tools:
    """`packages` holds the dependencies of projects, one folder per set; `graders` runs Python graders."""

    settings: Settings
    toolchain: Toolchain
    packages: PackageStore
    graders: GraderHost

    @property
    def cache(self) -> Path:
        """Where steps keep what can be made again."""
        return self.settings.cache_folder / "pipeline"


@asynccontextmanager
async def open_tools(settings: Settings, progress: Progress = no_progress) -> AsyncIterator[Tools]:
    """Installs the toolchain if need be. Raises ToolchainError."""
    toolchain = await prepare_toolchain(settings, progress)
    packages = project_store(settings, toolchain.node)
    async with GraderHost.open() as graders:
        yield Tools(settings, toolchain, packages, graders)
