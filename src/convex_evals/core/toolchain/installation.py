"""One installation of a package set: resolve, check, fetch, check again."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from convex_evals.core.errors import ToolchainError
from convex_evals.core.processes import ProcessResult
from convex_evals.core.toolchain.installed_tree import Size, incomplete_packages, measure, refuse_installed
from convex_evals.core.toolchain.npm import REFUSED, TOO_LARGE, UNUSABLE, Npm, NpmError, npm_error
from convex_evals.core.toolchain.package_cache import forget_downloads, write_size
from convex_evals.core.toolchain.package_set import PackageSet
from convex_evals.core.toolchain.resolved_tree import MOST_PACKAGES, ResolvedTree

NpmCall = Callable[[Sequence[str], Path, Path], Coroutine[None, None, ProcessResult]]
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
