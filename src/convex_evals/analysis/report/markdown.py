"""The report as Markdown. Untrusted text is shown as text, whatever it says."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from convex_evals.analysis.classification.types import Fault
from convex_evals.analysis.evidence import Action
from convex_evals.analysis.report.types import (
    FailureReport,
    PriorReport,
    RepeatFacts,
    Report,
    RunFacts,
)
from convex_evals.core.ids import prefix
from convex_evals.core.text import count, visible

_SPECIAL = re.compile(r"([\\`*\[\]|<>&~]|(?<!\w)_|_(?!\w)|^[#+>-])")


def inline(text: str) -> str:
    """One line of plain words: no markup, no HTML, no table cell of its own."""
    line = " ".join(visible(text).split())
    return _SPECIAL.sub(r"\\\1", line)


def code(text: str) -> str:
    """`text` on one line, with as many backquotes around it as it takes."""
    line = " ".join(visible(text).split()).replace("|", "\\|")
    if not line:
        return ""
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fenced(text: str, language: str = "ts", indent: str = "") -> str:
    """A block that nothing in the text can close."""
    fence = "`" * max(3, _longest_run(text) + 1)
    lines = [f"{fence}{language}", *visible(text).strip("\n").splitlines(), fence]
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)


def failure_lines(number: int, failure: FailureReport) -> Iterator[str]:
    """The heading and its list. Whatever a model wrote is in code or escaped."""
    trial = f" (trial {failure.trial})" if failure.trial > 1 else ""
    yield f"### {number}) {inline(failure.eval)}{trial} — {failure.failure_class}"
    yield f"- **Failed step**: {failure.failed_step}"
    yield f"- **Fault**: {_fault(failure)}"
    yield f"- **Error**: {code(failure.error) or 'nothing was said'}"
    yield from _snippet("Model snippet", failure.model_snippet)
    yield from _snippet("Expected snippet", failure.expected_snippet)
    yield f"- **Cause**: {inline(failure.cause_note)}"
    yield f"- **Reasoning**: {inline(failure.classification.reasoning)}"
    yield "- **Evidence**:"
    yield from (f"  - {inline(line)}" for line in failure.evidence or ("None beyond the error.",))
    yield f"- **Decided by**: {inline(failure.classification.decided_by) or 'the whole of it'}"
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


_FAULTS: Final[dict[Fault, str]] = {
    "model": "the model",
    "check": "the grader, a lint rule or the set-up",
    "task": "the task",
    "nobody": "nobody: something outside failed, so there is no verdict",
}


def _fault(failure: FailureReport) -> str:
    judged = failure.classification
    return f"{_FAULTS[judged.fault]}; {'documented' if judged.documented else 'not documented'} in GAPS.txt"


def _confidence(failure: FailureReport) -> str:
    judged = failure.classification
    by = f"{judged.engine}, {judged.rule}" if judged.rule else judged.engine
    note = f" {inline(judged.note)}" if judged.note else ""
    unsure = " **Unsure: look at this.**" if judged.unsure and failure.label is None else ""
    return f"{judged.confidence:.0%} ({by}).{unsure}{note}"


def _label(failure: FailureReport) -> str:
    label = failure.label
    assert label is not None
    said = f"{label.failure_class} by {inline(label.author)} on {label.date}: {inline(label.why)}"
    engine = failure.classification.failure_class
    return said if engine == label.failure_class else f"{said} The engine had said {engine}."


NONE: Final = "None."


def report_markdown(report: Report) -> str:
    sections = (
        [f"# Run Analysis Report: {inline(report.run.model)}"],
        _section("Run metadata", _metadata(report)),
        _section("Prior reports check", _prior(report)),
        _section("Failure summary by step type", _summary(report)),
        _infrastructure(report),
        _section("Failure classification table", _classifications(report)),
        _unsure(report),
        _section("Per-failure analysis (details)", _details(report)),
        _section("Cross-cutting patterns", _patterns(report)),
        _suspicious(report),
        _section("Recommendations", _recommendations(report)),
        _section("Net impact assessment", _impact(report)),
        _section("Actions taken", _actions(report.actions)),
    )
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return [f"## {title}", "", *lines]


def _metadata(report: Report) -> Iterator[str]:
    run = report.run
    name = f" ({inline(run.model_name)})" if run.model_name else ""
    yield f"- **Run ID**: {code(run.id)}"
    yield f"- **Run ID prefix**: {code(prefix(run.id))}"
    yield f"- **Date**: {code(run.date)}"
    yield f"- **Provider**: {code(run.provider)}"
    yield f"- **Model**: {code(run.model)}{name}"
    yield f"- **Experiment**: {code(run.experiment)}"
    yield f"- **Status**: {code(run.status)}"
    yield f"- **Pass rate**: {pass_rate(run)}"
    if run.repeats is not None:
        yield f"- **Trials**: {_repeats(run.repeats, run)}"
    evals = len({failure.eval for failure in report.failures})
    trials = f", in {count(len(report.failures), 'trial')}" if run.total > run.evals else ""
    yield f"- **Failed evals**: {code(str(evals))}{trials}"
    yield f"- **Classified by**: {code(report.engine)}, on {report.date}"


def pass_rate(run: RunFacts) -> str:
    shown = code(f"{run.passed}/{run.verdicts}") + (" trials" if run.total > run.evals else "")
    if run.pass_rate is None:
        return f"{shown} (there is no verdict)"
    rest = f"; {run.total - run.verdicts} of {run.total} without verdict" if run.total > run.verdicts else ""
    return f"{shown} ({run.pass_rate:.1%}, 95 % interval {run.low:.1%} to {run.high:.1%}{rest})"


def _repeats(found: RepeatFacts, run: RunFacts) -> str:
    k, planned = found.trials, f"{run.evals} evals × {found.trials} trials"
    known = "" if found.evals == run.evals else f" over the {found.evals} evals with {k} verdicts"
    flaky = f"{len(found.flaky)} flaky{': ' if found.flaky else ''}{', '.join(map(code, found.flaky))}"
    return f"{planned}; pass@{k} {found.pass_at:.1%}, pass^{k} {found.pass_all:.1%}{known}; {flaky}"


def _prior(report: Report) -> Iterator[str]:
    if not report.prior:
        yield "No prior reports of this model were found, so this is the first stored analysis of it."
        return
    repeats = sum(failure.repeat for failure in report.failures)
    yield f"{count(len(report.prior), 'prior report')} of this model; {_repeated(repeats, len(report.failures))}"
    yield ""
    yield from (_prior_line(prior) for prior in report.prior)


def _repeated(repeats: int, failures: int) -> str:
    if not failures:
        return "nothing failed this time."
    return f"{repeats} of {count(failures, 'failure')} had failed with the same cause before."


def _prior_line(prior: PriorReport) -> str:
    if not prior.readable:
        return f"- {code(prior.path)}: cannot be read, so it was left out."
    actions = f"; {count(len(prior.actions), 'action')} taken since" if prior.actions else "; no action taken since"
    return f"- {code(prior.path)} ({prior.date}): {count(prior.failed, 'failure')}{actions}."


def _summary(report: Report) -> Iterator[str]:
    yield "| Failed step | Count |"
    yield "| --- | ---: |"
    yield from (f"| {step} | {number} |" for step, number in report.by_step())
    yield f"| **Total** | **{len(report.failures)}** |"


def _infrastructure(report: Report) -> list[str]:
    """Only when there is something: it is not part of the model's record."""
    if not report.infrastructure:
        return []
    rows = [
        f"| {code(each.eval)} | {each.trial} | {code(each.kind)} | {inline(each.reason)} |"
        for each in report.infrastructure
    ]
    head = ["| Eval | Trial | Kind | Reason |", "| --- | ---: | --- | --- |"]
    said = "These results have no verdict. They are not the model's doing, count for nothing and are not classified."
    return _section("Infrastructure failures (not classified)", [said, "", *head, *rows])


