import os
from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.core.steps import Command, StepResult
from convex_evals.pipeline.bounds import MOST_FILES, bounded, cut_log, usage_of


@pytest.mark.parametrize("size", [0, 999, 1000])
def test_a_log_is_complete_up_to_the_limit(tmp_path: Path, size: int) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * size)
    cut_log(log, 1000)
    assert log.read_bytes() == b"x" * size


def test_a_longer_log_keeps_its_beginning_and_its_end_and_says_what_is_missing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"first" + b"x" * 3 * 2**20 + b"last")
    cut_log(log, 2**20)
    text = log.read_text()
    assert text.startswith("first")
    assert text.endswith("last")
    assert "\n… 2,097,161 bytes left out: a log is kept up to 1 MiB …\n" in text
    assert len(text) < 2**20 + 100


def test_a_step_fits_into_a_message_whatever_it_says(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"x" * 5_000)
    command = Command(("tool", "y" * 10**6, *("z",) * 1000), "exit code 0", 1, 1)
    step = StepResult("tsc", "failed", 1, 1, (command,) * 500, "e" * 10**6, tmp_path / "log", "type-errors")
    cut = bounded(replace(step, notes=("n" * 10**6,) * 500))
    assert cut.excerpt.startswith("eee")
    assert cut.excerpt.endswith("\n… 967,232 characters left out")
    assert len(repr(cut)) < 2**20


def test_usage_counts_files_and_does_not_follow_links(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "big").write_bytes(b"x" * 2**20)
    folder = tmp_path / "folder"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "file").write_bytes(b"x" * 2**16)
    (folder / "link").symlink_to(tmp_path / "outside")
    used = usage_of(folder)
    assert used.files == 3
    assert 2**16 <= used.bytes < 2**18


def test_a_tree_deeper_than_paths_can_say_is_too_large(tmp_path: Path) -> None:
    here = tmp_path
    with pytest.raises(OSError, match="File name too long"):
        while True:
            here = here / ("d" * 200)
            here.mkdir()
    bottom = os.open(here.parent, os.O_RDONLY)
    os.mkdir("e" * 200, dir_fd=bottom)
    os.close(bottom)
    assert usage_of(tmp_path).files > MOST_FILES
