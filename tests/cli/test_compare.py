import json
import subprocess
from collections.abc import Callable
from pathlib import Path

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
        "  worse   000-basics/000-first   passed → failed at tests",
        "  better  000-basics/001-second  failed at tests → passed",
        "2 evals changed, 1 did not",
        "1 eval only in the second run: 000-basics/003-fourth",
        "difference +0.0 (95% interval −100.0 to +100.0, p = 1): cannot tell",
        "3 shared evals, paired; interval by bootstrap over evals, p by McNemar's exact test",
    ]


def test_a_significant_difference_is_reported(convex_evals: Command, record_run: Record) -> None:
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
    assert lines[3].split() == ["runs", "difference", "p", "flipped", "verdict"]
    assert [line.split("  ")[0] for line in lines[4:7]] == [
        f"{runs[0][:8]} → {runs[1][:8]}",
        f"{runs[0][:8]} → {runs[2][:8]}",
        f"{runs[1][:8]} → {runs[2][:8]}",
    ]
    rows = convex_evals("compare", *runs, "--csv").stdout.splitlines()
    assert rows[0] == "before,after,evals,difference,low,high,p,test,verdict,gained,lost,p_corrected"
    assert (
        rows[1] == f"{runs[0][:8]},{runs[1][:8]},1,-1.0000,-1.0000,-1.0000,1.0000,exact McNemar,cannot tell,0,1,1.0000"
    )
    table = convex_evals("compare", *runs, "--markdown").stdout.splitlines()
    assert table[1].startswith("| --- |")
    assert len(table) == 5
    assert lines[7].endswith("p corrected for 3 pairs (Holm)")


def test_p_is_corrected_for_how_many_pairs_there_are(convex_evals: Command, record_run: Record) -> None:
    names = [f"{number:03}-eval" for number in range(6)]
    worse, better, other = (record_run(dict.fromkeys(names, status)) for status in ("failed", "passed", "passed"))
    alone = json.loads(convex_evals("compare", worse, better, "--json").stdout)
    assert (alone["pCorrected"], alone["verdict"]) == (0.03125, "better")
    pairs = json.loads(convex_evals("compare", worse, better, other, "--json").stdout)["pairs"]
    assert [(each["pCorrected"], each["verdict"]) for each in pairs] == [
        (0.09375, "cannot tell"),
        (0.09375, "cannot tell"),
        (1.0, "cannot tell"),
    ]


def test_evals_that_changed_are_left_out_of_the_difference(
    convex_evals: Command, hello_suite: Callable[..., Path]
) -> None:
    suite = hello_suite(3, wrong=(1,))
    before = json.loads(convex_evals("run", "-m", "reference", "--json", "-").stdout)["run"]["id"]
    grader = suite / "000-basics" / "001-hello" / "grader.py"
    grader.write_text(grader.read_text().replace("world", "nobody"))
    after = json.loads(convex_evals("run", "-m", "reference", "--json", "-").stdout)["run"]["id"]
    lines = convex_evals("compare", before[:8], after[:8]).stdout.splitlines()
    assert lines[2:] == [
        "  better  000-basics/001-hello  failed at tests → passed",
        "1 eval changed, 2 did not",
        "1 eval with another task or grader in the second run, left out of the difference: 000-basics/001-hello",
        "difference +0.0 (95% interval +0.0 to +0.0, p = 1): cannot tell",
        "2 shared evals, paired; interval by bootstrap over evals, p by McNemar's exact test",
    ]
    compared = json.loads(convex_evals("compare", before, after, "--json").stdout)
    assert compared["otherTaskOrGrader"] == ["000-basics/001-hello"]
    assert (compared["statistics"]["evals"], compared["sameGrading"]) == (2, True)


def test_several_trials_are_compared_by_their_rates(convex_evals: Command, hello_suite: Callable[..., Path]) -> None:
    hello_suite(2, wrong=(1,))
    once = json.loads(convex_evals("run", "-m", "reference", "--json", "-").stdout)["run"]["id"]
    twice = json.loads(convex_evals("run", "-m", "empty", "--trials", "2", "-e", "no_guidelines", "--json", "-").stdout)
    lines = convex_evals("compare", once, twice["run"]["id"]).stdout.splitlines()
    assert " · empty · no_guidelines · 2 evals × 2 trials: 0 of 4 trials passed, 4 failed · " in lines[1]
    assert lines[2:4] == [
        "  worse       000-basics/000-hello  passed → 0/2 passed, failed at filesystem",
        "  other step  000-basics/001-hello  failed at tests → 0/2 passed, failed at filesystem",
    ]
    assert lines[-1].endswith("p by a sign-flip permutation test")


def test_a_run_is_not_compared_with_itself(convex_evals: Command, two_runs: tuple[str, str]) -> None:
    failed = convex_evals("compare", two_runs[0], two_runs[0][:8])
    assert (failed.returncode, failed.stderr) == (
        2,
        "convex-evals: A run was named twice; `compare` takes different runs.\n",
    )


def test_the_first_run_of_a_model_has_none_before_it(convex_evals: Command, two_runs: tuple[str, str]) -> None:
    failed = convex_evals("compare", two_runs[0])
    assert failed.returncode == 2
    assert "so there is none to compare it with" in failed.stderr


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
