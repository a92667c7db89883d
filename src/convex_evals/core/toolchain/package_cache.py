"""Installed package sets and downloads: which are in use, what they take, and which go when there are too many.

npm's download cache is shared by all sets. Only npm writes to it, confined, and never runs code of a package; tools
that read a model's files cannot. npm takes a tarball from it only if its content has the checksum that the registry
gave for that version, so a file that was damaged or exchanged is fetched again. So is what is
removed here, even in the middle of an installation.
"""

import json
import os
import shutil
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.files import try_lock, write_file
from convex_evals.core.toolchain.npm import NpmError
from convex_evals.core.toolchain.package_tree import Size, measure

_SIZE_FILE: Final = "size.json"
_REFUSED_SECONDS: Final = 24 * 3600.0
# More than one process ever grades at the same time, so that a set in use is always among them.
_MOST_HELD: Final = 64
_ROOM: Final = (
    0.8  # the share of the quota that is left when sets are removed, so that this is not needed again at once
)


@dataclass(frozen=True, slots=True)
class CachedSet:
    folder: Path
    size: Size
    used: float


@dataclass(frozen=True, slots=True)
class PackageCache:
    """A set is `<root>/<fingerprint>/`. Beside it, `.lock` is held by who installs or removes it, `.used` is shared by
    its users and tells by its time when it was used, and `.refused` remembers why there is no such set."""

    root: Path

    def find(self, location: Path) -> bool:
        """Whether the set is there. If so it stays, as long as this process uses it."""
        return location.is_dir() and _held.hold(_beside(location, ".used")) and location.is_dir()

    def sets(self) -> list[CachedSet]:
        """The one that was used longest ago first."""
        folders = self.root.iterdir() if self.root.is_dir() else ()
        found = [_cached_set(path) for path in folders if path.is_dir() and not path.name.startswith(".")]
        return sorted(found, key=lambda each: each.used)

    def make_room(self, most_bytes: int) -> list[Path]:
        """Removes the sets that nobody has used for longest, and what a killed process left, until the rest fits."""
        self._forget_refusals()
        cached = self.sets()
        taken, removed = sum(each.size.bytes for each in cached), []
        if taken <= most_bytes:
            return []
        for each in cached:
            if taken > most_bytes * _ROOM and self._remove(each.folder):
                taken -= each.size.bytes
                removed.append(each.folder)
        return removed

    def remember(self, location: Path, error: NpmError) -> None:
        """Only for what is wrong with the packages themselves."""
        known = {"message": str(error), "code": error.code, "detail": error.detail, "at": time.time()}
        write_file(_beside(location, ".refused"), json.dumps(known))

    def recall(self, location: Path) -> NpmError | None:
        """Why this set could not be had, if that was not long ago."""
        try:
            known = json.loads(_beside(location, ".refused").read_bytes())
            fresh = 0 <= time.time() - known["at"] < _REFUSED_SECONDS
            return NpmError(f"{known['message']} (cached)", known["code"], known["detail"]) if fresh else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _remove(self, folder: Path) -> bool:
        with _locked_now(_beside(folder, ".lock")) as unchanging, _locked_now(_beside(folder, ".used")) as unused:
            if unchanging and unused:
                trash = folder.with_name(f".removed-{folder.name}")
                folder.rename(trash)
                shutil.rmtree(trash, ignore_errors=True)
            return unchanging and unused

    def _forget_refusals(self) -> None:
        for path in self.root.glob("*.refused"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _REFUSED_SECONDS:
                    path.unlink()


def write_size(folder: Path, size: Size) -> None:
    (folder / _SIZE_FILE).write_text(json.dumps(asdict(size)))


def _cached_set(folder: Path) -> CachedSet:
    try:
        size = Size(**json.loads((folder / _SIZE_FILE).read_bytes()))
    except (OSError, ValueError, TypeError):  # from before sizes were written down
        size = measure(folder)
    used = _beside(folder, ".used")
    return CachedSet(folder, size, (used if used.exists() else folder).stat().st_mtime)


def _beside(location: Path, suffix: str) -> Path:
    return location.with_name(f"{location.name}{suffix}")


@contextmanager
def _locked_now(path: Path) -> Iterator[bool]:
    """Whether the lock could be had at once; held until the end."""
    descriptor = try_lock(path)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)


class _Held:
    """Shared locks of this process, the latest used last. Removing a set takes an exclusive lock."""

    def __init__(self) -> None:
        self._descriptors: OrderedDict[Path, int] = OrderedDict()

    def hold(self, path: Path) -> bool:
        if path in self._descriptors:
            self._descriptors.move_to_end(path)
        else:
            descriptor = try_lock(path, shared=True)
            if descriptor is None:  # it is being removed at this moment
                return False
            self._descriptors[path] = descriptor
        os.utime(path)
        while len(self._descriptors) > _MOST_HELD:
            os.close(self._descriptors.popitem(last=False)[1])
        return True


_held: Final = _Held()


DOWNLOAD_BYTES: Final = 3_000_000_000


def trim_downloads(cache: Path, most_bytes: int = DOWNLOAD_BYTES) -> None:
    """Removes the oldest downloads until the rest fits."""
    files = sorted(_downloads(cache), key=lambda each: each[0])
    taken = sum(size for _, size, _ in files)
    if taken <= most_bytes:
        return
    for _, size, path in files:
        if taken <= most_bytes * _ROOM:
            return
        with suppress(OSError):
            path.unlink()
            taken -= size


def forget_downloads(cache: Path, since: float) -> None:
    """Removes what arrived since then: the tarballs of a set that was too large must not stay."""
    for modified, _, path in list(_downloads(cache)):
        if modified >= since:
            with suppress(OSError):
                path.unlink()


def _downloads(cache: Path) -> Iterator[tuple[float, int, Path]]:
    """Contents and unfinished downloads: time, bytes, path."""
    for part in ("content-v2", "tmp"):
        for folder, _, names in os.walk(cache / "_cacache" / part):
            for name in names:
                path = Path(folder, name)
                with suppress(OSError):
                    status = path.stat(follow_symlinks=False)
                    yield status.st_mtime, status.st_size, path
