"""What this machine can confine, found out on kernels that really lack something (see weak_kernel.py)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from convex_evals.core.browser import NO_LANDLOCK
from convex_evals.core.machine import probe_sandbox

WEAK_KERNEL = Path(__file__).with_name("weak_kernel.py")
LOOK = """\
import json
from convex_evals.core.browser import why_blind
from convex_evals.core.machine.tools import chromium_fact
from convex_evals.core.settings import read_settings
from convex_evals.core.supervisor.enclosure import become

settings = read_settings()
print(json.dumps([why_blind(settings), chromium_fact(settings).status]), flush=True)
become({})
"""
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


def test_without_landlock_no_browser_is_started_and_doctor_says_so(tmp_path: Path) -> None:
    """Otherwise a page could read every file of the user."""
    (tmp_path / "chromium").touch(0o755)
    command = [sys.executable, WEAK_KERNEL, "landlock", "--", sys.executable, "-c", LOOK]
    environment = {**os.environ, "PATH": str(tmp_path)}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert json.loads(ended.stdout) == [NO_LANDLOCK, "warning"]
    assert "A browser is started only where Landlock confines it" in ended.stderr
