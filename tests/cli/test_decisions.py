import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from convex_evals.scores import PlannedEval, RunPlan, ScoresStore

Command = Callable[..., subprocess.CompletedProcess[str]]
SIGNED = ("--author", "Ada")


@pytest.fixture
def run_id(tmp_path: Path) -> Iterator[str]:
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        made = store.create_run(RunPlan("m1", "p1", "default", (PlannedEval("000-a/000-b"),)))
        store.finish_run(made, "completed")
        yield made


def listed(convex_evals: Command, *options: str) -> list[str]:
    return [run["id"] for run in json.loads(convex_evals("status", "--json", *options).stdout)["runs"]]


def test_a_hidden_run_is_listed_when_it_is_asked_for(convex_evals: Command, run_id: str) -> None:
    done = convex_evals("runs", "hide", run_id[:8], "--why", "Wrong guidelines.", *SIGNED)
    assert done.stdout == f"Run {run_id[:8]} is hidden, by Ada: Wrong guidelines.\n"
    assert (listed(convex_evals), listed(convex_evals, "--hidden")) == ([], [run_id])
    assert convex_evals("status", "--hidden").stdout.splitlines()[1].endswith("  hidden")
    convex_evals("runs", "unhide", run_id[:8], "--why", "They were right.", *SIGNED)
    assert listed(convex_evals) == [run_id]


def test_a_run_is_labelled_and_deleted_with_a_reason(convex_evals: Command, run_id: str, tmp_path: Path) -> None:
    assert convex_evals("runs", "label", run_id, "baseline", "--why", "The first.", *SIGNED).returncode == 0
    assert convex_evals("status").stdout.splitlines()[1].endswith("  baseline")
    assert convex_evals("status", "--csv").stdout.splitlines()[1].endswith(",baseline")
    assert "\nlabels: baseline\n" in convex_evals("show", run_id[:8]).stdout
    refused = convex_evals("runs", "delete", run_id, "--why", " ", *SIGNED)
    assert refused.stderr == "convex-evals: A decision about a run needs a reason; say it with --why.\n"
    assert convex_evals("runs", "delete", run_id, "--why", "A mistake.", *SIGNED).returncode == 0
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        decided = store.decisions.of_run(run_id)
        assert [(each.kind, each.who, each.why) for each in decided] == [
            ("label", "Ada", "The first."),
            ("delete", "Ada", "A mistake."),
        ]
        assert store.runs() == ()


@pytest.mark.parametrize("label", ["", " "])
def test_an_empty_label_is_refused(convex_evals: Command, run_id: str, label: str) -> None:
    refused = convex_evals("runs", "label", run_id, label, "--why", "x", *SIGNED)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "convex-evals: A label must be a word, such as baseline; it is empty.\n"
