"""The rules hold for an ordinary user, too: who is not root must renounce new privileges first."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from convex_evals.core.supervisor import landlock

NOBODY = 65534
PROGRAM = """\
import os, sys
from convex_evals.core.supervisor import landlock
if os.getuid() == 0:
    os.setgroups([])
    os.setgid({nobody})
    os.setuid({nobody})
landlock.restrict([], [], landlock.abi())
try:
    os.listdir("/")
except PermissionError:
    print("locked in")
"""


@pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
def test_a_user_without_privileges_is_locked_in(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(landlock.__file__).parents[3])}
    program = PROGRAM.format(nobody=NOBODY)
    result = subprocess.run(
        [sys.executable, "-P", "-c", program], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "locked in\n", "")
