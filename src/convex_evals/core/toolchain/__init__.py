"""Node and the pinned JavaScript tools: installed once into the user's cache, used without a network ever after."""

from convex_evals.core.toolchain.convex_cli import ConvexCli, find_convex_cli
from convex_evals.core.toolchain.node import Node, find_node
from convex_evals.core.toolchain.npm import REFUSED, TOO_LARGE, UNUSABLE, NpmError
from convex_evals.core.toolchain.package_set import PackageSet
from convex_evals.core.toolchain.packages import InstalledPackages
from convex_evals.core.toolchain.shelf import Shelf, ShelvedSet
from convex_evals.core.toolchain.store import PackageStore, Progress
from convex_evals.core.toolchain.toolchain import (
    PROJECTS_QUOTA,
    Toolchain,
    find_toolchain,
    package_store,
    prepare_toolchain,
    project_store,
    toolchain_packages,
)

__all__ = [
    "PROJECTS_QUOTA",
    "REFUSED",
    "TOO_LARGE",
    "UNUSABLE",
    "ConvexCli",
    "InstalledPackages",
    "Node",
    "NpmError",
    "PackageSet",
    "PackageStore",
    "Progress",
    "Shelf",
    "ShelvedSet",
    "Toolchain",
    "find_convex_cli",
    "find_node",
    "find_toolchain",
    "package_store",
    "prepare_toolchain",
    "project_store",
    "toolchain_packages",
]
