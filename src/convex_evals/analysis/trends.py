"""Causes over the reports of one model: which recur, and which are gone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.analysis.patterns import title_of
from convex_evals.analysis.report.files import read_report, report_folder
from convex_evals.analysis.report.types import FailureReport, Report


@dataclass(frozen=True, slots=True)
class Trend:
    """`reports` of how many runs had it. `present`: the newest one has it."""

    cause: str
    title: str
    evals: tuple[str, ...]
    reports: int
    first: str
    last: str
    present: bool
    actions: tuple[str, ...] = ()  # taken for its evals, oldest first


def read_reports(root: Path, model: str, provider: str | None = None) -> tuple[Report, ...]:
    """The newest report of every run of a model, oldest run first."""
    folders = [report_folder(root, provider, model)] if provider else _folders(root, model)
    found = [report for folder in folders for path in folder.glob("*_*.json") if (report := read_report(path))]
    newest: dict[str, Report] = {}
    for report in sorted(found, key=lambda each: each.date):
        newest[report.run.id] = report
    return tuple(sorted(newest.values(), key=lambda each: (each.run.date, each.date)))


def find_trends(reports: Sequence[Report]) -> tuple[Trend, ...]:
    """What recurs comes first, then what the newest report has, then what most evals fail by."""
    causes = dict.fromkeys(cause for report in reports for failure in report.failures for cause in _main(failure))
    trends = [_trend(cause, reports) for cause in causes]
    return tuple(sorted(trends, key=lambda each: (-each.reports, not each.present, -len(each.evals), each.title)))


def _folders(root: Path, model: str) -> list[Path]:
    """By slug, or by the part after the provider."""
    provider, slash, name = model.partition("/")
    if slash:
        return [report_folder(root, provider, name)]
    return [report_folder(root, folder.name, model) for folder in sorted(root.glob("*")) if folder.is_dir()]


def _main(failure: FailureReport) -> tuple[str, ...]:
    return failure.causes[:1]


def _trend(cause: str, reports: Sequence[Report]) -> Trend:
    having = [report for report in reports if any(cause in _main(each) for each in report.failures)]
    evals = dict.fromkeys(each.eval for report in having for each in report.failures if cause in _main(each))
    return Trend(
        cause,
        title_of(cause),
        tuple(evals),
        len(having),
        having[0].run.date,
        having[-1].run.date,
        bool(reports) and having[-1] is reports[-1],
        tuple(_actions(having, set(evals))),
    )


def _actions(reports: Sequence[Report], evals: set[str]) -> Iterator[str]:
    for report in reports:
        for action in report.actions:
            if not action.evals or evals.intersection(action.evals):
                yield f"{action.date}: {action.text}"
