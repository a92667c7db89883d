"""The `convex` command that deploys: always from our own store, in the version a project resolved to."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.convex_versions import OLDEST, is_supported
from convex_evals.core.errors import ToolchainError
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain.package_set import PackageSet
from convex_evals.core.toolchain.packages import InstalledPackages
from convex_evals.core.toolchain.store import Progress, no_progress
from convex_evals.core.toolchain.toolchain import Toolchain, package_store

_OURS: Final = ("convex", "convex-latest")


@dataclass(frozen=True, slots=True)
class ConvexCli:
    """`packages` holds the command and what it loads, and nothing else that a project asked for."""

    packages: InstalledPackages
    script: Path
    version: str


async def find_convex_cli(
    toolchain: Toolchain, settings: Settings, version: str | None = None, progress: Progress = no_progress
) -> ConvexCli:
    """The command of that version, installed once; without a version, the toolchain's own. Raises ToolchainError."""
    for name in _OURS:
        if version in (None, toolchain.packages.version(name)):
            return _cli(toolchain.packages, name)
    assert version is not None
    if not is_supported(version):
        raise ToolchainError(f"The convex command must be a release from {OLDEST} on, not {version!r}.")
    packages = PackageSet.from_dependencies(f"the command of convex {version}", {"convex": version})
    return _cli(await package_store(settings, toolchain.node).install(packages, progress), "convex")


def _cli(packages: InstalledPackages, name: str) -> ConvexCli:
    return ConvexCli(packages, packages.node_script(name), packages.version(name))
