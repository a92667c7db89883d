"""The lines that matter of tests that did not pass."""

import re
from collections.abc import Sequence
from typing import Final

from convex_evals.core.diagnostics import TestResult

MOST_TESTS: Final = 5
MOST_LINES: Final = 14
MOST_CHARACTERS: Final = 600  # per line
_UNPRINTABLE: Final = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")


def excerpt_of(tests: Sequence[TestResult]) -> str:
    """The first few tests, each with its message; the log has all of them."""
    parts = [_test(test) for test in tests[:MOST_TESTS]]
    if len(tests) > MOST_TESTS:
        others = ", ".join(test.name for test in tests[MOST_TESTS:])
        parts.append(_shortened(f"and {len(tests) - MOST_TESTS} more: {others}"))
    return "\n".join(parts)


def _test(test: TestResult) -> str:
    place = f" ({test.place})" if test.file and test.file.endswith(".py") else ""  # a name in vitest is a way by itself
    lines = reason(test).splitlines() or ["no reason given"]
    shown = [f"  {_shortened(line)}".rstrip() for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"  … {len(lines) - MOST_LINES} more lines")
    return "\n".join([f"✗ {test.name}{place}", *shown])


def reason(test: TestResult) -> str:
    return f"skipped, which is not a pass: {test.message}" if test.status == "skipped" else test.message


def _shortened(line: str) -> str:
    """Control characters and halves of surrogate pairs as escapes: a terminal, a database or a page shows this."""
    cut = line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]}…"
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode(), cut)
