"""Confinement: what a program cannot reach, tried with real programs. Linux alone has it."""

import asyncio
import os
import re
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.errors import ProcessError
from convex_evals.core.processes import Confinement, Process, ProcessResult, base_environment, run, start
from convex_evals.core.processes.confinement import Sockets
from convex_evals.core.supervisor import landlock_abi

PYTHON = Path(sys.base_prefix).resolve()
INTERPRETER = Path(sys.executable).resolve()

pytestmark = pytest.mark.skipif(landlock_abi() == 0, reason="this kernel has no Landlock")


async def _shell(script: str, folder: Path, confinement: Confinement) -> ProcessResult:
    environment = base_environment(folder)
    return await run(["sh", "-c", script], cwd=folder, timeout=60, environment=environment, confinement=confinement)


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "own.txt").write_text("own")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


async def test_a_program_reads_its_own_folder_and_nobody_elses(inside: Path) -> None:
    result = await _shell("cat own.txt; cat ../secret.txt", inside, Confinement((inside,)))
    assert "own" in result.output.text
    assert "secret\n" not in result.output.text
    assert "Permission denied" in result.output.text


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("echo changed > own.txt", id="changing a file"),
        pytest.param("rm own.txt", id="removing a file"),
        pytest.param("touch new.txt", id="making a file"),
        pytest.param("mkdir new", id="making a folder"),
        pytest.param("ln -s own.txt link", id="making a link"),
        pytest.param("mv own.txt other.txt", id="renaming"),
    ],
)
async def test_what_may_only_be_read_cannot_be_changed(script: str, inside: Path) -> None:
    result = await _shell(script, inside, Confinement((inside,)))
    assert not result.ok
    assert os.listdir(inside) == ["own.txt"]  # noqa: PTH208 - pathlib may not block here
    assert (inside / "own.txt").read_text() == "own"


async def test_only_writable_paths_can_be_changed(inside: Path) -> None:
    writable = Confinement((), (inside,))
    assert (await _shell("echo changed > own.txt && mkdir a && mv own.txt a/moved.txt", inside, writable)).ok
    assert (inside / "a/moved.txt").read_text() == "changed\n"
    assert not (await _shell("mv a/moved.txt ../", inside, writable)).ok
    assert not (await _shell("ln a/moved.txt ../linked.txt", inside, writable)).ok


async def test_whatever_it_starts_is_confined_too(inside: Path) -> None:
    result = await _shell("(setsid sh -c 'cat ../secret.txt') 2>&1", inside, Confinement((inside,)))
    assert "Permission denied" in result.output.text


async def test_the_environment_of_other_processes_is_out_of_reach(inside: Path) -> None:
    result = await _shell(f"cat /proc/{os.getpid()}/environ", inside, Confinement((inside,)))
    assert not result.ok
    assert "PATH" not in result.output.text


@pytest.mark.skipif(sys.platform != "linux", reason="namespaces are a thing of Linux")
async def test_without_network_there_is_not_even_loopback(inside: Path) -> None:
    result = await _shell("cat /proc/net/dev; ls -l own.txt; touch made", inside, Confinement(network="own"))
    assert "lo:" in result.output.text
    assert "eth" not in result.output.text
    assert (inside / "made").stat().st_uid == os.getuid()


async def test_places_that_do_not_exist_are_ignored(inside: Path) -> None:
    assert (await _shell("cat own.txt", inside, Confinement((inside, inside / "missing")))).ok


async def test_a_program_outside_its_confinement_does_not_start(inside: Path) -> None:
    program = inside.parent / "program"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    with pytest.raises(ProcessError, match="executable for this user"):
        await run([program], cwd=inside, timeout=60, confinement=Confinement((inside,)))


async def test_without_landlock_only_what_may_be_reached_exists(inside: Path) -> None:
    script = "cat own.txt; ls ..; ls /root /home; cat ../secret.txt; echo x > own.txt; touch /usr/x; touch new"
    result = await _shell(script, inside, Confinement((inside,), landlock=False))
    assert "own" in result.output.text
    assert "secret\n" not in result.output.text
    assert result.output.text.count("No such file") >= 2
    assert result.output.text.count("Read-only file system") == 3
    assert (inside / "own.txt").read_text() == "own"


