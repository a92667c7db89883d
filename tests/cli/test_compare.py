import json
import subprocess
from collections.abc import Callable

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
Record = Callable[..., str]


@pytest.fixture
def two_runs(record_run: Record) -> tuple[str, str]:
    before = record_run({"000-first": "passed", "001-second": "failed", "002-third": "passed"})
    after = record_run(
        {"000-first": "failed", "001-second": "passed", "002-third": "passed", "003-fourth": "infrastructure"}
    )
    return before, after


def test_what_changed_is_shown_with_both_pass_rates(convex_evals: Command, two_runs: tuple[str, str]) -> None:
    before, after = two_runs
    lines = convex_evals("compare", before[:8], after[:8]).stdout.splitlines()
    assert lines[0].startswith(f"before: run {before[:8]} · tester · 2 of 3 passed, 1 failed")
    assert lines[0].endswith("pass rate 66.7% (20.8% to 93.9%)")
    assert lines[1].startswith(f"after:  run {after[:8]} · tester · 2 of 4 passed, 1 failed, 1 without verdict")
    assert lines[1].endswith("pass rate 66.7% (20.8% to 93.9%)")
    assert lines[2:] == [
        "  worse        000-basics/000-first   passed → failed at tests",
        "  better       000-basics/001-second  failed at tests → passed",
        "2 evals changed, 1 did not",
        "1 eval only in the second run: 000-basics/003-fourth",
        "difference +0.0 (95% interval −100.0 to +100.0, p = 1): cannot tell",
        "3 shared evals, paired; interval by bootstrap over evals, p by McNemar's exact test",
    ]


def test_a_significant_difference_is_told(convex_evals: Command, record_run: Record) -> None:
    names = [f"{number:03}-eval" for number in range(20)]
    worse = record_run({name: "failed" if name < "010" else "passed" for name in names})
    better = record_run(dict.fromkeys(names, "passed"))
    lines = convex_evals("compare", worse, better).stdout.splitlines()
    assert lines[-2] == "difference +50.0 (95% interval +30.0 to +70.0, p = 0.00195): the second run is better"
    compared = json.loads(convex_evals("compare", worse, better, "--json").stdout)
    assert compared["statistics"]["verdict"] == "better"
    assert len(compared["statistics"]["gained"]) == 10


def test_every_pair_of_several_runs_is_compared(convex_evals: Command, record_run: Record) -> None:
    runs = [record_run({"000-first": status}) for status in ("passed", "failed", "passed")]
    lines = convex_evals("compare", *runs).stdout.splitlines()
    assert [line.split("  ")[1] for line in lines[3:6]] == [
        f"{runs[0][:8]} → {runs[1][:8]}",
        f"{runs[0][:8]} → {runs[2][:8]}",
        f"{runs[1][:8]} → {runs[2][:8]}",
    ]
    rows = convex_evals("compare", *runs, "--csv").stdout.splitlines()
    assert rows[0] == "before,after,evals,difference,low,high,p,test,verdict,gained,lost"
    assert rows[1] == f"{runs[0][:8]},{runs[1][:8]},1,-1.0000,-1.0000,-1.0000,1.0000,exact McNemar,cannot tell,0,1"
    table = convex_evals("compare", *runs, "--markdown").stdout.splitlines()
    assert table[1].startswith("| --- |")
    assert len(table) == 5


def test_one_run_is_not_enough(convex_evals: Command, two_runs: tuple[str, str]) -> None:
    failed = convex_evals("compare", two_runs[0])
    assert failed.returncode == 2
    assert "at least two runs" in failed.stderr


def test_json_has_every_eval(convex_evals: Command, two_runs: tuple[str, str]) -> None:
    compared = json.loads(convex_evals("compare", *two_runs, "--json").stdout)
    assert (compared["before"]["id"], compared["after"]["id"]) == two_runs
    assert compared["before"]["passRate"] == compared["after"]["passRate"] == pytest.approx(2 / 3)
    assert compared["changes"] == {"worse": 1, "better": 1, "same": 1, "only after": 1}
    assert compared["evals"][0] == {
        "eval": "000-basics/000-first",
        "change": "worse",
        "before": {"passed": 1, "failed": 0, "failedStep": None},
        "after": {"passed": 0, "failed": 1, "failedStep": "tests"},
    }
    assert compared["evals"][3]["before"] is None
