"""A run: one model, one experiment, the planned evals and trials; generated, graded and recorded."""

from convex_evals.runner.comparison import Change, ComparedEval, Standing, compare, standings
from convex_evals.runner.events import (
    Event,
    Finished,
    Generated,
    Generating,
    Grading,
    Item,
    Retrying,
    StepFinished,
    Stopping,
    Watcher,
)
from convex_evals.runner.execution import Equipment, Execution
from convex_evals.runner.options import complete_options
from convex_evals.runner.planning import (
    REGRADE,
    VALIDATE,
    Plan,
    Request,
    asking_of,
    plan_regrading,
    plan_rest,
    plan_run,
    source_of,
    suite_of,
)
from convex_evals.runner.work import ActiveRun, Work
from convex_evals.runner.workspace import open_workspace

__all__ = [
    "REGRADE",
    "VALIDATE",
    "ActiveRun",
    "Change",
    "ComparedEval",
    "Equipment",
    "Event",
    "Execution",
    "Finished",
    "Generated",
    "Generating",
    "Grading",
    "Item",
    "Plan",
    "Request",
    "Retrying",
    "Standing",
    "StepFinished",
    "Stopping",
    "Watcher",
    "Work",
    "asking_of",
    "compare",
    "complete_options",
    "open_workspace",
    "plan_regrading",
    "plan_rest",
    "plan_run",
    "source_of",
    "standings",
    "suite_of",
]
