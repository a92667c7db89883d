"""What is asked: evals loaded from a folder, selected, and fingerprinted."""

from convex_evals.suite.answers import (
    Given,
    is_chosen,
    read_answer,
    read_changes,
    read_given,
    read_question,
    read_texts,
)
from convex_evals.suite.eval import Eval, EvalFingerprints, Grader, GraderKind, SuiteSettings
from convex_evals.suite.eval_settings import Difficulty, DifficultySource, Pipeline, Tags
from convex_evals.suite.files import (
    BrokenError,
    Entry,
    Problem,
    children,
    files_below,
    fingerprint,
    fingerprint_entry,
    read_text,
)
from convex_evals.suite.locations import EVAL_EXAMPLE, NUMBERED_NAME, find_suite, own_suite
from convex_evals.suite.parcel import SuiteParcel, moved, pack_eval, root_of, unpack_eval
from convex_evals.suite.selection import Selection, select, spellings
from convex_evals.suite.suite import Suite, load_suite, read_tags

__all__ = [
    "EVAL_EXAMPLE",
    "NUMBERED_NAME",
    "BrokenError",
    "Difficulty",
    "DifficultySource",
    "Entry",
    "Eval",
    "EvalFingerprints",
    "Given",
    "Grader",
    "GraderKind",
    "Pipeline",
    "Problem",
    "Selection",
    "Suite",
    "SuiteParcel",
    "SuiteSettings",
    "Tags",
    "children",
    "files_below",
    "find_suite",
    "fingerprint",
    "fingerprint_entry",
    "is_chosen",
    "load_suite",
    "moved",
    "own_suite",
    "pack_eval",
    "read_answer",
    "read_changes",
    "read_given",
    "read_question",
    "read_tags",
    "read_text",
    "read_texts",
    "root_of",
    "select",
    "spellings",
    "unpack_eval",
]
