"""What a failing test expected and what it received, read from a message that a person or a foreign tool wrote."""

import re
from typing import Final, NamedTuple

_LABELLED: Final = re.compile(r"^\s*expected: (?P<expected>.*)\n\s*received: (?P<received>.*)$", re.MULTILINE)
_DECLARED: Final = re.compile(
    r"^(?P<what>[^\n]+?): expected (?P<expected>.+), received (?P<received>.+)$", re.MULTILINE
)
_OPERATOR: Final = re.compile(
    r"^assert (?P<received>.+?) (?P<operator>==|<=|>=|<|>|!=|in|not in) (?P<expected>.+)$", re.M
)
_TO_EQUAL: Final = re.compile(
    r"expected (?P<received>.+?) to (?:deeply |strictly )?(?:equal|be|match|contain|include)(?: [a-z]+)* "
    r"(?P<expected>.+?)(?: // .*)?$",
    re.MULTILINE,
)
_PLAIN: Final = re.compile(
    r"^\s*expected (?P<expected>[^\n]+?)[,;]?\s+(?:but )?(?:received|got) (?P<received>[^\n]+)$", re.MULTILINE
)
_MUST_FAIL: Final = re.compile(r"expected a call to fail(?: with (?P<text>.+?))?, but all calls succeeded")
_CALL_FAILED: Final = re.compile(r"CallFailed: (?P<path>\S+) failed on [^:]+: (?P<error>[^\n]+)")


class Comparison(NamedTuple):
    expected: str | None = None
    received: str | None = None


def compared(message: str) -> Comparison:
    for pattern in (_LABELLED, _DECLARED, _TO_EQUAL):
        if found := pattern.search(message):
            return Comparison(found["expected"].strip(), found["received"].strip())
    if failing := _MUST_FAIL.search(message):
        return Comparison(f"an error {failing['text'] or ''}".strip(), "success")
    if called := _CALL_FAILED.search(message):
        return Comparison("success", called["error"])
    if compared := _OPERATOR.search(message):
        sign = "" if compared["operator"] == "==" else f"{compared['operator']} "
        return Comparison(f"{sign}{compared['expected']}", compared["received"])
    if said := _PLAIN.search(message):
        return Comparison(said["expected"].strip(), said["received"].strip())
    return Comparison()
