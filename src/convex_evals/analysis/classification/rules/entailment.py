"""Whether the task entails what a failing test insists on: constants of the reference, and situations it provides for.

A constant is a name or a text that the reference spells out, the test wants and the answer does not have. A situation
is the condition of an `if` that the reference has and the answer has not. The task must speak of both.
"""

import re
from dataclasses import dataclass
from typing import Final

from convex_evals.analysis.classification.rules.opinion import Complaint, Opinion
from convex_evals.analysis.counterfactuals import task_of_test
from convex_evals.analysis.evidence import Cause, Evidence
from convex_evals.analysis.task import mentions
from convex_evals.analysis.terms import words_of
from convex_evals.core.text import listed, shortened

_QUOTED: Final = re.compile(r"\"([^\"\n]{2,80})\"|'([^'\n]{2,80})'|`([^`\n]{2,80})`")
_LITERAL: Final = re.compile(r"\"([^\"\n]+)\"|'([^'\n]+)'|`([^`\n]+)`")
_IMPORT: Final = re.compile(r"^import\b[^;]*?from [\"'][^\"'\n]+[\"'];?", re.MULTILINE)
_FIELD: Final = re.compile(r"\b(?:fields?|propert(?:y|ies)|keys?)\b", re.I)
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_METHOD: Final = re.compile(r"\.(\w+)\(")
_PATH: Final = re.compile(r"(?:[\w/]+:)?(\w+)")
_MISSING: Final = re.compile(
    r"\b(?:could not|couldn't|cannot|can't) find\b|\bnot found\b|\bmissing\b|\bno such\b|\bdoes(?: not|n't) exist\b"
    r"|\bis not (?:a function|defined|exported)\b",
    re.I,
)


