import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from convex_evals.core.files import file_lock, remove_folder, try_lock, write_file

Until = Callable[..., Awaitable[None]]

HOLDER = """
import asyncio, sys
from pathlib import Path
from convex_evals.core.files import file_lock
async def main():
    async with file_lock(Path(sys.argv[1])):
        print("held", flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""


async def test_one_holder_at_a_time_and_the_others_say_that_they_wait(tmp_path: Path, until: Until) -> None:
    holders, most, waits = 0, 0, 0

    def waiting() -> None:
        nonlocal waits
        waits += 1

    async def hold() -> None:
        nonlocal holders, most
        async with file_lock(tmp_path / "lock", on_wait=waiting):
            holders += 1
            most = max(most, holders)
            await until(lambda: waits == 2)
            await asyncio.sleep(0.02)
            holders -= 1

    await asyncio.gather(*(hold() for _ in range(3)))
    assert (most, waits) == (1, 2)


async def test_killing_the_holder_releases_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(path), stdout=asyncio.subprocess.PIPE
    )
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"held\n"
    waiter = asyncio.ensure_future(_hold_briefly(path))
    await asyncio.sleep(0.2)
    assert not waiter.done()
    holder.kill()
    await holder.wait()
    await asyncio.wait_for(waiter, 60)


async def _hold_briefly(path: Path) -> None:
    async with file_lock(path):
        pass


async def test_a_cancelled_waiter_leaves_no_open_file(tmp_path: Path) -> None:
    async with file_lock(tmp_path / "lock"):
        before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - the count is what matters
        waiter = asyncio.ensure_future(_hold_briefly(tmp_path / "lock"))
        await asyncio.sleep(0.05)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208 - the count is what matters


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


def test_a_file_is_replaced_as_a_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_file(tmp_path / "kept.json", "first")
    write_file(tmp_path / "kept.json", b"second\xff", durable=True, mode=0o600)
    assert (tmp_path / "kept.json").read_bytes() == b"second\xff"
    assert (tmp_path / "kept.json").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["kept.json"]


def test_a_file_that_cannot_be_replaced_stays_and_nothing_else_is_left(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_file(tmp_path / "kept", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_shared_lock_blocks_only_exclusive_locks(tmp_path: Path) -> None:
    first = try_lock(tmp_path / "used", shared=True)
    second = try_lock(tmp_path / "used", shared=True)
    assert first is not None and second is not None
    assert try_lock(tmp_path / "used") is None
    os.close(first)
    os.close(second)
    alone = try_lock(tmp_path / "used", create=False)
    assert alone is not None
    os.close(alone)


def test_a_lock_file_that_does_not_exist_is_only_made_if_asked_for(tmp_path: Path) -> None:
    assert try_lock(tmp_path / "absent", create=False) is None
    assert not (tmp_path / "absent").exists()
