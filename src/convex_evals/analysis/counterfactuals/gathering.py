"""Puts the counterfactuals of one failure together."""

from collections.abc import Sequence

from convex_evals.analysis.counterfactuals.declared import compares_declarations
from convex_evals.analysis.counterfactuals.demands import read_demands
from convex_evals.analysis.counterfactuals.neighbours import Neighbour
from convex_evals.analysis.evidence import Counterfactuals, Evidence, OtherModel, Repeats


def gather_counterfactuals(
    evidence: Evidence, own: Neighbour | None = None, neighbours: Sequence[Neighbour] = ()
) -> Counterfactuals:
    """What the evidence itself says, and what other results of the same eval add to it."""
    tests = tuple(each for each in evidence.diagnostics if each.step == "tests")
    rules = dict.fromkeys(each.name for each in evidence.diagnostics if each.step == "eslint" and each.name)
    others = [each for each in neighbours if each.eval == evidence.eval and own and each.attempt != own.attempt]
    return Counterfactuals(
        lint_rules=tuple(rules),
        passes_without_lint=_passes_without_lint(evidence),
        behaviour_passes=_behaviour_passes(evidence),
        other_trials=_other_trials(own, others),
        same_answer=_same_answer(own, others),
        other_models=_other_models(own, others),
        demands=read_demands(tests, evidence.task, evidence.grader),
    )


def _passes_without_lint(evidence: Evidence) -> bool | None:
    if evidence.failed_step != "eslint" or not evidence.steps:
        return None
    return all(step.status == "passed" for step in evidence.steps if step.name != "eslint")


def _behaviour_passes(evidence: Evidence) -> bool | None:
    """None when no test ran, or nothing but declarations was tested."""
    failed = [each for each in evidence.diagnostics if each.step == "tests"]
    if not failed:
        ran = evidence.tests is not None and evidence.tests.total > 0
        return evidence.tests.passed == evidence.tests.total if ran and evidence.tests else None
    if not all(compares_declarations(test) for test in failed):
        return False
    return None if evidence.tests is not None and evidence.tests.passed == 0 else True


def _other_trials(own: Neighbour | None, others: Sequence[Neighbour]) -> Repeats | None:
    found = [each for each in others if own and each.run == own.run and each.trial != own.trial]
    return _repeats(found)


def _same_answer(own: Neighbour | None, others: Sequence[Neighbour]) -> Repeats | None:
    """Wherever the very same files were graded: a verdict that changes is not the answer's doing."""
    return _repeats([each for each in others if own and own.files and each.files == own.files])


def _repeats(found: Sequence[Neighbour]) -> Repeats | None:
    passed = sum(each.passed for each in found)
    return Repeats(passed, len(found) - passed) if found else None


def _other_models(own: Neighbour | None, others: Sequence[Neighbour]) -> tuple[OtherModel, ...]:
    """The latest answer of each; models without a mind of their own say nothing."""
    latest: dict[str, Neighbour] = {}
    for each in others:
        if own and each.model != own.model and not each.is_built_in:
            latest.setdefault(each.model, each)
    return tuple(
        OtherModel(each.model, each.run, each.passed, bool(own and own.checks & each.checks))
        for each in latest.values()
    )
