"""What programs of the pipeline may use: their environment, their limits, and no network unless they need it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from convex_evals.core.processes import Confinement, Limits, base_environment
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.workspace import Workspace

MEGABYTE: Final = 1024 * 1024
LIMITS: Final = Limits(cpu_seconds=120, file_size=256 * MEGABYTE, data=4096 * MEGABYTE, open_files=4096)
TOOL_SECONDS: Final = 120.0


def tool_confinement(workspace: Workspace, tools: Tools, read: Sequence[Path], *, network: bool) -> Confinement:
    """Tools read the grading's own folder, installed packages and `read`, and write only the first. They have a network
    when they need one, or where the system cannot take it away."""
    own = (workspace.root.resolve(), tools.cache)
    node, toolchain = tools.toolchain.node.executable.resolve().parents[1], tools.toolchain.packages.folder
    connected = network or not tools.sandbox.network_namespaces
    read = (node, toolchain, tools.settings.cache_folder, *read)
    return Confinement(read, own, network="host" if connected else "own", sockets="ip" if connected else "none")


def tool_environment(home: Path) -> dict[str, str]:
    """Garbage collection of the Go programs (tsc, tsgolint) only starts when memory becomes scarce: they are short."""
    return base_environment(home, {"CI": "1", "TMPDIR": str(home), "GOGC": "off", "GOMEMLIMIT": "1500MiB"})
