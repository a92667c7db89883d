"""`convex-evals demo`: what it shows, and that everything it suggests can be typed."""

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from convex_evals.cli.demo import MODEL, SECOND, DemoScreen, Share, perform_demo
from convex_evals.cli.runs.options import RunOptions
from convex_evals.models import model
from convex_evals.scores import ScoresStore
from convex_evals.suite import own_suite

Command = Callable[..., subprocess.CompletedProcess[str]]
RecordRun = Callable[..., str]
FAILS, PASSES = "002-queries/002-userspace_filter", "000-fundamentals/000-empty_functions"


def told(run: str, folder: Path, width: int = 100) -> str:
    out = Console(file=StringIO(), width=width, markup=False, emoji=False, highlight=False)
    with ScoresStore.open(folder / "scores" / "scores.db") as store:
        DemoScreen(out).summarize(store, store.find_run(run), None)
    assert isinstance(out.file, StringIO)
    return out.file.getvalue()


def test_a_recorded_model_is_graded_and_what_it_suggests_works(convex_evals: Command, tmp_path: Path) -> None:
    result = convex_evals("demo", "--filter", f"{FAILS}|{PASSES}", "--json", "demo.json")
    assert result.returncode == 0, result.stderr
    written = json.loads((tmp_path / "demo.json").read_text())
    runs = [each["run"] for each in written["runs"]]
    assert [(each["model"], each["passed"], each["failed"]) for each in runs] == [(MODEL, 1, 1), (SECOND, 2, 0)]
    assert "difference +50.0" in result.stdout
    assert re.search(r"^  convex-evals serve$", result.stdout, re.MULTILINE)
    assert "sample/apprentice is not a language model" in result.stdout
    assert re.search(r"002-queries +0 of 1 +0 %", result.stdout)
    assert re.search(r"✗ 002-userspace_filter +tsc +Uses an API that does not exist: .* has no iter", result.stdout)
    assert "1 failure: 1 MODEL_FAULT." in result.stdout
    report = re.search(r"The report is (reports/sample/apprentice/.*\.md)\.", result.stdout)
    assert report is not None
    assert FAILS in (tmp_path / report[1]).read_text()
    suggested = re.findall(r"^  convex-evals ((?:show|status|compare) .*)$", result.stdout, re.MULTILINE)
    assert len(suggested) == 4
    for line in suggested:
        again = convex_evals(*shlex.split(line))
        assert again.returncode == 0, again.stderr


def test_what_failed_and_what_has_no_verdict_are_told_apart(record_run: RecordRun, tmp_path: Path) -> None:
    run = record_run({"000-a": "passed", "001-b": "failed", "002-c": "infrastructure"})
    text = told(run, tmp_path)
    assert "  000-basics    1 of 2    50 %  ████████████░░░░░░░░░░░░\n" in text
    assert "  all           1 of 2    50 %  " in text
    assert "  000-basics\n    ✗ 001-b  tests 1/2   ✗ test_order · expected [1, 2], received [2, 1]\n" in text
    assert "What has no verdict and is not counted\n  000-basics\n    ! 002-c  tests" in text
    assert f"`convex-evals run --resume {run[:8]}` continues what has no verdict." in text


def test_a_line_is_cut_to_the_width_of_the_terminal(record_run: RecordRun, tmp_path: Path) -> None:
    text = told(record_run({"000-a": "failed"}), tmp_path, width=50)
    assert "    ✗ 000-a  tests 1/2   ✗ test_order · expected …\n" in text
    narrow = told(record_run({"000-a": "failed"}), tmp_path, width=46)
    assert "    ✗ 000-a  tests 1/2 \n        ✗ test_order · expected [1, 2],\n        received [2, 1]\n" in narrow
    assert all(len(line) <= 46 for line in narrow.splitlines() if " convex-evals " not in line)


def test_the_second_demo_suggests_to_compare_it_with_the_first(record_run: RecordRun, tmp_path: Path) -> None:
    first = record_run({"000-a": "passed", "001-b": "failed"})
    assert f"convex-evals compare {first[:8]} RUN" in told(first, tmp_path)
    second = record_run({"000-a": "passed", "001-b": "passed"})
    assert f"convex-evals compare {first[:8]} {second[:8]}" in told(second, tmp_path)


@pytest.mark.parametrize(
    ("share", "percent", "length"),
    [
        (Share("a", 0, 0), "–", 0),
        (Share("a", 0, 3), "0 %", 0),
        (Share("a", 2, 3), "67 %", 16),
        (Share("a", 9, 9), "100 %", 24),
    ],
)
def test_shares_are_those_of_evals_with_a_verdict(share: Share, percent: str, length: int) -> None:
    assert (share.percent, share.part_of(24)) == (percent, length)


def test_an_answer_that_is_missing_is_infrastructure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "samples" / "apprentice").mkdir(parents=True)
    monkeypatch.setattr(model, "samples_folder", lambda: tmp_path / "samples")
    asked = RunOptions(models=[MODEL], pattern=PASSES, evals=own_suite(), scores=str(tmp_path / "scores.db"), json="-")
    assert perform_demo(asked) == 3
    output = capsys.readouterr()
    assert json.loads(output.out)["run"]["infrastructure"] == 1
    assert "! 000-empty_functions" in output.err


def test_two_models_are_compared_and_put_on_a_leaderboard(record_run: RecordRun, tmp_path: Path) -> None:
    out = Console(file=StringIO(), width=120, markup=False, emoji=False, highlight=False)
    first = record_run({"000-a": "passed", "001-b": "failed"}, MODEL)
    second = record_run({"000-a": "passed", "001-b": "passed"}, SECOND)
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        DemoScreen(out).summarize(store, store.find_run(first), None, store.find_run(second))
    assert isinstance(out.file, StringIO)
    text = out.file.getvalue()
    assert "Which is better\n  difference +50.0" in text
    assert "The leaderboard\n" in text
    assert re.search(rf"1–2 +{SECOND} .*\n +1–2 +{MODEL} ", text)
    assert f" compare {first[:8]} {second[:8]}" in text
