"""What the analyst replied, taken apart without trusting it."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final, cast

from convex_evals.analysis.classification.types import FAULTS, Fault, class_of
from convex_evals.core.text import shortened, visible
from convex_evals.core.verdicts import FailureClass

MOST_SUMMARY: Final = 200
MOST_REASONING: Final = 1200
MOST_CITED: Final = 8
_OBJECT: Final = re.compile(r"\{.*\}", re.DOTALL)


class MalformedReply(Exception):
    """The message says what is wrong, in words that the analyst can use."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The two answers, and why."""

    fault: Fault
    documented: bool
    confidence: float
    summary: str
    reasoning: str
    cited: tuple[str, ...]
    decided_by: str

    @property
    def failure_class(self) -> FailureClass:
        return class_of(self.fault, documented=self.documented)


def read_judgement(text: str) -> Judgement:
    """From a reply that should be one JSON object; a fence or a sentence around it does no harm."""
    content = _object(text)
    fault, documented = content.get("fault"), content.get("documented")
    if fault not in FAULTS:
        raise MalformedReply(f"'fault' must be one of {', '.join(FAULTS)}.")
    if not isinstance(documented, bool):
        raise MalformedReply("'documented' must be true or false.")
    confidence = content.get("confidence")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise MalformedReply("'confidence' must be a number from 0 to 1.")
    cited = content.get("cited") or []
    if not isinstance(cited, list) or not all(isinstance(each, str) for each in cited):
        raise MalformedReply("'cited' must be a list of texts.")
    return Judgement(
        cast(Fault, fault),
        documented,
        float(confidence),
        _text(content, "summary", MOST_SUMMARY),
        _text(content, "reasoning", MOST_REASONING),
        tuple(shortened(visible(each), MOST_SUMMARY) for each in cited[:MOST_CITED]),
        _text(content, "decidedBy", MOST_SUMMARY),
    )


def _object(text: str) -> dict[str, Any]:
    found = _OBJECT.search(text)
    if found is None:
        raise MalformedReply("it holds no JSON object.")
    try:
        content = json.loads(found[0])
    except ValueError as error:
        raise MalformedReply(f"it is not valid JSON ({error}).") from error
    if not isinstance(content, dict):
        raise MalformedReply("it must be one JSON object.")
    return content


def _text(content: dict[str, Any], name: str, longest: int) -> str:
    value = content.get(name)
    if not isinstance(value, str) or not value.strip():
        raise MalformedReply(f"{name!r} must be a text.")
    return shortened(visible(value), longest)
