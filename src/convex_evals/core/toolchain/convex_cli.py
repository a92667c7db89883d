"""The `convex` command that deploys: always from our own store, in the version a project resolved to."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.errors import ToolchainError
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain.package_set import PackageSet
from convex_evals.core.toolchain.packages import InstalledPackages
from convex_evals.core.toolchain.store import Progress, no_progress
from convex_evals.core.toolchain.toolchain import Toolchain, package_store

OLDEST_CONVEX: Final = (1, 31)  # older ones speak a deploy API that deployments do not
_VERSION: Final = re.compile(r"(\d{1,4})\.(\d{1,4})\.\d{1,4}(?:-[0-9A-Za-z.-]{1,60})?", re.ASCII)
_OURS: Final = ("convex", "convex-latest")


@dataclass(frozen=True, slots=True)
class ConvexCli:
    """`packages` holds the command and what it loads, and nothing else that a project asked for."""

    packages: InstalledPackages
    script: Path
    version: str


def is_usable_convex(version: str) -> bool:
    """A released version whose command our deployments understand."""
    match = _VERSION.fullmatch(version)
    return match is not None and (int(match[1]), int(match[2])) >= OLDEST_CONVEX


async def find_convex_cli(
    toolchain: Toolchain, settings: Settings, version: str | None = None, progress: Progress = no_progress
) -> ConvexCli:
    """The command of that version, installed once; without a version, the toolchain's own. Raises ToolchainError."""
    for name in _OURS:
        if version in (None, toolchain.packages.version(name)):
            return _cli(toolchain.packages, name)
    assert version is not None
    if not is_usable_convex(version):
        oldest = ".".join(map(str, OLDEST_CONVEX))
        raise ToolchainError(f"The convex command must be a release from {oldest} on, not {version!r}.")
    packages = PackageSet.from_dependencies(f"the command of convex {version}", {"convex": version})
    return _cli(await package_store(settings, toolchain.node).install(packages, progress), "convex")


def _cli(packages: InstalledPackages, name: str) -> ConvexCli:
    return ConvexCli(packages, packages.node_script(name), packages.version(name))
