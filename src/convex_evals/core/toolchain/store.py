"""A folder of installed package sets, each installed once (resolve, check, fetch, check again) and never changed."""

import asyncio
import errno
import shutil
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from convex_evals.core.errors import ToolchainError
from convex_evals.core.files import file_lock
from convex_evals.core.processes import ProcessResult
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain.node import Node
from convex_evals.core.toolchain.npm import REFUSED, TIMED_OUT, TOO_LARGE, UNUSABLE, Npm, NpmError, npm_error
from convex_evals.core.toolchain.package_cache import PackageCache, forget_downloads, trim_downloads, write_size
from convex_evals.core.toolchain.package_set import InstalledPackages, PackageSet
from convex_evals.core.toolchain.package_tree import (
    MOST_PACKAGES,
    ResolvedTree,
    Size,
    incomplete_packages,
    measure,
    refuse_installed,
)
from convex_evals.core.toolchain.registry_settings import read_registry_settings

NpmCall = Callable[[Sequence[str], Path, Path], Coroutine[None, None, ProcessResult]]
INSTALL_SECONDS: Final = 900.0
"""For a whole set: waiting for other processes, every call of npm, and the checks."""
LARGEST_SET: Final = Size(bytes=600_000_000, files=60_000)
_LARGEST_LOCK: Final = 32_000_000
_LOOK_SECONDS: Final = 0.5
_QUOTED: Final = 5
_TOOLS: Final = Path(__file__).with_name("package-lock.json")


@dataclass(frozen=True, slots=True)
class Installation:
    """Prepares `packages` below `incoming`, a folder that is the caller's to remove."""

    packages: PackageSet
    incoming: Path
    npm: Npm
    largest: Size

    @property
    def folder(self) -> Path:
        return self.incoming / "set"

    @property
    def _home(self) -> Path:
        return self.incoming / "home"

    async def run(self) -> Path:
        """The finished folder. Raises NpmError for what npm or we refuse, ToolchainError for what is not complete."""
        self._home.mkdir()
        self.folder.mkdir()
        (self.folder / "package.json").write_bytes(self.packages.manifest)
        if self.packages.lock is None:
            await self._install_resolved()
        else:
            await self._install_locked(self.packages.lock)
        (self.folder / "node_modules").mkdir(exist_ok=True)  # npm makes none when there is nothing to install
        return self.folder

    async def _install_locked(self, lock: bytes) -> None:
        """Ours, so nothing in it is refused, but it must be complete."""
        (self.folder / "package-lock.json").write_bytes(lock)
        await self._npm(self.npm.install, "ci")
        self._verify(_read_tree(lock, self.packages.name))

    async def _install_resolved(self) -> None:
        started = time.time()
        try:
            tree = await self._resolve()
            await self._npm(self.npm.install, "install", "--no-save", "--no-bin-links", "--prefer-offline")
            await self._check(tree)
        except NpmError as error:
            if error.code == TOO_LARGE:
                await asyncio.to_thread(forget_downloads, self.npm.cache, started)
            raise

    async def _resolve(self) -> ResolvedTree:
        """Nothing of a package is unpacked before this has returned."""
        await self._npm(self.npm.resolve)
        path = self.folder / "package-lock.json"
        if path.stat().st_size > _LARGEST_LOCK:
            raise self._error(TOO_LARGE, [f"They resolve to a lock file of {path.stat().st_size:,} bytes."])
        tree = _read_tree(path.read_bytes(), self.packages.name)
        if len(tree.packages) > MOST_PACKAGES:
            raise self._error(TOO_LARGE, [f"They are {len(tree.packages):,} packages; {MOST_PACKAGES:,} are allowed."])
        self._refuse(tree.refusals(self.npm.registry.registries, _reserved_names()))
        return tree

    async def _check(self, tree: ResolvedTree) -> None:
        size = await asyncio.to_thread(measure, self.folder)
        if size.exceeds(self.largest):
            raise self._too_large(size)
        self._refuse(await asyncio.to_thread(lambda: list(islice(refuse_installed(self.folder, tree), _QUOTED))))
        self._verify(tree)
        write_size(self.folder, size)

    async def _npm(self, call: NpmCall, *arguments: str) -> None:
        """Tries again when npm fails for no known reason; if it fails twice, the packages are to blame."""
        error = await self._try(call, arguments)
        if error is not None and error.unexplained and self.packages.lock is None:
            error = await self._try(call, arguments)
            if error is not None and error.unexplained:
                raise NpmError(str(error), UNUSABLE, error.detail, error.result)
        if error is not None:
            raise error

    async def _try(self, call: NpmCall, arguments: Sequence[str]) -> NpmError | None:
        before = [f"--before={self.packages.before}"] if self.packages.before is not None else []
        result = await self._watch(call([*arguments, *before], self.folder, self._home))
        return None if result.ok else npm_error(result, f"Installing {self.packages.name}")

    async def _watch(self, call: Coroutine[None, None, ProcessResult]) -> ProcessResult:
        """Stops npm once it has written too much."""
        running = asyncio.create_task(call)
        try:
            while not (await asyncio.wait({running}, timeout=_LOOK_SECONDS))[0]:
                size = await asyncio.to_thread(measure, self.incoming)
                if self.packages.lock is None and size.exceeds(self.largest):
                    raise self._too_large(size)
            return running.result()
        finally:
            running.cancel()
            await asyncio.wait({running})

    def _verify(self, tree: ResolvedTree) -> None:
        for package in incomplete_packages(self.folder, tree):
            raise ToolchainError(
                f"{self.packages.name} is incomplete: {package.location} should be version {package.version}, "
                f"but is missing or a different version; empty the npm folder of the cache and try again."
            )

    def _refuse(self, reasons: Iterable[str]) -> None:
        quoted = list(islice(reasons, _QUOTED))
        if quoted:
            raise self._error(REFUSED, quoted)

    def _too_large(self, size: Size) -> NpmError:
        return self._error(
            TOO_LARGE, [f"They take more than {self.largest}: {size} when the installation was stopped."]
        )

    def _error(self, code: str, reasons: list[str]) -> NpmError:
        why = "are too large" if code == TOO_LARGE else "must be packages of the registry at a version"
        return NpmError(f"Installing {self.packages.name} was refused: they {why}.", code, "\n".join(reasons))


