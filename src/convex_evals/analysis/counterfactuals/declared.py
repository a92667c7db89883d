"""Tests that compare what is declared, not what happens."""

import re
from typing import Final

from convex_evals.core.diagnostics import Diagnostic

_ASSERTION: Final = re.compile(
    r"\b(?:same_function_spec|same_schema|function_?[sS]pec|api_?[sS]pec|compareSchema|compareFunctionSpec)\b"
    r"|\.schema\(\)|\.functions\(\)|\bfiles\.",
)
_MESSAGE: Final = re.compile(
    r"the functions differ from those of the task|the schema differs from that of the task"
    r"|\b(?:function|api) ?spec\b|\bfunctionSpec\b|\bapiSpec\b",
    re.IGNORECASE,
)


def compares_declarations(test: Diagnostic) -> bool:
    """Whether a test looks at function specs, schemas or sources instead of calling anything."""
    return bool(_ASSERTION.search(test.assertion or "") or _MESSAGE.search(test.message))
