"""What this machine can confine, found out on kernels that really lack something (see weak_kernel.py)."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.core.machine import SandboxSupport, Status, probe_sandbox
from convex_evals.core.machine.sandbox import sandbox_facts

WEAK_KERNEL = Path(__file__).with_name("weak_kernel.py")
EVERYTHING = SandboxSupport(7, True, True, True, True, True, True)
PROBE = """\
import asyncio, json
from dataclasses import asdict
from convex_evals.core.machine import probe_sandbox
print(json.dumps(asdict(asyncio.run(probe_sandbox()))))
"""


async def test_this_machine_has_everything() -> None:
    support = await probe_sandbox()
    assert support.is_complete
    assert support.landlock > 0


@pytest.mark.parametrize(
    ("lacks", "gone"),
    [
        ("nothing", ()),
        ("landlock", ("landlock",)),
        ("network", ("network_namespaces",)),
        ("processes", ("mounts", "process_namespaces", "scratch")),
        ("namespaces", ("mounts", "process_namespaces", "network_namespaces", "scratch")),
        ("seccomp", ("mounts", "process_namespaces", "seccomp", "scratch")),
    ],
)
def test_what_a_kernel_lacks_is_found_by_trying(lacks: str, gone: tuple[str, ...]) -> None:
    command = [sys.executable, WEAK_KERNEL, lacks, "--", sys.executable, "-c", PROBE]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)
    assert tuple(name for name, works in found.items() if not works) == gone


@pytest.mark.parametrize(
    ("support", "broken"),
    [
        (EVERYTHING, ""),
        (replace(EVERYTHING, landlock=0), ""),  # mounts stand in for it
        (replace(EVERYTHING, mounts=False), ""),
        (replace(EVERYTHING, landlock=0, mounts=False), "ab"),
        (replace(EVERYTHING, process_namespaces=False), "abc"),
        (replace(EVERYTHING, network_namespaces=False), "ab"),
        (replace(EVERYTHING, seccomp=False), "ab"),
        (replace(EVERYTHING, scratch=False), "ac"),
        (replace(EVERYTHING, limits=False), "ac"),
        (SandboxSupport(), "abc"),
    ],
)
def test_each_promise_holds_only_with_all_that_it_rests_on(support: SandboxSupport, broken: str) -> None:
    promises = [fact for fact in sandbox_facts(support, node_permission=False) if fact.name.startswith("Sandbox (")]
    assert "".join(fact.name[-2] for fact in promises if fact.status is Status.MISSING) == broken
    assert support.is_complete == (broken == "")


def test_node_permissions_are_not_a_boundary() -> None:
    facts = sandbox_facts(EVERYTHING, node_permission=False)
    assert all(fact.status is Status.OK for fact in facts if fact.name != "Sandbox: Node permissions")
    assert facts[-1].status is Status.WARNING
