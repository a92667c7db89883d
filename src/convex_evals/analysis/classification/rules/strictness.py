"""Graders that insist on more than the task says."""

import re
from typing import Final

from convex_evals.analysis.classification.rules.rule import complaint, first_words
from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Evidence
from convex_evals.core.wording import listed, shortened

_GUARD: Final = re.compile(r"if\s*\((?P<condition>[^\n]*?)\)\s*\{?\s*throw\b[^\n]*")
_COMPARED: Final = re.compile(r"(?:\bargs\.)?(?P<name>\w+)(?:\.(?:length|trim\(\)|size))*\s*(?:[<>]=?|===?|!==?)")
_TESTED: Final = re.compile(r"!\s*(?:Number\.\w+\()?(?:args\.)?(?P<name>\w+)")
_REJECTS: Final = re.compile(
    r"\b(?:throw\w*|reject\w*|error|fail\w*|invalid|must not|not allowed|at least|positive|non-negative)\b", re.I
)
_REJECTED: Final = re.compile(
    r"\bthr[eo]w\w*|\breject\w*|\bUncaught\b|\berror\b|\brefus\w*|\bfailed on the project\b", re.I
)
_EXACT_TEXT: Final = re.compile(
    r"\b(?:error|exception) (?:message|text)\b|\bmessage (?:to (?:be|equal|match|contain)|differs)"
    r"|\bexact (?:wording|text|message|string)|toThrow\w*\(|to throw (?:an )?error",
    re.IGNORECASE,
)


def stricter_input_check(evidence: Evidence) -> Classification | None:
    """The answer refuses input that the reference takes, and the task says nothing about it."""
    guard = _own_guard(evidence)
    if evidence.failed_step != "tests" or guard is None or not _REJECTED.search(evidence.error):
        return None
    if evidence.task and _speaks_of_rejecting(evidence.task, guard):
        return None
    return Classification(
        "OVERLY_STRICT",
        0.65,
        f"Refuses input that the task does not speak of: {shortened(guard, 100)}",
        f"The answer checks its input ({shortened(guard, 120)}) and the test sends what it refuses. "
        f"The task does not say that such input must be accepted, so refusing it is a fair choice.",
        first_words(evidence),
        "stricter_input_check",
    )


def exact_wording(evidence: Evidence) -> Classification | None:
    """The answer fails as it should, but not in the words that the grader wants and the task never gave."""
    if evidence.failed_step != "tests" or not _EXACT_TEXT.search(evidence.error):
        return None
    phrases = [demand for demand in evidence.counterfactuals.demands if " " in demand.text]
    quoted = _quoted(evidence.error)
    unstated = [each.text for each in phrases if not each.stated] or [
        text for text in quoted if evidence.task and text.lower() not in evidence.task.lower()
    ]
    if evidence.task and not unstated:
        return None
    return Classification(
        "OVERLY_STRICT",
        0.7 if evidence.task else 0.6,
        f"The grader wants exact words: {listed(unstated) or complaint(evidence)}",
        f"The test compares the text of an error ({complaint(evidence)}). "
        f"The task does not give these words, so no answer could know them.",
        first_words(evidence),
        "exact_wording",
    )


def _own_guard(evidence: Evidence) -> str | None:
    """A check of the input that only the answer has."""
    found = _GUARD.search(evidence.cause.model_snippet)
    if found is None:
        return None
    expected = evidence.cause.expected_snippet
    names = _names(found["condition"])
    same = [guard for guard in _GUARD.finditer(expected) if names & _names(guard["condition"])]
    return None if same else found[0]


def _names(condition: str) -> set[str]:
    return {match["name"] for pattern in (_COMPARED, _TESTED) for match in pattern.finditer(condition)}


def _speaks_of_rejecting(task: str, guard: str) -> bool:
    """Whether some sentence of the task speaks of the checked value and of refusing it, or of what to do instead."""
    found = _GUARD.search(guard)
    names = {name.lower() for name in _names(found["condition"] if found else guard)} - {"args", "null", "undefined"}
    for sentence in re.split(r"(?<=[.;:])\s|\n", task):
        mentioned = any(re.search(rf"\b{re.escape(name)}\b", sentence, re.I) for name in names)
        if mentioned and (
            _REJECTS.search(sentence) or re.search(r"\b(?:any|negative|zero|empty|whatever)\b", sentence)
        ):
            return True
    return False


def _quoted(text: str) -> list[str]:
    return [double or single for double, single in re.findall(r"\"([^\"\n]{4,})\"|'([^'\n]{4,})'", text)]
