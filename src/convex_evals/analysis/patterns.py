"""What several failures have in common: those of one run, and causes that recur over the reports of a model."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.analysis.report.files import read_report, report_folder
from convex_evals.analysis.report.types import FailureReport, Pattern, Report
from convex_evals.core.text import count, listed

LEAST = 2


def find_patterns(failures: Sequence[FailureReport], runs_per_category: Counter[str]) -> tuple[Pattern, ...]:
    """Clusters by cause first, then what cuts across them; each with the evals it is about, the largest first."""
    clusters = [*_by_cause(failures), *_by_family(failures)]
    crossing = [*_gaps(failures), *_strict(failures), *_categories(failures, runs_per_category), *_repeats(failures)]
    return (*sorted(clusters, key=lambda each: -len(each.evals)), *crossing)


def _by_cause(failures: Sequence[FailureReport]) -> Iterator[Pattern]:
    """The same mistake, by its fingerprint. A failure counts in the largest cluster that it belongs to."""
    left = list(failures)
    while left:
        counted = Counter(cause for failure in left for cause in dict.fromkeys(failure.causes))
        cause, number = counted.most_common(1)[0] if counted else ("", 0)
        if number < LEAST:
            return
        together = [failure for failure in left if cause in failure.causes]
        left = [failure for failure in left if failure not in together]
        yield Pattern(title_of(cause), _about(together), _evals(together))


def _by_family(failures: Sequence[FailureReport]) -> Iterator[Pattern]:
    """APIs that do not exist, whichever they are."""
    invented = [failure for failure in failures if failure.causes and failure.causes[0].startswith("api:")]
    distinct = dict.fromkeys(failure.causes[0] for failure in invented)
    if len(distinct) >= LEAST:
        named = listed(cause.removeprefix("api:") for cause in distinct)
        yield Pattern(
            "The API surface is guessed", f"Answers use what the package does not have: {named}.", _evals(invented)
        )


def _gaps(failures: Sequence[FailureReport]) -> Iterator[Pattern]:
    known = [failure for failure in failures if failure.failure_class == "KNOWN_GAP"]
    if known:
        yield Pattern("Known gaps", "These are documented in GAPS.txt already.", _evals(known))


def _strict(failures: Sequence[FailureReport]) -> Iterator[Pattern]:
    strict = [failure for failure in failures if failure.failure_class in ("OVERLY_STRICT", "AMBIGUOUS_TASK")]
    if strict:
        yield Pattern("The eval asks for more than its task", "Graders and tasks do not agree here.", _evals(strict))


def _categories(failures: Sequence[FailureReport], runs: Counter[str]) -> Iterator[Pattern]:
    """A category that fails more than half of the time, when there is more than one."""
    failed = Counter(failure.eval.partition("/")[0] for failure in failures)
    for category, number in failed.items():
        if len(runs) > 1 and number >= 3 and 2 * number > runs[category]:
            affected = [failure for failure in failures if failure.eval.startswith(f"{category}/")]
            yield Pattern(
                f"{category} is hard", f"{number} of its {count(runs[category], 'result')} failed.", _evals(affected)
            )


def _repeats(failures: Sequence[FailureReport]) -> Iterator[Pattern]:
    repeated = [failure for failure in failures if failure.repeat]
    if repeated:
        cured = [failure for failure in repeated if failure.cure]
        detail = "They failed with the same cause in an earlier report"
        detail += f", {len(cured)} of them although something was done about it." if cured else "."
        yield Pattern("Recurring failures", detail, _evals(repeated))


def title_of(cause: str) -> str:
    """A fingerprint in words."""
    kind, _, rest = cause.partition(":")
    titles: dict[str, Callable[[str], str]] = {
        "lint": lambda rule: f"Lint rule {rule}",
        "type": lambda error: f"Type error {error}",
        "deploy": lambda error: f"Deployment refused: {error.removeprefix('refused ')}",
        "runtime": lambda error: f"The answer throws {error}",
        "test": lambda test: f"Test {test}",
        "api": lambda missing: f"An API that does not exist: {missing}",
    }
    return titles[kind](rest) if kind in titles else cause


def _about(failures: Sequence[FailureReport]) -> str:
    classes = Counter(failure.failure_class for failure in failures)
    steps = Counter(failure.failed_step for failure in failures)
    judged = listed(f"{number} {name}" for name, number in classes.most_common())
    return f"Failed at {listed(steps)}; classified {judged}."


def _evals(failures: Sequence[FailureReport]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(failure.eval for failure in failures))


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
    causes = dict.fromkeys(
        cause for report in reports for failure in report.failures for cause in _main_causes(failure)
    )
    trends = [_trend(cause, reports) for cause in causes]
    return tuple(sorted(trends, key=lambda each: (-each.reports, not each.present, -len(each.evals), each.title)))


def _folders(root: Path, model: str) -> list[Path]:
    """By slug, or by the part after the provider."""
    provider, slash, name = model.partition("/")
    if slash:
        return [report_folder(root, provider, name)]
    return [report_folder(root, folder.name, model) for folder in sorted(root.glob("*")) if folder.is_dir()]


def _main_causes(failure: FailureReport) -> tuple[str, ...]:
    return failure.causes[:1]


def _trend(cause: str, reports: Sequence[Report]) -> Trend:
    having = [report for report in reports if any(cause in _main_causes(each) for each in report.failures)]
    evals = dict.fromkeys(each.eval for report in having for each in report.failures if cause in _main_causes(each))
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
