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
        mounts = [f"mount --bind {toolchain} {place}", f"mount -o remount,bind,ro {place}"]
        mounts.append(f"mount --bind {folder}/tmp /tmp")
        if self.uid != 0:
            mounts += _uncover(folder / "stash")
            arguments = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", *arguments]
        script = " && ".join([*mounts, f"exec {shlex.join(arguments)}"])
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script]


def people() -> list[Person]:
    if os.geteuid() != 0:
        return [Person("ordinary user", os.geteuid())]
    return [Person("root", 0), Person("ordinary user", ORDINARY)]


def _uncover(stash: Path) -> list[str]:
    """Commands that put what Python needs in the place of the folders that keep others out."""
    needed = [Path(sys.base_prefix), Path(sys.prefix), CHECKOUT]
    closed = {path: door for path in needed if (door := _closed_door(path)) is not None}
    commands = []
    for number, path in enumerate(closed):
        commands.append(f"mkdir -p {stash}/{number} && mount --bind {path} {stash}/{number}")
    commands += [f"mount -t tmpfs -o mode=755 tmpfs {door}" for door in sorted(set(closed.values()))]
    for number, path in enumerate(closed):
        commands.append(f"mkdir -p {path} && mount --bind {stash}/{number} {path}")
    return commands


def _closed_door(path: Path) -> Path | None:
    """The outermost folder on the way to `path` that others may not pass."""
    return next((each for each in reversed((path, *path.parents)) if not each.stat().st_mode & 0o001), None)
