"""Looking at one failure in depth, and at the causes of many reports."""

import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.investigation import Investigated
from convex_evals.analysis.prior import read_prior_reports
from convex_evals.analysis.procedure import investigator
from convex_evals.analysis.trends import Trend, find_trends, read_reports
from convex_evals.cli.analysis.command import AnalysisOptions
from convex_evals.cli.output import count, print_json, print_table, table, visible
from convex_evals.cli.runs.as_json import diagnostic_json
from convex_evals.cli.runs.lookup import existing_scores, find_attempt
from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.plain import to_plain
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.wording import listed, shortened
from convex_evals.scores import AttemptDetails, ScoresStore


def show_failure(asked: AnalysisOptions, eval: str, trial: int, *, as_json: bool) -> None:
    settings = read_settings()
    with existing_scores(asked.scores) as store:
        record = asked.request(store, settings).run
        details = find_attempt(store, record, eval, trial)
        if details.attempt.status != "failed":
            state = f"{details.attempt.eval} is {details.attempt.status} in run {prefix(record.id)}"
            raise UsageError(f"{state}; only a failure can be analysed.")
        found = asyncio.run(_investigate(asked, store, settings, details))
    if as_json:
        print_json({"evidence": _evidence_json(found.evidence), "classification": to_plain(found.classification)})
        return
    for line in _lines(found):
        print(visible(line))


async def _investigate(
    asked: AnalysisOptions, store: ScoresStore, settings: Settings, details: AttemptDetails
) -> Investigated:
    await asked.check_sandbox()
    request = asked.request(store, settings)
    prior = read_prior_reports(request.folder, request.reports, request.run.id)
    async with investigator(store, settings, request, prior, (details,)) as investigating:
        return await investigating.investigate(details)


def _evidence_json(evidence: Evidence) -> dict[str, Any]:
    steps = [
        {
            "name": step.name,
            "status": step.status,
            "failure": step.failure,
            "excerpt": step.excerpt,
            "notes": step.notes,
        }
        for step in evidence.steps
    ]
    diagnostics = [diagnostic_json(each) for each in evidence.diagnostics]
    return {**to_plain(evidence), "steps": steps, "diagnostics": diagnostics}


def _lines(found: Investigated) -> Iterator[str]:
    evidence, report, judged = found.evidence, found.report, found.classification
    yield f"{evidence.eval} failed at {evidence.failed_step}: {report.failure_class} ({judged.confidence:.0%})"
    yield f"  {judged.reasoning}"
    if report.label is not None:
        label = report.label
        yield f"  Labelled {label.failure_class} by {label.author} on {label.date}: {label.why}"
    for title, lines in _parts(found):
        if lines:
            yield ""
            yield title
            yield from (f"  {line}" for line in lines)


def _parts(found: Investigated) -> Iterator[tuple[str, list[str]]]:
    evidence = found.evidence
    yield "Steps", [f"{step.name:<10} {step.status}  {step.failure or ''}".rstrip() for step in evidence.steps]
    yield "Complaints", list(_complaints(evidence))
    yield "Evidence", list(found.report.evidence)
    yield "Differences from the reference", [shortened(str(each), 300) for each in evidence.differences]
    yield "APIs that do not exist", [f"{each.file}:{each.line}  {each}" for each in evidence.unknown_symbols]
    yield "Cause", [evidence.cause.note]
    yield "Model", evidence.cause.model_snippet.splitlines()
    yield "Expected", evidence.cause.expected_snippet.splitlines()
    yield "GAPS.txt", evidence.gaps.strip().splitlines()
    yield "History", list(filter(None, (found.report.history, found.report.cure)))
    yield "Task", evidence.task.strip().splitlines()


def _complaints(evidence: Evidence) -> Iterator[str]:
    for each in evidence.diagnostics:
        yield f"{each.kind}  {each.place}  {each.name or ''}".rstrip()
        yield from (f"    {line}" for line in each.message.splitlines()[:12])


def show_trends(model: str, reports: Path, *, as_json: bool) -> None:
    found = read_reports(reports, model)
    if not found:
        raise UsageError(f"There is no report of {model!r} in {reports}; `convex-evals analyze RUN` writes one.")
    trends = find_trends(found)
    if as_json:
        print_json(
            {
                "model": model,
                "reports": [_report_json(each.run.id, each.date) for each in found],
                "causes": [asdict(each) for each in trends],
            }
        )
        return
    print(f"{model}: {count(len(found), 'run')} analysed, {found[0].run.date} to {found[-1].run.date}")
    rows = table(["cause", "runs", "first", "last", "now", "evals", "done about it"])
    for each in trends:
        rows.add_row(*_row(each, len(found)))
    print_table(rows)


def _report_json(run: str, date: str) -> dict[str, Any]:
    return {"run": run, "date": date}


def _row(trend: Trend, runs: int) -> list[str]:
    now = "still there" if trend.present else "gone"
    evals = listed((name.partition("/")[2] for name in trend.evals), most=3)
    done = "; ".join(trend.actions)
    cells = [shortened(trend.title, 90), f"{trend.reports} of {runs}", trend.first, trend.last, now, evals, done]
    return [visible(cell) for cell in cells]
