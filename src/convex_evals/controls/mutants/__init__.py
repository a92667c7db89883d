"""Wrong answers made automatically from right ones: how many of them does a grader catch?"""

from convex_evals.controls.mutants.mutant import Mutant, generate_mutants, select_mutants
from convex_evals.controls.mutants.operators import OPERATORS

__all__ = ["OPERATORS", "Mutant", "generate_mutants", "select_mutants"]
