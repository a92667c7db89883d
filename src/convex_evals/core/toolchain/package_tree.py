"""The packages of a set: as npm resolved them, of which only versions of registry packages are allowed, and as npm put
them on the disk, compared with what was resolved, because a tarball may hold anything."""

import json
import os
import re
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from convex_evals.core.toolchain.package_set import fits_this_machine

MOST_PACKAGES: Final = 3_000
_NAME: Final = r"(?:@[A-Za-z0-9~-][A-Za-z0-9._~-]{0,213}/)?[A-Za-z0-9~-][A-Za-z0-9._~-]{0,213}"
_LOCATION: Final = re.compile(rf"node_modules/{_NAME}(?:/node_modules/{_NAME})*")
_VERSION: Final = re.compile(r"\d{1,16}\.\d{1,16}\.\d{1,16}(?:-[0-9A-Za-z.-]{1,200})?(?:\+[0-9A-Za-z.-]{1,200})?")
_INTEGRITY: Final = re.compile(r"(?:sha(?:1|256|384|512)-[A-Za-z0-9+/]+={0,2}\s*)+")
_ASKS: Final = ("dependencies", "optionalDependencies", "peerDependencies")
_LONGEST_QUOTE: Final = 100


@dataclass(frozen=True, slots=True)
class ResolvedPackage:
    """An entry of a lock file. `name` is the package's own, which an alias hides; `needs` are the names it asks for."""

    location: str
    name: str
    version: str
    resolved: str | None
    integrity: str | None
    link: bool
    bundled: bool
    bundles: bool
    shrinkwrap: bool
    optional: bool
    fits: bool
    needs: frozenset[str] = field(default=frozenset())

    @property
    def installed_name(self) -> str:
        return self.location.rpartition("node_modules/")[2]

    @property
    def title(self) -> str:
        alias = "" if self.name == self.installed_name else f"{_quote(self.installed_name)} = "
        return f"{alias}{_quote(self.name)}@{_quote(self.version)}"


@dataclass(frozen=True)
class ResolvedTree:
    """`direct` are the names that the project itself asks for."""

    direct: frozenset[str]
    packages: dict[str, ResolvedPackage]

    @classmethod
    def read(cls, lock: bytes) -> Self:
        """Raises ValueError for what is not a lock file of npm 7 or newer."""
        try:
            entries: dict[str, dict[str, Any]] = json.loads(lock)["packages"]
            packages = {location: _package(location, entry) for location, entry in entries.items() if location}
            return cls(_needs(entries.get("", {})), packages)
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError("not a lock file of npm 7 or newer") from error

    def refusals(self, registries: Sequence[str], reserved: frozenset[str]) -> Iterator[str]:
        """A sentence for each package that is not installed. `reserved` names are never given to another package."""
        for package in self.packages.values():
            if reason := self._reason(package, registries, reserved):
                yield f"{self.chain(package.location)} {reason}."

    def installed(self) -> dict[str, ResolvedPackage]:
        """What npm puts on this machine; it may leave optional packages out."""
        return {location: package for location, package in self.packages.items() if self._fits(location)}

    def chain(self, location: str) -> str:
        """Who asks for a package: `package.json > a@1.0.0 > b@2.0.0`."""
        titles: list[str] = []
        at: str | None = location
        while at:
            titles.append(self.packages[at].title if at in self.packages else _quote(at))
            at = self._askers.get(at)
        return " > ".join(["package.json", *reversed(titles)])

    def _reason(self, package: ResolvedPackage, registries: Sequence[str], reserved: frozenset[str]) -> str | None:
        if not _LOCATION.fullmatch(package.location) or not re.fullmatch(_NAME, package.name):
            return "does not have a name that npm allows"
        if package.link:
            return "is a link to a folder, not a package of the registry"
        if not _VERSION.fullmatch(package.version):
            return f"has no version that npm allows: {_quote(package.version)}"
        if package.name != package.installed_name and not _is_variant(package, reserved):
            return "is installed under another package's name"
        if (package.bundled or package.bundles) and self._fits(package.location):
            return "has other packages bundled with it, which do not come from the registry"
        if package.shrinkwrap:
            return "brings a lock file of its own (npm-shrinkwrap.json)"
        if package.resolved is not None and not _is_tarball_of(package, registries):
            return f"comes from {_quote(package.resolved)}, not from the registry"
        if not package.bundled and not _INTEGRITY.fullmatch(package.integrity or ""):
            return "has no checksum in the registry"
        return None

    def _fits(self, location: str) -> bool:
        """A package inside of one that is not for this machine does not arrive here either."""
        parts = location.split("/node_modules/")
        above = ("/node_modules/".join(parts[: count + 1]) for count in range(len(parts)))
        return all(self.packages[each].fits for each in above if each in self.packages)

    @cached_property
    def _askers(self) -> dict[str, str]:
        """For each location, the first that asks for it, seen from the project; "" is the project."""
        askers: dict[str, str] = {}
        waiting = deque([("", self.direct)])
        while waiting:
            asker, names = waiting.popleft()
            for name in sorted(names):
                found = self._lookup(asker, name)
                if found is not None and found not in askers:
                    askers[found] = asker
                    waiting.append((found, self.packages[found].needs))
        return askers

    def _lookup(self, asker: str, name: str) -> str | None:
        """As Node looks a name up: in the asker's own node_modules, then in those above."""
        at = asker
        while True:
            location = f"{at}/node_modules/{name}" if at else f"node_modules/{name}"
            if location in self.packages:
                return location
            if not at:
                return None
            at = at.rpartition("/node_modules/")[0]


