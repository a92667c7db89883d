"""Readings of a task: what must show one, what must not, and tasks that decide it."""

from typing import Any

import pytest

from convex_evals.analysis.classification.rules.readings import other_reading
from convex_evals.analysis.evidence import Cause, Evidence

RANKED = "Every runner has a place in the list."
OPEN = [
    ([1, 2, 2, 4], [1, 2, 2, 3], "", "", RANKED + " Runners with equal times have an equal place."),
    ([1, 2, 2, 4], [1, 2, 3, 4], "", "", RANKED),
    (9, 0, "const from = startOfMonth(args.now);", "now - MONTH", "The total of last month."),
    (3.34, 3.33, "Math.round(a) * Math.round(b)", "Math.round(x) + Math.round(y)", "Two decimals."),
    ("a length of 3", "a length of 2", "if (books.length === 0) continue;", "books", "Authors and their books."),
    ("Doe, Jane", "Jane Doe", "", "", "The full name of the person."),
    ("a length of 20", "a length of 10", "rows.take(10)", "rows.take(20)", "The latest notes."),
]
CLOSED = [
    ([1, 2, 2, 4], [1, 2, 2, 3], "", "", RANKED + " After a tie, places are skipped."),
    ([1, 2, 2, 4], [1, 2, 3, 4], "", "", RANKED + " Ties have the same place."),
    ([1, 2, 2, 4], [1, 1, 2, 4], "", "", RANKED),  # other ties: a mistake
    (9, 0, "const from = startOfMonth(args.now);", "now - MONTH", "The total of the past 30 days: last month."),
    (9, 0, "now - DAY", "now - MONTH", "The total of last month."),
    (3.34, 3.33, "Math.floor(a) * Math.floor(b)", "Math.round(x) + Math.round(y)", "Two decimals."),
    (3.34, 3.33, "Math.round(a) * Math.round(b)", "Math.round(x)", "Two decimals, rounded only at the end."),
    ("a length of 3", "a length of 2", "if (books.length === 0) continue;", "books", "All authors with their books."),
    ("a length of 2", "a length of 3", "if (books.length === 0) continue;", "books", "Authors and their books."),
    ("Doe, Jane", "Jane Doe", "", "", "The last name, a comma and the first name."),
    ("Doe, Jane", "Jane Roe", "", "", "The full name of the person."),
    ("a length of 20", "a length of 10", "rows.take(10)", "rows.take(20)", "The latest 20 notes."),
]


def read(expected: Any, received: Any, model: str, reference: str, task: str) -> str | None:
    evidence = Evidence(failed_step="tests", task=task, cause=Cause("stated", model, reference))
    return other_reading(expected, received, evidence, task)


@pytest.mark.parametrize("case", OPEN)
def test_another_reading_of_an_open_task(case: tuple[Any, Any, str, str, str]) -> None:
    assert read(*case)


@pytest.mark.parametrize("case", CLOSED)
def test_a_mistake_or_a_task_that_decides(case: tuple[Any, Any, str, str, str]) -> None:
    assert read(*case) is None
