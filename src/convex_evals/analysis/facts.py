"""Evidence in sentences: what a reader should know before believing a classification."""

from collections.abc import Iterator

from convex_evals.analysis.evidence import Counterfactuals, Evidence
from convex_evals.core.diagnostics import Diagnostic, comparison, without_type_arguments
from convex_evals.core.text import count, listed, shortened


def evidence_lines(evidence: Evidence) -> tuple[str, ...]:
    return (
        *_complaints(evidence),
        *(f"API: {symbol} ({symbol.file}:{symbol.line})." for symbol in evidence.unknown_symbols[:4]),
        *_differences(evidence),
        *_parity(evidence),
        *_counterfactuals(evidence.counterfactuals),
        *_gap(evidence),
    )


def error_line(evidence: Evidence) -> str:
    """What went wrong, in one line."""
    if evidence.failed_diagnostics:
        return shortened(_said(evidence.failed_diagnostics[0]), 240)
    return shortened(evidence.error, 240)


def fingerprints(evidence: Evidence) -> tuple[str, ...]:
    """Of everything that the failed step complained about, each once."""
    return tuple(dict.fromkeys(each.fingerprint for each in evidence.failed_diagnostics if each.fingerprint))


def causes(evidence: Evidence) -> tuple[str, ...]:
    """Names of the mistake for grouping, the most telling first."""
    symbols = [f"api:{symbol.owner} has no {symbol.name}" for symbol in evidence.unknown_symbols]
    return (*dict.fromkeys(symbols), *fingerprints(evidence))


def _complaints(evidence: Evidence) -> Iterator[str]:
    for each in evidence.failed_diagnostics[:3]:
        place = f"{each.place}: " if each.place else ""
        yield f"{place}{shortened(_said(each), 300)}"
    rest = len(evidence.failed_diagnostics) - 3
    if rest > 0:
        yield f"And {rest} more of the step {evidence.failed_step}."
    others = [step for step in evidence.steps if step.status == "failed" and step.name != evidence.failed_step]
    if others:
        yield f"Also failed: {listed(step.name for step in others)}."
    if evidence.tests is not None and evidence.tests.total:
        yield f"{evidence.tests.passed} of {count(evidence.tests.total, 'test')} passed."


def _said(diagnostic: Diagnostic) -> str:
    first = next((line for line in diagnostic.message.splitlines() if line.strip()), "")
    name = f"{diagnostic.name}: " if diagnostic.name else ""
    if diagnostic.step == "tests" and (compared := comparison(diagnostic, 90)):
        return f"{name}{compared}"
    return f"{name}{without_type_arguments(first) if diagnostic.step == 'tsc' else first}"


def _differences(evidence: Evidence) -> Iterator[str]:
    for difference in evidence.differences[:4]:
        yield f"Differs from the reference: {shortened(str(difference), 240)}."
    if len(evidence.differences) > 4:
        yield f"And {len(evidence.differences) - 4} more differences from the reference."


def _parity(evidence: Evidence) -> Iterator[str]:
    parity = evidence.parity
    if parity is None:
        return
    if parity.complaints is not None:
        said = "passes" if not parity.complaints else "does not pass"
        yield f"The reference answer {said} the step {evidence.failed_step}."
    if parity.configuration_cures is not None:
        cured = "passes" if parity.configuration_cures else "still fails"
        yield f"With the reference's configuration and the answer's own code, the step {cured}."


def _counterfactuals(facts: Counterfactuals) -> Iterator[str]:
    if facts.passes_without_lint:
        rules = listed(facts.lint_rules)
        yield f"Everything else passed: without {rules} the answer would have passed."
    if facts.behaviour_passes:
        yield "Every test of behaviour passed."
    if facts.other_trials is not None:
        trials = facts.other_trials
        yield f"Other trials of this run: {trials.passed} of {trials.total} passed."
    if facts.same_answer is not None and facts.same_answer.passed:
        yield f"The very same files passed {facts.same_answer.passed} times elsewhere."
    if facts.other_models:
        yield _other_models(facts)
    if facts.demands:
        yield _demands(facts)


def _other_models(facts: Counterfactuals) -> str:
    passed = sum(other.passed for other in facts.other_models)
    same = sum(other.same_check for other in facts.other_models)
    models = count(len(facts.other_models), "other model")
    return f"Of {models}, {passed} passed this eval and {same} failed at the same check."


def _demands(facts: Counterfactuals) -> str:
    stated = [demand.text for demand in facts.demands if demand.stated]
    said = f"Stated in TASK.txt: {listed(stated)}." if stated else ""
    unsaid = f"Not stated in TASK.txt: {listed(facts.unstated)}." if facts.unstated else ""
    return " ".join(filter(None, (said, unsaid)))


def _gap(evidence: Evidence) -> Iterator[str]:
    if evidence.gap is not None:
        shared = listed(evidence.gap.terms)
        demanded = " The task itself requires it, so that is no excuse." if evidence.gap.demanded else ""
        yield f"GAPS.txt shares {shared} with this failure: “{shortened(evidence.gap.passage, 240)}”{demanded}"
    elif evidence.gaps:
        yield "GAPS.txt of this eval says nothing about this."
