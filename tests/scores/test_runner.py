"""The runner writes to PostgreSQL what it writes to a file."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EVAL = "000-fundamentals/000-empty_functions"


@pytest.fixture
def server_url(request: pytest.FixtureRequest) -> str:
    made: str = request.getfixturevalue("postgresql").empty()
    return made


def _command(folder: Path, *arguments: str) -> Any:
    command = [sys.executable, "-m", "convex_evals", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_run_graded_against_postgresql_is_complete_and_can_be_looked_at(server_url: str, tmp_path: Path) -> None:
    asked = ["run", "-m", "reference", "-f", EVAL, "--scores", server_url, "--json", "-"]
    result = _command(tmp_path, *asked)
    assert (result["run"]["status"], result["run"]["passed"], result["run"]["total"]) == ("completed", 1, 1)
    shown = _command(tmp_path, "show", result["run"]["id"], EVAL, "--scores", server_url, "--json")
    assert "tests" in json.dumps(shown)
    (run,) = _command(tmp_path, "status", "--scores", server_url, "--json")["runs"]
    assert run["id"] == result["run"]["id"]