def _read_tree(lock: bytes, name: str) -> ResolvedTree:
    try:
        return ResolvedTree.read(lock)
    except ValueError as error:
        raise ToolchainError(
            f"The lock file of {name} is not one that npm 7 or newer wrote; regenerate it with: npm install"
        ) from error


def _reserved_names() -> frozenset[str]:
    """The names of all packages of our toolchain."""
    tools = _read_tree(_TOOLS.read_bytes(), "the JavaScript toolchain")
    return frozenset(package.installed_name for package in tools.packages.values())


Progress = Callable[[str], None]
_REPORT_SECONDS: Final = 0.5


def no_progress(line: str) -> None:
    """For callers that show no progress."""


@dataclass(frozen=True, slots=True)
class PackageStore:
    """Sets live in `<root>/<fingerprint>/`. Such a folder is always complete: it was prepared beside and renamed.

    With `quota`, the sets used longest ago go when all of them together take more bytes than that. `strict`: nothing is
    installed where npm cannot be confined completely. `seconds`: how long an installation may take.
    """

    root: Path
    node: Node
    settings: Settings
    quota: int | None = None
    largest: Size = LARGEST_SET
    strict: bool = False
    seconds: float = INSTALL_SECONDS

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
                async with asyncio.timeout(self.seconds):
                    await self._install_alone(packages, progress)
            except TimeoutError:
                raise NpmError(
                    f"Installing {packages.name} was stopped after {self.seconds:.0f} s; "
                    f"check how fast the network and the package registry are.",
                    TIMED_OUT,
                ) from None
            except OSError as error:
                raise NpmError(
                    f"{packages.name} cannot be installed in {self.root}: {error.strerror}; "
                    f"free or unlock that folder or choose another one with CONVEX_EVALS_CACHE.",
                    errno.errorcode.get(error.errno or 0),
                ) from error
        return found

    async def _install_alone(self, packages: PackageSet, progress: Progress) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        async with file_lock(
            self.location(packages).with_suffix(".lock"),
            on_wait=lambda: progress(f"Waiting for another process that installs {packages.name}"),
        ):
            await self._install_unless_there(packages, progress)

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
