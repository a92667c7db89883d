"""What is not done, not waited for, or not returned completely."""

from collections.abc import Iterator
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.syntax import (
    MEMBERS,
    Change,
    ancestors_in_function,
    cut,
    items,
    method_call,
    remove_item,
    replace,
    start_of,
)

LISTS: Final = frozenset({"collect", "take", "map", "filter", "sort", "toSorted", "slice"})
NOTHING: Final = frozenset({"null", "[]", "{}", "undefined", "false", "true"})


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
