"""The spawn server on a machine that is out of processes: for a moment, and for good."""

import subprocess
import sys

import pytest

# The limit does not bind root, so root's server becomes someone who has no process yet.
PRELUDE = """\
import asyncio, os, resource, signal, socket, time
from pathlib import Path
from convex_evals.core.errors import ProcessError
from convex_evals.core.supervisor.server import serve
from convex_evals.core.machine import probe_sandbox
from convex_evals.core.processes import run
from convex_evals.core.processes.spawner import spawner

ours, theirs = socket.socketpair()
server = os.fork()
if server == 0:
    ours.close()
    if os.getuid() == 0:
        os.setgid(54321)
        os.setuid(54321)
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    signal.signal(signal.SIGUSR1, lambda *_: resource.setrlimit(resource.RLIMIT_NPROC, (0, hard)))
    signal.signal(signal.SIGUSR2, lambda *_: resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard)))
    serve(theirs.fileno())
    os._exit(0)
theirs.close()
spawner._requests, spawner._server = ours, (server, os.getpid())

def forbid_processes():
    os.kill(server, signal.SIGUSR1)

def allow_processes():
    os.kill(server, signal.SIGUSR2)

async def start():
    return await run(["true"], cwd=Path("/"), timeout=60)
"""
FOR_A_MOMENT = """
async def main():
    await start()
    forbid_processes()
    asyncio.get_running_loop().call_later(1, allow_processes)
    print((await start()).ending)
"""
FOR_GOOD = """
async def main():
    await start()
    forbid_processes()
    started = time.monotonic()
    for attempt in (asyncio.gather(start(), start(), start()), probe_sandbox()):
        try:
            print(await attempt)
        except ProcessError as error:
            print(error)
    print("soon" if time.monotonic() - started < 30 else "late")
"""


def printed(script: str) -> list[str]:
    command = [sys.executable, "-c", f"{PRELUDE}{script}\nasyncio.run(main())"]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, timeout=120)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the processes of another process")
def test_a_machine_out_of_processes_for_a_moment_delays_a_program() -> None:
    assert printed(FOR_A_MOMENT) == ["exit code 0"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the processes of another process")
def test_a_machine_out_of_processes_for_good_says_so_and_nothing_about_confinement() -> None:
    *sentences, when = printed(FOR_GOOD)
    assert len(sentences) == 2
    for sentence in sentences:
        assert sentence.startswith("Cannot start ")
        assert "this machine has no room for another process (Resource temporarily unavailable); end some" in sentence
    assert when == "soon"
