import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from convex_evals.runner import open_workspace

HOLD = """\
import sys, time
from pathlib import Path
from convex_evals.runner import open_workspace
with open_workspace(Path(sys.argv[1])) as folder:
    print(folder, flush=True)
    time.sleep(600)
"""


def test_nothing_is_left_of_it(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "not yet there") as folder:
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text("text")
    assert list((tmp_path / "not yet there").iterdir()) == []


def test_nothing_is_left_of_it_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), open_workspace(tmp_path):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_it_can_be_kept(tmp_path: Path) -> None:
    with open_workspace(tmp_path, keep=True) as folder:
        (folder / "file").write_text("text")
    assert [path.name for path in folder.iterdir()] == ["file"]
    with open_workspace(tmp_path):
        pass
    assert (folder / "file").exists()


def test_what_a_killed_command_left_is_removed_by_the_next_one_but_not_what_is_in_use(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    folders = [Path(process.stdout.readline().strip()) for process in processes if process.stdout]
    os.kill(processes[0].pid, signal.SIGKILL)
    processes[0].wait()
    with open_workspace(tmp_path):
        assert not folders[0].exists()
        assert folders[1].exists()
    processes[1].kill()
    for process in processes:
        process.communicate()
