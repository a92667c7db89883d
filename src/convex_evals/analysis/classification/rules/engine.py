"""The rules in their order: the first that applies decides."""

from typing import Final

from convex_evals.analysis.classification.rules.ambiguity import another_reading, missing_detail
from convex_evals.analysis.classification.rules.gaps import (
    FAINT_GAP,
    documented_gap,
    same_as_reference,
    undocumented_failure,
    unstable_verdict,
)
from convex_evals.analysis.classification.rules.mistakes import (
    broken_types_or_lint,
    invented_api,
    types_of_the_environment,
    whatever_else,
    wrong_behaviour,
)
from convex_evals.analysis.classification.rules.rule import Rule
from convex_evals.analysis.classification.rules.strictness import (
    declarations_beyond_the_task,
    exact_wording,
    lint_of_taste,
    stricter_input_check,
)
from convex_evals.analysis.classification.types import Classification, EngineName
from convex_evals.analysis.evidence import Evidence

RULES: Final[tuple[Rule, ...]] = (
    documented_gap,
    unstable_verdict,
    invented_api,
    same_as_reference,
    undocumented_failure,
    types_of_the_environment,
    lint_of_taste,
    broken_types_or_lint,
    declarations_beyond_the_task,
    stricter_input_check,
    exact_wording,
    another_reading,
    missing_detail,
    wrong_behaviour,
)


class RulesEngine:
    name: EngineName = "rules"

    async def classify(self, evidence: Evidence) -> Classification:
        found = (classification for rule in RULES if (classification := rule(evidence)))
        decided = next(found, None) or whatever_else(evidence)
        if decided.failure_class in ("OVERLY_STRICT", "AMBIGUOUS_TASK"):
            # It is ours anyway; whether we knew is what remains to be asked.
            return documented_gap(evidence, FAINT_GAP) or decided
        return decided
