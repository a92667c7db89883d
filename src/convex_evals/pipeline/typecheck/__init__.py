"""The step `tsc`: one compiler and one set of rules for everyone, whatever a model's tsconfig says."""

from convex_evals.pipeline.typecheck.checked import SOURCES, Area, CheckedCopy, make_checked_copy
from convex_evals.pipeline.typecheck.step import check_types, compiler_command, parse_diagnostics

__all__ = [
    "SOURCES",
    "Area",
    "CheckedCopy",
    "check_types",
    "compiler_command",
    "make_checked_copy",
    "parse_diagnostics",
]
