import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from convex_evals.analysis.labels import FILE, label_for, labels_of_model, read_labels
from convex_evals.analysis.report import Label
from convex_evals.core.errors import UsageError
from convex_evals.core.plain import to_plain
from convex_evals.scores import LabelRecord, ScoresStore

LABEL = Label("c/e", "KNOWN_GAP", "As GAPS.txt says – “so”.", "Ada", "2026-02-01", "run1")
LATER = Label("c/e", "MODEL_FAULT", "On second thought.", "Ben", "2026-02-02", "run1")
EVAL = "000-basics/000-hello"


def write_labels(folder: Path, *labels: Label) -> None:
    """As earlier versions did."""
    (folder / FILE).write_text("".join(json.dumps(to_plain(label)) + "\n" for label in labels))


def test_the_latest_label_counts(tmp_path: Path) -> None:
    write_labels(tmp_path, LABEL, LATER)
    assert read_labels(tmp_path) == (LABEL, LATER)
    assert label_for((LABEL, LATER), "run1", "c/e", 1) == LATER
    assert label_for((LABEL, LATER), "run1", "c/e", 2) is None


def test_there_need_not_be_any(tmp_path: Path) -> None:
    assert read_labels(tmp_path) == ()


def test_a_line_that_is_not_a_label_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"eval": "c/e"}\n')
    with pytest.raises(UsageError, match="Line 1 of"):
        read_labels(tmp_path)


@pytest.mark.parametrize(("day", "counts"), [(1, "of the file"), (2, "of the scores"), (3, "of the scores")])
def test_labels_of_the_scores_and_of_the_file_are_one_history(
    store: ScoresStore, record: Callable[..., str], tmp_path: Path, day: int, counts: str
) -> None:
    run, other = record("failed", "passed", "passed"), record("failed", "passed", "passed", model="maker/two")
    write_labels(tmp_path, Label(EVAL, "KNOWN_GAP", "of the file", "Ada", "2026-02-02", run))
    noon = datetime(2026, 2, day, 12, tzinfo=UTC)
    store.labels.add(
        *(LabelRecord(each, EVAL, 1, "MODEL_FAULT", "of the scores", "Ben", noon) for each in (run, other))
    )
    labels = labels_of_model(store, store.find_run(run), tmp_path)
    assert len(labels) == 2, "the other model's is not among them"
    found = label_for(labels, run, EVAL, 1)
    assert found is not None and found.why == counts
