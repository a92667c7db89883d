"""What this machine can confine, found out on kernels that really lack something (see weak_kernel.py)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from convex_evals.core.machine import probe_sandbox

WEAK_KERNEL = Path(__file__).with_name("weak_kernel.py")
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
