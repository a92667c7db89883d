"""Node and the pinned JavaScript tools: installed once into the user's cache, used without a network ever after."""

from convex_evals.core.toolchain.node import Node, find_node
from convex_evals.core.toolchain.npm import NpmError
from convex_evals.core.toolchain.package_set import PackageSet
from convex_evals.core.toolchain.packages import InstalledPackages
from convex_evals.core.toolchain.store import PackageStore, Progress
from convex_evals.core.toolchain.toolchain import (
    Toolchain,
    find_toolchain,
    package_store,
    prepare_toolchain,
    toolchain_packages,
)

__all__ = [
    "InstalledPackages",
    "Node",
    "NpmError",
    "PackageSet",
    "PackageStore",
    "Progress",
    "Toolchain",
    "find_node",
    "find_toolchain",
    "package_store",
    "prepare_toolchain",
    "toolchain_packages",
]
