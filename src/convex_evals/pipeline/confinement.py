"""What programs of the pipeline may use: their environment, their limits, and no network unless they need it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from convex_evals.core.machine.sandbox import SandboxSupport
from convex_evals.core.processes import Limits, base_environment

MEGABYTE: Final = 1024 * 1024
LIMITS: Final = Limits(cpu_seconds=120, file_size=256 * MEGABYTE, data=4096 * MEGABYTE, open_files=4096)
TOOL_SECONDS: Final = 120.0
_NO_NETWORK: Final = ("unshare", "--user", "--map-root-user", "--net", "--")


def without_network(command: Sequence[str], sandbox: SandboxSupport) -> list[str]:
    """The command in a network of its own, which has not even loopback; as it is where the system cannot do that."""
    return [*_NO_NETWORK, *command] if sandbox.network_namespaces else list(command)


def tool_environment(home: Path) -> dict[str, str]:
    """Garbage collection of the Go programs (tsc, tsgolint) only starts when memory becomes scarce: they are short."""
    return base_environment(home, {"CI": "1", "GOGC": "off", "GOMEMLIMIT": "1500MiB"})
