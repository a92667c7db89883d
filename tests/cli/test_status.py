import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
Record = Callable[..., str]


def test_runs_are_listed_newest_first_with_counts_and_how_to_resume(convex_evals: Command, record_run: Record) -> None:
    complete = record_run({"000-first": "passed", "001-second": "failed"})
    killed = record_run({"000-first": "infrastructure", "001-second": None}, model="other")
    result = convex_evals("status")
    assert result.returncode == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0][:8] == ["run", "model", "experiment", "status", "passed", "failed", "no", "verdict"]
    assert rows[1][:8] == [killed[:8], "other", "default", "interrupted", "0", "0", "1", "2"]
    assert rows[2][:8] == [complete[:8], "tester", "default", "completed", "1", "1", "0", "2"]
    assert rows[0][8:11] == ["evals", "score", "cost"]
    assert result.stdout.splitlines()[-2:] == [
        "These continue what has no verdict:",
        f"  convex-evals run --resume {killed[:8]}",
    ]


def test_failures_of_the_last_run_of_each_model_are_listed(convex_evals: Command, record_run: Record) -> None:
    record_run({"000-first": "failed", "001-second": "failed"})
    last = record_run({"000-first": "passed", "001-second": "failed"})
    headline, headings, failure = convex_evals("status", "--failed").stdout.splitlines()
    assert headline.startswith(f"run {last[:8]} · tester · 1 of 2 passed, 1 failed")
    assert headings.split() == ["eval", "why"]
    assert failure == "000-basics/001-second  tests 1/2: ✗ test_order · expected [1, 2], received [2, 1]"


def test_json_says_what_can_be_resumed(convex_evals: Command, record_run: Record) -> None:
    record_run({"000-first": "passed"})
    record_run({"000-first": "infrastructure"})
    listed = json.loads(convex_evals("status", "--json").stdout)["runs"]
    assert [(run["status"], run["condition"], run["canResume"]) for run in listed] == [
        ("completed", "completed", True),
        ("completed", "completed", False),
    ]
    failed = json.loads(convex_evals("status", "--failed", "--json").stdout)["runs"]
    assert [each["evals"] for each in failed] == [[]]


def test_the_number_of_runs_can_be_limited(convex_evals: Command, record_run: Record) -> None:
    newest = [record_run({"000-first": "passed"}) for _ in range(3)][-1]
    listed = json.loads(convex_evals("status", "--json", "--limit", "1").stdout)["runs"]
    assert [run["id"] for run in listed] == [newest]


def scores_of(status: str) -> dict[str, str]:
    """The score in the table by run, where there is one."""
    rows = [line.split("  ") for line in status.splitlines() if "% (" in line]
    return {row[0]: next(cell.strip() for cell in row if "% (" in cell) for row in rows}


def listed(convex_evals: Command) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = json.loads(convex_evals("status", "--all", "--json").stdout)["runs"]
    return runs


def test_only_complete_runs_of_the_suite_have_a_score(convex_evals: Command, hello_suite: Callable[..., Path]) -> None:
    hello_suite(3, wrong=(1,))
    for options in (["--name", "000-hello"], [], ["--trials", "2"]):
        assert convex_evals("run", "-m", "reference", *options).returncode == 0
    convex_evals("validate")
    twice, once, _ = (run["id"][:8] for run in listed(convex_evals) if not run["labels"])
    assert scores_of(convex_evals("status").stdout) == {
        once: "66.7% (21% to 94%)",
        twice: "66.7% (0% to 100%)",
    }
    assert [run["isScored"] for run in listed(convex_evals)] == [False, True, True, False]
    hello_suite(4, wrong=(1,))
    assert scores_of(convex_evals("status").stdout) == {}


def test_several_trials_are_not_counted_as_evals(convex_evals: Command, hello_suite: Callable[..., Path]) -> None:
    hello_suite(3, wrong=(1,))
    convex_evals("run", "-m", "reference", "--trials", "2")
    [run] = listed(convex_evals)
    assert (run["plannedEvals"], run["trials"], run["total"]) == (3, 2, 6)
    assert run["repeats"] == {
        "trials": 2,
        "evals": 3,
        "passAt": pytest.approx(2 / 3),
        "passAll": pytest.approx(2 / 3),
        "flaky": [],
        "flakyRate": 0.0,
        "flakyInterval": [0.0, pytest.approx(0.5615, abs=1e-4)],
    }
    lines = convex_evals("status").stdout.splitlines()
    assert " 3 × 2 " in lines[1]
    assert lines[-1] == "With several trials, what passed and failed is counted in trials."


