"""A run for other programs: JSON, CSV for spreadsheets, Markdown for pages, JUnit XML for continuous integration.

The shapes of the JSON are promised, so fields are added and never renamed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from convex_evals.cli.output import csv_text, escaped, markdown_table, visible
from convex_evals.cli.runs.summaries import headline, reason, spending_json
from convex_evals.core.diagnostics import Diagnostic, TestResult
from convex_evals.core.ids import prefix
from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.runner import ComparedEval, RunScore, Spending, Standing, score_json
from convex_evals.scores import AttemptDetails, RunRecord, ScoresStore, Usage
from convex_evals.statistics import Repeats

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


def runs_json(store: ScoresStore, runs: tuple[RunRecord, ...]) -> dict[str, Any]:
    """`{"run": …, "evals": […]}`; of several runs a list of these under `runs`."""
    every = [run_json(store, run) for run in runs]
    return every[0] if len(every) == 1 else {"runs": every}


def run_json(store: ScoresStore, run: RunRecord, *, failed: bool = False) -> dict[str, Any]:
    """With `failed`, of the evals only those that failed."""
    spent = spending_json(Spending.of_run(store, run.id))
    return {
        "run": {**run_summary_json(run), **run_score_json(RunScore.of(run, store.results(run.id))), **spent},
        "evals": [
            eval_json(store, each)
            for each in store.result_details(run.id)
            if not failed or each.attempt.status == "failed"
        ],
    }


def run_summary_json(run: RunRecord) -> dict[str, Any]:
    counts = run.counts
    return {
        "id": run.id,
        "model": run.model,
        "provider": run.provider,
        "experiment": run.experiment,
        "status": run.status,
        "passed": counts.passed,
        "failed": counts.failed,
        "infrastructure": counts.infrastructure,
        "skipped": counts.skipped,
        "total": counts.total,
        "plannedEvals": run.evals,
        "trials": run.trials,
        "reason": run.reason,
        "labels": list(run.labels),
        "options": dict(run.options),
        "fingerprints": asdict(run.fingerprints),
        "startedAt": run.started_at.isoformat(),
        "finishedAt": run.finished_at.isoformat() if run.finished_at else None,
        "durationMs": run.worked.total_seconds() * 1000 if run.finished_at else None,
    }


def run_score_json(found: RunScore) -> dict[str, Any]:
    return {
        "score": score_json(found.score) if found.score else None,
        "repeats": _repeats_json(found.repeats) if found.repeats else None,
        "flaky": list(found.flaky),
    }


def _repeats_json(found: Repeats) -> dict[str, Any]:
    flakiness = found.flakiness
    return {
        "trials": found.trials,
        "evals": found.evals,
        "passAt": found.pass_at,
        "passAll": found.pass_all,
        "flaky": list(flakiness.flaky),
        "flakyRate": flakiness.rate,
        "flakyInterval": [flakiness.interval.low, flakiness.interval.high],
    }


def eval_json(store: ScoresStore, details: AttemptDetails) -> dict[str, Any]:
    attempt, generation = details.attempt, details.generation
    usage = generation.usage if generation else None
    return {
        "eval": attempt.eval,
        "trial": attempt.trial,
        "status": attempt.status,
        "failedStep": attempt.failed_step,
        "failure": attempt.failure,
        "broken": attempt.broken,
        "notes": list(attempt.notes),
        "attempts": attempt.number,
        "tests": _tests_json(attempt.tests),
        "durationMs": attempt.duration_ms,
        "cpuMs": attempt.cpu_ms,
        "usage": usage_json(usage),
        **cost_json(usage),
        "fromCache": generation.from_cache if generation else False,
        "steps": [_step_json(store, details, step) for step in details.steps],
    }


def compared_json(compared: ComparedEval) -> dict[str, Any]:
    return {
        "eval": compared.eval,
        "change": compared.change,
        "before": _standing_json(compared.before),
        "after": _standing_json(compared.after),
    }


def _standing_json(standing: Standing | None) -> dict[str, Any] | None:
    if standing is None:
        return None
    return {"passed": standing.passed, "failed": standing.failed, "failedStep": standing.failed_step}


def _step_json(store: ScoresStore, details: AttemptDetails, step: StepResult) -> dict[str, Any]:
    return {
        "name": step.name,
        "status": step.status,
        "failure": step.failure,
        "durationMs": step.duration_ms,
        "cpuMs": step.cpu_ms,
        "excerpt": step.excerpt,
        "notes": list(step.notes),
        "commands": [
            {"arguments": list(each.arguments), "ending": each.ending, "wallMs": each.wall_ms, "cpuMs": each.cpu_ms}
            for each in step.commands
        ],
        "log": store.read_text(details.logs[step.name]) if step.name in details.logs else "",
        "diagnostics": [diagnostic_json(each) for each in step.diagnostics],
        "testResults": [_test_json(each) for each in step.test_results],
    }


def diagnostic_json(found: Diagnostic) -> dict[str, Any]:
    return {"kind": found.kind, **asdict(found)}


def _test_json(test: TestResult) -> dict[str, Any]:
    return {
        "name": test.name,
        "status": test.status,
        "message": test.message,
        "file": test.file,
        "line": test.line,
        "expected": test.expected,
        "received": test.received,
        "assertion": test.assertion,
        "durationMs": test.duration_ms,
    }


def _tests_json(tests: TestCounts | None) -> dict[str, int] | None:
    return {"passed": tests.passed, "total": tests.total} if tests else None


def cost_json(usage: Usage | None) -> dict[str, Any]:
    return {"cost": usage.cost_usd if usage else None, "costSource": usage.cost_source if usage else None}


def usage_json(usage: Usage | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    return {
        "inputTokens": usage.input_tokens,
        "cachedTokens": usage.cached_tokens,
        "outputTokens": usage.output_tokens,
        "reasoningTokens": usage.reasoning_tokens,
        "firstTokenMs": usage.first_token_ms,
        "generationMs": usage.generation_ms,
        "finishReason": usage.finish_reason,
        "upstream": usage.upstream,
    }


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