async def test_without_landlock_what_may_be_written_can_be(inside: Path) -> None:
    result = await _shell("echo changed > own.txt && mkdir a", inside, Confinement((), (inside,), landlock=False))
    assert result.ok, result.output.text
    assert (inside / "own.txt").read_text() == "changed\n"


@pytest.mark.parametrize("landlock_there", [True, False])
async def test_a_program_sees_no_processes_but_its_own(inside: Path, landlock_there: bool) -> None:
    confinement = Confinement((inside,), landlock=landlock_there)
    result = await _shell("echo /proc/[0-9]*", inside, confinement)
    assert result.output.text == "/proc/1\n"
    result = await _shell(f"kill -9 {os.getpid()}; kill -9 -1; echo alive", inside, confinement)
    assert "No such process" in result.output.text


async def test_the_host_can_be_named_but_not_reached(inside: Path) -> None:
    async with _answering() as port:
        own = Confinement((PYTHON, inside), network="own", sockets="any")
        result = await _python(f"import socket; socket.create_connection(('127.0.0.1', {port}))", inside, own)
        assert "Network is unreachable" in result.output.text
        result = await _python("import socket; socket.create_connection(('192.0.2.1', 80), 3)", inside, own)
        assert "Network is unreachable" in result.output.text


async def test_ports_are_relayed_to_the_same_ports_here(inside: Path) -> None:
    async with _answering() as port, _answering() as other:
        confinement = Confinement((PYTHON, inside), network="own", ports=(port,), sockets="tcp")
        script = f"""
import socket
with socket.create_connection(("127.0.0.1", {port})) as there:
    there.sendall(b"x" * 100000)
    there.shutdown(socket.SHUT_WR)
    print("got", sum(map(len, iter(lambda: there.recv(65536), b""))))
try:
    socket.create_connection(("127.0.0.1", {other}))
except OSError as error:
    print(error)
"""
        result = await _python(script, inside, confinement)
        assert result.output.text == "got 100000\n[Errno 111] Connection refused\n"


@asynccontextmanager
async def _started(script: str, inside: Path) -> AsyncIterator[Process]:
    """With two ports of its own, whose listeners whoever starts it has."""
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        process = await start(
            [INTERPRETER, "-I", "-S", "-c", script],
            cwd=inside,
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            confinement=Confinement((PYTHON,), (inside,), network="own", ports=(1, 2), sockets="tcp"),
        )
    finally:
        os.close(nothing)
    async with process:
        yield process


async def test_who_starts_a_program_gets_the_listeners_of_its_ports(inside: Path) -> None:
    script = "import socket; s = socket.create_connection(('127.0.0.1', 1)); s.sendall(b'hello'); s.recv(1)"
    async with _started(script, inside) as process:
        assert len(process.listeners) == 2
        connection, _ = await asyncio.get_running_loop().sock_accept(process.listeners[0])
        with connection:
            assert await asyncio.get_running_loop().sock_recv(connection, 100) == b"hello"


async def test_a_start_that_is_cancelled_leaves_no_listener_open(inside: Path) -> None:
    async def sleep() -> None:
        async with _started("import time; open('started', 'w').close(); time.sleep(60)", inside):
            await asyncio.sleep(60)

    await run(["true"], cwd=inside, timeout=60)  # the spawn server's own files
    before = set(os.listdir("/dev/fd"))  # noqa: PTH208 - they are no files
    starting = asyncio.create_task(sleep())
    while not (inside / "started").exists():
        await asyncio.sleep(0)
        time.sleep(0.1)  # noqa: ASYNC251 - the task is not to learn of the start
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert set(os.listdir("/dev/fd")) == before  # noqa: PTH208


SOCKETS = {
    "tcp": "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "tcp6": "socket.socket(socket.AF_INET6, socket.SOCK_STREAM)",
    "listening": "socket.create_server(('127.0.0.1', 0))",
    "udp": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "unix": "socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
    "vsock": "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)",
    "mptcp": "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)",
    "pair": "socket.socketpair()",
}


