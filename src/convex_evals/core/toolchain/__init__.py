"""Node and the pinned JavaScript tools: installed once into the user's cache, used without a network from then on."""

from convex_evals.core.toolchain.node import Node, find_node
from convex_evals.core.toolchain.npm import REFUSED, TOO_LARGE, UNUSABLE, Cause, NpmError
from convex_evals.core.toolchain.package_cache import CachedSet, PackageCache
from convex_evals.core.toolchain.package_set import InstalledPackages, PackageSet, installed_version
from convex_evals.core.toolchain.store import INSTALL_SECONDS, PackageStore, Progress, no_progress
from convex_evals.core.toolchain.toolchain import (
    PROJECTS_QUOTA,
    ConvexCli,
    Toolchain,
    find_convex_cli,
    find_toolchain,
    package_store,
    prepare_toolchain,
    project_store,
    toolchain_packages,
)

__all__ = [
    "INSTALL_SECONDS",
    "PROJECTS_QUOTA",
    "REFUSED",
    "TOO_LARGE",
    "UNUSABLE",
    "CachedSet",
    "Cause",
    "ConvexCli",
    "InstalledPackages",
    "Node",
    "NpmError",
    "PackageCache",
    "PackageSet",
    "PackageStore",
    "Progress",
    "Toolchain",
    "find_convex_cli",
    "find_node",
    "find_toolchain",
    "installed_version",
    "no_progress",
    "package_store",
    "prepare_toolchain",
    "project_store",
    "toolchain_packages",
]
