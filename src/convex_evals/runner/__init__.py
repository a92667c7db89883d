"""A run: one model, one experiment, the planned evals and trials; generated, graded and recorded."""

from convex_evals.runner.budget import Budget, dollars
from convex_evals.runner.comparison import (
    Change,
    ComparedEval,
    ComparedRuns,
    Standing,
    compare,
    compare_runs,
    standings,
    tallies,
)
from convex_evals.runner.estimates import Estimate, open_budget
from convex_evals.runner.events import (
    Event,
    Finished,
    Generated,
    Generating,
    Grading,
    Halted,
    Item,
    Retrying,
    StepFinished,
    Stopping,
    Watcher,
)
from convex_evals.runner.execution import Equipment, Execution
from convex_evals.runner.options import complete_options
from convex_evals.runner.planning import (
    ABLATION,
    CHECK,
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
from convex_evals.runner.spending import Spending, Sum
from convex_evals.runner.work import ActiveRun, Halt, Work
from convex_evals.runner.workspace import open_workspace

__all__ = [
    "ABLATION",
    "CHECK",
    "REGRADE",
    "VALIDATE",
    "ActiveRun",
    "Budget",
    "Change",
    "ComparedEval",
    "ComparedRuns",
    "Equipment",
    "Estimate",
    "Event",
    "Execution",
    "Finished",
    "Generated",
    "Generating",
    "Grading",
    "Halt",
    "Halted",
    "Item",
    "Plan",
    "Request",
    "Retrying",
    "Spending",
    "Standing",
    "StepFinished",
    "Stopping",
    "Sum",
    "Watcher",
    "Work",
    "asking_of",
    "compare",
    "compare_runs",
    "complete_options",
    "dollars",
    "open_budget",
    "open_workspace",
    "plan_regrading",
    "plan_rest",
    "plan_run",
    "source_of",
    "standings",
    "suite_of",
    "tallies",
]
