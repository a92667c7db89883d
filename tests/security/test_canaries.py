"""The canaries notice: a program that nothing confines does to each of them what hostile answers must not do."""

import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator

import pytest

from .batch import World, open_world
from .person import Person, people
from .problems import effects

SINGS = """
import os, socket, sys
words = {name: os.environ[name] for name in os.environ}
def tcp(family, *address):
    with socket.socket(family) as s:
        s.settimeout(5)
        s.connect(address if len(address) > 1 else address[0])
        s.sendall(b"hello")
def udp(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"hello", (host, port))
tcp(socket.AF_INET, "127.0.0.1", int(words["REDIS"]))
tcp(socket.AF_INET6, "::1", int(words["DOCKER"]))
tcp(socket.AF_INET, words["MACHINE"], int(words["MACHINE_PORT"]))
tcp(socket.AF_UNIX, words["UNIX"])
tcp(socket.AF_UNIX, "\\0" + words["ABSTRACT"])
udp("127.0.0.1", int(words["UDP"]))
udp(words["MACHINE"], int(words["MACHINE_UDP"]))
open(words["OUTSIDE"] + "/notes.txt", "w").write("gone")
open(words["HOME"] + "/.bashrc", "w").write("evil")
open(words["CACHE"] + "/pipeline/answer", "w").write("evil")
os.kill(int(words["VICTIM"]), 9)
"""


@pytest.fixture(params=people(), ids=lambda person: person.name)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with open_world(request.param, downloads=False) as opened:
        yield opened


def unconfined(world: World, person: Person, program: str) -> None:
    arguments = [sys.executable, "-c", program]
    environment = {**world.environment(), **world.canaries.words}
    subprocess.run(person.command(world.folder, arguments), env=environment, check=True, timeout=60)


async def test_every_canary_notices_a_program_that_nothing_confines(
    world: World, until: Callable[..., Awaitable[None]]
) -> None:
    answer = world.folder / "cache/pipeline/answer"
    answer.parent.mkdir()
    answer.write_text("right")
    world.give_away()
    world.canaries.remember_files()
    world.remember_cache()
    assert list(effects(world)) == []
    unconfined(world, world.person, SINGS)
    await until(lambda: len(world.canaries.visits) == 7)
    world.canaries.victim.wait(30)
    (world.folder / "tmp/left").touch()
    noticed = "\n".join(effects(world))
    for word in ("redis", "docker", "machine", "unix", "abstract", "udp", "notes.txt", ".bashrc", "answer", "left"):
        assert word in noticed
    assert noticed.count("had a visitor") == 7
    assert "a process beside the run was killed" in noticed
