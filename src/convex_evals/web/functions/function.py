"""A named function: who may call it, with which arguments, what it answers, and its description in Convex's format."""

from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from convex_evals.scores import Right
from convex_evals.web.identity import Visitor
from convex_evals.web.results import Results
from convex_evals.web.site import Site

Kind = Literal["Query", "Mutation", "Action"]


@dataclass(frozen=True, slots=True)
class Context:
    site: Site
    results: Results
    visitor: Visitor


@dataclass(frozen=True, slots=True)
class Function:
    """`answer` gets an instance of `arguments`, and returns plain values: text, numbers, lists and dictionaries."""

    name: str
    kind: Kind
    right: Right
    arguments: type[Any]
    answer: Callable[[Context, Any], object]
    component: str | None = None


@dataclass(frozen=True, slots=True)
class NoArguments:
    pass


API_SPEC: Final = "_system/cli/modules:apiSpec"
_PLAIN: Final = {str: "string", float: "number", NoneType: "null"}


def api_spec(functions: Iterable[Function], component: str | None) -> Function:
    """A function that describes those of one component."""
    described = [_function(each) for each in functions if each.component == component]

    def answer(context: Context, _: NoArguments) -> list[dict[str, Any]]:
        return described

    return Function(API_SPEC, "Query", "read", NoArguments, answer, component)


def _function(function: Function) -> dict[str, Any]:
    return {
        "identifier": function.name.replace(":", ".js:"),
        "functionType": function.kind,
        "args": _arguments(function.arguments),
        "returns": None,
        "visibility": {"kind": "public"},
    }


def _arguments(kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    optional = {each.name for each in fields(kind) if (each.default, each.default_factory) != (MISSING, MISSING)}
    return {"type": "object", "value": {name: _field(hint, name in optional) for name, hint in hints.items()}}


def _field(kind: Any, optional: bool = False) -> dict[str, Any]:
    return {"fieldType": _validator(kind), "optional": optional}


def _validator(kind: Any) -> dict[str, Any]:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"type": "union", "value": [{"type": "literal", "value": each} for each in inner]}
    if origin in (Union, UnionType):
        return {"type": "union", "value": [_validator(each) for each in inner]}
    if origin is list:
        return {"type": "array", "value": _validator(inner[0])}
    if origin is dict:
        return {"type": "record", "keys": _validator(inner[0]), "values": _field(inner[1])}
    return {"type": _PLAIN[kind]}
