"""What people say about failures. The latest word about a failure stands above earlier ones.

Labels are in the scores. Earlier versions kept them in `labels.jsonl` beside the model's reports, which is still read.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.analysis.report.types import Label
from convex_evals.core.errors import UsageError
from convex_evals.core.plain import from_plain
from convex_evals.scores import LabelRecord, RunRecord

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

FILE: Final = "labels.jsonl"


def labels_of_model(store: "ScoresStore", run: RunRecord, folder: Path) -> tuple[Label, ...]:
    """Of all runs of the run's model, oldest first: those in the scores, and those in the folder of its reports."""
    recorded = (as_label(each) for each in store.labels.of_model(run.model, run.provider))
    # Within a day the recorded ones are later: nothing writes the file any more.
    return tuple(sorted((*read_labels(folder), *recorded), key=lambda label: label.date))


def as_label(record: LabelRecord) -> Label:
    date = record.made_at.astimezone().date().isoformat()
    return Label(record.eval, record.failure_class, record.note, record.who, date, record.run_id, record.trial)


def read_labels(folder: Path) -> tuple[Label, ...]:
    """Oldest first. Raises UsageError when the file was damaged by hand."""
    path = folder / FILE
    if not path.is_file():
        return ()
    labels = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            labels.append(from_plain(Label, json.loads(line)))
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"Line {number} of {path} is not a label; correct or remove it.") from error
    return tuple(labels)


def label_for(labels: Iterable[Label], run: str, eval: str, trial: int) -> Label | None:
    """The latest one about this failure."""
    found = [label for label in labels if (label.run, label.eval, label.trial) == (run, eval, trial)]
    return found[-1] if found else None
