"""Tasks that can be read in more than one way: what was wanted and what came differ in something left open."""

import ast
import json
import re
from contextlib import suppress
from typing import Any, Final

from convex_evals.analysis.classification.rules.choices import (
    BOUNDS,
    CAPITALS,
    NOTHING,
    ORDER,
    PRECEDENCE,
    ROUNDING,
    TIES,
    UNIT,
    Choice,
    checks_in_another_order,
    chosen_in_code,
    chosen_in_words,
    other_condition,
    tokens,
)
from convex_evals.analysis.classification.rules.opinion import Complaint, Opinion
from convex_evals.analysis.classification.rules.readings import other_reading
from convex_evals.analysis.counterfactuals import task_of_test
from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.task import mentions, read_task
from convex_evals.analysis.terms import words_of
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.text import listed

_NOTHINGS: Final = frozenset({"null", "none", "[]", "undefined", "{}", '""', "''", "false", "0"})
_NAMES: Final = re.compile(r"`[^`\n]*`")
_ROUNDS: Final = re.compile(r"\bMath\.(?:round|floor|ceil|trunc)\b|\.toFixed\(")
_SCALES: Final = (10.0, 60.0, 100.0, 1000.0, 3600.0, 60_000.0, 86_400.0, 3_600_000.0)


def another_reading(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The two values differ in something that the task leaves open."""
    if complaint.kind not in ("behaviour", "declarations") or not evidence.task:
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
    """What the values show, else the code that differs, else the words of the complaint."""
    expected, received = _value(test.expected), _value(test.received)
    task = task_of_test(test, evidence)
    names = _other_names(expected, received)
    if names and not any(_is_given(name, task) for name in names):
        return f"the name {listed(names)}"
    selecting = other_condition(evidence)
    if selecting is not None and not words_of(selecting) & words_of(read_task(task).behaviour):
        return f"whether “{selecting}” matters here"
    sides = (test.expected if expected is None else expected, test.received if received is None else received)
    if read := other_reading(*sides, evidence, task):
        return read
    shown = _choice(test, expected, received)
    if shown is BOUNDS and not _compares(evidence):
        return None
    chosen = (shown,) if shown else chosen_in_code(evidence)
    if shown is ORDER and _moves_only_equals(test, expected, received, evidence):
        chosen = (ORDER, TIES)
    if checks_in_another_order(evidence):
        chosen = (PRECEDENCE,)
    if not chosen and test.expected is None and not evidence.steps:
        chosen = chosen_in_words(f"{test.message}\n{evidence.error}")
    if ROUNDING in chosen and _rounds_unasked(evidence):
        return None
    return next((each.name for each in chosen if each.is_open(task)), None)


def _rounds_unasked(evidence: Evidence) -> bool:
    """Only the answer rounds: a task need not say that a number is exact, but must say that it is rounded."""
    rounds = [bool(_ROUNDS.search(each)) for each in (evidence.cause.model_snippet, evidence.cause.expected_snippet)]
    return rounds == [True, False]


def _is_given(name: str, task: str) -> bool:
    """As it is, or in the words it is made of; those of other names do not count."""
    return mentions(task, name) or words_of(name) <= words_of(_NAMES.sub(" ", task))


def _choice(test: Diagnostic, expected: Any, received: Any) -> Choice | None:
    if _other_nothing(test):
        return NOTHING
    return _choice_of(expected, received)


def _choice_of(expected: Any, received: Any) -> Choice | None:
    """In which the values differ, at the top or wherever in them."""
    if _same_but_for_order(expected, received):
        return ORDER
    if _is_rounded(expected, received):
        return ROUNDING
    if _other_scale(expected, received):
        return UNIT
    if _other_bound(expected, received):
        return BOUNDS
    if _other_case(expected, received):
        return CAPITALS
    inner = {_choice_of(one, other) for one, other in _pairs(expected, received)}
    return inner.pop() if len(inner) == 1 else None


def _pairs(expected: Any, received: Any) -> list[tuple[Any, Any]]:
    """The parts that differ, of two objects with the same keys or two lists of the same length."""
    if isinstance(expected, dict) and isinstance(received, dict) and expected.keys() == received.keys():
        pairs = [(expected[key], received[key]) for key in expected]
    elif isinstance(expected, list) and isinstance(received, list) and len(expected) == len(received):
        pairs = list(zip(expected, received, strict=True))
    else:
        return []
    return [(one, other) for one, other in pairs if one != other]


def _same_but_for_order(expected: Any, received: Any) -> bool:
    lists = isinstance(expected, list) and isinstance(received, list)
    return lists and expected != received and _sorted(expected) == _sorted(received)


_TIE_BREAK: Final = re.compile(r"\|\| *[\w.\[\]()]+(?: - |\.localeCompare\()")


def _moves_only_equals(test: Diagnostic, expected: Any, received: Any, evidence: Evidence) -> bool:
    """By some field both lists are in the same order; or only the reference breaks ties, or the complaint says so."""
    rows = [*expected, *received]
    if all(isinstance(row, dict) for row in rows):
        keys = set.intersection(*(set(row) for row in rows))
        columns = [[[row[key] for row in side] for side in (expected, received)] for key in keys]
        return any(one == other and one in (_ascending(one), _ascending(one)[::-1]) for one, other in columns)
    breaks = [_TIE_BREAK.search(each) for each in (evidence.cause.model_snippet, evidence.cause.expected_snippet)]
    return bool(breaks[1] and not breaks[0]) or TIES.said.search(test.message) is not None


def _ascending(values: list[Any]) -> list[Any]:
    """Sorted, if they are numbers or texts and not all the same."""
    comparable = all(_is_number(each) for each in values) or all(isinstance(each, str) for each in values)
    return sorted(values) if comparable and any(each != values[0] for each in values) else []


def _other_nothing(test: Diagnostic) -> bool:
    if test.expected is None or test.received is None:
        return False
    sides = {test.expected.strip().lower(), test.received.strip().lower()}
    return len(sides) == 2 and sides <= _NOTHINGS


def _other_scale(expected: Any, received: Any) -> bool:
    """The same number in another unit."""
    if not _is_number(expected) or not _is_number(received) or not expected or not received:
        return False
    ratio = max(abs(expected / received), abs(received / expected))
    return any(abs(ratio - scale) < scale * 1e-9 for scale in _SCALES)


def _is_rounded(expected: Any, received: Any) -> bool:
    """One of them is the other with fewer digits."""
    if not _is_number(expected) or not _is_number(received) or expected == received:
        return False
    return any(round(received, digits) == expected or round(expected, digits) == received for digits in range(4)) and (
        abs(expected - received) <= 0.5
    )


def _other_bound(expected: Any, received: Any) -> bool:
    """One more or one less at an end."""
    if not isinstance(expected, list) or not isinstance(received, list) or not expected or not received:
        return False
    longer, shorter = sorted((expected, received), key=len, reverse=True)
    return len(longer) - len(shorter) == 1 and shorter in (longer[1:], longer[:-1])


def _compares(evidence: Evidence) -> bool:
    """Whether the answer differs from the reference in how it compares, where both of them do."""
    cause = evidence.cause
    sides = [
        sorted(filter(BOUNDS.code.fullmatch, tokens(each))) for each in (cause.model_snippet, cause.expected_snippet)
    ]
    return all(sides) and sides[0] != sides[1]


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
    for read in (json.loads, ast.literal_eval, _literal):
        for said in (text, _ASIDE.sub("", text)):
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                return read(said)
    return None


_ASIDE: Final = re.compile(r"\s+\([^()\n]*\)\s*$")  # what somebody adds about a value
_BARE_KEY: Final = re.compile(r"(?<=[{,])\s*([A-Za-z_]\w*)\s*:")


def _literal(text: str) -> Any:
    """An object as JavaScript has it, with bare keys."""
    return ast.literal_eval(_BARE_KEY.sub(r'"\1":', text))
