"""Queries that read other documents, or in another order."""

from collections.abc import Iterator
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.syntax import (
    Change,
    Edit,
    MethodCall,
    call_arguments,
    chain_names,
    end_of,
    items,
    method_call,
    method_calls,
    remove_item,
    replace,
    without_call,
)

CONDITIONS: Final = ("eq", "gt", "gte", "lt", "lte")
FLIPPED: Final = {'"desc"': '"asc"', '"asc"': '"desc"', "'desc'": "'asc'", "'asc'": "'desc'"}
ENDS: Final = ("collect", "take", "first", "paginate")
ORDERED_OTHERWISE: Final = frozenset({"order", "withSearchIndex"})


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


def flip_order(root: SgNode) -> Iterator[Change]:
    """`.order("desc")` becomes `.order("asc")` and back; where there is none, `.order("desc")` is added."""
    for call in method_calls(root, "order"):
        if len(call.arguments) == 1 and call.arguments[0].text() in FLIPPED:
            yield (replace(call.arguments[0], FLIPPED[call.arguments[0].text()]),)
    for call in method_calls(root, *ENDS):
        names = chain_names(call.object)
        if names[:1] == ["query"] and ORDERED_OTHERWISE.isdisjoint(names):
            place = end_of(call.object)
            yield (Edit(place, place, '.order("desc")'),)


def flip_sort(root: SgNode) -> Iterator[Change]:
    """`.sort((a, b) => …)` becomes `.sort((b, a) => …)`; `.reverse()` is left out."""
    for call in method_calls(root, "sort", "toSorted"):
        parameters = call.arguments[0].field("parameters") if call.arguments else None
        pair = items(parameters) if parameters is not None else []
        if len(pair) == 2:
            yield replace(pair[0], pair[1].text()), replace(pair[1], pair[0].text())
    for call in method_calls(root, "reverse", "toReversed"):
        yield (replace(call.node, call.object.text()),)
