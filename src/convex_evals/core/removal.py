"""Removing folders that hostile programs wrote into: locked folders and trees of any depth go, too."""

import os
import secrets
import shutil
from pathlib import Path
from typing import Final

_OWN: Final = 0o700
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_folder(folder: Path) -> None:
    """Removes a folder with all below it; one that does not exist is removed already. Raises OSError."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        _remove_stubborn(folder)


def _remove_stubborn(folder: Path) -> None:
    """Level by level: folders inside folders move up, so that no path gets long and no call goes deep."""
    folder.chmod(_OWN)
    root = os.open(folder, _FOLDER)
    try:
        while entries := list(os.scandir(root)):
            for entry in entries:
                _remove_entry(root, entry)
    finally:
        os.close(root)
    folder.rmdir()


def _remove_entry(root: int, entry: "os.DirEntry[str]") -> None:
    if not entry.is_dir(follow_symlinks=False):
        os.unlink(entry.name, dir_fd=root)
        return
    os.chmod(entry.name, _OWN, dir_fd=root)
    inside = os.open(entry.name, _FOLDER, dir_fd=root)
    try:
        for each in list(os.scandir(inside)):
            if each.is_dir(follow_symlinks=False):
                os.chmod(each.name, _OWN, dir_fd=inside)
                os.rename(each.name, secrets.token_hex(16), src_dir_fd=inside, dst_dir_fd=root)
            else:
                os.unlink(each.name, dir_fd=inside)
    finally:
        os.close(inside)
    os.rmdir(entry.name, dir_fd=root)
