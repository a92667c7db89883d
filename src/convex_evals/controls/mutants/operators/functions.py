"""How functions are declared: for whom, of which kind, with which arguments."""

from collections.abc import Iterator, Mapping
from typing import Final

from ast_grep_py import SgNode

from convex_evals.controls.mutants.edits import Change, Edit
from convex_evals.controls.mutants.nodes import (
    BUILDERS,
    builder_calls,
    call_arguments,
    items,
    remove_item,
    replace,
    start_of,
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
