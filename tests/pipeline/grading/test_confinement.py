"""Every program that meets an answer is confined, says the kernel; and only `core` starts programs."""

import asyncio
import os
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from convex_evals.core.keeper import tree
from convex_evals.core.processes import Confinement, Process, base_environment, run
from convex_evals.core.toolchain import Toolchain
from convex_evals.pipeline.grading import GradedDeployment, GraderResult
from convex_evals.pipeline.grading.network import GraderNetwork, OwnNetworkListeners, TreeListeners
from convex_evals.suite import Eval

pytestmark = pytest.mark.asyncio(loop_scope="session")

SOURCES = Path(__file__).parents[3] / "src/convex_evals"
STARTS = re.compile(r"\bsubprocess\b|os\.(exec|spawn|posix_spawn|system|popen)\w*\(|create_subprocess")
KEEPER = "convex_evals.core.keeper.server"

WriteEval = Callable[..., Eval]
Grade = Callable[..., Awaitable[GraderResult]]


async def test_only_core_starts_programs() -> None:
    """The command line may ask git for the user's name: nothing of a model is near."""
    elsewhere = [path for path in SOURCES.rglob("*.py") if path.relative_to(SOURCES).parts[0] not in ("core", "cli")]
    found = [str(path.relative_to(SOURCES)) for path in elsewhere if STARTS.search(path.read_text())]
    assert found == []


@contextmanager
def watched() -> Iterator[dict[str, set[str]]]:
    """The programs that run below this process meanwhile, each with what the kernel does not hold them by."""
    found: dict[str, set[str]] = {}
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.01):
            for process in tree.descendants(os.getpid()):
                look_at(process.pid, found)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


def look_at(pid: int, found: dict[str, set[str]]) -> None:
    folder = Path("/proc") / str(pid)
    try:
        command = (folder / "cmdline").read_text().replace("\0", " ")
        status = (folder / "status").read_text()
        namespaces = {name for name in ("pid", "ipc", "user") if same_namespace(folder, name)}
    except OSError:  # it ended meanwhile
        return
    if KEEPER in command or not command or "runtime/js" in command:
        return  # what confines, what has not started yet, and what belongs to the deployment
    loose = {f"namespace {name}" for name in namespaces}
    loose |= {line for line in ("Seccomp:\t0", "NoNewPrivs:\t0") if line in status}
    found.setdefault(command[:200], set()).update(loose)


def same_namespace(folder: Path, name: str) -> bool:
    return (folder / "ns" / name).readlink() == Path(f"/proc/self/ns/{name}").readlink()


async def test_a_python_grader_and_what_it_starts_are_confined(
    write_eval: WriteEval, grade: Grade, graded: GradedDeployment
) -> None:
    eval = write_eval(
        """
        import subprocess, time

        def test_it(project):
            time.sleep(0.3)
            subprocess.run(["sleep", "0.5"], check=True)
        """
    )
    with watched() as found:
        result = await grade(eval, graded, graded)
    assert result.step.status == "passed", result.step.excerpt
    assert any("convex_evals.pipeline.grading" in command for command in found)
    assert any("sleep" in command for command in found)
    assert {command: loose for command, loose in found.items() if loose} == {}


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
