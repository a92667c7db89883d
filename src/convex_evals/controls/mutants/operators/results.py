"""What is stored or returned is not complete."""

from collections.abc import Iterator
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.edits import Change
from convex_evals.controls.mutants.nodes import MEMBERS, ancestors_in_function, items, method_call, remove_item, replace

LISTS: Final = frozenset({"collect", "take", "map", "filter", "sort", "toSorted", "slice"})
NOTHING: Final = frozenset({"null", "[]", "{}", "undefined", "false", "true"})


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
