"""The runner writes to PostgreSQL what it writes to a file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convex_evals.cli import main

EVAL = "000-fundamentals/000-empty_functions"


@pytest.fixture
def server_url(request: pytest.FixtureRequest) -> str:
    made: str = request.getfixturevalue("postgresql").empty()
    return made


@pytest.fixture
def command(
    ready_workers: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """What a command prints as JSON, in the test's own process."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> Any:
        capsys.readouterr()
        code = main.run(list(arguments))
        said = capsys.readouterr()
        assert code == 0, said.err
        return json.loads(said.out)

    return command


def test_a_run_graded_against_postgresql_is_complete_and_can_be_looked_at(
    server_url: str, command: Callable[..., Any]
) -> None:
    asked = ["run", "-m", "reference", "-f", EVAL, "--scores", server_url, "--json", "-"]
    result = command(*asked)
    assert (result["run"]["status"], result["run"]["passed"], result["run"]["total"]) == ("completed", 1, 1)
    shown = command("show", result["run"]["id"], EVAL, "--scores", server_url, "--json")
    assert "tests" in json.dumps(shown)
    (run,) = command("status", "--scores", server_url, "--json")["runs"]
    assert run["id"] == result["run"]["id"]
