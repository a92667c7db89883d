"""Functions, HTTP endpoints and the values they take that are declared otherwise."""

from collections.abc import Iterator, Mapping
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.syntax import (
    BUILDERS,
    Change,
    Edit,
    builder_calls,
    call_arguments,
    items,
    method_call,
    method_calls,
    remove_item,
    replace,
    start_of,
    validators,
)

VISIBILITY: Final = {
    "query": "internalQuery",
    "mutation": "internalMutation",
    "action": "internalAction",
    "internalQuery": "query",
    "internalMutation": "mutation",
    "internalAction": "action",
}
MUTATIONS: Final = {"query": "mutation", "internalQuery": "internalMutation"}
SERVER: Final = "_generated/server"
METHODS: Final = {'"GET"': '"POST"', '"POST"': '"GET"', '"PUT"': '"POST"', '"DELETE"': '"POST"', '"PATCH"': '"PUT"'}
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


def change_visibility(root: SgNode) -> Iterator[Change]:
    """`mutation({…})` becomes `internalMutation({…})` and back."""
    return _rename(root, VISIBILITY)


def query_as_mutation(root: SgNode) -> Iterator[Change]:
    """`query({…})` becomes `mutation({…})`."""
    return _rename(root, MUTATIONS)


def drop_args(root: SgNode) -> Iterator[Change]:
    """A function does not say which arguments it takes."""
    return _drop(root, "args")


def drop_returns(root: SgNode) -> Iterator[Change]:
    """A function does not say what it returns."""
    return _drop(root, "returns")


def _rename(root: SgNode, names: Mapping[str, str]) -> Iterator[Change]:
    for _, function in builder_calls(root, *names):
        name = names[function.text()]
        yield (replace(function, name), *_imported(root, function.text(), name))


def _imported(root: SgNode, known: str, name: str) -> tuple[Edit, ...]:
    """The import of `name` beside the one of `known`, unless it is there."""
    specifiers = [
        specifier
        for statement in root.find_all(kind="import_statement")
        if SERVER in statement.text()
        for specifier in statement.find_all(kind="import_specifier")
    ]
    if any(specifier.text() == name for specifier in specifiers):
        return ()
    places = [start_of(specifier) for specifier in specifiers if specifier.text() == known]
    return tuple(Edit(place, place, f"{name}, ") for place in places[:1])


def _drop(root: SgNode, key: str) -> Iterator[Change]:
    for call, _ in builder_calls(root, *BUILDERS):
        for argument in call_arguments(call)[:1]:
            if argument.kind() == "object":
                for member in items(argument):
                    if _key(member) == key:
                        yield (remove_item(member),)


def _key(member: SgNode) -> str:
    """The name of a member: of `args: {}`, and of `args` where that is all of it."""
    key = member.field("key")
    return key.text() if key is not None else member.text()


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
