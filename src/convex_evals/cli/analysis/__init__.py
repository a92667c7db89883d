"""The command `analyze` from beginning to end."""

from convex_evals.cli.analysis.command import AnalysisOptions, perform, show_failure, show_trends
from convex_evals.cli.analysis.labels import add_action, label_failure, score_labels

__all__ = [
    "AnalysisOptions",
    "add_action",
    "label_failure",
    "perform",
    "score_labels",
    "show_failure",
    "show_trends",
]
