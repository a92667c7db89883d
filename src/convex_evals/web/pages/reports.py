"""Reports: what analyses found, with links to every result; classes over time, and whether people agree."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Final

import nh3
from fastapi import APIRouter, Depends
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.analysis.report import FailureReport, Report
from convex_evals.analysis.report.files import read_report
from convex_evals.core.text import visible
from convex_evals.core.verdicts import CLASSES
from convex_evals.statistics import Interval, wilson_interval
from convex_evals.web.charts import Chart, Moment, Series, history_chart
from convex_evals.web.errors import NotFound
from convex_evals.web.pages.addresses import links_of, report_address, result_address
from convex_evals.web.pages.errors import Moved
from convex_evals.web.pages.frame import Crumb, Twin, page, show
from convex_evals.web.site import Site, site_of

router = APIRouter()
COLUMNS: Final = ("report", "run", "model", "provider", "experiment", "date", "passed", "failed", *CLASSES, "engine")
FAILURE_COLUMNS: Final = ("eval", "trial", "failed_step", "class", "engine_class", "confidence", "summary", "repeat")
_EVAL: Final = re.compile(r"`?(\d{3}-[\w-]+/\d{3}-[\w-]+)`?")
_FENCE: Final = re.compile(r"^\s*(```+|~~~+)")
_TAGS: Final = {
    *("a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "strong", "ul"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "tbody", "td", "th", "thead", "tr"),
}
_SCHEMES: Final = {"http", "https", "mailto"}


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """A report and where it is."""

    path: Path
    address: str
    report: Report


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of failures that a person has labelled, how many the engine had classified alike."""

    agreed: int
    labelled: int

    @property
    def interval(self) -> Interval:
        return wilson_interval(self.agreed, self.labelled)


@page(router, "/reports")
def reports(request: Request, site: Annotated[Site, Depends(site_of)]) -> Response:
    entries = list_reports(site)
    return show(
        request,
        "reports.html",
        title="Reports",
        crumbs=(Crumb("home", "/"), Crumb("reports")),
        twin=Twin("reports", COLUMNS, [_row(each) for each in entries]),
        entries=entries,
        classes=CLASSES,
        over_time=_over_time(entries),
        agreement=_agreement(site, entries),
    )


@page(router, "/reports/{provider}/{model}/{file}")
def report(request: Request, site: Annotated[Site, Depends(site_of)], provider: str, model: str, file: str) -> Response:
    address = report_address(Path(provider, model, file))
    found = next((each for each in list_reports(site) if each.address.startswith(address)), None)
    if found is not None and found.address != address:
        raise Moved(found.address)
    if found is None:
        raise NotFound(f"There is no report {file!r} of {provider}/{model} in {site.reports}.")
    facts = {"run": found.report.run.id, "model": found.report.run.model, "date": found.report.date}
    return show(
        request,
        "report.html",
        title=f"Report on {found.report.run.model}",
        crumbs=(Crumb("home", "/"), Crumb("reports", "/reports"), Crumb(found.path.stem)),
        twin=Twin("failures", FAILURE_COLUMNS, [_failure_row(each) for each in found.report.failures], facts),
        entry=found,
        run_is_here=_is_here(site, found.report.run.id),
        text=rendered(_with_links(request, found, _is_here(site, found.report.run.id))),
    )


def list_reports(site: Site) -> tuple[ReportEntry, ...]:
    """The newest first. Files that are no reports are left out."""
    paths = site.reports.glob("*/*/*_*.json") if site.reports.is_dir() else ()
    found = ((path, _read(path, path.stat().st_mtime_ns)) for path in paths)
    entries = [ReportEntry(path, _address(path), report) for path, report in found if report is not None]
    return tuple(sorted(entries, key=lambda each: (each.report.date, each.report.run.date, each.address), reverse=True))


@lru_cache(maxsize=2048)
def _read(path: Path, changed: int) -> Report | None:
    return read_report(path)


def _address(path: Path) -> str:
    return report_address(path.with_suffix(".md"))


def _is_here(site: Site, run_id: str) -> bool:
    return any(run.id == run_id for run in site.store.history.runs([run_id]))


def rendered(markdown: str) -> Markup:
    """Safe whatever it says: links of other schemes, images, scripts and styles do not survive."""
    html = nh3.clean(
        _parser().render(visible(markdown)),
        tags=_TAGS,
        attributes={"a": {"href"}, "code": {"class"}, "th": set(), "td": set(), "ol": {"start"}},
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(html)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _with_links(request: Request, entry: ReportEntry, run_is_here: bool) -> str:
    """The Markdown, in which every eval of the report leads to its result, if the scores have the run."""
    text = entry.path.with_suffix(".md").read_text(encoding="utf-8", errors="replace")
    if not run_is_here:
        return text
    failures = {failure.eval: failure for failure in reversed(entry.report.failures)}
    fenced, lines = "", []
    for line in text.splitlines():
        fence = _FENCE.match(line)
        if fence and (not fenced or fence[1].startswith(fenced)):
            fenced = "" if fenced else fence[1]
        lines.append(line if fenced or fence else _linked(request, entry, failures, line))
    return "\n".join(lines)


def _linked(request: Request, entry: ReportEntry, failures: Mapping[str, FailureReport], line: str) -> str:
    def link(found: re.Match[str]) -> str:
        failure = failures.get(found[1])
        if failure is None:
            return found[0]
        address = result_address(entry.report.run.experiment, entry.report.run.id, failure.eval, failure.trial)
        return f"[{found[0]}]({links_of(request)(request.url.path, address)})"

    return _EVAL.sub(link, line)


def _over_time(entries: Sequence[ReportEntry]) -> Chart | None:
    """The share of each class among the failures of each day's reports."""
    days: dict[str, list[FailureReport]] = {}
    for each in reversed(entries):
        days.setdefault(each.report.run.date, []).extend(each.report.failures)
    known = {day: failures for day, failures in days.items() if failures}
    if len(known) < 2:
        return None
    series = [
        Series(
            name,
            tuple(
                Moment(_moment(day), sum(each.failure_class == name for each in failures) / len(failures))
                for day, failures in sorted(known.items())
            ),
        )
        for name in CLASSES
    ]
    title = "Share of each class among failures, by the day of the run"
    return history_chart(title, series, value="share of failures")


def _moment(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


def _agreement(site: Site, entries: Sequence[ReportEntry]) -> Agreement:
    agreed = labelled = 0
    labels = {(each.run_id, each.eval, each.trial): each for each in site.store.labels.of_every_run()}
    for entry in entries:
        for failure in entry.report.failures:
            label = labels.get((entry.report.run.id, failure.eval, failure.trial))
            said = label.failure_class if label else failure.label.failure_class if failure.label else None
            labelled += said is not None
            agreed += said == failure.classification.failure_class
    return Agreement(agreed, labelled)


def _row(entry: ReportEntry) -> tuple[object, ...]:
    report, run = entry.report, entry.report.run
    classes = (report.count(name) for name in CLASSES)
    return (
        *(entry.address, run.id, run.model, run.provider, run.experiment, report.date, run.passed, run.failed),
        *(*classes, report.engine),
    )


def _failure_row(failure: FailureReport) -> tuple[object, ...]:
    classified = failure.classification
    return (
        *(failure.eval, failure.trial, failure.failed_step, failure.failure_class, classified.failure_class),
        *(classified.confidence, classified.summary, failure.repeat),
    )
