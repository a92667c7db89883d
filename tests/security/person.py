"""Who grades: this user, or, when that is root, an ordinary user as well.

An ordinary user has no way into root's home, where Python and the toolchain may be. So the command runs in a mount
namespace of its own, in which folders that are closed to others are covered by an empty one that holds nothing but what
the command needs, at the same path. That costs milliseconds, copies nothing, and also hides root's real home.
"""

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.settings import read_settings

ORDINARY: Final = 61234
CHECKOUT: Final = Path(__file__).resolve().parents[2]
TEMPORARY: Final = Path("/tmp")


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    uid: int

    def command(self, folder: Path, arguments: Sequence[str]) -> list[str]:
        """The arguments as this person runs them, with the toolchain below `folder`/cache."""
        toolchain, place = read_settings().cache_folder / "toolchain", folder / "cache/toolchain"
        if os.geteuid() != 0:
            if not place.exists():
                place.symlink_to(toolchain)
            return list(arguments)
        place.mkdir(exist_ok=True)
        mounts = ["umask 022", f"mount --bind {toolchain} {place}", f"mount -o remount,bind,ro {place}"]
        mounts += _cover(TEMPORARY, f"mount --bind {folder}/tmp {TEMPORARY}", _below_temporary(), folder / "kept")
        if self.uid != 0:
            mounts += _uncover(folder / "stash")
            arguments = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", *arguments]
        script = " && ".join([*mounts, f"exec {shlex.join(arguments)}"])
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script]


def people() -> list[Person]:
    if os.geteuid() != 0:
        return [Person("ordinary user", os.geteuid())]
    return [Person("ordinary user", ORDINARY), Person("root", 0)]


def names_kept_in_temporary() -> set[str]:
    """Of the folders that are put back into the covered temporary one: a clone may be there."""
    return {path.relative_to(TEMPORARY).parts[0] for path in _below_temporary()}


def _below_temporary() -> list[Path]:
    return [path for path in _needed() if path.is_relative_to(TEMPORARY)]


def _needed() -> list[Path]:
    return [Path(sys.base_prefix), Path(sys.prefix), CHECKOUT]


def _uncover(stash: Path) -> list[str]:
    """Commands that put what Python needs in the place of the folders that keep others out."""
    closed = {path: door for path in _needed() if (door := _closed_door(path)) is not None}
    commands = []
    for number, door in enumerate(sorted(set(closed.values()))):
        inside = [path for path, its_door in closed.items() if its_door == door]
        commands += _cover(door, f"mount -t tmpfs -o mode=755 tmpfs {door}", inside, stash / str(number))
    return commands


def _cover(folder: Path, mount: str, kept: Sequence[Path], stash: Path) -> list[str]:
    """Commands that mount something over a folder and put what is to be kept of it back in place."""
    before = [f"mkdir -p {stash}/{number} && mount --bind {path} {stash}/{number}" for number, path in enumerate(kept)]
    after = [f"mkdir -p {path} && mount --bind {stash}/{number} {path}" for number, path in enumerate(kept)]
    return [*before, mount, *after]


def _closed_door(path: Path) -> Path | None:
    """The outermost folder on the way to `path` that others may not pass."""
    return next((each for each in reversed((path, *path.parents)) if not each.stat().st_mode & 0o001), None)
