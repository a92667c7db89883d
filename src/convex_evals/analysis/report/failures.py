"""One failure in the report."""

from collections.abc import Iterator

from convex_evals.analysis.report.text import code, fenced, inline
from convex_evals.analysis.report.types import FailureReport


def failure_lines(number: int, failure: FailureReport) -> Iterator[str]:
    """The heading and its list. Whatever a model wrote is in code or escaped."""
    trial = f" (trial {failure.trial})" if failure.trial > 1 else ""
    yield f"### {number}) {inline(failure.eval)}{trial} — {failure.failure_class}"
    yield f"- **Failed step**: {failure.failed_step}"
    yield f"- **Error**: {code(failure.error) or 'nothing was said'}"
    yield from _snippet("Model snippet", failure.model_snippet)
    yield from _snippet("Expected snippet", failure.expected_snippet)
    yield f"- **Cause**: {inline(failure.cause_note)}"
    yield f"- **Reasoning**: {inline(failure.classification.reasoning)}"
    yield "- **Evidence**:"
    yield from (f"  - {inline(line)}" for line in failure.evidence or ("None beyond the error.",))
    yield f"- **Confidence**: {_confidence(failure)}"
    yield f"- **History**: {inline(' '.join(filter(None, (failure.history, failure.cure))))}"
    if failure.label is not None:
        yield f"- **Label**: {_label(failure)}"


def _snippet(title: str, text: str) -> Iterator[str]:
    if not text.strip():
        yield f"- **{title}**: none"
        return
    yield f"- **{title}**:"
    yield ""
    yield fenced(text, indent="  ")
    yield ""


def _confidence(failure: FailureReport) -> str:
    judged = failure.classification
    by = f"{judged.engine}, {judged.rule}" if judged.rule else judged.engine
    note = f" {inline(judged.note)}" if judged.note else ""
    return f"{judged.confidence:.0%} ({by}).{note}"


def _label(failure: FailureReport) -> str:
    label = failure.label
    assert label is not None
    said = f"{label.failure_class} by {inline(label.author)} on {label.date}: {inline(label.why)}"
    engine = failure.classification.failure_class
    return said if engine == label.failure_class else f"{said} The engine had said {engine}."
