"""Why evals failed, as `analyze` would say: by rules, so no key is needed, and without grading anything again."""

import asyncio
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from convex_evals.analysis import Request, analyse
from convex_evals.analysis.classification import choose_engine
from convex_evals.analysis.investigation import Investigated
from convex_evals.analysis.recommendations import summary_of
from convex_evals.analysis.report import Report
from convex_evals.core.settings import Settings
from convex_evals.scores import RunRecord, ScoresStore

REPORTS: Final = Path("reports")


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the report says, and where it is."""

    report: Report
    path: Path

    @property
    def summary(self) -> str:
        return summary_of(self.report)

    def reason(self, eval: str) -> str | None:
        """One sentence about a failure."""
        found = (failure.classification.summary for failure in self.report.failures if failure.eval == eval)
        return next(found, None)


def explain(store: ScoresStore, settings: Settings, run: RunRecord) -> Explanation:
    """Writes the report of a run."""
    request = Request(run, choose_engine("rules", settings), REPORTS.absolute(), date.today())
    report = asyncio.run(analyse(store, settings, request, _nobody))
    return Explanation(report, request.paths.markdown)


def _nobody(found: Investigated) -> None:
    """It takes a moment only: there is no progress to show."""
