"""What is known about a verdict that tells how far to trust it: independent signals, and whether they agree with it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from convex_evals.analysis.classification.rules.choices import chosen_in_code
from convex_evals.analysis.classification.rules.entailment import mentioned
from convex_evals.analysis.classification.rules.opinion import Opinion
from convex_evals.analysis.evidence import Cause, Evidence, GapMatch
from convex_evals.analysis.gaps import LEAST, closest_gap, match_gap, read_gaps

BIAS: Final = "bias"
_BY_A_TOOL: Final = frozenset(
    {
        "broken_lint",
        "broken_types",
        "configuration_only",
        "forbidden_by_task",
        "graders_own_file",
        "invented_api",
        "reference_fails_too",
        "unrequested_file",
    }
)
"""Rules that rest on what a tool or the task says in so many words, and not on the absence of anything else."""


ACQUITTED: Final = "nothing but the task's silence speaks for the answer"
RAISING: Final = frozenset(
    {
        "a tool names the mistake",
        "a tool names the mistake, and nothing is documented",
        "a test alone, for something that the task says",
    }
)
"""What makes a verdict more certain; everything else makes it less."""


def features_of(evidence: Evidence, decided: Opinion, gap: GapMatch | None) -> Mapping[str, float]:
    """By name; what is not there counts as 0."""
    known = {BIAS: 1.0, **(_of_the_gap(evidence, gap) if gap else _of_the_rule(evidence, decided))}
    return {name: float(value) for name, value in known.items() if value}


def _of_the_gap(evidence: Evidence, gap: GapMatch) -> Mapping[str, float]:
    without_code = replace(evidence, cause=Cause(), gap=None)
    return {
        "documented": 1,
        "documented, in words only": not gap.certain,
        "documented, part of the entry that is not met": 1 - gap.score,
        "documented, but only by the code that differs": match_gap(without_code) is None,
    }


def _of_the_rule(evidence: Evidence, decided: Opinion) -> Mapping[str, float]:
    tested = decided.rule == "wrong_behaviour"
    stated = any(demand.stated for demand in evidence.counterfactuals.demands)
    close = min(LEAST, closest_gap(evidence)) / LEAST if evidence.gaps.strip() and decided.fault == "model" else 0.0
    named = decided.rule in _BY_A_TOOL
    return {
        "a tool names the mistake": named,
        "a tool names the mistake, and nothing is documented": named and not read_gaps(evidence.gaps),
        ACQUITTED: not named and decided.fault in ("check", "task"),
        "a test alone": tested,
        "a test alone, for something that the task says": tested and stated,
        "a test alone, the part of its subject that the task does not mention": tested and 1 - mentioned(evidence),
        "a test alone, over a choice of a kind that tasks leave open": tested and bool(chosen_in_code(evidence)),
        "not documented, but an entry is close": close,
    }
