"""Checks that insist on more than the task says: rules of taste, declarations, input, exact words."""

import re
from typing import Final

from convex_evals.analysis.classification.rules.opinion import Complaint, Opinion
from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.lint import is_about_any, is_taste
from convex_evals.analysis.task import Instruction, read_task
from convex_evals.core.text import listed, shortened


def lint_of_taste(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """A rule of taste was broken, in code that is otherwise fine."""
    rule = complaint.diagnostic.name
    if complaint.kind != "lint" or not rule or not is_taste(rule):
        return None
    if evidence.counterfactuals.passes_without_lint is False or read_task(evidence.task).demands(rule):
        return None
    return Opinion(
        "check",
        "lint_of_taste",
        f"Only a rule of taste was broken: {rule}.",
        f"The linter complains about {rule}, which changes nothing that the program does. "
        f"The task asks for working code, not for this style.",
        f"{rule} is about style and not about what the program does",
        (complaint.place,),
    )


def licensed_by_task(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The rule forbids what the task itself asks for."""
    rule = complaint.diagnostic.name or ""
    task = read_task(evidence.task)
    if complaint.kind != "lint" or not is_about_any(rule) or task.speaks_of(rule.rpartition("/")[2]):
        return None
    licence = task.asks_for_type("any")
    return None if licence is None else _licensed(complaint, rule, licence)


def _licensed(complaint: Complaint, rule: str, licence: Instruction) -> Opinion:
    return Opinion(
        "check",
        "licensed_by_task",
        f"The task itself asks for what {rule} forbids: {shortened(licence.text, 80)}",
        f"The task says “{shortened(licence.text, 200)}”, and {rule} rejects it. "
        f"An answer cannot follow both; the rule is too strict for this task.",
        f"the task: “{shortened(licence.text, 120)}”",
        (complaint.place,),
    )


RETURNS: Final = "returns"


def declarations_beyond_the_task(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """It behaves as it should, and fails over a declaration that the task does not ask for."""
    facts = evidence.counterfactuals
    if complaint.kind != "declarations" or not facts.behaviour_passes:
        return None
    demanded = _demanded(evidence)
    if demanded is None:
        return None
    return Opinion(
        "check",
        "declarations_beyond_the_task",
        f"No test of behaviour fails; the grader compares declarations that were not asked for: {demanded}.",
        f"The only tests that failed compare declarations ({complaint.said}); none that calls a function did. "
        f"What they demand ({demanded}) is not in the task, so the answer was free to leave it out.",
        f"the task does not ask for {demanded}",
        (complaint.place,),
    )


def _demanded(evidence: Evidence) -> str | None:
    """What the comparison insists on beyond the task; None when the task asks for it, or nothing shows what it is."""
    if evidence.counterfactuals.unstated:
        return listed(evidence.counterfactuals.unstated)
    task = read_task(evidence.task)
    asked = task.demands(RETURNS, "valid") or task.demands("return", "valid") or task.demands("declar", RETURNS)
    return "a returns validator" if _lacks_returns(evidence) and asked is None else None


_WITHOUT_RETURNS: Final = re.compile(rf"\b(?:no|without|missing|omit\w*)\b[^.;\n]*\b{RETURNS}\b", re.I)


def _lacks_returns(evidence: Evidence) -> bool:
    declared = [each for each in evidence.differences if each.aspect == RETURNS]
    if declared:
        return all(each.received is None for each in declared)
    if any(f"{RETURNS}" in (each.assertion or "") for each in evidence.failed_diagnostics):
        return not any(f"{RETURNS}:" in text for text in evidence.files.values())
    model, expected = evidence.cause.model_snippet, evidence.cause.expected_snippet
    return (f"{RETURNS}:" in expected and f"{RETURNS}:" not in model) or bool(_WITHOUT_RETURNS.search(model))


_GUARD: Final = re.compile(r"if\s*\((?P<condition>[^\n]*?)\)\s*\{?\s*throw\b[^\n]*")
_COMPARED: Final = re.compile(r"(?:\bargs\.)?(?P<name>\w+)(?:\.(?:length|trim\(\)|size))*\s*(?:[<>]=?|===?|!==?)")
_TESTED: Final = re.compile(r"!\s*(?:Number\.\w+\()?(?:args\.)?(?P<name>\w+)")
_REJECTS: Final = re.compile(
    r"\b(?:throw\w*|reject\w*|error|fail\w*|invalid|must not|not allowed|at least|positive|non-negative)\b", re.I
)
_REJECTED: Final = re.compile(
    r"\bthr[eo]w\w*|\breject\w*|\bUncaught\b|(?<=[^\n])\berror\b|\berror:(?! expected\b)|\brefus\w*"
    r"|\bfailed on the project\b",
    re.I,
)
# It should have failed, and did not.
_ACCEPTED: Final = re.compile(
    r"\binstead of (?:reject|throw|fail)\w*|\b(?:resolved|succeeded|accepted)\b"
    r"|\b(?:did not|didn'?t|never) (?:throw|reject|fail)"
    r"|\b(?:expected|should)\b[^\n]*\bto (?:throw|reject|fail)\b|\bshould have (?:thrown|rejected|failed)",
    re.IGNORECASE,
)
_EXACT_TEXT: Final = re.compile(
    r"\b(?:error|exception) (?:message|text)\b|\bmessage (?:to (?:be|equal|match|contain)|differs)"
    r"|\bdata of the ConvexError\b|\bexact (?:wording|text|message|string)|toThrow\w*\(|to throw (?:an )?error",
    re.IGNORECASE,
)


def stricter_input_check(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The answer refuses input that the reference takes, and the task says nothing about it."""
    guard, said = _own_guard(evidence), f"{evidence.error}\n{complaint.message}"
    if complaint.kind != "behaviour" or guard is None or not _REJECTED.search(said) or _ACCEPTED.search(said):
        return None
    if evidence.task and _speaks_of_rejecting(evidence.task, guard):
        return None
    return Opinion(
        "check",
        "stricter_input_check",
        f"Refuses input that the task does not speak of: {shortened(guard, 100)}",
        f"The answer checks its input ({shortened(guard, 120)}) and the test sends what it refuses. "
        f"The task does not say that such input must be accepted, so refusing it is a fair choice.",
        f"the answer's own check {shortened(guard, 80)}, of which the task does not speak",
        (complaint.place,),
    )


def exact_wording(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The answer fails as it should, but not in the words that the grader wants and the task never gave."""
    said = f"{complaint.message}\n{evidence.error}\n{complaint.diagnostic.expected or ''}"
    otherwise = _fails_otherwise(complaint) or _throws_otherwise(evidence, said)
    if complaint.kind != "behaviour" or not (_EXACT_TEXT.search(said) or otherwise) or _SUCCEEDED.search(said):
        return None
    phrases = [demand for demand in evidence.counterfactuals.demands if " " in demand.text]
    quoted = _wanted_words(complaint, said) or _thrown(evidence.cause.expected_snippet)
    unstated = [each.text for each in phrases if not each.stated] or [
        text for text in quoted if evidence.task and text not in evidence.task
    ]
    if evidence.task and not unstated:
        return None
    return Opinion(
        "check",
        "exact_wording",
        f"The grader wants exact words: {listed(unstated) or complaint.said}",
        f"The test compares the text of an error ({complaint.said}). "
        f"The task does not give these words, so no answer could know them.",
        f"the task does not give the words {listed(unstated[:3])}",
        (complaint.place,),
    )


_WITH_WORDS: Final = re.compile(r"^an error (?:\w+ ){0,2}(?P<quote>['\"/])(?P<words>.+)(?P=quote)")
_PLAIN_WORDS: Final = re.compile(r"[\w ,'-]+")
# No error came, so its words are not the matter.
_SUCCEEDED: Final = re.compile(
    r"\binstead of (?:reject|throw|fail)\w*|\b(?:did not|didn'?t|never) (?:throw|reject|fail)\b|\bcalls? succeeded\b",
    re.I,
)


def _wanted_words(complaint: Complaint, said: str) -> list[str]:
    """The words that the test insists on; those that came are none of them."""
    expected, received = complaint.diagnostic.expected, complaint.diagnostic.received or ""
    wanted = _WITH_WORDS.match(expected or "")
    if wanted is not None:
        words = str(wanted["words"])
        return [words] if wanted["quote"] != "/" or _PLAIN_WORDS.fullmatch(words) else []
    return [text for text in _quoted(expected or said) if text not in received]


_AN_ERROR: Final = re.compile(r"(?:\[Request ID: [^\]]*\] )?(?:Server Error|Uncaught|\w*Error\b)")


def _fails_otherwise(complaint: Complaint) -> bool:
    """An error was wanted with certain words, and one came with others."""
    wanted = _WITH_WORDS.match(complaint.diagnostic.expected or "")
    received = complaint.diagnostic.received or ""
    return wanted is not None and " " in wanted["words"] and bool(_AN_ERROR.match(received))


_THROWN: Final = re.compile(r"\bthrow new \w*Error\(\s*([\"'`])(?P<words>.+?)\1")


def _thrown(code: str) -> list[str]:
    return [found["words"] for found in _THROWN.finditer(code)]


def _throws_otherwise(evidence: Evidence, said: str) -> bool:
    """Both fail, and the test wants the words of the reference."""
    cause = evidence.cause
    wanted = any(words in said and words not in cause.model_snippet for words in _thrown(cause.expected_snippet))
    return wanted and bool(_THROWN.search(cause.model_snippet))


_BLANK: Final = re.compile(r"\s|\\[nrt]")  # also as a printed text has it


def exact_layout(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The two texts differ in nothing but blanks."""
    expected, received = complaint.diagnostic.expected, complaint.diagnostic.received
    if expected is None or received is None or expected == received:
        return None
    if _BLANK.sub("", expected) != _BLANK.sub("", received):
        return None
    return Opinion(
        "check",
        "exact_layout",
        f"The grader wants the same text with other blanks: {complaint.said}",
        f"What was wanted and what came differ in nothing but white space ({complaint.said}). "
        f"The task does not say how it is to be laid out.",
        "the two texts are the same but for blanks",
        (complaint.place,),
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
