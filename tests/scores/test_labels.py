from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.scores import LabelRecord

EVAL = "000-a/000-b"


def label(run_id: str, minute: int = 0, **changes: Any) -> LabelRecord:
    made = LabelRecord(run_id, EVAL, 1, "KNOWN_GAP", "As GAPS.txt says – “so”.", "Ada", datetime.now(UTC))
    return replace(made, made_at=datetime(2026, 1, 1, 8, minute, tzinfo=UTC), **changes)


def test_labels_are_read_in_the_order_in_which_they_were_made(scene: Any) -> None:
    first, second = scene.run(model="m1"), scene.run(model="m2")
    later, earlier, other = label(first, 5, failure_class="MODEL_FAULT"), label(first, 1), label(second, 2)
    assert scene.store.labels.add(later, earlier, other) == 3
    assert scene.store.labels.of_run(first) == (earlier, later)
    assert scene.store.labels.of_model("m2", "p1") == (other,)
    assert scene.store.labels.of_model("m2", "p2") == ()


def test_a_label_that_arrives_twice_is_kept_once(scene: Any) -> None:
    made = label(scene.run())
    assert [scene.store.labels.add(made), scene.store.labels.add(made)] == [1, 0]
    assert scene.store.labels.of_run(made.run_id) == (made,)


def test_only_evals_of_the_run_are_labelled(scene: Any) -> None:
    run_id = scene.run()
    with pytest.raises(UsageError, match="has no eval 'other' that could be labelled"):
        scene.store.labels.add(label(run_id), label(run_id, eval="other"))
    assert scene.store.labels.of_run(run_id) == ()
