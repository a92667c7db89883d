"""The opposite of what is meant."""

from collections.abc import Iterator
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.edits import Change
from convex_evals.controls.mutants.nodes import replace

EQUALITIES: Final = {"===": "!==", "!==": "===", "==": "!=", "!=": "=="}
JUNCTIONS: Final = {"&&": "||", "||": "&&"}


def negate_condition(root: SgNode) -> Iterator[Change]:
    """`if (x)` becomes `if (!(x))`; the same for `x ? a : b` and `while (x)`."""
    for kind in ("if_statement", "while_statement", "ternary_expression"):
        for node in root.find_all(kind=kind):
            condition = node.field("condition")
            if condition is not None:
                text = condition.text()
                negated = f"!{text}" if text.startswith("(") else f"!({text})"
                yield (replace(condition, negated if kind == "ternary_expression" else f"({negated})"),)


def swap_equality(root: SgNode) -> Iterator[Change]:
    """`===` becomes `!==` and back, where that is not the same as negating a condition."""
    return _swap(root, EQUALITIES, whole_conditions=False)


def swap_and_or(root: SgNode) -> Iterator[Change]:
    """`&&` becomes `||` and back."""
    return _swap(root, JUNCTIONS, whole_conditions=True)


def _swap(root: SgNode, swapped: dict[str, str], whole_conditions: bool) -> Iterator[Change]:
    for node in root.find_all(kind="binary_expression"):
        operator = node.field("operator")
        if operator is None or operator.text() not in swapped:
            continue
        if whole_conditions or not _is_whole_condition(node):
            yield (replace(operator, swapped[operator.text()]),)


def _is_whole_condition(node: SgNode) -> bool:
    parent = node.parent()
    if parent is not None and parent.kind() == "parenthesized_expression":
        node, parent = parent, parent.parent()
    condition = parent.field("condition") if parent is not None else None
    return condition is not None and condition.range().start.index == node.range().start.index
