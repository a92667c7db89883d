"""Operators: ways of making a right answer wrong, in the order in which they take turns."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.operators import declarations, handlers, queries
from convex_evals.controls.mutants.syntax import Change


@dataclass(frozen=True, slots=True)
class Operator:
    """`changes` gives every change that it can make in a module, each of them alone."""

    name: str
    changes: Callable[[SgNode], Iterator[Change]]


OPERATORS: Final[tuple[Operator, ...]] = (
    Operator("drop-index", queries.drop_index),
    Operator("scan-instead-of-index", queries.scan_instead_of_index),
    Operator("drop-range-condition", queries.drop_range_condition),
    Operator("narrow-index", queries.narrow_index),
    Operator("flip-order", queries.flip_order),
    Operator("flip-sort", queries.flip_sort),
    Operator("skip-effect", handlers.skip_effect),
    Operator("remove-await", handlers.remove_await),
    Operator("shift-limit", handlers.shift_limit),
    Operator("shift-number", handlers.shift_number),
    Operator("shift-comparison", handlers.shift_comparison),
    Operator("negate-condition", handlers.negate_condition),
    Operator("swap-equality", handlers.swap_equality),
    Operator("swap-and-or", handlers.swap_and_or),
    Operator("drop-field", handlers.drop_field),
    Operator("return-nothing", handlers.return_nothing),
    Operator("change-visibility", declarations.change_visibility),
    Operator("query-as-mutation", declarations.query_as_mutation),
    Operator("drop-args", declarations.drop_args),
    Operator("drop-returns", declarations.drop_returns),
    Operator("swap-validator", declarations.swap_validator),
    Operator("widen-validator", declarations.widen_validator),
    Operator("make-required", declarations.make_required),
    Operator("make-optional", declarations.make_optional),
    Operator("drop-literal", declarations.drop_literal),
    Operator("prefix-as-path", declarations.prefix_as_path),
    Operator("swap-method", declarations.swap_method),
)