def _classifications(report: Report) -> Iterator[str]:
    yield "| Eval | Failed step | Classification | One-line reasoning |"
    yield "| --- | --- | --- | --- |"
    for failure in report.failures:
        trial = f" (trial {failure.trial})" if failure.trial > 1 else ""
        said = f"Labelled by {failure.label.author}: {failure.label.why}" if failure.label else ""
        guess = "Unsure: " if failure.classification.unsure and not failure.label else ""
        reason = inline(said or f"{guess}{failure.classification.summary}")
        yield f"| {code(failure.eval)}{trial} | {failure.failed_step} | {failure.failure_class} | {reason} |"


def _unsure(report: Report) -> list[str]:
    """Only when there are any: a class that is a guess is not to be relied on."""
    if not report.unsure:
        return []
    said = "The class of these is a guess: there was too little evidence, or something outside failed. Look at them."
    rows = [f"- {code(each.eval)}: {inline(each.classification.summary)}" for each in report.unsure]
    return _section("Unsure, to be looked at", [said, "", *rows])


def _details(report: Report) -> Iterator[str]:
    if not report.failures:
        yield NONE
    for number, failure in enumerate(report.failures, 1):
        if number > 1:
            yield ""
        yield from failure_lines(number, failure)


def _patterns(report: Report) -> Iterator[str]:
    if not report.patterns:
        yield "No two failures share a cause." if report.failures else NONE
    failed = len({failure.eval for failure in report.failures})
    for number, pattern in enumerate(report.patterns, 1):
        share = f"{len(pattern.evals)} of {failed}, {len(pattern.evals) / failed:.0%}"
        names = ", ".join(code(name.partition("/")[2]) for name in pattern.evals)
        yield f"{number}. **{inline(pattern.title)}** ({share}): {inline(pattern.detail)} Evals: {names}."


