"""What npm put on the disk, compared with what was resolved: a tarball may hold anything."""

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.toolchain.resolved_tree import ResolvedPackage, ResolvedTree

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
