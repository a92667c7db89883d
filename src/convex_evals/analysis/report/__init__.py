"""The report: what is in it, how it reads, where it is kept."""

from convex_evals.analysis.report.files import (
    KeptReport,
    find_report,
    keep_report,
    newest_report,
    open_report,
    record_action,
    report_folder,
    report_from_json,
    report_json,
    report_paths,
)
from convex_evals.analysis.report.markdown import report_markdown
from convex_evals.analysis.report.types import (
    FailureReport,
    InfrastructureFailure,
    Label,
    Pattern,
    PriorReport,
    Recommendations,
    RepeatFacts,
    Report,
    RunFacts,
)

__all__ = [
    "FailureReport",
    "InfrastructureFailure",
    "KeptReport",
    "Label",
    "Pattern",
    "PriorReport",
    "Recommendations",
    "RepeatFacts",
    "Report",
    "RunFacts",
    "find_report",
    "keep_report",
    "newest_report",
    "open_report",
    "record_action",
    "report_folder",
    "report_from_json",
    "report_json",
    "report_markdown",
    "report_paths",
]
