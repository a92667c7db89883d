"""One more, one less."""

from collections.abc import Iterator
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.edits import Change, Edit
from convex_evals.controls.mutants.nodes import FUNCTIONS, end_of, is_inside, method_calls, replace, start_of

SHIFTED: Final = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
SHIFTED_METHODS: Final = {"lt": "lte", "lte": "lt", "gt": "gte", "gte": "gt"}
SIMPLE: Final = frozenset({"identifier", "member_expression", "number"})


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
