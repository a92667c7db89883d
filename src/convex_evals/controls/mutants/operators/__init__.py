"""All operators, in the order in which they take turns."""

from typing import Final

from convex_evals.controls.mutants.operator import Operator
from convex_evals.controls.mutants.operators import (
    conditions,
    effects,
    functions,
    indexes,
    limits,
    orders,
    results,
    routes,
    validators,
)

OPERATORS: Final[tuple[Operator, ...]] = (
    Operator("drop-index", indexes.drop_index),
    Operator("scan-instead-of-index", indexes.scan_instead_of_index),
    Operator("drop-range-condition", indexes.drop_range_condition),
    Operator("narrow-index", indexes.narrow_index),
    Operator("flip-order", orders.flip_order),
    Operator("flip-sort", orders.flip_sort),
    Operator("skip-effect", effects.skip_effect),
    Operator("remove-await", effects.remove_await),
    Operator("shift-limit", limits.shift_limit),
    Operator("shift-number", limits.shift_number),
    Operator("shift-comparison", limits.shift_comparison),
    Operator("negate-condition", conditions.negate_condition),
    Operator("swap-equality", conditions.swap_equality),
    Operator("swap-and-or", conditions.swap_and_or),
    Operator("drop-field", results.drop_field),
    Operator("return-nothing", results.return_nothing),
    Operator("change-visibility", functions.change_visibility),
    Operator("query-as-mutation", functions.query_as_mutation),
    Operator("drop-args", functions.drop_args),
    Operator("drop-returns", functions.drop_returns),
    Operator("swap-validator", validators.swap_validator),
    Operator("widen-validator", validators.widen_validator),
    Operator("make-required", validators.make_required),
    Operator("make-optional", validators.make_optional),
    Operator("drop-literal", validators.drop_literal),
    Operator("prefix-as-path", routes.prefix_as_path),
    Operator("swap-method", routes.swap_method),
)
