"""An installed package set: where its packages, programs and scripts are."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.core.errors import ToolchainError
from convex_evals.core.toolchain.package_set import NPM_ARCHITECTURE, NPM_PLATFORM

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