def test_the_last_run_of_a_model_is_one_of_all_evals(convex_evals: Command, hello_suite: Callable[..., Path]) -> None:
    hello_suite(3, wrong=(1,))
    assert convex_evals("run", "-m", "reference").returncode == 0
    convex_evals("run", "-m", "reference", "--name", "000-hello")
    convex_evals("models", "check", "reference", "--name", "002-hello")
    convex_evals("validate", "--name", "002-hello")
    rows = convex_evals("status", "--failed").stdout.splitlines()[2:]
    assert [row.split()[0] for row in rows] == ["000-basics/001-hello"]


@pytest.mark.parametrize("selection", [[], ["--filter", "00[0-2]"]])
def test_a_smaller_run_hides_no_failure_of_other_evals(
    convex_evals: Command, hello_suite: Callable[..., Path], selection: list[str]
) -> None:
    hello_suite(4, wrong=(1, 2))
    convex_evals("run", "-m", "reference", *selection)
    convex_evals("run", "-m", "reference", "--name", "000-hello")
    convex_evals("run", "-m", "reference", "--name", "001-hello")
    listed = json.loads(convex_evals("status", "--failed", "--json").stdout)["runs"]
    assert [[each["eval"] for each in run["evals"]] for run in listed] == [
        ["000-basics/001-hello"],
        ["000-basics/002-hello"],
    ]
    planned = convex_evals("run", "-m", "reference", "--failed", "--dry-run").stdout.splitlines()
    rows = [line.split()[1] for line in planned if line.startswith("reference")]
    assert rows == ["000-basics/001-hello", "000-basics/002-hello"]
    assert "Not listed: 1 that a later run has a verdict on." in convex_evals("status", "--failed").stdout


@pytest.mark.parametrize(
    ("options", "models"),
    [
        ([], ["other/large", "tester"]),
        (["--model", "tester"], ["tester"]),
        (["--model", "large"], ["other/large"]),
        (["--status", "interrupted"], ["other/large"]),
        (["--status", "completed"], ["tester"]),
        (["--experiment", "default", "--since", "2020-01-01"], ["other/large", "tester"]),
        (["--since", "2999-01-01"], []),
        (["--experiment", "elsewhere"], []),
    ],
)
def test_runs_can_be_filtered(convex_evals: Command, record_run: Record, options: list[str], models: list[str]) -> None:
    record_run({"000-first": "passed"})
    record_run({"000-first": None}, model="other/large")
    listed = json.loads(convex_evals("status", "--json", *options).stdout)["runs"]
    assert [run["model"] for run in listed] == models


def test_a_filter_that_matches_no_run_says_so(convex_evals: Command, record_run: Record) -> None:
    record_run({"000-first": "passed"})
    assert convex_evals("status", "--since", "2999-01-01").stdout.startswith("No such run was found; ")
    assert convex_evals("status", "--model", "tester", "--since", "2999-01-01").stdout.startswith("No such run was")
    wrong = convex_evals("status", "--since", "yesterday")
    assert wrong.returncode == 2
    assert wrong.stderr == "convex-evals: --since must be a day like 2026-11-01, but it is 'yesterday'.\n"


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ("testr", "did you mean tester?"),
        ("other/lage", "did you mean other/large?"),
        ("lrge", "did you mean large?"),
        ("nobody", "`convex-evals status` lists the runs."),
    ],
)
@pytest.mark.parametrize("options", [[], ["--failed"]])
def test_a_misspelt_model_gets_a_suggestion(
    convex_evals: Command, record_run: Record, given: str, advice: str, options: list[str]
) -> None:
    for model in ("tester", "other/large"):
        record_run({"000-first": "failed"}, model=model)
    assert convex_evals("status", "-m", given, *options).stdout == f"No run of {given} was found; {advice}\n"


def test_validations_are_listed_only_when_asked_for(convex_evals: Command, hello_suite: Callable[..., Path]) -> None:
    hello_suite(1)
    assert convex_evals("validate").returncode == 0
    assert json.loads(convex_evals("status", "--json").stdout)["runs"] == []
    only = "There are no runs but those of `validate`; `convex-evals status --all` lists them.\n"
    assert convex_evals("status").stdout == convex_evals("status", "--failed").stdout == only
    assert convex_evals("status", "--experiment", "other").stdout.startswith("No such run was found;")
    [run] = json.loads(convex_evals("status", "--json", "--all").stdout)["runs"]
    assert run["labels"] == ["validate"]
