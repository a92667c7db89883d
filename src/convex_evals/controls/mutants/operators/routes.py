"""HTTP endpoints that match other requests."""

from collections.abc import Iterator
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.edits import Change
from convex_evals.controls.mutants.nodes import call_arguments, method_calls, replace

METHODS: Final = {'"GET"': '"POST"', '"POST"': '"GET"', '"PUT"': '"POST"', '"DELETE"': '"POST"', '"PATCH"': '"PUT"'}


def prefix_as_path(root: SgNode) -> Iterator[Change]:
    """`pathPrefix` becomes `path`: only the prefix itself is matched."""
    for key, _ in _settings(root):
        if key.text() == "pathPrefix":
            yield (replace(key, "path"),)


def swap_method(root: SgNode) -> Iterator[Change]:
    """`method: "GET"` becomes `method: "POST"`, and so on."""
    for key, value in _settings(root):
        if key.text() == "method" and value.text() in METHODS:
            yield (replace(value, METHODS[value.text()]),)


def _settings(root: SgNode) -> Iterator[tuple[SgNode, SgNode]]:
    """Keys and values of the objects that `http.route({…})` is called with."""
    for call in method_calls(root, "route"):
        for argument in call_arguments(call.node):
            for pair in argument.find_all(kind="pair") if argument.kind() == "object" else ():
                key, value = pair.field("key"), pair.field("value")
                if key is not None and value is not None:
                    yield key, value
