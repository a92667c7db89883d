"""Checks that insist on more than the task says: rules of taste, declarations, input, exact words."""

import re
from typing import Final

from convex_evals.analysis.classification.rules.rule import complaint, first_words
from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Evidence
from convex_evals.core.wording import listed, shortened

# Breaking these changes nothing that a program does.
TASTE: Final = frozenset(
    re.findall(
        r"\S+",
        """array-type arrow-body-style arrow-parens camelcase comma-dangle consistent-indexed-object-style
    consistent-type-definitions consistent-type-imports curly dot-notation eol-last explicit-function-return-type
    explicit-module-boundary-types func-style id-length import-order indent jsx-quotes max-len max-lines
    member-ordering method-signature-style naming-convention newline-per-chained-call no-console no-else-return
    no-empty-function no-empty-interface no-empty-object-type no-inferrable-types no-magic-numbers no-multi-spaces
    no-multiple-empty-lines no-negated-condition no-nested-ternary no-non-null-assertion no-plusplus no-shadow
    no-ternary no-trailing-spaces no-undef no-underscore-dangle no-unescaped-entities no-unnecessary-type-assertion
    no-unused-vars no-use-before-define no-useless-constructor no-useless-return no-var object-shorthand one-var order
    padding-line-between-statements prefer-arrow-callback prefer-const prefer-destructuring prefer-for-of
    prefer-function-type prefer-nullish-coalescing prefer-optional-chain prefer-readonly prefer-template prop-types
    quote-props quotes react-in-jsx-scope require-await semi sort-imports sort-keys space-before-function-paren
    spaced-comment unified-signatures""",
    )
)


def lint_of_taste(evidence: Evidence) -> Classification | None:
    """Only rules of taste were broken, in code that is otherwise fine."""
    rules = tuple(dict.fromkeys(each.name for each in evidence.failed_diagnostics if each.name))
    if evidence.failed_step != "eslint" or not rules or not all(is_taste(rule) for rule in rules):
        return None
    if evidence.counterfactuals.passes_without_lint is False:
        return None
    return Classification(
        "OVERLY_STRICT",
        0.75,
        f"Only rules of taste were broken: {listed(rules)}.",
        f"The linter complains about nothing but {listed(rules)}, which changes nothing that the program does. "
        f"The task asks for working code, not for this style.",
        first_words(evidence),
        "lint_of_taste",
    )


def is_taste(rule: str) -> bool:
    """Whatever plug-in the rule comes from."""
    return rule.rpartition("/")[2] in TASTE


RETURNS: Final = "returns"


def declarations_beyond_the_task(evidence: Evidence) -> Classification | None:
    """It behaves as it should, and fails over a declaration that the task does not ask for."""
    facts = evidence.counterfactuals
    if evidence.failed_step != "tests" or not facts.behaviour_passes:
        return None
    demanded = _demanded(evidence)
    if demanded is None:
        return None
    return Classification(
        "OVERLY_STRICT",
        0.75 if evidence.task else 0.6,
        f"No test of behaviour fails; the grader compares declarations that were not asked for: {demanded}.",
        f"The only tests that failed compare declarations ({complaint(evidence)}); none that calls a function did. "
        f"What they demand ({demanded}) is not in the task, so the answer was free to leave it out.",
        first_words(evidence),
        "declarations_beyond_the_task",
    )


def _demanded(evidence: Evidence) -> str | None:
    """What the comparison insists on beyond the task; None when the task asks for it."""
    if evidence.counterfactuals.unstated:
        return listed(evidence.counterfactuals.unstated)
    if re.search(r"\breturns? validat", evidence.task, re.IGNORECASE):
        return None
    if _lacks_returns(evidence):
        return "a returns validator"
    return None if evidence.counterfactuals.demands else "more than behaviour"


def _lacks_returns(evidence: Evidence) -> bool:
    declared = [each for each in evidence.differences if each.aspect == RETURNS]
    if declared:
        return all(each.received is None for each in declared)
    return f"{RETURNS}:" in evidence.cause.expected_snippet and f"{RETURNS}:" not in evidence.cause.model_snippet


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
