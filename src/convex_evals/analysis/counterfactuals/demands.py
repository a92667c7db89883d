"""What a failing test insists on, and whether the task says it."""

import re
from collections.abc import Iterator
from typing import Final

from convex_evals.analysis.evidence import Demand
from convex_evals.core.diagnostics import Diagnostic

MOST: Final = 12
_FUNCTION: Final = re.compile(r"[\"'][\w/]+:(\w+)[\"']")
_KEY: Final = re.compile(r"[\"']?(\w{2,40})[\"']?\s*:(?!//)")
_PHRASE: Final = re.compile(r"\"([^\"\n]{3,80})\"|'([^'\n]{3,80})'")
_STATUS: Final = re.compile(r"(?<![\w.])([1-5]\d\d)(?![\w.])")
_DIFFERENCE: Final = re.compile(r"first difference: (?P<path>[^:\n]+):")
_DECLARED: Final = re.compile(r"^(?P<name>[\w:/]+)(?: (?P<part>args|returns))?: expected ", re.MULTILINE)
_MUST_FAIL: Final = re.compile(r"fails\(\s*[\"']([^\"']+)[\"']")
_CHECKED: Final = re.compile(r"\bassert|\bexpect\b|==|\bfails\(|\braises\b|toThrow|toEqual|toBe")


def read_demands(tests: tuple[Diagnostic, ...], task: str, grader: str) -> tuple[Demand, ...]:
    """In the order in which they are met. Without the task nothing can be said."""
    if not task:
        return ()
    terms = dict.fromkeys(term for test in tests for term in _terms(test, grader))
    return tuple(Demand(term, is_stated(term, task)) for term in list(terms)[:MOST])


def is_stated(term: str, task: str) -> bool:
    """As it is, or as the words it is made of."""
    if re.search(rf"(?<!\w){re.escape(term)}(?!\w)", task, re.IGNORECASE):
        return True
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|\d+", term) if len(word) > 1]
    stated = set(re.findall(r"[a-z]+|\d+", task.lower()))
    return len(words) > 1 and all(word in stated or f"{word}s" in stated for word in words)


def _terms(test: Diagnostic, grader: str) -> Iterator[str]:
    assertion, expected = test.assertion or "", test.expected or ""
    yield from _FUNCTION.findall(assertion)
    yield from _MUST_FAIL.findall(assertion)
    if found := _DIFFERENCE.search(test.message):
        yield from (part for part in re.findall(r"[A-Za-z_]\w+", found["path"]) if not part.startswith("at"))
    for declared in _DECLARED.finditer(test.message):
        yield declared["part"] or declared["name"].rpartition(":")[2]
    if "{" in expected:
        yield from (key for key in _KEY.findall(expected) if not key.startswith("_") and not key.isdigit())
    yield from (phrase for phrase in _phrases(expected) if not _is_data(phrase, grader))
    yield from _STATUS.findall(assertion) if "status" in assertion else ()


def _phrases(expected: str) -> Iterator[str]:
    """Sentences that an answer would have to use word for word."""
    for double, single in _PHRASE.findall(expected):
        if " " in (text := double or single):
            yield text


def _is_data(phrase: str, grader: str) -> bool:
    """Whether the grader puts the phrase in itself before it asks for it."""
    return any(phrase in line and not _CHECKED.search(line) for line in grader.splitlines())
