"""Tests of behaviour, and whatever no other rule knows."""

from convex_evals.analysis.classification.rules.rule import complaint, first_words, outcome, title
from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Evidence
from convex_evals.core.wording import listed


def wrong_behaviour(evidence: Evidence) -> Classification | None:
    """A test of behaviour failed, over something the task says."""
    tests = evidence.failed_diagnostics if evidence.failed_step == "tests" else ()
    facts = evidence.counterfactuals
    if not tests or facts.behaviour_passes:
        return None
    test = tests[0]
    stated = [demand.text for demand in facts.demands if demand.stated]
    said = f" The task says it: {listed(stated[:4])}." if stated else ""
    return Classification(
        "MODEL_FAULT",
        0.8 if stated else 0.6,
        f"{title(test)}: {outcome(test)}",
        f"The test {test.name or 'that failed'} ran the answer and found that it does not do what is asked: "
        f"{outcome(test)}.{said}",
        first_words(evidence),
        "wrong_behaviour",
    )


def whatever_else(evidence: Evidence) -> Classification:
    """What a step refuses is the answer's, unless something says otherwise."""
    said = complaint(evidence)
    return Classification(
        "MODEL_FAULT",
        0.6 if evidence.error or evidence.failed_diagnostics else 0.4,
        f"The step {evidence.failed_step} refused the answer: {said}",
        f"The step {evidence.failed_step} failed and said: {said}. "
        f"Nothing in the evidence points at the task, the grader or a documented gap.",
        first_words(evidence),
        "whatever_else",
    )
