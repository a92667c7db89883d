"""What is asked: evals loaded from a folder, selected, and fingerprinted."""

from convex_evals.suite.answers import is_chosen, read_answer, read_texts
from convex_evals.suite.eval import Eval, Grader, GraderKind, Pipeline, SuiteSettings
from convex_evals.suite.files import BrokenError, Problem, children, files_below, read_text
from convex_evals.suite.fingerprints import Entry, EvalFingerprints, fingerprint, fingerprint_entry
from convex_evals.suite.locations import EVAL_EXAMPLE, NUMBERED_NAME, find_suite, own_suite
from convex_evals.suite.selection import Selection, select
from convex_evals.suite.suite import Suite, load_suite

__all__ = [
    "EVAL_EXAMPLE",
    "NUMBERED_NAME",
    "BrokenError",
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
    "children",
    "files_below",
    "find_suite",
    "fingerprint",
    "fingerprint_entry",
    "is_chosen",
    "load_suite",
    "own_suite",
    "read_answer",
    "read_text",
    "read_texts",
    "select",
]
