"""What people say about failures: one line of JSON each in `labels.jsonl` beside the model's reports, never changed.

A later line about the same failure stands above an earlier one.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from convex_evals.analysis.report.types import Label
from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.plain import from_plain, to_plain

FILE: Final = "labels.jsonl"


def add_label(folder: Path, label: Label) -> Path:
    """Appends; lines of several people at once do not mix."""
    path = folder / FILE
    line = json.dumps(to_plain(label), ensure_ascii=False) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.write(descriptor, line.encode(errors="replace"))
        finally:
            os.close(descriptor)
    except OSError as error:
        raise InfrastructureError(f"The label cannot be written to {path}: {error.strerror}.") from error
    return path


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
