"""Gate, then a judgement of every complaint, then the two answers: whose fault, and whether it is documented."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from convex_evals.analysis.classification.rules.ambiguity import another_reading, missing_detail
from convex_evals.analysis.classification.rules.choices import chosen_in_code
from convex_evals.analysis.classification.rules.entailment import (
    mentioned,
    other_constant,
    unstated_constant,
    unstated_situation,
)
from convex_evals.analysis.classification.rules.gate import nothing_to_judge, outside_trouble
from convex_evals.analysis.classification.rules.mistakes import (
    broken_lint,
    broken_types,
    forbidden_by_task,
    invented_api,
    missing_set_up,
    refused_answer,
    unrequested_file,
    wrong_behaviour,
)
from convex_evals.analysis.classification.rules.opinion import SEVERITY, Complaint, Opinion, Rule, complaints_of
from convex_evals.analysis.classification.rules.sameness import (
    configuration_only,
    graders_own_file,
    reference_fails_too,
    same_as_reference,
    unstable_verdict,
)
from convex_evals.analysis.classification.rules.strictness import (
    declarations_beyond_the_task,
    exact_layout,
    exact_wording,
    licensed_by_task,
    lint_of_taste,
    stricter_input_check,
)
from convex_evals.analysis.classification.types import Classification, EngineName, class_of, confidence_of
from convex_evals.analysis.evidence import Cause, Evidence, GapMatch
from convex_evals.analysis.gaps import LEAST, closest_gap, match_gap, read_gaps
from convex_evals.analysis.lint import is_about_any
from convex_evals.core.text import listed, shortened

RULES: Final[tuple[Rule, ...]] = (
    outside_trouble,
    nothing_to_judge,
    reference_fails_too,
    unstable_verdict,
    graders_own_file,
    unrequested_file,
    configuration_only,
    invented_api,
    same_as_reference,
    lint_of_taste,
    licensed_by_task,
    broken_lint,
    missing_set_up,
    broken_types,
    forbidden_by_task,
    declarations_beyond_the_task,
    stricter_input_check,
    exact_wording,
    exact_layout,
    unstated_constant,
    another_reading,
    other_constant,
    unstated_situation,
    missing_detail,
    wrong_behaviour,
)
"""In this order; the first that applies judges the complaint."""


GATE: Final = frozenset({outside_trouble.__name__, nothing_to_judge.__name__})
"""Rules that say that no verdict is possible."""
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


class Weighed(NamedTuple):
    """What a rule says about the complaint that decides, the entry of GAPS.txt that documents it, and what tells how
    far to trust that."""

    opinion: Opinion
    gap: GapMatch | None
    features: Mapping[str, float]

    @property
    def rule(self) -> str:
        return "documented_gap" if self.gap else self.opinion.rule


class RulesEngine:
    name: EngineName = "rules"

    async def classify(self, evidence: Evidence) -> Classification:
        weighed = weigh(evidence)
        return _classification(weighed, confidence_of(weighed.features))


def weigh(evidence: Evidence) -> Weighed:
    opinions = [(each, judge(each, evidence)) for each in complaints_of(evidence)]
    _, opinion = min(opinions, key=_badness)
    gap = _documented(evidence, opinions)
    return Weighed(opinion, gap, features_of(evidence, opinion, gap))


def judge(complaint: Complaint, evidence: Evidence) -> Opinion:
    found = (opinion for rule in RULES if (opinion := rule(complaint, evidence)))
    return next(found, None) or refused_answer(complaint, evidence)


def _badness(judged: tuple[Complaint, Opinion]) -> tuple[bool, int]:
    """The model's own complaints first, the worst of them first of all."""
    complaint, opinion = judged
    return (opinion.fault != "model", SEVERITY.index(complaint.kind))


def _documented(evidence: Evidence, opinions: list[tuple[Complaint, Opinion]]) -> GapMatch | None:
    """An entry that covers everything for which the answer would be blamed, or else the failure as a whole."""
    deciding = {opinion.rule for _, opinion in opinions}
    whole = evidence.gap or match_gap(evidence)
    blamed = any(opinion.fault == "model" for _, opinion in opinions)
    if whole is None or (whole.demanded and blamed) or deciding & {"outside_trouble", "unrequested_file"}:
        return None
    if "nothing_to_judge" in deciding and whole.blames != "check":
        return None
    own = [complaint for complaint, opinion in opinions if opinion.fault == "model" and complaint.kind == "lint"]
    rules = {complaint.diagnostic.name for complaint in own if complaint.diagnostic.name}
    documented = {rule for rule in rules if match_gap(evidence, rule)}
    if any(is_about_any(rule) for rule in documented):  # one `any` breaks several of them
        documented |= {rule for rule in rules if is_about_any(rule)}
    return whole if len(rules) < 2 or documented == rules else None


def _classification(weighed: Weighed, confidence: float) -> Classification:
    opinion, gap, _ = weighed
    if gap is None:
        said = Said(opinion.summary, opinion.reasoning, opinion.because)
        cited, fault, failure_class = opinion.cited, opinion.fault, class_of(opinion.fault, documented=False)
    else:
        said, cited = _gap_words(gap), ("GAPS.txt", *opinion.cited)
        fault = opinion.fault if gap.blames == "model" else gap.blames
        failure_class = class_of("task" if gap.excused else fault, documented=not gap.excused)
    return Classification(
        failure_class,
        confidence,
        said.summary,
        said.reasoning,
        tuple(filter(None, dict.fromkeys(cited))),
        weighed.rule,
        fault=fault,
        documented=gap is not None and not gap.excused,
        decided_by=said.because,
        guessed=weighed.rule in GATE,
    )


class Said(NamedTuple):
    summary: str
    reasoning: str
    because: str


def _gap_words(gap: GapMatch) -> Said:
    again = " It is marked as resolved, and is back." if gap.resolved else ""
    return Said(
        f"GAPS.txt already says so: {shortened(gap.passage)}",
        f"GAPS.txt of this eval documents the cause that this answer met: “{shortened(gap.passage, 300)}” "
        f"It shares {listed(gap.terms)} with the failure.{again}",
        f"GAPS.txt: “{shortened(gap.passage, 120)}”",
    )


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
