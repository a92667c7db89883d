"""A set of npm packages: what it asks for, and, once installed, where its packages, programs and scripts are."""

import hashlib
import json
import platform
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Self

from convex_evals.core.errors import ToolchainError

# npm's words for operating systems and processors.
NPM_PLATFORM: Final = {"linux": "linux", "darwin": "darwin", "win32": "win32"}.get(sys.platform, sys.platform)
NPM_ARCHITECTURE: Final = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(
    platform.machine().lower(), platform.machine().lower()
)
_CHECKS: Final = 1  # raise it when checks become stricter, so that sets that passed weaker ones are not used


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """One entry of a lock file: where it goes below the set's folder, and what must be there."""

    location: str
    version: str
    optional: bool

    @property
    def nested(self) -> bool:
        """Inside another package, because the version at the top is a different one."""
        return self.location.count("node_modules/") > 1


@dataclass(frozen=True, slots=True)
class PackageSet:
    """package.json and, unless npm is to choose versions itself, package-lock.json.

    `before` is a date (2026-11-01): of a set without a lock file, only versions published until then are considered.
    """

    name: str
    manifest: bytes
    lock: bytes | None = None
    before: str | None = None

    @classmethod
    def from_folder(cls, folder: Path, name: str | None = None) -> Self:
        try:
            manifest, lock = (folder / "package.json").read_bytes(), (folder / "package-lock.json").read_bytes()
        except OSError as error:
            raise ToolchainError(
                f"A package set needs {error.filename}, which cannot be read: {error.strerror}."
            ) from error
        return cls(name or folder.name, manifest, lock)

    @classmethod
    def from_dependencies(cls, name: str, dependencies: dict[str, str], *, before: str | None = None) -> Self:
        """A set without a lock file; the order in which the dependencies are named does not matter."""
        manifest = {"private": True, "dependencies": dict(sorted(dependencies.items()))}
        return cls(name, json.dumps(manifest, indent=2).encode(), before=before)

    def fingerprint(self, node_version: str) -> str:
        """SHA-256 over everything that decides what the installed folder contains."""
        digest = hashlib.sha256()
        target = f"{node_version} {NPM_PLATFORM} {NPM_ARCHITECTURE} {self.before}".encode()
        if self.lock is None:
            target += f" {_CHECKS}".encode()
        for part in (self.manifest, self.lock or b"", target):
            digest.update(len(part).to_bytes(8, "big") + part)
        return digest.hexdigest()

    def locked_packages(self) -> list[LockedPackage]:
        """What the lock file puts on this machine; empty without a lock file."""
        if self.lock is None:
            return []
        try:
            entries: dict[str, dict[str, Any]] = json.loads(self.lock)["packages"]
            return [
                LockedPackage(location, entry["version"], entry.get("optional", False))
                for location, entry in entries.items()
                if location and fits_this_machine(entry)
            ]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ToolchainError(
                f"The lock file of {self.name} is not one that npm 7 or newer wrote; regenerate it with: npm install"
            ) from error


def fits_this_machine(entry: dict[str, Any]) -> bool:
    """Whether an entry of a lock file is for this operating system, processor and C library."""
    return (
        _allows(entry.get("os"), NPM_PLATFORM)
        and _allows(entry.get("cpu"), NPM_ARCHITECTURE)
        and _allows(entry.get("libc"), _c_library())
    )


@cache
def _c_library() -> str:
    return "glibc" if platform.libc_ver()[0] == "glibc" else "musl"


def _allows(wanted: object, ours: str) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(names, list) or not names:
        return True
    names = [str(name) for name in names]
    included = [name for name in names if not name.startswith("!")]
    return f"!{ours}" not in names and (not included or ours in included)


_BUN_ARCHITECTURE: Final = {"arm64": "aarch64"}.get(NPM_ARCHITECTURE, NPM_ARCHITECTURE)
_TARGET: Final = f"{NPM_PLATFORM}-{NPM_ARCHITECTURE}"
# Programs that npm delivers in one package per platform. Their packages' own `bin` entries are Node scripts which only
# start these, or (bun) placeholders that an install script would have replaced.
_NATIVE: Final = {
    "bun": f"@oven/bun-{NPM_PLATFORM}-{_BUN_ARCHITECTURE}/bin/bun",
    "esbuild": f"@esbuild/{_TARGET}/bin/esbuild",
    "tsc": f"@typescript/typescript-{_TARGET}/lib/tsc",
    "tsgolint": f"@oxlint-tsgolint/{_TARGET}/tsgolint",
}


@dataclass(frozen=True, slots=True)
class InstalledPackages:
    """A complete, read-only folder with `node_modules` in it."""

    folder: Path

    @property
    def node_modules(self) -> Path:
        return self.folder / "node_modules"

    def package(self, name: str) -> Path:
        """The folder of a package, named as package.json names it (so an alias by its alias)."""
        path = self.node_modules / name
        if not (path / "package.json").is_file():
            raise ToolchainError(f"The package {name!r} is not among the installed ones in {self.folder}.")
        return path

    def version(self, name: str) -> str:
        return str(self._manifest(name)["version"])

    def binary(self, name: str) -> Path:
        """The native program itself: bun, esbuild, tsc (TypeScript 7), tsgolint."""
        if name not in _NATIVE:
            raise ToolchainError(f"{name!r} is not a native program; there are {', '.join(sorted(_NATIVE))}.")
        path = self.node_modules / _NATIVE[name]
        if not path.is_file():
            raise ToolchainError(f"The program {name} has no build for {_TARGET}: {path} does not exist.")
        return path

    def node_script(self, package: str, command: str | None = None) -> Path:
        """The script behind a package's command, to be run with Node; the command is needed if there are several."""
        entry = self._manifest(package).get("bin")
        commands: dict[str, str] = {package: entry} if isinstance(entry, str) else entry or {}
        chosen = command or (package if package in commands or len(commands) != 1 else next(iter(commands)))
        if chosen not in commands:
            known = ", ".join(sorted(commands)) or "none"
            raise ToolchainError(f"The package {package!r} has no command {chosen!r}; it has: {known}.")
        return (self.package(package) / commands[chosen]).resolve()

    def _manifest(self, name: str) -> dict[str, Any]:
        manifest = json.loads((self.package(name) / "package.json").read_bytes())
        assert isinstance(manifest, dict)
        return manifest


def installed_version(node_modules: Path, name: str) -> str | None:
    """None unless a package of that name is installed; an alias does not count."""
    try:
        manifest = json.loads((node_modules / name / "package.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(manifest, dict) or manifest.get("name") != name:
        return None
    return str(manifest.get("version"))
