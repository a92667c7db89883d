import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from convex_evals.core.errors import ProcessError
from convex_evals.core.processes import start, start_piped


@pytest.fixture
def devnull() -> Iterator[int]:
    descriptor = os.open(os.devnull, os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


async def test_a_program_can_be_talked_to_while_it_runs(tmp_path: Path, devnull: int) -> None:
    async with start_piped(["cat"], cwd=tmp_path, stderr=devnull) as cat:
        for line in (b"one\n", b"two\n"):
            cat.stdin.write(line)
            assert await cat.stdout.readline() == line


async def test_more_than_any_buffer_holds_goes_both_ways(tmp_path: Path, devnull: int) -> None:
    message = os.urandom(5_000_000)
    async with start_piped(["cat"], cwd=tmp_path, stderr=devnull) as cat:
        cat.stdin.write(message)
        assert await cat.stdout.readexactly(len(message)) == message


async def test_leaving_the_context_stops_the_program(
    tmp_path: Path, devnull: int, is_alive: Callable[[int], bool]
) -> None:
    async with start_piped(["sleep", "600"], cwd=tmp_path, stderr=devnull) as sleeper:
        pid = sleeper.process.pid
        assert is_alive(pid)
    assert not is_alive(pid)


async def test_a_program_that_dies_ends_the_stream_and_says_how(tmp_path: Path, devnull: int) -> None:
    source = "import os; os.write(1, b'last words'); os.kill(os.getpid(), 11)"
    program = [sys.executable, "-I", "-S", "-c", source]
    async with start_piped(program, cwd=tmp_path, stderr=devnull) as victim:
        assert await victim.stdout.read() == b"last words"
        ended = await victim.process.wait()
        assert (ended.exit_code, ended.signal, ended.timed_out) == (None, 11, False)
        victim.stdin.write(b"too late")


async def test_cancelling_one_wait_does_not_stop_the_program(
    tmp_path: Path, devnull: int, is_alive: Callable[[int], bool]
) -> None:
    async with start_piped(["sleep", "600"], cwd=tmp_path, stderr=devnull) as sleeper:
        waiting = asyncio.create_task(sleeper.process.wait())
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert is_alive(sleeper.process.pid)
        sleeper.process.kill()
        assert (await sleeper.process.wait()).signal == 9


async def test_kill_after_terminate_does_not_wait_for_the_grace_period(tmp_path: Path, devnull: int) -> None:
    stubborn = ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"]
    async with start_piped(stubborn, cwd=tmp_path, stderr=devnull, grace=60) as process:
        await process.stdout.readline()
        process.process.terminate()
        await asyncio.sleep(0.1)
        process.process.kill()
        ended = await asyncio.wait_for(process.process.wait(), 50)
    assert (ended.signal, ended.timed_out) == (9, False)


async def test_a_program_that_does_not_start_leaves_no_open_file(tmp_path: Path, devnull: int) -> None:
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - the count is what matters
    for _ in range(3):
        with pytest.raises(ProcessError):
            async with start_piped(["./none"], cwd=tmp_path, stderr=devnull):
                pass
    assert len(os.listdir("/dev/fd")) <= before + 1  # noqa: PTH208 - plus the channel to the spawn server


async def test_a_program_may_have_more_files_than_three(tmp_path: Path, devnull: int) -> None:
    pairs = [os.pipe() for _ in range(4)]
    script = "import os; [os.write(number, b'%d' % number) for number in (3, 4, 5, 6)]"
    writers = [writer for _, writer in pairs]
    command = [sys.executable, "-I", "-c", script]
    async with await start(
        command, cwd=tmp_path, stdin=devnull, stdout=devnull, stderr=devnull, more=writers
    ) as program:
        assert (await program.wait()).exit_code == 0
    for writer in writers:
        os.close(writer)
    assert [os.read(reader, 10) for reader, _ in pairs] == [b"3", b"4", b"5", b"6"]
    for reader, _ in pairs:
        os.close(reader)
