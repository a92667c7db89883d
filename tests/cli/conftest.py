import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def convex_evals(tmp_path: Path) -> Command:
    """Runs the installed command in a temporary folder, as a user would."""

    def convex_evals(*arguments: str | Path, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        program = Path(sys.executable).parent / "convex-evals"
        return subprocess.run([program, *arguments], cwd=cwd, capture_output=True, text=True, timeout=60)

    return convex_evals


@pytest.fixture
def suite_folder(tmp_path: Path) -> Path:
    """Three evals in two categories, with every kind of grader and pipeline."""
    root = tmp_path / "evals"
    for name in ("000-basics/000-first", "000-basics/001-second", "001-queries/000-index"):
        path = root / name
        (path / "answer").mkdir(parents=True)
        (path / "TASK.txt").write_text(f"Task of {name}.\n")
        (path / "answer" / "index.ts").write_text("export {};\n")
    (root / "000-basics/000-first/grader.py").write_text("")
    (root / "000-basics/001-second/eval.json").write_text('{"pipeline": "static"}')
    (root / "001-queries/000-index/grader.test.ts").write_text("")
    (root / "001-queries/000-index/GAPS.txt").write_text("Order is not checked.\n")
    return root