def _package(location: str, entry: dict[str, Any]) -> ResolvedPackage:
    return ResolvedPackage(
        location=location,
        name=_text(entry.get("name")) or location.rpartition("node_modules/")[2],
        version=_text(entry.get("version")) or "",
        resolved=_text(entry.get("resolved")),
        integrity=_text(entry.get("integrity")),
        link=bool(entry.get("link")),
        bundled=bool(entry.get("inBundle")),
        bundles=bool(entry.get("bundleDependencies") or entry.get("bundledDependencies")),
        shrinkwrap=bool(entry.get("hasShrinkwrap")),
        optional=bool(entry.get("optional") or entry.get("devOptional")),
        fits=fits_this_machine(entry),
        needs=_needs(entry),
    )


def _needs(entry: dict[str, Any]) -> frozenset[str]:
    return frozenset(name for section in _ASKS for name in entry.get(section) or {})


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _is_variant(package: ResolvedPackage, reserved: frozenset[str]) -> bool:
    """Some packages everyone uses keep an older version beside the new one: `string-width-cjs` is `string-width`. Such
    a name says whose it is, so it deceives nobody; a name that our tools know is never given away."""
    return package.installed_name.startswith(f"{package.name}-") and package.installed_name not in reserved


def _is_tarball_of(package: ResolvedPackage, registries: Sequence[str]) -> bool:
    address = package.resolved or ""
    paths = [f"{registry}{package.name}/" for registry in registries]
    return ".." not in address and any(address.startswith(path) for path in paths)


def _quote(text: str) -> str:
    shown = text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"
    return shown if re.fullmatch(r"[\w.@/~^:+-]*…?", shown, re.ASCII) else json.dumps(shown)


_LARGEST_MANIFEST: Final = 4_000_000
_NPMS_OWN: Final = ".package-lock.json"
_ODD_BITS: Final = stat.S_ISUID | stat.S_ISGID


@dataclass(frozen=True, slots=True)
class Size:
    bytes: int = 0
    files: int = 0

    def exceeds(self, most: "Size") -> bool:
        return self.bytes > most.bytes or self.files > most.files

    def __str__(self) -> str:
        return f"{self.bytes / 1e6:,.0f} MB and {self.files:,} files"


def measure(folder: Path) -> Size:
    """What a folder takes on the disk, while others may still be writing to it."""
    taken = files = 0
    for entry in _entries(folder):
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:  # it has just been renamed or removed
            continue
        files += 1
        taken += max(status.st_blocks * 512, status.st_size)
    return Size(taken, files)


def refuse_installed(folder: Path, tree: ResolvedTree) -> Iterator[str]:
    """A sentence for each thing below `folder` that does not belong there."""
    odd = [(entry, reason) for entry in _entries(folder) if (reason := _odd(entry))]
    if odd:  # nothing is read where a file may be something else
        yield from (f"{Path(entry.path).relative_to(folder).as_posix()!r} {reason}." for entry, reason in odd)
        return
    expected = tree.installed()
    for location in _package_folders(folder, ""):
        package = expected.get(location)
        if package is None:
            owner = location.rpartition("/node_modules/")[0]
            yield f"{tree.chain(owner or location)} brings {location!r}, which nobody asked the registry for."
        elif reason := _mismatch(folder / location, package):
            yield f"{tree.chain(location)} {reason}."


def incomplete_packages(folder: Path, tree: ResolvedTree) -> Iterator[ResolvedPackage]:
    """npm leaves out an optional package that fails to arrive; every other one must be there as it was resolved."""
    for location, package in tree.installed().items():
        left_out = (package.optional or package.bundled) and not (folder / location).is_dir()
        if not left_out and _mismatch(folder / location, package):
            yield package


def _package_folders(folder: Path, above: str) -> Iterator[str]:
    """Every folder that Node would take for a package, at whatever depth, and nothing that is a package's own."""
    modules = f"{above}/node_modules" if above else "node_modules"
    for name in _names(folder / modules):
        if name == _NPMS_OWN and not above:
            continue
        inner = [f"{name}/{each}" for each in _names(folder / modules / name)] if name.startswith("@") else [name]
        for each in inner:
            location = f"{modules}/{each}"
            yield location
            yield from _package_folders(folder, location)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _mismatch(folder: Path, package: ResolvedPackage) -> str | None:
    try:
        with (folder / "package.json").open("rb") as file:
            content = json.loads(file.read(_LARGEST_MANIFEST).decode("utf-8-sig"))
        name, version = content.get("name"), str(content.get("version")).strip().lstrip("=v")
        matches = name == package.name and _release(version) == _release(package.version)
    except (OSError, ValueError, AttributeError, RecursionError):
        return "has no package.json that can be read"
    if not matches:
        return f"says that it is {str(name)[:100]!r} {version[:100]!r}, which the registry contradicts"
    return None


def _release(version: str) -> str:
    """Without build metadata, which registries leave out."""
    return version.partition("+")[0]


def _odd(entry: "os.DirEntry[str]") -> str | None:
    mode = entry.stat(follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return "is a link, which no package of the registry has"
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        return "is neither a file nor a folder"
    return "runs with someone else's rights (setuid, setgid)" if stat.S_ISREG(mode) and mode & _ODD_BITS else None


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    """Everything below a folder; what disappears meanwhile is skipped."""
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                entries = list(found)
        except (FileNotFoundError, NotADirectoryError):
            continue
        yield from entries
        waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
