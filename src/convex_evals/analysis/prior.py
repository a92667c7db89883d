"""Earlier reports of the same model: what they said about the same evals, and what was done since."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.analysis.evidence import Action, PriorFinding
from convex_evals.analysis.report.files import read_report
from convex_evals.analysis.report.types import PriorReport, Report
from convex_evals.core.text import listed


@dataclass(frozen=True, slots=True)
class PriorReports:
    """Newest first. `unreadable` are files that look like reports and are none."""

    reports: tuple[tuple[str, Report], ...] = ()
    unreadable: tuple[str, ...] = ()

    def listed(self) -> tuple[PriorReport, ...]:
        read = (
            PriorReport(path, report.run.id, report.date, len(report.failures), report.actions)
            for path, report in self.reports
        )
        return (*read, *(PriorReport(path, "", "", 0, readable=False) for path in self.unreadable))

    def findings(self, eval: str, fingerprints: Collection[str]) -> tuple[PriorFinding, ...]:
        """What was said about this eval; the same cause shows in a shared fingerprint."""
        return tuple(
            PriorFinding(
                path,
                report.run.id,
                report.date,
                eval,
                failure.failed_step,
                failure.failure_class,
                bool(set(fingerprints).intersection(failure.fingerprints)),
                _actions_for(report, eval),
            )
            for path, report in self.reports
            for failure in report.failures
            if failure.eval == eval
        )


def read_prior_reports(folder: Path, root: Path, run: str) -> PriorReports:
    """All reports in the model's folder but those of this run."""
    reports: list[tuple[str, Report]] = []
    unreadable: list[str] = []
    for path in sorted(folder.glob("*_*.json")):
        shown = path.with_suffix(".md").relative_to(root.parent).as_posix()
        report = read_report(path)
        if report is None:
            unreadable.append(shown)
        elif report.run.id != run:
            reports.append((shown, report))
    reports.sort(key=lambda entry: (entry[1].date, entry[1].run.date), reverse=True)
    return PriorReports(tuple(reports), tuple(unreadable))


def is_repeat(prior: Sequence[PriorFinding]) -> bool:
    return any(finding.same_cause for finding in prior)


def history(prior: Sequence[PriorFinding]) -> str:
    """Repeat or new, in a sentence."""
    if not prior:
        return "New: no earlier report of this model has a failure of this eval."
    same = [finding for finding in prior if finding.same_cause]
    if not same:
        latest = prior[0]
        return f"New cause: {latest.report} had it fail at {latest.failed_step}, as {latest.failure_class}."
    named = listed([finding.report for finding in same], most=3)
    return f"Repeat: the same cause is in {named}, there classified {same[0].failure_class}."


def cure(prior: Sequence[PriorFinding]) -> str:
    """Whether something that was done should have cured this; empty when nothing was."""
    actions = list(_cures(prior))
    if not actions:
        return ""
    said = listed([f"“{action.text}” ({action.date})" for action in actions], most=2)
    return f"An action was taken for it since: {said}. It failed with the same cause again, so that has not cured it."


def _cures(prior: Sequence[PriorFinding]) -> Iterator[Action]:
    for finding in prior:
        if finding.same_cause:
            yield from finding.actions


def _actions_for(report: Report, eval: str) -> tuple[Action, ...]:
    return tuple(action for action in report.actions if not action.evals or eval in action.evals)
