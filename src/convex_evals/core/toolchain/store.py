"""A folder of installed package sets, each installed once and never changed."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.errors import ToolchainError
from convex_evals.core.files import file_lock
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain.installation import LARGEST_SET, Installation
from convex_evals.core.toolchain.installed_tree import Size
from convex_evals.core.toolchain.node import Node
from convex_evals.core.toolchain.npm import Npm, NpmError
from convex_evals.core.toolchain.package_cache import PackageCache, trim_downloads
from convex_evals.core.toolchain.package_set import InstalledPackages, PackageSet
from convex_evals.core.toolchain.registry_settings import read_registry_settings

Progress = Callable[[str], None]
_REPORT_SECONDS: Final = 0.5


def no_progress(line: str) -> None:
    """For callers that show no progress."""


@dataclass(frozen=True, slots=True)
class PackageStore:
    """Sets live in `<root>/<fingerprint>/`. Such a folder is always complete: it was prepared beside and renamed.

    With `quota`, the sets used longest ago go when all of them together take more bytes than that. `strict`: nothing is
    installed where npm cannot be confined completely.
    """

    root: Path
    node: Node
    settings: Settings
    quota: int | None = None
    largest: Size = LARGEST_SET
    strict: bool = False

    @property
    def cache(self) -> PackageCache:
        return PackageCache(self.root)

    def location(self, packages: PackageSet) -> Path:
        return self.root / packages.fingerprint(self.node.version)

    def find(self, packages: PackageSet) -> InstalledPackages | None:
        location = self.location(packages)
        found = location.is_dir() if self.quota is None else self.cache.find(location)
        return InstalledPackages(location) if found else None

    async def install(self, packages: PackageSet, progress: Progress = no_progress) -> InstalledPackages:
        """The installed set; installs it unless it is there. Any number of processes may ask at once.

        Raises NpmError, which for packages that cannot be had is remembered for a day, and ToolchainError.
        """
        while (found := self.find(packages)) is None:
            try:
                self.root.mkdir(parents=True, exist_ok=True)
                async with file_lock(
                    self.location(packages).with_suffix(".lock"),
                    on_wait=lambda: progress(f"Waiting for another process that installs {packages.name}"),
                ):
                    await self._install_unless_there(packages, progress)
            except OSError as error:
                raise ToolchainError(
                    f"{packages.name} cannot be installed in {self.root}: {error.strerror}; "
                    f"free or unlock that folder or choose another one with CONVEX_EVALS_CACHE."
                ) from error
        return found

    async def _install_unless_there(self, packages: PackageSet, progress: Progress) -> None:
        location = self.location(packages)
        if location.is_dir():
            return
        known = self.cache.recall(location) if packages.lock is None else None
        if known is not None:
            raise known
        try:
            await self._install(packages, location, progress)
        except NpmError as error:
            if packages.lock is None and error.about_packages:
                self.cache.remember(location, error)
            raise
        finally:
            await asyncio.to_thread(self._make_room)

    async def _install(self, packages: PackageSet, location: Path, progress: Progress) -> None:
        incoming = location.with_name(f".incoming-{location.name}")
        await asyncio.to_thread(shutil.rmtree, incoming, ignore_errors=True)  # of a process that was killed
        incoming.mkdir()
        try:
            async with _reporting(packages, incoming, progress):
                prepared = await self._installation(packages, incoming).run()
            prepared.rename(location)
        finally:
            await asyncio.to_thread(shutil.rmtree, incoming, ignore_errors=True)

    def _installation(self, packages: PackageSet, incoming: Path) -> Installation:
        npm = Npm(self.node, self.settings, read_registry_settings(self.settings, self.node), self.strict)
        return Installation(packages, incoming, npm, self.largest)

    def _make_room(self) -> None:
        if self.quota is not None:
            self.cache.make_room(self.quota)
        trim_downloads(self.settings.cache_folder / "npm")


@asynccontextmanager
async def _reporting(packages: PackageSet, folder: Path, progress: Progress) -> AsyncIterator[None]:
    """Reports how many packages have arrived, each time that it is another quarter: few lines, also in a log."""
    expected = sum(not package.nested for package in packages.locked_packages())

    async def report() -> None:
        reported = 0
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            arrived = _count_packages(folder)
            if arrived - reported > expected // 4:
                progress(f"Installing {packages.name}: {arrived} of {expected or 'all'} packages")
                reported = arrived

    progress(f"Installing {packages.name} (once; needs the npm registry)")
    reporter = asyncio.create_task(report())
    try:
        yield
    finally:
        reporter.cancel()
        await asyncio.wait({reporter})


def _count_packages(folder: Path) -> int:
    patterns = ("set/node_modules/[!.@]*/package.json", "set/node_modules/@*/*/package.json")
    return sum(1 for pattern in patterns for _ in folder.glob(pattern))
