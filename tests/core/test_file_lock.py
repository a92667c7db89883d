import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from convex_evals.core.file_lock import file_lock

Until = Callable[..., Awaitable[None]]

HOLDER = """
import asyncio, sys
from pathlib import Path
from convex_evals.core.file_lock import file_lock
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


async def test_a_killed_holder_gives_the_lock_free(tmp_path: Path) -> None:
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
