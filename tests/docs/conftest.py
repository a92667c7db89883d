import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from convex_evals.core.distribution import checkout_root


@pytest.fixture(scope="session")
def repository() -> Path:
    root = checkout_root()
    assert root is not None, "these tests look at a clone of the repository"
    return root


@pytest.fixture(scope="session")
def sources(repository: Path) -> tuple[Path, ...]:
    """Every file a commit would hold, relative to the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout
    return tuple(Path(name) for name in listed.split("\0") if name and (repository / name).is_file())


def copy_sources(repository: Path, sources: tuple[Path, ...], folder: Path) -> Path:
    copy = folder / "convex-evals"
    copy.mkdir(parents=True)
    command = ["xargs", "-0", "cp", "--archive", "--parents", "-t", copy, "--"]  # there are thousands of files
    subprocess.run(command, cwd=repository, input="\0".join(map(str, sources)), text=True, check=True)
    return copy


@pytest.fixture
def clone(repository: Path, sources: tuple[Path, ...], tmp_path: Path) -> Path:
    """A copy of the sources, as git would clone them: no `.venv`, nothing generated."""
    return copy_sources(repository, sources, tmp_path)


@pytest.fixture(scope="module")
def ready_clone(repository: Path, sources: tuple[Path, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone whose launcher finds its work done and hands over to the command of this environment.

    There are thousands of files to copy, so all tests of a file share it, as a reader would who tries the examples.
    """
    clone = copy_sources(repository, sources, tmp_path_factory.mktemp("ready"))
    program = clone / ".venv" / "bin" / "convex-evals"
    program.parent.mkdir(parents=True)
    (program.parent / "python").symlink_to(sys.executable)
    program.write_text(f'#!/bin/sh\n# for {program}\nexec "{sys.executable}" -m convex_evals "$@"\n')
    program.chmod(0o755)
    shutil.copy(clone / "requirements.lock", clone / ".venv" / "installed.lock")
    return clone
