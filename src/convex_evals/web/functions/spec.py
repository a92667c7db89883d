"""The functions as Convex describes them: what the `convex` CLI asks for when it does not find one."""

from collections.abc import Iterable
from dataclasses import MISSING, fields
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from convex_evals.web.functions.function import Context, Function, NoArguments

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
