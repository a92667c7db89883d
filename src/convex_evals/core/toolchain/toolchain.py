"""The toolchain: Node, our own package set, and the `convex` command in the version a project resolved to."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from convex_evals.core.convex_versions import OLDEST, is_supported
from convex_evals.core.errors import ToolchainError
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain.node import Node, find_node
from convex_evals.core.toolchain.package_set import InstalledPackages, PackageSet
from convex_evals.core.toolchain.store import PackageStore, Progress, no_progress

PROJECTS_QUOTA: Final = 10_000_000_000


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Node with the pinned tools. `fingerprint` changes whenever a tool, its version or Node does."""

    node: Node
    packages: InstalledPackages

    @property
    def fingerprint(self) -> str:
        return self.packages.folder.name

    def binary(self, name: str) -> Path:
        """A native program: bun, esbuild, tsc (TypeScript 7) or tsgolint."""
        return self.packages.binary(name)

    def node_script(self, package: str, command: str | None = None) -> Path:
        """A script for Node: convex, convex-latest, eslint, oxlint, vite, vitest, or tsc of typescript (5.9)."""
        return self.packages.node_script(package, command)

    def node_command(self, package: str, command: str | None = None) -> list[str]:
        """The beginning of an argument list that runs such a script."""
        return [str(self.node.executable), str(self.node_script(package, command))]


@cache
def toolchain_packages() -> PackageSet:
    return PackageSet.from_folder(Path(__file__).parent, "the JavaScript toolchain")


def package_store(settings: Settings, node: Node) -> PackageStore:
    return PackageStore(settings.cache_folder / "toolchain", node, settings)


def project_store(settings: Settings, node: Node) -> PackageStore:
    """Where the packages of graded projects are; those used longest ago go first when they become too many."""
    return PackageStore(settings.cache_folder / "projects", node, settings, quota=PROJECTS_QUOTA, strict=True)


async def find_toolchain(settings: Settings) -> Toolchain | None:
    """The toolchain if it is installed; never installs."""
    node = await find_node(settings)
    packages = package_store(settings, node).find(toolchain_packages())
    return Toolchain(node, packages) if packages else None


async def prepare_toolchain(settings: Settings, progress: Progress = no_progress) -> Toolchain:
    """The toolchain, installed first if need be: the only moment that uses the network. Raises ToolchainError."""
    node = await find_node(settings)
    return Toolchain(node, await package_store(settings, node).install(toolchain_packages(), progress))


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
