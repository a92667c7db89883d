from pathlib import Path

import pytest

from convex_evals.analysis.labels import FILE, add_label, label_for, read_labels
from convex_evals.analysis.report import Label
from convex_evals.core.errors import UsageError

LABEL = Label("c/e", "KNOWN_GAP", "As GAPS.txt says – “so”.", "Ada", "2026-02-01", "run1")
LATER = Label("c/e", "MODEL_FAULT", "On second thought.", "Ben", "2026-02-02", "run1")


def test_labels_are_added_and_never_changed(tmp_path: Path) -> None:
    for label in (LABEL, LATER):
        add_label(tmp_path / "reports", label)
    assert read_labels(tmp_path / "reports") == (LABEL, LATER)
    assert label_for((LABEL, LATER), "run1", "c/e", 1) == LATER
    assert label_for((LABEL, LATER), "run1", "c/e", 2) is None


def test_there_need_not_be_any(tmp_path: Path) -> None:
    assert read_labels(tmp_path) == ()


def test_a_line_that_is_no_label_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"eval": "c/e"}\n')
    with pytest.raises(UsageError, match="Line 1 of"):
        read_labels(tmp_path)
