"""Operators: ways of making a right answer wrong, in the order in which they take turns."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.operators import conditions, effects, functions, queries, validators
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
    Operator("skip-effect", effects.skip_effect),
    Operator("remove-await", effects.remove_await),
    Operator("shift-limit", conditions.shift_limit),
    Operator("shift-number", conditions.shift_number),
    Operator("shift-comparison", conditions.shift_comparison),
    Operator("negate-condition", conditions.negate_condition),
    Operator("swap-equality", conditions.swap_equality),
    Operator("swap-and-or", conditions.swap_and_or),
    Operator("drop-field", effects.drop_field),
    Operator("return-nothing", effects.return_nothing),
    Operator("change-visibility", functions.change_visibility),
    Operator("query-as-mutation", functions.query_as_mutation),
    Operator("drop-args", functions.drop_args),
    Operator("drop-returns", functions.drop_returns),
    Operator("swap-validator", validators.swap_validator),
    Operator("widen-validator", validators.widen_validator),
    Operator("make-required", validators.make_required),
    Operator("make-optional", validators.make_optional),
    Operator("drop-literal", validators.drop_literal),
    Operator("prefix-as-path", functions.prefix_as_path),
    Operator("swap-method", functions.swap_method),
)
