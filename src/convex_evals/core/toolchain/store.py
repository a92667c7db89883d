"""A folder of installed package sets, each installed once and never changed."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.errors import ToolchainError
from convex_evals.core.file_lock import file_lock
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain.node import Node
from convex_evals.core.toolchain.npm import npm, npm_error
from convex_evals.core.toolchain.package_set import PackageSet
from convex_evals.core.toolchain.packages import InstalledPackages

Progress = Callable[[str], None]
_REPORT_SECONDS: Final = 0.5


def no_progress(line: str) -> None:
    """For callers who do not want to hear."""


@dataclass(frozen=True, slots=True)
class PackageStore:
    """Sets live in `<root>/<fingerprint>/`. Such a folder is always complete: it was prepared beside and renamed."""

    root: Path
    node: Node
    settings: Settings

    def location(self, packages: PackageSet) -> Path:
        return self.root / packages.fingerprint(self.node.version)

    def find(self, packages: PackageSet) -> InstalledPackages | None:
        location = self.location(packages)
        return InstalledPackages(location) if location.is_dir() else None

    async def install(self, packages: PackageSet, progress: Progress = no_progress) -> InstalledPackages:
        """The installed set; installs it unless it is there. Any number of processes may ask at once."""
        found = self.find(packages)
        if found is not None:
            return found
        location = self.location(packages)
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            async with file_lock(
                location.with_suffix(".lock"),
                on_wait=lambda: progress(f"Waiting for another process that installs {packages.name}"),
            ):
                if not location.is_dir():
                    await self._install(packages, location, progress)
        except OSError as error:
            raise ToolchainError(
                f"{packages.name} cannot be installed in {self.root}: {error.strerror}; "
                f"free or unlock that folder or choose another one with CONVEX_EVALS_CACHE."
            ) from error
        return InstalledPackages(location)

    async def _install(self, packages: PackageSet, location: Path, progress: Progress) -> None:
        incoming = location.with_name(f".incoming-{location.name}")
        await asyncio.to_thread(shutil.rmtree, incoming, ignore_errors=True)  # of a process that was killed
        incoming.mkdir()
        try:
            (incoming / "package.json").write_bytes(packages.manifest)
            if packages.lock is not None:
                (incoming / "package-lock.json").write_bytes(packages.lock)
            async with _reporting(packages, incoming, progress):
                await self._run_npm(packages, incoming)
            _verify(packages, incoming)
            incoming.rename(location)
        finally:
            await asyncio.to_thread(shutil.rmtree, incoming, ignore_errors=True)

    async def _run_npm(self, packages: PackageSet, folder: Path) -> None:
        command = ["install"] if packages.lock is None else ["ci"]
        if packages.before is not None:
            command.append(f"--before={packages.before}")
        result = await npm(self.node, self.settings, command, cwd=folder)
        if not result.ok:
            raise npm_error(result, f"Installing {packages.name}")


@asynccontextmanager
async def _reporting(packages: PackageSet, folder: Path, progress: Progress) -> AsyncIterator[None]:
    """Says now and then how many of the packages have arrived."""
    expected = sum(not package.nested for package in packages.locked_packages())

    async def report() -> None:
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            arrived = _count_packages(folder)
            if arrived:
                progress(f"Installing {packages.name}: {arrived} of {expected or 'all'} packages")

    progress(f"Installing {packages.name} (once; needs the npm registry)")
    reporter = asyncio.create_task(report())
    try:
        yield
    finally:
        reporter.cancel()
        await asyncio.wait({reporter})


def _count_packages(folder: Path) -> int:
    patterns = ("node_modules/[!.@]*/package.json", "node_modules/@*/*/package.json")
    return sum(1 for pattern in patterns for _ in folder.glob(pattern))


def _verify(packages: PackageSet, folder: Path) -> None:
    """npm leaves out an optional package that fails to arrive; every other one must be there as locked."""
    for package in packages.locked_packages():
        manifest = folder / package.location / "package.json"
        if package.optional and not manifest.exists():
            continue
        try:
            version = json.loads(manifest.read_bytes()).get("version")
        except (OSError, ValueError):
            version = None
        if version != package.version:
            raise ToolchainError(
                f"{packages.name} is incomplete: {package.location} should be version {package.version}, "
                f"but is {version or 'missing'}; empty the npm folder of the cache and try again."
            )
