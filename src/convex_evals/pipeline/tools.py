"""The tools that all gradings share, and what their programs may use: environment, limits, files and one deployment at
most.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from convex_evals.core.files import MEBIBYTE
from convex_evals.core.processes import LIBRARIES, Confinement, Limits, base_environment
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import PackageStore, Progress, Toolchain, no_progress, prepare_toolchain, project_store
from convex_evals.pipeline.grading import GraderHost
from convex_evals.pipeline.warm import GO_PROGRAMS, EslintHost, OxlintHost, TscHost
from convex_evals.pipeline.workspace import Workspace

LIMITS: Final = Limits(cpu_seconds=60, file_size=256 * MEBIBYTE, data=4096 * MEBIBYTE, open_files=4096)
TOOL_SECONDS: Final = 120.0
LOOPBACK: Final = ("127.0.0.1", "localhost")
NAMES: Final = tuple(Path("/etc") / name for name in ("hosts", "resolv.conf", "nsswitch.conf", "ssl", "pki"))
"""What it takes to find and trust a deployment of the user's elsewhere in the network."""


@dataclass(frozen=True, slots=True)
class Tools:
    """`packages` holds the dependencies of projects, one folder per set; `graders` runs Python graders, `tsc`,
    `oxlint` and `eslint` are kept warm."""

    settings: Settings
    toolchain: Toolchain
    packages: PackageStore
    graders: GraderHost
    tsc: TscHost
    oxlint: OxlintHost
    eslint: EslintHost

    @property
    def cache(self) -> Path:
        """Where steps keep what can be made again."""
        return self.settings.cache_folder / "pipeline"


@asynccontextmanager
async def open_tools(settings: Settings, progress: Progress = no_progress) -> AsyncIterator[Tools]:
    """Installs the toolchain if need be. Raises ToolchainError."""
    toolchain = await prepare_toolchain(settings, progress)
    packages = project_store(settings, toolchain.node)
    async with GraderHost.open() as graders, TscHost() as tsc, OxlintHost() as oxlint, EslintHost.open() as eslint:
        yield Tools(settings, toolchain, packages, graders, tsc, oxlint, eslint)


def tool_confinement(
    workspace: Workspace, tools: Tools, read: Sequence[Path], write: Sequence[Path], url: str | None
) -> Confinement:
    """A tool reads itself and `read`, writes its home and `write`, and talks to the deployment at `url` at most. The
    home of one that needs no deployment is in memory; the CLI moves files from there into the project."""
    readable = (tools.toolchain.node.executable.resolve(), *(path.resolve() for path in read))
    writable, home = tuple(path.resolve() for path in write), workspace.home.resolve()
    if url is None:
        return Confinement(readable, writable, LIBRARIES, network="own", sockets="none", scratch=home)
    writable = (home, *writable)
    host, port = urlsplit(url).hostname, urlsplit(url).port
    if host in LOOPBACK and port is not None:
        return Confinement(readable, writable, LIBRARIES, network="own", ports=(port,), sockets="tcp")
    return Confinement(readable, writable, (*LIBRARIES, *NAMES), network="host", sockets="ip")


def linked_packages(folder: Path, tools: Tools) -> tuple[Path, ...]:
    """The one set of packages that a folder's `node_modules` leads to. Links to anywhere else do not count."""
    link = folder / "node_modules"
    if not link.is_symlink():
        return ()
    target = link.readlink().parent
    stores = (tools.packages.root, tools.toolchain.packages.folder.parent)
    return (target,) if target.parent in stores else ()


def tool_environment(home: Path) -> dict[str, str]:
    return base_environment(home, {"CI": "1", "TMPDIR": str(home), **GO_PROGRAMS})
