"""The command `analyze` from beginning to end."""

from typing import TYPE_CHECKING

from convex_evals.core.lazy import load_on_demand

if TYPE_CHECKING:
    from convex_evals.cli.analysis.apply import ApplyOptions, apply_recommendation
    from convex_evals.cli.analysis.command import perform, show_failure, show_health, show_trends
    from convex_evals.cli.analysis.labels import add_action, label_failure, score_labels
    from convex_evals.cli.analysis.options import AnalysisOptions, EngineOptions, Reports, Run

__all__ = [
    "AnalysisOptions",
    "ApplyOptions",
    "EngineOptions",
    "Reports",
    "Run",
    "add_action",
    "apply_recommendation",
    "label_failure",
    "perform",
    "score_labels",
    "show_failure",
    "show_health",
    "show_trends",
]

# Options must not cost the time to load what investigates.
__getattr__ = load_on_demand(
    __name__,
    {
        "apply": ("ApplyOptions", "apply_recommendation"),
        "command": ("perform", "show_failure", "show_health", "show_trends"),
        "labels": ("add_action", "label_failure", "score_labels"),
        "options": ("AnalysisOptions", "EngineOptions", "Reports", "Run"),
    },
)
