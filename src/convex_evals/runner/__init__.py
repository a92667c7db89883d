"""A run: one model, one experiment, the planned evals and trials; generated, graded and recorded."""

from typing import TYPE_CHECKING

from convex_evals.core.lazy import load_on_demand
from convex_evals.runner.as_json import comparison_json, leaderboard_json, score_json
from convex_evals.runner.benchmarks import (
    BenchmarkChange,
    compare_benchmarks,
    find_benchmark,
    mint_benchmark,
    why_not_ranked,
)
from convex_evals.runner.budget import Budget, Spending, Sum, dollars
from convex_evals.runner.cluster import Cluster, open_cluster
from convex_evals.runner.comparison import (
    Change,
    ComparedEval,
    ComparedRuns,
    RunResults,
    compare,
    compare_runs,
)
from convex_evals.runner.estimates import Estimate, open_budget
from convex_evals.runner.execution import Execution, RunContext
from convex_evals.runner.figures import UNMINTED, RunFigures, read_figures, unminted_benchmark
from convex_evals.runner.leaderboard import (
    WITH_GUIDELINES,
    WITHOUT_GUIDELINES,
    Choice,
    Guidelines,
    Leaderboard,
    LeftOut,
    RankedModel,
    choose_runs,
    is_sample,
    rank_models,
    read_leaderboard,
    why_left_out,
)
from convex_evals.runner.plans import (
    ABLATION,
    CHECK,
    REGRADE,
    VALIDATE,
    Plan,
    Request,
    asking_of,
    is_filtered,
    options_from_json,
    options_json,
    plan_regrading,
    plan_rest,
    plan_run,
    source_of,
    suite_of,
)
from convex_evals.runner.pool import GradingPool, open_workspace
from convex_evals.runner.results import (
    NOT_SCORES,
    RunScore,
    Standing,
    last_failures,
    last_run,
    scored_runs,
    standings,
    tallies,
    why_no_score,
)
from convex_evals.runner.until_sure import LOOKS, UntilSure
from convex_evals.runner.work import (
    ActiveRun,
    Event,
    Finished,
    Generated,
    Generating,
    Grading,
    Halt,
    Halted,
    Notice,
    Retrying,
    StepFinished,
    Stopping,
    Watcher,
    WorkItem,
)

if TYPE_CHECKING:
    from convex_evals.runner.courier import Courier, catch_up, outcome
    from convex_evals.runner.sender import sending
    from convex_evals.runner.service import Service

__all__ = [
    "ABLATION",
    "CHECK",
    "LOOKS",
    "NOT_SCORES",
    "REGRADE",
    "UNMINTED",
    "VALIDATE",
    "WITHOUT_GUIDELINES",
    "WITH_GUIDELINES",
    "ActiveRun",
    "BenchmarkChange",
    "Budget",
    "Change",
    "Choice",
    "Cluster",
    "ComparedEval",
    "ComparedRuns",
    "Courier",
    "Estimate",
    "Event",
    "Execution",
    "Finished",
    "Generated",
    "Generating",
    "Grading",
    "GradingPool",
    "Guidelines",
    "Halt",
    "Halted",
    "Leaderboard",
    "LeftOut",
    "Notice",
    "Plan",
    "RankedModel",
    "Request",
    "Retrying",
    "RunContext",
    "RunFigures",
    "RunResults",
    "RunScore",
    "Service",
    "Spending",
    "Standing",
    "StepFinished",
    "Stopping",
    "Sum",
    "UntilSure",
    "Watcher",
    "WorkItem",
    "asking_of",
    "catch_up",
    "choose_runs",
    "compare",
    "compare_benchmarks",
    "compare_runs",
    "comparison_json",
    "dollars",
    "find_benchmark",
    "is_filtered",
    "is_sample",
    "last_failures",
    "last_run",
    "leaderboard_json",
    "mint_benchmark",
    "open_budget",
    "open_cluster",
    "open_workspace",
    "options_from_json",
    "options_json",
    "outcome",
    "plan_regrading",
    "plan_rest",
    "plan_run",
    "rank_models",
    "read_figures",
    "read_leaderboard",
    "score_json",
    "scored_runs",
    "sending",
    "source_of",
    "standings",
    "suite_of",
    "tallies",
    "unminted_benchmark",
    "why_left_out",
    "why_no_score",
    "why_not_ranked",
]

# These need an HTTP client.
__getattr__ = load_on_demand(
    __name__, {"courier": ("Courier", "catch_up", "outcome"), "sender": ("sending",), "service": ("Service",)}
)
