"""Confinement: what a program cannot reach, tried with real programs. Linux alone has it."""

import os
import sys
from pathlib import Path

import pytest

from convex_evals.core.errors import ProcessError
from convex_evals.core.keeper.confine import landlock_abi
from convex_evals.core.processes import Confinement, ProcessResult, base_environment, run

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


async def test_what_may_be_written_can_be_changed_and_nothing_beside_it(inside: Path) -> None:
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
    assert "denied" in result.output.text


@pytest.mark.skipif(sys.platform != "linux", reason="namespaces are a thing of Linux")
async def test_without_network_there_is_not_even_loopback(inside: Path) -> None:
    result = await _shell("cat /proc/net/dev; ls -l own.txt; touch made", inside, Confinement(network=False))
    assert "lo:" in result.output.text
    assert "eth" not in result.output.text
    assert (inside / "made").stat().st_uid == os.getuid()


async def test_places_that_do_not_exist_are_no_reason_to_fail(inside: Path) -> None:
    assert (await _shell("cat own.txt", inside, Confinement((inside, inside / "missing")))).ok


async def test_a_program_outside_its_confinement_does_not_start(inside: Path) -> None:
    program = inside.parent / "program"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    with pytest.raises(ProcessError, match="executable for this user"):
        await run([program], cwd=inside, timeout=60, confinement=Confinement((inside,)))
