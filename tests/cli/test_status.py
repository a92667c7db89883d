import json
import subprocess
from collections.abc import Callable

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
    assert result.stdout.splitlines()[-2:] == [
        "What has no verdict is taken up by:",
        f"  convex-evals run --resume {killed[:8]}",
    ]


def test_failures_of_the_last_run_of_each_model_are_listed(convex_evals: Command, record_run: Record) -> None:
    record_run({"000-first": "failed", "001-second": "failed"})
    last = record_run({"000-first": "passed", "001-second": "failed"})
    rows = [line.split(maxsplit=5) for line in convex_evals("status", "--failed").stdout.splitlines()]
    assert rows[1:] == [
        [
            last[:8],
            "tester",
            "default",
            "000-basics/001-second",
            "1",
            "tests 1/2: ✗ test_order · expected [1, 2], received [2, 1]",
        ]
    ]


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
