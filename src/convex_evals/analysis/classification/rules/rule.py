"""What a rule is, and how rules speak."""

from collections.abc import Callable

from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Evidence
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.wording import shortened

Rule = Callable[[Evidence], Classification | None]
"""Looks at one thing; None when it has nothing to say."""


def first_words(evidence: Evidence) -> tuple[str, ...]:
    """What the failed step complained about first, with its place."""
    return tuple(f"{each.place} {each.name or ''}".strip() for each in evidence.failed_diagnostics[:3])


def complaint(evidence: Evidence) -> str:
    """What the failed step said, on one line."""
    said = evidence.failed_diagnostics[0].message if evidence.failed_diagnostics else evidence.error
    return shortened(said) or "nothing that explains it"


def title(test: Diagnostic) -> str:
    return (test.name or "a test").removeprefix("test_").replace("_", " ")


def outcome(test: Diagnostic) -> str:
    if test.expected is not None and test.received is not None:
        return f"expected {shortened(test.expected, 60)}, received {shortened(test.received, 60)}"
    return shortened(test.message)
