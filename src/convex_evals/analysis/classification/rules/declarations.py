"""Tests that compare declarations instead of behaviour."""

import re
from typing import Final

from convex_evals.analysis.classification.rules.rule import complaint, first_words
from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Evidence
from convex_evals.core.wording import listed

RETURNS: Final = "returns"


def declarations_beyond_the_task(evidence: Evidence) -> Classification | None:
    """It behaves as it should, and fails over a declaration that the task does not ask for."""
    facts = evidence.counterfactuals
    if evidence.failed_step != "tests" or not facts.behaviour_passes:
        return None
    demanded = _demanded(evidence)
    if demanded is None:
        return None
    return Classification(
        "OVERLY_STRICT",
        0.75 if evidence.task else 0.6,
        f"No test of behaviour fails; the grader compares declarations that were not asked for: {demanded}.",
        f"The only tests that failed compare declarations ({complaint(evidence)}); none that calls a function did. "
        f"What they demand ({demanded}) is not in the task, so the answer was free to leave it out.",
        first_words(evidence),
        "declarations_beyond_the_task",
    )


def _demanded(evidence: Evidence) -> str | None:
    """What the comparison insists on beyond the task; None when the task asks for it."""
    if evidence.counterfactuals.unstated:
        return listed(evidence.counterfactuals.unstated)
    if re.search(r"\breturns? validat", evidence.task, re.IGNORECASE):
        return None
    if _lacks_returns(evidence):
        return "a returns validator"
    return None if evidence.counterfactuals.demands else "more than behaviour"


def _lacks_returns(evidence: Evidence) -> bool:
    declared = [each for each in evidence.differences if each.aspect == RETURNS]
    if declared:
        return all(each.received is None for each in declared)
    return f"{RETURNS}:" in evidence.cause.expected_snippet and f"{RETURNS}:" not in evidence.cause.model_snippet
