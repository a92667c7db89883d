"""TypeScript as the operators see it: nodes of its syntax tree, and edits of its text."""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ast_grep_py import SgNode

FUNCTIONS: Final = frozenset({"arrow_function", "function_declaration", "function_expression", "method_definition"})
MEMBERS: Final = frozenset({"pair", "shorthand_property_identifier", "spread_element"})
BUILDERS: Final = ("query", "mutation", "action", "internalQuery", "internalMutation", "internalAction")


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Characters from `start` up to `end` become `text`."""

    start: int
    end: int
    text: str


Change = tuple[Edit, ...]
"""Edits of one file that belong together."""


def apply_edits(text: str, change: Iterable[Edit]) -> str:
    """Edits do not overlap; insertions at one place come in the order of their texts."""
    parts, position = [], 0
    for edit in sorted(change):
        assert edit.start >= position, "edits must not overlap"
        parts += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*parts, text[position:]])


@dataclass(frozen=True, slots=True)
class Difference:
    """The lines that differ, with - and + in front. `line` is the number of the first of them."""

    line: int
    lines: tuple[str, ...]


def difference(before: str, after: str) -> Difference:
    diff = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))[2:]
    number = int(diff[0].split()[1].lstrip("-").partition(",")[0]) if diff else 0
    return Difference(number, tuple(line for line in diff if not line.startswith("@@")))


@dataclass(frozen=True, slots=True)
class MethodCall:
    """`object.name(arguments)`."""

    node: SgNode
    object: SgNode
    name: str
    arguments: tuple[SgNode, ...]


def method_calls(root: SgNode, *names: str) -> Iterator[MethodCall]:
    """Calls of methods by name, outer ones of a chain before inner ones."""
    for call in root.find_all(kind="call_expression"):
        found = method_call(call)
        if found is not None and found.name in names:
            yield found


def method_call(call: SgNode) -> MethodCall | None:
    function = call.field("function")
    if call.kind() != "call_expression" or function is None or function.kind() != "member_expression":
        return None
    target, name = function.field("object"), function.field("property")
    if target is None or name is None:
        return None
    return MethodCall(call, target, name.text(), call_arguments(call))


def call_arguments(call: SgNode) -> tuple[SgNode, ...]:
    arguments = call.field("arguments")
    return tuple(items(arguments)) if arguments else ()


def validators(root: SgNode, *names: str) -> Iterator[MethodCall]:
    """Calls like `v.string()`."""
    return (call for call in method_calls(root, *names) if call.object.text() == "v")


def builder_calls(root: SgNode, *names: str) -> Iterator[tuple[SgNode, SgNode]]:
    """Calls like `query({…})`, each with the name that is called."""
    for call in root.find_all(kind="call_expression"):
        function = call.field("function")
        if function is not None and function.kind() == "identifier" and function.text() in names:
            yield call, function


def chain_names(call: SgNode) -> list[str]:
    """The methods called from the root of a chain to this call: `query`, `withIndex`, `take`."""
    names: list[str] = []
    node: SgNode | None = call
    while node is not None and (found := method_call(node)) is not None:
        names.append(found.name)
        node = found.object
    return names[::-1]


def items(node: SgNode) -> list[SgNode]:
    """The members of an object, array or argument list, without comments."""
    return [child for child in node.children() if child.is_named() and child.kind() != "comment"]


def is_inside(node: SgNode, *kinds: str) -> bool:
    return any(ancestor.kind() in kinds for ancestor in node.ancestors())


def ancestors_in_function(node: SgNode) -> list[SgNode] | None:
    """What is between a node and the function around it; None when there is no function around it."""
    between: list[SgNode] = []
    for ancestor in node.ancestors():
        if ancestor.kind() in FUNCTIONS:
            return between
        between.append(ancestor)
    return None


def replace(node: SgNode, text: str) -> Edit:
    place = node.range()
    return Edit(place.start.index, place.end.index, text)


def cut(start: int, end: int) -> Edit:
    return Edit(start, end, "")


def start_of(node: SgNode) -> int:
    return node.range().start.index


def end_of(node: SgNode) -> int:
    return node.range().end.index


def without_call(call: MethodCall) -> Edit:
    """`x.f(…)` becomes `x`."""
    return cut(end_of(call.object), end_of(call.node))


def remove_item(item: SgNode) -> Edit:
    """Takes a member of a list away, with the comma behind it, or in front of it if it is the last."""
    following, before = item.next(), item.prev()
    if following is not None and following.text() == ",":
        after = following.next()
        return cut(start_of(item), start_of(after) if after is not None else end_of(following))
    if before is not None and before.text() == ",":
        return cut(start_of(before), end_of(item))
    return replace(item, "")
