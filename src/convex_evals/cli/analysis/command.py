"""`analyze RUN`, `analyze eval` and `analyze trends` from beginning to end.

A run is investigated with progress, and its report is written; one failure is shown in depth; the causes of many
reports are counted.
"""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any, TextIO

from convex_evals.analysis import Request, analyse, run_reference, suite_health
from convex_evals.analysis.classification import Engine, analyst_of, choose_engine
from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.investigation import Investigated
from convex_evals.analysis.patterns import Trend, find_trends, read_reports
from convex_evals.analysis.prior import read_prior_reports
from convex_evals.analysis.procedure import investigator
from convex_evals.analysis.recommendations import summary_of
from convex_evals.analysis.report import FailureReport, Report, report_json
from convex_evals.cli.analysis.options import AnalysisOptions
from convex_evals.cli.output import (
    count,
    print_json,
    print_lines,
    print_table,
    remark,
    table,
    table_lines,
    visible,
    write_json,
)
from convex_evals.cli.runs.executor import check_sandbox, cores
from convex_evals.cli.runs.exports import diagnostic_json
from convex_evals.cli.runs.lookup import existing_scores, find_attempt, find_run, suite_for
from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.plain import to_plain
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.text import listed, shortened
from convex_evals.scores import AttemptDetails, ScoresStore


def _request(asked: AnalysisOptions, store: ScoresStore, settings: Settings) -> Request:
    return Request(
        find_run(store, run_reference(asked.run)),
        choose_engine(asked.engine, settings, asked.asked_analyst()),
        asked.reports.absolute(),
        date.today(),
        asked.jobs,
        min(asked.jobs, cores()),
        asked.probing,
        asked.evals,
        asked.sandbox or "required",
    )


async def _check_sandbox(asked: AnalysisOptions) -> None:
    """Only probes run anything of an answer. Raises SandboxError."""
    if asked.probing:
        await check_sandbox(asked.sandbox or "required")


def perform(asked: AnalysisOptions) -> None:
    settings, asked, json = read_settings(), asked.located(), asked.json
    with existing_scores(asked.scores) as store:
        request = _request(asked, store, settings)
        failed = {
            each.attempt.id: each.attempt.eval for each in store.result_details(request.run.id, statuses=("failed",))
        }
        if failed:
            asyncio.run(_check_sandbox(asked))
        _announce(request, len(failed))
        with suite_for(store, request.run.id, set(failed.values()), asked.evals) as evals:
            progress = Progress(len(failed))
            report = asyncio.run(analyse(store, settings, replace(request, evals=evals), progress))
    out = sys.stderr if json == "-" else sys.stdout
    _print(report, request, out)
    _warn_unanswered(request.engine, len(report.failures))
    if json is not None:
        write_json(report_json(report), json)
    if report.failures:
        from convex_evals.cli.analysis.conversation import end_with_question

        end_with_question(report, asked, _shown(request.paths.markdown), out)


