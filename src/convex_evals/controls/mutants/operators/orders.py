"""The other way round."""

from collections.abc import Iterator
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.edits import Change, Edit
from convex_evals.controls.mutants.nodes import chain_names, end_of, items, method_calls, replace

FLIPPED: Final = {'"desc"': '"asc"', '"asc"': '"desc"', "'desc'": "'asc'", "'asc'": "'desc'"}
ENDS: Final = ("collect", "take", "first", "paginate")
ORDERED_OTHERWISE: Final = frozenset({"order", "withSearchIndex"})


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
