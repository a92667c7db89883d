"""A run for other programs: CSV for spreadsheets, Markdown for pages, JUnit XML for continuous integration."""

from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from convex_evals.cli.output import csv_text, escaped, markdown_table, visible
from convex_evals.cli.runs.summaries import headline, reason
from convex_evals.core.ids import prefix
from convex_evals.scores import AttemptDetails, RunRecord, ScoresStore

COLUMNS = (
    "run",
    "model",
    "experiment",
    "eval",
    "trial",
    "status",
    "failed_step",
    "tests_passed",
    "tests_total",
    "seconds",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "reason",
)


def run_csv(store: ScoresStore, run: RunRecord) -> str:
    """One line per eval and trial. What is not known is empty."""
    return csv_text(COLUMNS, (_csv_row(run, details) for details in store.result_details(run.id)))


def run_markdown(store: ScoresStore, run: RunRecord) -> str:
    """The headline and a table, for a comment or a page."""
    rows = (_markdown_row(details) for details in store.result_details(run.id))
    return f"**{escaped(headline(run))}**\n\n{markdown_table(('eval', 'trial', 'status', 'why'), rows)}"


def runs_junit(store: ScoresStore, runs: Sequence[RunRecord]) -> str:
    """One suite per run, one case per eval and trial; what has no verdict is an error, not a failure."""
    root = ElementTree.Element("testsuites", name="convex-evals")
    root.extend(_junit_suite(store, run) for run in runs)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _csv_row(run: RunRecord, details: AttemptDetails) -> Iterator[object]:
    attempt = details.attempt
    usage = details.generation.usage if details.generation else None
    yield from (prefix(run.id), run.model, run.experiment, attempt.eval, attempt.trial, attempt.status)
    yield attempt.failed_step
    yield from (attempt.tests.passed, attempt.tests.total) if attempt.tests else (None, None)
    yield f"{_seconds(details):.2f}"
    yield from (usage.input_tokens, usage.output_tokens, usage.cost_usd) if usage else (None, None, None)
    yield "" if attempt.status == "passed" else reason(details)


def _markdown_row(details: AttemptDetails) -> tuple[object, ...]:
    attempt = details.attempt
    return (attempt.eval, attempt.trial, attempt.status, "" if attempt.status == "passed" else reason(details))


def _junit_suite(store: ScoresStore, run: RunRecord) -> ElementTree.Element:
    counts, results = run.counts, store.result_details(run.id)
    suite = ElementTree.Element(
        "testsuite",
        name=f"{run.model} {run.experiment}",
        id=run.id,
        tests=str(len(results)),
        failures=str(counts.failed),
        errors=str(counts.infrastructure),
        skipped=str(counts.skipped),
        time=f"{sum(map(_seconds, results)):.3f}",
        timestamp=run.started_at.isoformat(timespec="seconds"),
    )
    suite.extend(_junit_case(details, several=run.counts.total > run.evals) for details in results)
    return suite


def _junit_case(details: AttemptDetails, *, several: bool) -> ElementTree.Element:
    attempt = details.attempt
    category, _, name = attempt.eval.partition("/")
    case = ElementTree.Element(
        "testcase",
        classname=category,
        name=f"{name} (trial {attempt.trial})" if several else name,
        time=f"{_seconds(details):.3f}",
    )
    tag = {"failed": "failure", "infrastructure": "error", "skipped": "skipped"}.get(attempt.status)
    if tag is not None:
        kind = attempt.failure or attempt.failed_step or attempt.status
        found = ElementTree.SubElement(case, tag, message=reason(details), type=kind)
        found.text = visible("\n".join(step.excerpt for step in details.steps if step.status == attempt.status))
    return case


def _seconds(details: AttemptDetails) -> float:
    return (details.attempt.duration_ms or 0) / 1000
