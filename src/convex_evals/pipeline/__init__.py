"""Is an answer right? Six steps: filesystem, install, deploy, tsc, eslint, tests.

A grading worker (`python -m convex_evals.pipeline.worker`) is sent an `Assignment` and answers with a `Grade`. `bench`
and `grading`, with the `kit` that graders import, have faces of their own.
"""

from typing import TYPE_CHECKING

from convex_evals.core.lazy import load_on_demand

if TYPE_CHECKING:
    from convex_evals.pipeline.bounds import MOST_BYTES, cut_log, usage_of
    from convex_evals.pipeline.deploy import read_cli_errors
    from convex_evals.pipeline.failures import FAILURES, FailureKind
    from convex_evals.pipeline.install import find_packages
    from convex_evals.pipeline.lint import rules_for
    from convex_evals.pipeline.messages import Graded, Message, StepDone, Trouble, receive, send
    from convex_evals.pipeline.project import OpenProject, open_project
    from convex_evals.pipeline.typecheck import parse_diagnostics
    from convex_evals.pipeline.types import Assignment, Grade, GradingOptions, OnStep, ignore_step, status_of

__all__ = [
    "FAILURES",
    "MOST_BYTES",
    "Assignment",
    "FailureKind",
    "Grade",
    "Graded",
    "GradingOptions",
    "Message",
    "OnStep",
    "OpenProject",
    "StepDone",
    "Trouble",
    "cut_log",
    "find_packages",
    "ignore_step",
    "open_project",
    "parse_diagnostics",
    "read_cli_errors",
    "receive",
    "rules_for",
    "send",
    "status_of",
    "usage_of",
]

# Options and grades must not cost the time to load what does the grading.
__getattr__ = load_on_demand(
    __name__,
    {
        "bounds": ("MOST_BYTES", "cut_log", "usage_of"),
        "deploy": ("read_cli_errors",),
        "failures": ("FAILURES", "FailureKind"),
        "install": ("find_packages",),
        "lint": ("rules_for",),
        "messages": ("Graded", "Message", "StepDone", "Trouble", "receive", "send"),
        "project": ("OpenProject", "open_project"),
        "typecheck": ("parse_diagnostics",),
        "types": ("Assignment", "Grade", "GradingOptions", "OnStep", "ignore_step", "status_of"),
    },
)
