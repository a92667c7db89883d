"""The installed sets of one folder: which are in use, what they take, and which go when there are too many."""

import fcntl
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

from convex_evals.core.toolchain.installed_tree import Size, measure
from convex_evals.core.toolchain.npm import NpmError

_SIZE_FILE: Final = "size.json"
_REFUSED_SECONDS: Final = 24 * 3600.0
# More than one process ever grades at the same time, so that a set in use is always among them.
_MOST_HELD: Final = 64
_ROOM: Final = 0.8  # of the quota is what removing leaves, so that it is not needed again at once


@dataclass(frozen=True, slots=True)
class ShelvedSet:
    folder: Path
    size: Size
    used: float


@dataclass(frozen=True, slots=True)
class Shelf:
    """A set is `<root>/<fingerprint>/`. Beside it, `.lock` is held by who installs or removes it, `.used` is shared by
    its users and tells by its time when it was used, and `.refused` remembers why there is no such set."""

    root: Path

    def find(self, location: Path) -> bool:
        """Whether the set is there. If so it stays, as long as this process uses it."""
        return location.is_dir() and _held.hold(_beside(location, ".used")) and location.is_dir()

    def sets(self) -> list[ShelvedSet]:
        """The one that was used longest ago first."""
        folders = self.root.iterdir() if self.root.is_dir() else ()
        found = [_shelved(path) for path in folders if path.is_dir() and not path.name.startswith(".")]
        return sorted(found, key=lambda each: each.used)

    def make_room(self, most_bytes: int) -> list[Path]:
        """Removes the sets that nobody has used for longest, and what a killed process left, until the rest fits."""
        self._forget_refusals()
        shelved = self.sets()
        taken, removed = sum(each.size.bytes for each in shelved), []
        if taken <= most_bytes:
            return []
        for each in shelved:
            if taken > most_bytes * _ROOM and self._remove(each.folder):
                taken -= each.size.bytes
                removed.append(each.folder)
        return removed

    def remember(self, location: Path, error: NpmError) -> None:
        """Only for what is wrong with the packages themselves."""
        known = {"message": str(error), "code": error.code, "detail": error.detail, "at": time.time()}
        incoming = location.with_name(f".{location.name}.{os.getpid()}.refused")
        incoming.write_text(json.dumps(known))
        incoming.rename(_beside(location, ".refused"))

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


def _shelved(folder: Path) -> ShelvedSet:
    try:
        size = Size(**json.loads((folder / _SIZE_FILE).read_bytes()))
    except (OSError, ValueError, TypeError):  # from before sizes were written down
        size = measure(folder)
    used = _beside(folder, ".used")
    return ShelvedSet(folder, size, (used if used.exists() else folder).stat().st_mtime)


def _beside(location: Path, suffix: str) -> Path:
    return location.with_name(f"{location.name}{suffix}")


@contextmanager
def _locked_now(path: Path) -> Iterator[bool]:
    """Whether the lock could be had at once; held until the end."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


class _Held:
    """Shared locks of this process, the latest used last. Whoever removes a set needs it for himself alone."""

    def __init__(self) -> None:
        self._descriptors: OrderedDict[Path, int] = OrderedDict()

    def hold(self, path: Path) -> bool:
        if path in self._descriptors:
            self._descriptors.move_to_end(path)
        else:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:  # it is being removed at this moment
                os.close(descriptor)
                return False
            self._descriptors[path] = descriptor
        os.utime(path)
        while len(self._descriptors) > _MOST_HELD:
            os.close(self._descriptors.popitem(last=False)[1])
        return True


_held: Final = _Held()