def unstated_constant(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The test wants a name or a text that only the reference has; the answer chose another, as it may."""
    if complaint.kind not in ("behaviour", "declarations") or not evidence.task:
        return None
    wanted = wanted_constants(complaint, evidence)
    if not wanted or any(mentions(evidence.task, each) for each in wanted):
        return None
    return Opinion(
        "task" if _FIELD.search(complaint.message) else "check",
        "unstated_constant",
        f"The test insists on {listed(wanted)}, which the task does not give.",
        f"The test failed because the answer does not have {listed(wanted)} ({complaint.said}). "
        f"The reference does, but the task does not name it, so no answer could know it.",
        f"the task does not give {listed(wanted[:3])}",
        (complaint.place,),
    )


def wanted_constants(complaint: Complaint, evidence: Evidence) -> list[str]:
    """Of what the test asks for, the names and texts that the reference spells out and the answer does not have."""
    reference = "\n".join([evidence.cause.expected_snippet, *evidence.answer.values()])
    own = "\n".join([evidence.cause.model_snippet, *evidence.files.values()])
    if not reference.strip() or not own.strip() or not _differs_in_a_constant(evidence):
        return []
    spelled = _IMPORT.sub("", reference)
    literals = {text for found in _LITERAL.findall(spelled) for text in found if text and not text.startswith("_")}
    asked = complaint.diagnostic.expected or ""
    # The kind of a thing may be the name of the method that made it.
    wanted = [
        text for text in _texts(asked) if text in literals or text in _METHOD.findall(evidence.cause.expected_snippet)
    ]
    if not wanted and _MISSING.search(complaint.message):
        names = set(_NAME.findall(reference))
        wanted = [name for text in _texts(complaint.message) if (name := _last(text)) in names and name[0] != "_"]
    return [each for each in dict.fromkeys(wanted) if not mentions(own, each)]


def _differs_in_a_constant(evidence: Evidence) -> bool:
    """The answer has a name or a text of its own in the place of the reference's."""
    cause = evidence.cause
    if not cause.model_snippet.strip() or not cause.expected_snippet.strip():
        return bool(evidence.files) or any(_came_from(each.received, cause) for each in evidence.failed_diagnostics)
    sides = [{*_texts(each), *_NAME.findall(each)} for each in (cause.model_snippet, cause.expected_snippet)]
    return bool(sides[0] - sides[1]) and bool(sides[1] - sides[0])


def _came_from(received: str | None, cause: Cause) -> bool:
    """The received value is a text that the answer spells out."""
    return bool(received) and any(each in _texts(cause.model_snippet) for each in _texts(received or ""))


def _texts(said: str) -> list[str]:
    return [text for found in _QUOTED.findall(said) for text in found if text]


def _last(text: str) -> str:
    found = _PATH.fullmatch(text)
    return found[1] if found else ""


_CONSTANT: Final = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`\n]*)`|(?<![\w.])(\d[\d_]*(?:\.\d+)?)(?![\w.])")
_COMMENT: Final = re.compile(r"(?<![:\"'])//[^\n]*|/\*.*?\*/", re.DOTALL)
_SIGNS: Final = {"-": "hyphen dash", "_": "underscore", ",": "comma", " ": "space blank", ";": "semicolon", ".": "dot"}
_NUMBERS: Final = {
    2: "two twice double",
    3: "three",
    4: "four",
    5: "five",
    10: "ten",
    12: "dozen",
    100: "hundred percent",
}
_PERIOD: Final = re.compile(r"\b(?:second|minute|hour|da(?:y|ily)|week|month|year|midnight|noon)", re.I)
_MEANT_BY_CONVEX: Final = re.compile(r"asc|desc|GET|POST|PUT|PATCH|DELETE|OPTIONS|HEAD|[01]|")


def other_constant(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The code is the reference's but for a text or a number, and the task does not give the reference's."""
    if complaint.kind != "behaviour" or not evidence.task:
        return None
    swapped = swapped_constants(evidence.cause.model_snippet, evidence.cause.expected_snippet)
    if not swapped or any(_is_given(each, evidence.task) for each in swapped):
        return None
    wanted = listed(f"“{each}”" for each in swapped)
    return Opinion(
        "check" if any(" " in each for each in swapped) else "task",
        "other_constant",
        f"The answer differs from the reference only in {wanted}, which the task does not give.",
        f"All in which the answer's code differs from the reference is that the reference has {wanted}. "
        f"The test insists on it ({complaint.said}), but the task does not say so.",
        f"the task does not give {wanted}",
        (complaint.place,),
    )


def swapped_constants(model: str, expected: str) -> list[str]:
    """The reference's constants in whose place the answer has others, if the code is the same otherwise."""
    own, theirs = (_COMMENT.sub("", each) for each in (model, expected))
    frames = ["".join(_CONSTANT.sub("§", each).split()).rstrip(";") for each in (own, theirs)]
    if not frames[0] or frames[0] != frames[1]:
        return []
    sides = [["".join(found) for found in _CONSTANT.findall(each)] for each in (own, theirs)]
    return [that for this, that in zip(*sides, strict=True) if this != that]


def _is_given(constant: str, task: str) -> bool:
    """As it is or in other words; or there is no telling."""
    if _MEANT_BY_CONVEX.fullmatch(constant) or mentions(task, constant):
        return True
    if re.fullmatch(r"\d[\d_]*(?:\.\d+)?", constant):
        number = float(constant.replace("_", ""))
        spelled = words_of(_NUMBERS.get(int(number), "")) & words_of(task)
        return bool(spelled or _PERIOD.search(task)) or f"{number:g}" in re.findall(r"[\d.]*\d", task.replace(",", ""))
    if not re.search(r"[A-Za-z]", constant) and re.search(r"\d", constant):
        return True  # a notation, such as that of a cron, for what the task says in words
    if not re.search(r"\w\w", constant):
        named = words_of(" ".join(_SIGNS.get(each, "") for each in constant))
        return constant.strip("`\"' ") in _QUOTED_SIGN.findall(task) or bool(named & words_of(task))
    return " " not in constant and bool(words_of(constant)) and words_of(constant) <= words_of(task)


_QUOTED_SIGN: Final = re.compile(r"[\"'`]([^\w\s]{1,3})[\"'`]")
UNKNOWN: Final = 0.5


def mentioned(evidence: Evidence) -> float:
    """The share of what the failing test is about, by its name and by what only the reference has, that the task
    mentions: from 0 to 1."""
    cause, tests = evidence.cause, evidence.failed_diagnostics[:1]
    names = words_of(" ".join((each.name or "").removeprefix("test_") for each in tests))
    about = names | (words_of(cause.expected_snippet) - words_of(cause.model_snippet))
    return len(about & words_of(evidence.task)) / len(about) if about and evidence.task else UNKNOWN


@dataclass(frozen=True)
class Situation:
    """`code`: a condition that tests for it. `told`: how a task speaks of it."""

    name: str
    code: re.Pattern[str]
    told: re.Pattern[str]


def _situation(name: str, code: str, told: str) -> Situation:
    return Situation(name, re.compile(code), re.compile(told, re.I))


SITUATIONS: Final = (
    _situation(
        "an empty text or list",
        r"[=!]==? *(?:\"\"|''|``)|\.length *(?:[=!]==? *0|< *1|> *0)|\.trim\(\)|\.size *[=!]==? *0",
        r"\b(?:non-?)?empty\b|\bblank|\bat least (?:one|1)\b|\bwhite ?space|\bno (?:text|characters)\b|\brequired\b",
    ),
    _situation(
        "a number that is negative, zero or no integer",
        r"<=? *0\b|< *1\b|Number\.is(?:Integer|Finite|NaN)|\bisNaN\b",
        r"\b(?:non-?)?(?:negative|positive|zero|integer|finite|whole|natural)\b|\bat least\b|\bgreater\b|\bmore than\b"
        r"|\bbelow\b|\bvalid\b|(?<!\w)[<>≥≤]",
    ),
    _situation(
        "the same thing twice",
        r"\.has\(|\.includes\(|\bexisting\b|\bduplicate|\balready\b",
        r"\btwice\b|\bduplicat|\balready\b|\bsame\b|\buniq|\bonce\b|\bexist|\bdistinct\b|\bagain\b|\bearlier\b|\bupsert"
        r"|\beach\b|\bat most one\b|\breplac|\bupdat",
    ),
)
_IF: Final = re.compile(r"\bif *\((?P<condition>[^\n]*?)\) *(?:\{|return\b|throw\b|continue\b)")


def unstated_situation(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The reference provides for a situation of which the task does not speak, and the test insists on it."""
    if complaint.kind != "behaviour" or not evidence.task:
        return None
    cause = evidence.cause
    conditions = [found["condition"] for found in _IF.finditer(cause.expected_snippet)]
    own = cause.model_snippet
    task = task_of_test(complaint.diagnostic, evidence)
    for condition in conditions:
        met = [each for each in SITUATIONS if each.code.search(condition) and not each.code.search(own)]
        if met and not any(each.told.search(task) for each in met) and not _is_told(condition, task):
            return _open(complaint, met[0].name, condition)
    return None


def _is_told(condition: str, task: str) -> bool:
    """The task compares the same things in some way."""
    numbers = set(re.findall(r"\b[2-9]\d*|\b1\d+", condition))
    return bool(numbers & set(re.findall(r"\d+", task))) or bool(words_of(condition) & {"error"})


def _open(complaint: Complaint, situation: str, condition: str) -> Opinion:
    return Opinion(
        "task",
        "unstated_situation",
        f"The task does not speak of {situation}, and the test insists on what happens then.",
        f"The reference provides for {situation} ({shortened(condition, 80)}), the answer does not, and the test "
        f"depends on it ({complaint.said}). The task says nothing about it, so either is a fair reading.",
        f"the task is silent about {situation}",
        (complaint.place,),
    )
