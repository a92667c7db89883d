import os
from pathlib import Path

import pytest

from convex_evals.core.removal import remove_folder


def test_a_folder_that_is_not_there_is_removed_already(tmp_path: Path) -> None:
    remove_folder(tmp_path / "never")


@pytest.mark.parametrize("depth", [3, 3000])
def test_a_tree_of_any_depth_is_removed(tmp_path: Path, depth: int) -> None:
    folder = tmp_path / "deep"
    folder.mkdir()
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("level", dir_fd=here)
        inner = os.open("level", os.O_RDONLY, dir_fd=here)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=inner))
        os.close(here)
        here = inner
    os.close(here)
    remove_folder(folder)
    assert not folder.exists()


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").touch()
    (tmp_path / "folder" / "below").mkdir(parents=True)
    (tmp_path / "folder" / "below" / "link").symlink_to(tmp_path / "outside")
    remove_folder(tmp_path / "folder")
    assert (tmp_path / "outside" / "kept").exists()
    assert not (tmp_path / "folder").exists()


def test_folders_that_were_locked_are_removed_by_ordinary_users_too(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / "a" / "b" / "file").touch()
    if os.getuid() == 0:
        for path in (tmp_path, folder, folder / "a", folder / "a/b", folder / "a/b/c", folder / "a/b/file"):
            os.chown(path, 65534, 65534)
    for path in (folder / "a" / "b", folder / "a", folder):
        path.chmod(0)
    assert _as_ordinary_user(folder) == 0
    assert not folder.exists()


def _as_ordinary_user(folder: Path) -> int:
    """Root may do everything, so what is tried is tried as nobody."""
    handle = os.open(folder.parent, os.O_RDONLY)  # the folders above may not be open to others
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.fchdir(handle)
            if os.getuid() == 0:
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
            remove_folder(Path(folder.name))
            code = 0
        finally:
            os._exit(code)
    os.close(handle)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
