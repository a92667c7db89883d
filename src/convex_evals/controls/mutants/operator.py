"""A way of making a right answer wrong."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ast_grep_py import SgNode

from convex_evals.controls.mutants.edits import Change


@dataclass(frozen=True, slots=True)
class Operator:
    """`changes` gives every change that it can make in a module, each of them alone."""

    name: str
    changes: Callable[[SgNode], Iterator[Change]]
