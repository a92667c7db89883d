"""Tasks that can be read in more than one way."""

import json
import re
from typing import Any, Final

from convex_evals.analysis.classification.rules.rule import complaint, first_words, outcome
from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Evidence
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.wording import listed

_ORDER_TOLD: Final = re.compile(
    r"\b(?:order\w*|sort\w*|ascending|descending|newest|oldest|latest|earliest|first|last|alphabetic\w*|rank\w*"
    r"|chronologic\w*|highest|lowest|most|recent\w*)\b",
    re.I,
)
_ORDER_WANTED: Final = re.compile(
    r"\b(?:wrong|another|different|other|unexpected|expected)\b[^.\n]*\border\b|\border of\b", re.I
)
_NOTHINGS: Final = frozenset({"null", "none", "[]", "undefined", "{}", '""', "''", "false", "0"})
_NOTHING_TOLD: Final = re.compile(
    r"\b(?:null|empty|undefined|missing|not found|no such|does not exist|nothing|none)\b", re.I
)
_NOTHING_WANTED: Final = re.compile(
    r"\b(?P<one>null|undefined|an? empty (?:array|list|object|string)|\[\])[^.\n]{0,60}?"
    r"\b(?P<other>null|undefined|an? empty (?:array|list|object|string)|\[\]|thr[eo]w\w*|an error)",
    re.I,
)
_NAME_WANTED: Final = re.compile(
    r"\b(?:field|property|key|column|table|index|parameter|argument)(?:'?s)? named? |\bnamed? [`'\"]\w+"
    r"|\bunexpected (?:field|key)|\bmissing (?:field|key|property)",
    re.I,
)
_UNIT_WANTED: Final = re.compile(
    r"\b(?:milliseconds|seconds|cents|dollars|UTC|time ?zone|local time|rounded|rounding|decimals|inclusive|exclusive"
    r"|case[- ](?:in)?sensitive|trimmed|whitespace|zero-based|one-based)\b",
    re.I,
)


def another_reading(evidence: Evidence) -> Classification | None:
    """What was wanted and what came differ in something that the task leaves open."""
    if evidence.failed_step != "tests" or not evidence.task:
        return None
    test = next(iter(evidence.failed_diagnostics), None) or Diagnostic("tests", evidence.error)
    left_open = _left_open(test, evidence)
    return None if left_open is None else _ambiguous(evidence, left_open, "another_reading", outcome(test))


def missing_detail(evidence: Evidence) -> Classification | None:
    """Everything that the failing test insists on is missing from the task, and other models stumble there too."""
    facts = evidence.counterfactuals
    if evidence.failed_step != "tests" or not facts.demands or any(demand.stated for demand in facts.demands):
        return None
    others = facts.other_models
    if others and any(other.passed for other in others):
        return None
    return _ambiguous(evidence, listed(facts.unstated), "missing_detail", complaint(evidence))


def _ambiguous(evidence: Evidence, left_open: str, rule: str, said: str) -> Classification:
    return Classification(
        "AMBIGUOUS_TASK",
        0.65,
        f"The task leaves open what the test insists on: {left_open}.",
        f"The test failed over {left_open} ({said}). The task does not say which is meant, "
        f"and the answer's reading of it is a fair one.",
        first_words(evidence),
        rule,
    )


def _left_open(test: Diagnostic, evidence: Evidence) -> str | None:
    task, said = evidence.task, f"{test.message}\n{evidence.error}"
    if _same_but_for_order(test, said) and not _ORDER_TOLD.search(task):
        return "the order of the results"
    if _other_nothing(test, said) and not _NOTHING_TOLD.search(task):
        return "what comes when there is nothing"
    unit = _UNIT_WANTED.search(said)
    if unit is not None and not re.search(rf"\b{re.escape(unit[0])}\b", task, re.I) and not _UNIT_WANTED.search(task):
        return unit[0].lower()
    names = _other_names(test, said)
    if names and not any(re.search(rf"\b{re.escape(name)}\b", task) for name in names):
        return f"the name {listed(names)}"
    return None


def _same_but_for_order(test: Diagnostic, said: str) -> bool:
    if test.expected is not None and test.received is not None:
        expected, received = _value(test.expected), _value(test.received)
        if isinstance(expected, list) and isinstance(received, list):
            return expected != received and _sorted(expected) == _sorted(received)
    return bool(_ORDER_WANTED.search(said))


def _other_nothing(test: Diagnostic, said: str) -> bool:
    if test.expected is not None and test.received is not None:
        sides = {test.expected.strip().lower(), test.received.strip().lower()}
        return len(sides) == 2 and sides <= _NOTHINGS
    found = _NOTHING_WANTED.search(said)
    return found is not None and found["one"].lower() != found["other"].lower()


def _other_names(test: Diagnostic, said: str) -> list[str]:
    """Names that the test wants where the answer has chosen others."""
    expected, received = _value(test.expected), _value(test.received)
    if isinstance(expected, dict) and isinstance(received, dict) and expected.keys() != received.keys():
        same_values = _sorted(list(expected.values())) == _sorted(list(received.values()))
        return sorted(str(key) for key in expected.keys() - received.keys()) if same_values else []
    if not _NAME_WANTED.search(said):
        return []
    return [double or single for double, single in re.findall(r"[`\"](\w+)[`\"]|'(\w+)'", said)][:3]


def _sorted(values: list[Any]) -> list[str]:
    return sorted(json.dumps(value, sort_keys=True) for value in values)


def _value(text: str | None) -> Any:
    """A printed value, whether Python or JavaScript printed it; None when it cannot be read."""
    if text is None:
        return None
    python = re.sub(r"\bNone\b", "null", re.sub(r"\bTrue\b", "true", re.sub(r"\bFalse\b", "false", text)))
    for candidate in (text, python.replace("'", '"')):
        try:
            return json.loads(candidate)
        except ValueError:
            continue
    return None
