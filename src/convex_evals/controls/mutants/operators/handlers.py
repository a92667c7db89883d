"""Handlers that take the other branch, count one more or one less, or do not do, await or return everything."""

from collections.abc import Iterator
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.syntax import (
    FUNCTIONS,
    MEMBERS,
    Change,
    Edit,
    ancestors_in_function,
    cut,
    end_of,
    is_inside,
    items,
    method_call,
    method_calls,
    remove_item,
    replace,
    start_of,
)

EQUALITIES: Final = {"===": "!==", "!==": "===", "==": "!=", "!=": "=="}
JUNCTIONS: Final = {"&&": "||", "||": "&&"}
SHIFTED: Final = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
SHIFTED_METHODS: Final = {"lt": "lte", "lte": "lt", "gt": "gte", "gte": "gt"}
SIMPLE: Final = frozenset({"identifier", "member_expression", "number"})
LISTS: Final = frozenset({"collect", "take", "map", "filter", "sort", "toSorted", "slice"})
NOTHING: Final = frozenset({"null", "[]", "{}", "undefined", "false", "true"})


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


def skip_effect(root: SgNode) -> Iterator[Change]:
    """A statement that only waits for something (`await ctx.db.delete(id);`) is left out."""
    for statement in root.find_all(kind="expression_statement"):
        if statement.children()[0].kind() == "await_expression":
            parent = statement.parent()
            in_block = parent is not None and parent.kind() in ("statement_block", "program")
            yield (replace(statement, "" if in_block else "{}"),)


def remove_await(root: SgNode) -> Iterator[Change]:
    """`await x` becomes `x`, except where a function returns it: there it is the same."""
    for waiting in root.find_all(kind="await_expression"):
        if not _is_returned(waiting):
            (_, awaited) = waiting.children()
            yield (cut(start_of(waiting), start_of(awaited)),)


def _is_returned(waiting: SgNode) -> bool:
    """Inside `try` a returned promise is not the same: its failure is not caught."""
    parent = waiting.parent()
    if parent is None or parent.kind() not in ("return_statement", "arrow_function"):
        return False
    return not any(node.kind() == "try_statement" for node in ancestors_in_function(waiting) or ())


def drop_field(root: SgNode) -> Iterator[Change]:
    """An object that a function makes loses one of its members."""
    for made in root.find_all(kind="object"):
        between = ancestors_in_function(made)
        if between is None or any(_is_validator(node) for node in between):
            continue
        for member in items(made):
            if member.kind() in MEMBERS:
                yield (remove_item(member),)


def return_nothing(root: SgNode) -> Iterator[Change]:
    """A function returns null, or where it would return a list, an empty one."""
    for statement in root.find_all(kind="return_statement"):
        values = items(statement)
        if values and values[0].text() not in NOTHING:
            yield (replace(values[0], _nothing_like(values[0])),)
    for function in root.find_all(kind="arrow_function"):
        body = function.field("body")
        if body is None or body.kind() == "statement_block" or body.text() in NOTHING:
            continue
        if _is_handler(function):
            yield (replace(body, _nothing_like(body)),)


def _nothing_like(value: SgNode) -> str:
    return "[]" if _is_list(value) else "null"


def _is_list(value: SgNode) -> bool:
    if value.kind() == "await_expression":
        value = value.children()[1]
    call = method_call(value)
    return call is not None and call.name in LISTS


def _is_handler(function: SgNode) -> bool:
    parent = function.parent()
    return parent is not None and parent.kind() == "pair" and parent.children()[0].text() == "handler"


def _is_validator(node: SgNode) -> bool:
    call = method_call(node)
    return call is not None and call.object.text() == "v"
