import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from convex_evals.core.supervisor import process_tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_descendants_are_found_whatever_their_names_and_groups(tmp_path: Path) -> None:
    odd = tmp_path / "a) S 1 (b"
    shutil.copy("/bin/sleep", odd)
    script = f"setsid '{odd}' 60 & echo started; wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        try:
            found = process_tree.descendants(os.getpid())
            assert {shell.pid, *(relation.pid for relation in found if relation.parent == shell.pid)} <= {
                relation.pid for relation in found
            }
            groups = process_tree.descendant_groups(os.getpid())
            assert shell.pid in groups
            assert os.getpgrp() not in groups
        finally:
            process_tree.signal_groups(process_tree.descendant_groups(shell.pid) | {shell.pid}, 9)


def test_signalling_a_group_that_is_gone_is_not_an_error() -> None:
    with subprocess.Popen(["true"], start_new_session=True) as ended:
        ended.wait()
    process_tree.signal_groups({ended.pid}, 9)


def test_where_proc_is_of_another_namespace_nothing_is_mistaken_for_a_descendant() -> None:
    program = "import os, subprocess, sys\nfrom convex_evals.core.supervisor.process_tree import descendants\n"
    program += "with subprocess.Popen(['sleep', '60']) as child:\n    print(descendants(os.getpid()), os.getpid())\n"
    program += "    child.kill()\n"
    separate = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]
    if subprocess.run([*separate, "true"], capture_output=True).returncode:
        pytest.skip("this machine allows no namespaces")
    result = subprocess.run(
        [*separate, sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (result.stdout, result.stderr) == ("[] 1\n", "")
