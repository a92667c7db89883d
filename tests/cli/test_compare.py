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
    assert lines[0].endswith("pass rate 66.7%")
    assert lines[1].startswith(f"after:  run {after[:8]} · tester · 2 of 4 passed, 1 failed, 1 without verdict")
    assert lines[1].endswith("pass rate 66.7%")
    assert lines[2:] == [
        "  worse        000-basics/000-first   passed → failed at tests",
        "  better       000-basics/001-second  failed at tests → passed",
        "  only after   000-basics/003-fourth  not run → no verdict",
        "3 evals changed, 1 did not",
    ]


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
