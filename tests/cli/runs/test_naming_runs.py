"""`latest`, `latest:MODEL` and `-1`, wherever a run is named."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.scores import PlannedEval, RunPlan, ScoresStore

Command = Callable[..., subprocess.CompletedProcess[str]]
Record = Callable[..., str]


@pytest.fixture
def runs(record_run: Record, tmp_path: Path) -> list[str]:
    """The oldest first; the newest of all checks the suite."""
    found = [record_run({"000-first": "passed"}, model) for model in ("a/one", "b/two", "a/one")]
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        store.create_run(RunPlan("reference", "test", "default", (PlannedEval("x/y"),), labels=("validate",)))
    return found


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("latest", 2),
        ("-1", 2),
        ("-2", 1),
        ("-3", 0),
        ("latest~1", 1),
        ("latest:a/one", 2),
        ("latest:one~1", 0),
        ("latest:two", 1),
    ],
)
def test_a_run_is_found_by_its_position(convex_evals: Command, runs: list[str], name: str, index: int) -> None:
    shown = json.loads(convex_evals("show", name, "--json").stdout)
    assert shown["run"]["id"] == runs[index]


def test_without_a_name_show_shows_the_latest_run_of_a_model(convex_evals: Command, runs: list[str]) -> None:
    assert json.loads(convex_evals("show", "--json").stdout)["run"]["id"] == runs[2]
    assert json.loads(convex_evals("show", "-1", "000-first", "--json").stdout)["run"]["id"] == runs[2]


def test_compare_needs_no_names_where_a_model_was_run_twice(convex_evals: Command, runs: list[str]) -> None:
    for names in ([], ["latest"], ["-3", "-1"]):
        shown = json.loads(convex_evals("compare", *names, "--json").stdout)
        assert (shown["before"]["id"], shown["after"]["id"]) == (runs[0], runs[2])
    result = convex_evals("compare", "latest:b/two")
    assert result.returncode == 2
    assert "is the first of b/two (default), so there is none to compare it with" in result.stderr


def test_a_run_that_is_not_there_is_one_sentence(convex_evals: Command, runs: list[str]) -> None:
    assert "-8 names no run: there are 3;" in convex_evals("show", "-8").stderr
    result = convex_evals("show", "latest:c/three")
    assert result.returncode == 2
    assert "There is no run of c/three in these scores; `convex-evals status` lists the runs." in result.stderr
    assert "no run of b/twoo in these scores; did you mean b/two?" in convex_evals("show", "latest:b/twoo").stderr
    assert "latest:b/two~4 names no run of b/two: there is 1;" in convex_evals("show", "latest:b/two~4").stderr


def test_runs_that_are_continued_graded_again_or_replayed_are_named_alike(
    convex_evals: Command, hello_suite: Callable[..., Path]
) -> None:
    hello_suite(1)
    assert convex_evals("run", "-m", "reference").returncode == 0
    for arguments in (["--resume", "latest"], ["--regrade", "-1"], ["-m", "replay:latest"]):
        result = convex_evals("run", *arguments)
        assert result.returncode == 0, result.stderr