@pytest.mark.parametrize(
    ("kinds", "allowed"),
    [
        ("none", {"pair"}),
        ("tcp", {"tcp", "tcp6", "pair"}),
        ("ip", {"tcp", "tcp6", "listening", "udp", "netlink", "mptcp", "pair"}),
    ],
)
async def test_only_sockets_of_the_chosen_kinds_can_be_made(kinds: Sockets, allowed: set[str], inside: Path) -> None:
    tries = "\n".join(
        f"try:\n    {made}\n    print({name!r})\nexcept PermissionError:\n    pass" for name, made in SOCKETS.items()
    )
    result = await _python(f"import socket\n{tries}", inside, Confinement((PYTHON, inside), ports=(), sockets=kinds))
    assert set(result.output.text.split()) == allowed, result.output.text


async def test_a_program_without_children_starts_threads_only(inside: Path) -> None:
    script = """
import os, threading
threading.Thread(target=lambda: print("thread")).start()
try:
    os.fork()
except PermissionError:
    print("no child")
"""
    result = await _python(script, inside, Confinement((PYTHON, inside), children=False))
    assert result.output.text.split("\n") == ["thread", "no child", ""]


@pytest.mark.parametrize(
    "command", ["unshare -U true", "unshare -n true", "mount -t tmpfs x .", "/usr/sbin/chroot . true"]
)
async def test_namespaces_and_mounts_cannot_be_made(command: str, inside: Path) -> None:
    result = await _shell(command, inside, Confinement((), (inside,)))
    assert re.search("not permitted|permission denied", result.output.text)


async def test_scratch_is_bounded_and_gone_with_the_program(inside: Path) -> None:
    scratch = inside / "scratch"
    scratch.mkdir()
    confinement = Confinement((inside,), scratch=scratch, scratch_bytes=1 << 20)
    script = "echo kept > scratch/a && cat scratch/a; head -c 3000000 /dev/zero > scratch/b"
    result = await _shell(script, inside, confinement)
    assert "kept" in result.output.text
    assert "No space left" in result.output.text
    assert os.listdir(scratch) == []  # noqa: PTH208 - pathlib may not block here


async def test_a_stopped_program_leaves_none_of_its_processes(inside: Path, processes: Any) -> None:
    result = await run(
        ["sh", "-c", "trap '' TERM; (setsid sh -c 'sleep 300') & sleep 300"],
        cwd=inside,
        timeout=0.5,
        environment=base_environment(inside),
        confinement=Confinement((inside,)),
    )
    assert result.timed_out
    assert result.usage.wall < 5
    assert not processes.below_this_one(lambda each: "300" in processes.command(each))


async def test_root_privileges_are_dropped(inside: Path) -> None:
    result = await _shell("grep -E 'Cap(Eff|Prm|Bnd)|NoNewPrivs|Seccomp:' /proc/self/status", inside, Confinement(()))
    values = dict(line.split(":") for line in result.output.text.split("\n") if line)
    assert {name: int(value, 16) for name, value in values.items()} == {
        "CapEff": 0,
        "CapPrm": 0,
        "CapBnd": 0,
        "NoNewPrivs": 1,
        "Seccomp": 2,
    }


async def _python(script: str, folder: Path, confinement: Confinement) -> ProcessResult:
    environment = base_environment(folder)
    return await run(
        [INTERPRETER, "-I", "-S", "-c", script],
        cwd=folder,
        timeout=60,
        environment=environment,
        confinement=confinement,
    )


@asynccontextmanager
async def _answering() -> AsyncIterator[int]:
    """The port of a server on this machine that sends back what it gets."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.read())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


def _machine_settings() -> dict[str, str]:
    kernel = Path("/proc/sys/kernel")
    return {path.name: path.read_text() for path in (kernel / "pid_max", kernel / "hostname", kernel / "shmmax")}


@pytest.mark.parametrize("nested", [False, True])
async def test_starting_a_program_changes_no_setting_of_the_machine(inside: Path, nested: bool) -> None:
    before = _machine_settings()
    confinement = Confinement((), (inside,), network="own", ports=(1,), nested=nested, scratch=inside)
    await _shell("echo 999 > /proc/sys/kernel/pid_max; echo 1 > /proc/sys/kernel/shmmax; true", inside, confinement)
    assert _machine_settings() == before