class Progress:
    """A line per failure on standard error, as each is done."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0

    def __call__(self, found: Investigated) -> None:
        self._done += 1
        failure = found.report
        remark(f"{self._done}/{self._total}  {failure.failure_class:<14}  {failure.eval}  {failure.found}")


def _announce(request: Request, total: int) -> None:
    run = request.run
    probes = f"at most {request.probe_seconds:g} s of probes each" if request.probe_seconds else "without new probes"
    if total:
        how = f"to be classified by {_judges(request.engine)}, {probes}"
        remark(f"{count(total, 'failure')} of run {prefix(run.id)} ({run.model}), {how}")


def _judges(engine: Engine) -> str:
    analyst = analyst_of(engine)
    if analyst is None:
        return "rules"
    return f"{'rules and ' if engine.name == 'both' else ''}the analyst {analyst.model}"


def _warn_unanswered(engine: Engine, total: int) -> None:
    analyst = analyst_of(engine)
    if analyst is None or not analyst.unanswered:
        return
    missing, [(why, _), *others] = analyst.unanswered.total(), analyst.unanswered.most_common()
    more = f" (and {count(len(others), 'other reason')}, which the report gives)" if others else ""
    remark(
        f"Warning: the analyst {analyst.model} did not classify {missing} of {count(total, 'failure')}, so rules did: "
        f"{why.removesuffix('.')}{more}."
    )


def _print(report: Report, request: Request, out: TextIO) -> None:
    lines = [*map(visible, _report_lines(report)), f"The report is {_shown(request.paths.markdown)} (and .json)."]
    print_lines(lines, out)


def _report_lines(report: Report) -> Iterator[str]:
    run = report.run
    if run.pass_rate is None:
        yield f"run {prefix(run.id)} · {run.model} · there is no verdict yet"
    else:
        rate = f"{run.pass_rate:.1%}, 95% interval {run.low:.1%} to {run.high:.1%}"
        passed = f"{run.passed}/{run.verdicts}{' trials' if run.total > run.evals else ''} passed ({rate})"
        yield f"run {prefix(run.id)} · {run.model} · {run.experiment} · {passed}"
    again = run.repeats
    if again is not None:
        k, flaky = again.trials, count(len(again.flaky), "flaky eval")
        yield f"pass@{k} {again.pass_at:.1%} · pass^{k} {again.pass_all:.1%} · {flaky}"
    if report.infrastructure:
        yield f"{count(len(report.infrastructure), 'result')} without verdict, listed apart and not classified."
    if not report.failures:
        yield "Nothing failed: there is nothing to analyse."
        return
    yield summary_of(report)
    rows = table(["eval", "step", "class", "why"], drop=("step",), fold="why")
    for failure in report.failures:
        rows.add_row(*_cells(failure))
    yield from table_lines(rows)
    if report.patterns:
        yield "Patterns:"
        yield from (
            f"  {pattern.title} ({len(pattern.evals)} of {len(report.failures)})" for pattern in report.patterns
        )
    if report.changes:
        yield "Recommendations:"
        yield from (f"  {shortened(f'{change.id} {change}', 108)}" for change in report.changes)
    yield report.overall


def _cells(failure: FailureReport) -> tuple[str, str, str, str]:
    said = (
        f"labelled by {failure.label.author}: {failure.label.why}" if failure.label else failure.classification.summary
    )
    trial = f" #{failure.trial}" if failure.trial > 1 else ""
    return f"{failure.eval}{trial}", failure.failed_step, failure.failure_class, shortened(visible(said), 110)


def _shown(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def show_failure(asked: AnalysisOptions, eval: str, trial: int) -> None:
    settings, asked, json = read_settings(), asked.located(), asked.json
    with existing_scores(asked.scores) as store:
        record = _request(asked, store, settings).run
        details = find_attempt(store, record, eval, trial)
        if details.attempt.status != "failed":
            state = f"{details.attempt.eval} has not failed in run {prefix(record.id)}"
            raise UsageError(f"{state}; only a failure can be analysed.")
        with suite_for(store, record.id, (details.attempt.eval,), asked.evals) as evals:
            found = asyncio.run(_investigate(replace(asked, evals=evals), store, settings, details))
    if json is not None:
        shown = {"evidence": _evidence_json(found.evidence), "classification": to_plain(found.classification)}
        write_json(shown, json)
    if json == "-":
        return
    print_lines(line for text in map(visible, _failure_lines(found)) for line in text.split("\n"))


async def _investigate(
    asked: AnalysisOptions, store: ScoresStore, settings: Settings, details: AttemptDetails
) -> Investigated:
    await _check_sandbox(asked)
    request = _request(asked, store, settings)
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


def _failure_lines(found: Investigated) -> Iterator[str]:
    evidence, report, judged = found.evidence, found.report, found.classification
    yield f"{evidence.eval} failed at {evidence.failed_step}: {report.failure_class} ({judged.confidence:.0%})"
    yield f"  {judged.reasoning}"
    if judged.note:
        yield f"  {judged.note[:1].upper()}{judged.note[1:]}"
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
    rows = table(
        ["cause", "runs", "first", "last", "now", "evals", "done about it"],
        drop=("first", "done about it", "last", "evals"),
    )
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


def show_health(scores: str | None, *, everything: bool, as_json: bool) -> None:
    with existing_scores(scores) as store:
        found = [each for each in suite_health(store) if everything or each.is_suspicious]
    if as_json:
        print_json({"checks": [{**asdict(each), "suspicious": each.is_suspicious} for each in found]})
        return
    if not found:
        print("No check fails in the same way for unrelated models.")
        return
    rows = table(["eval", "check", "models", "of", "all returned", "suspicious"])
    for each in found:
        cells = [each.eval, each.name or each.check, listed(each.models, most=3), str(each.asked)]
        agreed = shortened(each.received or "", 60)
        rows.add_row(*[visible(cell) for cell in (*cells, agreed, "yes" if each.is_suspicious else "")])
    print_table(rows)
