"""Tasks that can be read in more than one way: what was wanted and what came differ in something left open."""

import ast
import json
import re
from contextlib import suppress
from typing import Any, Final

from convex_evals.analysis.classification.rules.opinion import Complaint, Opinion
from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.terms import words_of
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.wording import listed

_ORDER_TOLD: Final = re.compile(
    r"\b(?:order\w*|sort\w*|ascending|descending|newest|oldest|latest|earliest|alphabetic\w*|rank\w*|chronologic\w*"
    r"|highest|lowest|most recent|(?:comes?|goes|is|are|be) (?:first|last)|first (?:comes|come)|by \w+ first)\b",
    re.I,
)
_NOTHINGS: Final = frozenset({"null", "none", "[]", "undefined", "{}", '""', "''", "false", "0"})
_NOTHING_TOLD: Final = re.compile(
    r"\b(?:null|empty|undefined|missing|not found|no such|does not exist|nothing|none)\b", re.I
)
_SCALES: Final = (10.0, 60.0, 100.0, 1000.0, 3600.0, 60_000.0, 86_400.0)
_SCALE_TOLD: Final = re.compile(
    r"\b(?:milliseconds?|ms|seconds?|minutes?|hours?|cents?|dollars?|percent\w*|rounded?|decimals?|fraction)\b|%", re.I
)
_BOUNDS_OPEN: Final = re.compile(r"\b(?:between|from|since|until|after|before|up to|within|range)\b", re.I)
_COMPARISON: Final = re.compile(r"\.(?:lte?|gte?)\(|\s[<>]=?\s")
_BOUNDS_TOLD: Final = re.compile(
    r"\b(?:inclusive|exclusive|including|excluding|strictly|at least|at most|or equal)\b", re.I
)


def another_reading(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The two values differ in something that the task leaves open."""
    if complaint.kind != "behaviour" or not evidence.task:
        return None
    left_open = _left_open(complaint.diagnostic, evidence)
    return None if left_open is None else _ambiguous(complaint, left_open, "another_reading")


def missing_detail(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """Everything that the failing test insists on is missing from the task, and nobody else knew it either."""
    facts = evidence.counterfactuals
    if complaint.kind != "behaviour" or not facts.demands or any(demand.stated for demand in facts.demands):
        return None
    if not facts.other_models or any(other.passed for other in facts.other_models):
        return None
    return _ambiguous(complaint, listed(facts.unstated), "missing_detail")


def _ambiguous(complaint: Complaint, left_open: str, rule: str) -> Opinion:
    return Opinion(
        "task",
        rule,
        f"The task leaves open what the test insists on: {left_open}.",
        f"The test failed over {left_open} ({complaint.said}). The task does not say which is meant, "
        f"and the answer's reading of it is a fair one.",
        f"the task is silent about {left_open}",
        (complaint.place,),
    )


def _left_open(test: Diagnostic, evidence: Evidence) -> str | None:
    task = evidence.task
    expected, received = _value(test.expected), _value(test.received)
    if _same_but_for_order(expected, received) and not _ORDER_TOLD.search(task):
        return "the order of the results"
    if _other_nothing(test) and not _NOTHING_TOLD.search(task):
        return "what comes when there is nothing"
    if _other_scale(expected, received) and not _SCALE_TOLD.search(task):
        return "the unit or the precision of the number"
    if (
        _other_bound(expected, received)
        and _compares(evidence)
        and _BOUNDS_OPEN.search(task)
        and not _BOUNDS_TOLD.search(task)
    ):
        return "whether the ends of the range belong to it"
    if _other_case(expected, received) and not re.search(r"\bcase\b|\btrim|\blower|\bupper|\bexact", task, re.I):
        return "capital letters and blanks"
    names = _other_names(expected, received)
    if names and not any(words_of(name) <= words_of(task) for name in names):
        return f"the name {listed(names)}"
    return None


def _same_but_for_order(expected: Any, received: Any) -> bool:
    lists = isinstance(expected, list) and isinstance(received, list)
    return lists and expected != received and _sorted(expected) == _sorted(received)


def _other_nothing(test: Diagnostic) -> bool:
    if test.expected is None or test.received is None:
        return False
    sides = {test.expected.strip().lower(), test.received.strip().lower()}
    return len(sides) == 2 and sides <= _NOTHINGS


def _other_scale(expected: Any, received: Any) -> bool:
    """The same number in another unit, or rounded."""
    if not _is_number(expected) or not _is_number(received) or not expected or not received:
        return False
    ratio = max(abs(expected / received), abs(received / expected))
    scaled = any(abs(ratio - scale) < scale * 1e-9 for scale in _SCALES)
    rounded = isinstance(expected, float) != isinstance(received, float) or round(received, 2) == expected
    return scaled or (rounded and 0 < abs(expected - received) < 0.5 and round(received) == round(expected))


def _other_bound(expected: Any, received: Any) -> bool:
    """One more or one less at an end."""
    if not isinstance(expected, list) or not isinstance(received, list) or not expected or not received:
        return False
    longer, shorter = sorted((expected, received), key=len, reverse=True)
    return len(longer) - len(shorter) == 1 and shorter in (longer[1:], longer[:-1])


def _compares(evidence: Evidence) -> bool:
    """Whether the answer differs from the reference in a comparison."""
    cause = evidence.cause
    return bool(_COMPARISON.search(cause.model_snippet) or _COMPARISON.search(cause.expected_snippet))


def _other_case(expected: Any, received: Any) -> bool:
    if not isinstance(expected, str) or not isinstance(received, str) or expected == received:
        return False
    return " ".join(expected.lower().split()) == " ".join(received.lower().split())


def _other_names(expected: Any, received: Any) -> list[str]:
    """Names that the test wants where the answer has chosen others for the same values."""
    if not isinstance(expected, dict) or not isinstance(received, dict) or expected.keys() == received.keys():
        return []
    same_values = _sorted(list(expected.values())) == _sorted(list(received.values()))
    return sorted(str(key) for key in expected.keys() - received.keys()) if same_values else []


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _sorted(values: list[Any]) -> list[str]:
    return sorted(json.dumps(value, sort_keys=True, default=repr) for value in values)


def _value(text: str | None) -> Any:
    """A printed value, whether Python or JavaScript printed it; None when it cannot be read."""
    if text is None:
        return None
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return read(text)
    return None
