"""Other values than the ones that are meant."""

from collections.abc import Iterator
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.syntax import Change, method_call, remove_item, replace, validators

SWAPPED: Final = {
    "string": "v.number()",
    "number": "v.string()",
    "boolean": "v.string()",
    "id": "v.string()",
    "int64": "v.number()",
    "bytes": "v.string()",
    "null": "v.string()",
}
WIDENED: Final = (
    "string",
    "number",
    "boolean",
    "id",
    "array",
    "object",
    "union",
    "literal",
    "record",
    "int64",
    "bytes",
)
UNWRAPPED: Final = ("optional", "nullable")


def swap_validator(root: SgNode) -> Iterator[Change]:
    """`v.string()` becomes `v.number()`, and so on."""
    for call in validators(root, *SWAPPED):
        yield (replace(call.node, SWAPPED[call.name]),)


def widen_validator(root: SgNode) -> Iterator[Change]:
    """A validator becomes `v.any()`."""
    for call in validators(root, *WIDENED):
        yield (replace(call.node, "v.any()"),)


def make_required(root: SgNode) -> Iterator[Change]:
    """`v.optional(x)` and `v.nullable(x)` become `x`."""
    for call in validators(root, *UNWRAPPED):
        if len(call.arguments) == 1:
            yield (replace(call.node, call.arguments[0].text()),)


def make_optional(root: SgNode) -> Iterator[Change]:
    """A field `name: v.string()` becomes `name: v.optional(v.string())`."""
    for pair in root.find_all(kind="pair"):
        value = pair.field("value")
        call = method_call(value) if value is not None else None
        if call is not None and call.object.text() == "v" and call.name != "optional" and _is_field(pair):
            yield (replace(call.node, f"v.optional({call.node.text()})"),)


def drop_literal(root: SgNode) -> Iterator[Change]:
    """A union loses one of its members."""
    for call in validators(root, "union"):
        for member in call.arguments if len(call.arguments) > 1 else ():
            yield (remove_item(member),)


def _is_field(pair: SgNode) -> bool:
    """`returns: v.null()` is not a field: a function cannot return an optional value."""
    return pair.children()[0].text() != "returns"