def _suspicious(report: Report) -> list[str]:
    """Only when there are any."""
    said = "Unrelated models fail these checks and agree with one another, in all runs that the scores have."
    rows = [f"- {code(each.eval)}: {inline(str(each))}" for each in report.suspicious]
    return _section("Suspicious checks across runs", [said, "", *rows]) if rows else []


def _recommendations(report: Report) -> Iterator[str]:
    given, run = report.recommendations, report.run
    parts = (
        ("Eval improvements", given.evals),
        ("Lint/config and infrastructure", given.lint),
        (f"Model-specific notes ({inline(run.model)})", given.model),
    )
    for title, entries in parts:
        yield f"### {title}"
        yield from ([f"- {inline(entry)}" for entry in entries] or [f"- {NONE}"])
        yield ""
    if report.changes:
        yield "### Changes that `analyze apply` can make"
        yield from (f"- **{each.id}** {inline(str(each))}" for each in report.changes)
        yield ""
    yield "### No action needed"
    if not given.none:
        yield f"- {NONE}"
        return
    names = ", ".join(code(name.partition("/")[2]) for name in given.none)
    yield f"- Failures that are clearly the model's own need no change of the eval ({names})."


def _impact(report: Report) -> Iterator[str]:
    total = len(report.failures)
    yield f"- **Actionable eval/lint/tooling issues**: `{report.count('OVERLY_STRICT', 'KNOWN_GAP')}/{total}`"
    yield f"  - OVERLY_STRICT: {report.count('OVERLY_STRICT')}"
    yield f"  - KNOWN_GAP: {report.count('KNOWN_GAP')}"
    yield f"- **Genuine model faults**: `{report.count('MODEL_FAULT')}/{total}`"
    yield f"- **Ambiguous task classifications**: `{report.count('AMBIGUOUS_TASK')}/{total}`"
    if report.unsure:
        yield f"- **Unsure, to be looked at**: `{len(report.unsure)}/{total}`"
    if report.labels:
        agree = sum(
            each.label.failure_class == each.classification.failure_class for each in report.failures if each.label
        )
        yield f"- **Labelled by people**: `{len(report.labels)}/{total}`, of which {agree} as the engine had it"
    yield ""
    yield inline(report.overall)


def _actions(actions: tuple[Action, ...]) -> Iterator[str]:
    if not actions:
        yield "None"
    for action in actions:
        who = f" by {inline(action.author)}" if action.author else ""
        meant = ", ".join(map(code, action.evals)) or "all failures of this report"
        yield f"- {action.date}{who}: {inline(action.text)} For: {meant}."
