"""Validators as Convex writes them in JSON: made comparable, and readable."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Field:
    """`type` is the validator in the words of TypeScript, like `v.array(v.string())`."""

    type: str
    optional: bool

    def __str__(self) -> str:
        return f"v.optional({self.type})" if self.optional else self.type


def fields_of(validator: Any, what: str) -> dict[str, Field]:
    if not isinstance(validator, dict) or validator.get("type") != "object":
        raise AssertionError(f"{what} must be one object type, not {shown(validator)}")
    return {name: _field(entry) for name, entry in validator["value"].items()}


def shown(validator: Any) -> str:
    """As it stands in TypeScript. The order of fields and of union members is lost: equal validators, equal texts."""
    if validator is None:
        return "none"
    kind = validator["type"]
    match kind:
        case "object":
            entries = sorted(validator["value"].items())
            return "v.object({" + ", ".join(f"{name}: {_field(entry)}" for name, entry in entries) + "})"
        case "array":
            return f"v.array({shown(validator['value'])})"
        case "union":
            return f"v.union({', '.join(sorted(_members(validator)))})"
        case "record":
            return f"v.record({shown(validator['keys'])}, {_field(validator['values'])})"
        case "id":
            return f'v.id("{validator["tableName"]}")'
        case "literal":
            return f"v.literal({_literal(validator['value'])})"
        case _:
            return f"v.{_NAMES.get(kind, kind)}()"


_NAMES = {"bigint": "int64"}


def _members(union: dict[str, Any]) -> set[str]:
    """Unions in unions are one union."""
    members: set[str] = set()
    for member in union["value"]:
        members |= _members(member) if member["type"] == "union" else {shown(member)}
    return members


def _field(entry: dict[str, Any]) -> Field:
    return Field(shown(entry["fieldType"]), bool(entry.get("optional")))


def _literal(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return repr(value) if isinstance(value, int) and not isinstance(value, bool) else json.dumps(value, sort_keys=True)
