"""Reading more than is needed, or other documents than are meant."""

from collections.abc import Iterator
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.edits import Change
from convex_evals.controls.mutants.nodes import (
    MethodCall,
    call_arguments,
    items,
    method_call,
    method_calls,
    remove_item,
    replace,
    without_call,
)

CONDITIONS: Final = ("eq", "gt", "gte", "lt", "lte")


def drop_index(root: SgNode) -> Iterator[Change]:
    """`.withIndex("by_user", …)` is left out: every document is read."""
    for call in method_calls(root, "withIndex"):
        yield (without_call(call),)


def scan_instead_of_index(root: SgNode) -> Iterator[Change]:
    """`.withIndex("by_user", …)` becomes `.filter(…)` with the same conditions: the result stays, all is read."""
    for call in method_calls(root, "withIndex"):
        conditions = _range_conditions(call)
        if conditions:
            parts = [f"q.{each.name}(q.field({_texts(each)[0]}), {_texts(each)[1]})" for each in reversed(conditions)]
            both = parts[0] if len(parts) == 1 else f"q.and({', '.join(parts)})"
            yield (replace(call.node, f"{call.object.text()}.filter((q) => {both})"),)


def drop_range_condition(root: SgNode) -> Iterator[Change]:
    """The last condition of an index range is left out."""
    for call in method_calls(root, "withIndex", "withSearchIndex"):
        conditions = _range_conditions(call)
        if conditions:
            yield (without_call(conditions[0]),)


def narrow_index(root: SgNode) -> Iterator[Change]:
    """An index of a table loses its last field, or is not there at all."""
    for call in method_calls(root, "index"):
        fields = call.arguments[1] if len(call.arguments) == 2 else None
        if fields is None or fields.kind() != "array":
            continue
        names = items(fields)
        yield (remove_item(names[-1]),) if len(names) > 1 else (without_call(call),)


def _range_conditions(call: MethodCall) -> list[MethodCall]:
    """The conditions of `(q) => q.eq("a", 1).gt("b", 2)`, the last one first."""
    body = call.arguments[1].field("body") if len(call.arguments) == 2 else None
    conditions: list[MethodCall] = []
    while body is not None and (found := method_call(body)) is not None and found.name in CONDITIONS:
        if len(call_arguments(found.node)) != 2:
            break
        conditions.append(found)
        body = found.object
    return conditions


def _texts(call: MethodCall) -> list[str]:
    return [argument.text() for argument in call.arguments]
