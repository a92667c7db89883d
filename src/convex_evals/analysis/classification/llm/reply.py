"""What the analyst replied, taken apart without trusting it."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final, cast

from convex_evals.core.verdicts import CLASSES, FailureClass
from convex_evals.core.wording import shortened, visible

MOST_SUMMARY: Final = 200
MOST_REASONING: Final = 1200
MOST_CITED: Final = 8
_OBJECT: Final = re.compile(r"\{.*\}", re.DOTALL)


class MalformedReply(Exception):
    """The message says what is wrong, in words that the analyst can use."""


@dataclass(frozen=True, slots=True)
class Judgement:
    failure_class: FailureClass
    confidence: float
    summary: str
    reasoning: str
    cited: tuple[str, ...]


def read_judgement(text: str) -> Judgement:
    """From a reply that should be one JSON object; a fence or a sentence around it does no harm."""
    content = _object(text)
    failure_class = content.get("class")
    if failure_class not in CLASSES:
        raise MalformedReply(f"'class' must be one of {', '.join(CLASSES)}.")
    confidence = content.get("confidence")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise MalformedReply("'confidence' must be a number from 0 to 1.")
    cited = content.get("cited") or []
    if not isinstance(cited, list) or not all(isinstance(each, str) for each in cited):
        raise MalformedReply("'cited' must be a list of texts.")
    return Judgement(
        cast(FailureClass, failure_class),
        float(confidence),
        _text(content, "summary", MOST_SUMMARY),
        _text(content, "reasoning", MOST_REASONING),
        tuple(shortened(visible(each), MOST_SUMMARY) for each in cited[:MOST_CITED]),
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
