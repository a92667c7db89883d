"""What is asked: evals loaded from a folder, selected, and fingerprinted."""

from convex_evals.suite.answers import is_chosen, read_answer, read_texts
from convex_evals.suite.eval import Eval, Grader, GraderKind, Pipeline
from convex_evals.suite.fingerprints import Entry, EvalFingerprints, fingerprint
from convex_evals.suite.loading import load_suite
from convex_evals.suite.locations import find_suite, own_suite
from convex_evals.suite.problems import Problem
from convex_evals.suite.selection import Selection, select
from convex_evals.suite.settings import SuiteSettings
from convex_evals.suite.suite import Suite

__all__ = [
    "Entry",
    "Eval",
    "EvalFingerprints",
    "Grader",
    "GraderKind",
    "Pipeline",
    "Problem",
    "Selection",
    "Suite",
    "SuiteSettings",
    "find_suite",
    "fingerprint",
    "is_chosen",
    "load_suite",
    "own_suite",
    "read_answer",
    "read_texts",
    "select",
]
