"""Only `core` starts programs, and functions reach only what their grader listens on."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from convex_evals.core.processes import Confinement, Process, base_environment, run
from convex_evals.core.toolchain import Toolchain
from convex_evals.pipeline.grading import GraderResult
from convex_evals.pipeline.grading.network import GraderNetwork, OwnNetworkListeners, TreeListeners
from convex_evals.suite import Eval

pytestmark = pytest.mark.asyncio(loop_scope="session")

SOURCES = Path(__file__).parents[3] / "src/convex_evals"
STARTS = re.compile(r"\bsubprocess\b|os\.(exec|spawn|posix_spawn|system|popen)\w*\(|create_subprocess")

WriteEval = Callable[..., Eval]
Grade = Callable[..., Awaitable[GraderResult]]


async def test_only_core_starts_programs() -> None:
    """The command line may ask git for the user's name: nothing of a model is near."""
    elsewhere = [path for path in SOURCES.rglob("*.py") if path.relative_to(SOURCES).parts[0] not in ("core", "cli")]
    found = [str(path.relative_to(SOURCES)) for path in elsewhere if STARTS.search(path.read_text())]
    assert found == []


async def test_while_no_grader_runs_functions_reach_nothing() -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    network = GraderNetwork()
    async with server:
        assert await network.connect("127.0.0.1", port) is None
        with network.reaching(TreeListeners(os.getpid())):
            assert await network.connect("192.0.2.1", port) is None
            connected = await network.connect("127.0.0.1", port)
            assert connected is not None
            connected.close()
        assert await network.connect("127.0.0.1", port) is None


async def test_functions_reach_no_port_of_another_process() -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1")
    async with server:
        stranger = TreeListeners(1_000_000_000)
        assert await stranger.connect(server.sockets[0].getsockname()[1]) is None


async def test_functions_reach_what_a_program_in_its_own_network_listens_on(
    tmp_path: Path, grading_toolchain: Toolchain
) -> None:
    script = "require('net').createServer((socket) => socket.end('hello')).listen(4567, '127.0.0.1')"
    received: list[bytes] = []

    @asynccontextmanager
    async def asking(process: Process) -> AsyncIterator[None]:
        async with OwnNetworkListeners.of(process.pid, relayed=frozenset({4568})) as listeners:
            assert await listeners.connect(4568) is None
            for _ in range(600):
                if opened := await listeners.connect(4567):
                    received.append(await asyncio.get_running_loop().sock_recv(opened, 100))
                    opened.close()
                    break
                await asyncio.sleep(0.1)
            process.kill()
            yield

    node = grading_toolchain.node.executable
    await run(
        [node, "-e", script],
        cwd=tmp_path,
        timeout=120.0,
        environment=base_environment(tmp_path),
        confinement=Confinement(read=(node.resolve(),), network="own", ports=(4568,)),
        on_start=asking,
    )
    assert received == [b"hello"]
