"""The other branch; one more, one less."""

from collections.abc import Iterator
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.syntax import (
    FUNCTIONS,
    Change,
    Edit,
    end_of,
    is_inside,
    method_calls,
    replace,
    start_of,
)

EQUALITIES: Final = {"===": "!==", "!==": "===", "==": "!=", "!=": "=="}
JUNCTIONS: Final = {"&&": "||", "||": "&&"}
SHIFTED: Final = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
SHIFTED_METHODS: Final = {"lt": "lte", "lte": "lt", "gt": "gte", "gte": "gt"}
SIMPLE: Final = frozenset({"identifier", "member_expression", "number"})


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


def shift_limit(root: SgNode) -> Iterator[Change]:
    """`.take(n)` takes one more; `.slice(a, b)` begins and ends one later."""
    for call in method_calls(root, "take", "slice"):
        for argument in call.arguments:
            if argument.kind() != "number":
                yield (_one_more(argument),)


def shift_number(root: SgNode) -> Iterator[Change]:
    """A whole number in the code becomes one more. Literals of validators and types have operators of their own."""
    for number in root.find_all(kind="number"):
        if number.text().replace("_", "").isdecimal() and not _is_declared(number):
            yield (replace(number, str(int(number.text().replace("_", "")) + 1)),)


def shift_comparison(root: SgNode) -> Iterator[Change]:
    """`<` becomes `<=`, `.gt(…)` becomes `.gte(…)`, and so on."""
    for comparison in root.find_all(kind="binary_expression"):
        operator = comparison.field("operator")
        if operator is not None and operator.text() in SHIFTED:
            yield (replace(operator, SHIFTED[operator.text()]),)
    for call in method_calls(root, *SHIFTED_METHODS):
        name = call.node.field("function")
        if name is not None and is_inside(call.node, *FUNCTIONS):
            start = end_of(name) - len(call.name)
            yield (Edit(start, end_of(name), SHIFTED_METHODS[call.name]),)


def _one_more(argument: SgNode) -> Edit:
    text = argument.text()
    return replace(argument, f"{text} + 1" if argument.kind() in SIMPLE else f"({text}) + 1")


def _is_declared(number: SgNode) -> bool:
    if is_inside(number, "literal_type", "type_annotation"):
        return True
    start = start_of(number)
    literals = (call for call in method_calls(number.get_root().root(), "literal") if call.object.text() == "v")
    return any(start_of(call.node) < start < end_of(call.node) for call in literals)
