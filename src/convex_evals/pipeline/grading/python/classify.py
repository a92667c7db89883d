"""Whose fault it is that a test did not pass."""

from collections.abc import Iterator

import pytest

from convex_evals.core.diagnostics import TestStatus
from convex_evals.pipeline.grading.kit import (
    CallTimedOut,
    DeploymentLost,
    DeploymentTrouble,
    EvalBroken,
    TimeIsUp,
    ToolCrashed,
)

# No answer can cause these: they are mistakes in the grader's own text.
_AUTHORS_MISTAKES = (EvalBroken, pytest.FixtureLookupError, NameError, ImportError, SyntaxError)


def classify(error: BaseException, *, meets_answer: bool = True) -> TestStatus:
    """Whatever an answer can cause is its failure: wrong values, the KeyError of a grader that looks at them, and the
    time and memory that looking at them takes, unless the test never meets the answer."""
    for cause in _causes(error):
        if isinstance(cause, TimeIsUp | MemoryError) and not meets_answer:
            return "hangs" if isinstance(cause, TimeIsUp) else "broken"
        if isinstance(cause, CallTimedOut) and cause.deployment == "answer":
            return "hangs"
        if isinstance(cause, DeploymentLost):
            return "lost"
        if isinstance(cause, ToolCrashed):
            return "crashed"
        if isinstance(cause, DeploymentTrouble) and cause.deployment == "answer":
            return "broken"
    return "broken" if isinstance(error, _AUTHORS_MISTAKES) else "failed"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was explicitly raised from."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__
