"""Validators from the JSON that `exportArgs()`, `exportReturns()` and schemas contain."""

from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import Any

import orjson

from convex_evals.backend.errors import DeveloperError, RequestError
from convex_evals.backend.names import identifier_error
from convex_evals.backend.validators.types import (
    ANY,
    BIGINT,
    BOOLEAN,
    BYTES,
    COMMIT_TIMESTAMP,
    NULL,
    NUMBER,
    STRING,
    AnyValidator,
    ArrayValidator,
    Field,
    IdValidator,
    LiteralValidator,
    ObjectValidator,
    RecordValidator,
    UnionValidator,
    Validator,
    is_subset,
)
from convex_evals.backend.values import decode

_SIMPLE: dict[str, Validator] = {
    validator.kind: validator for validator in (NULL, NUMBER, BIGINT, COMMIT_TIMESTAMP, BOOLEAN, STRING, BYTES)
} | {"any": ANY, "map": ANY, "set": ANY}


@lru_cache(maxsize=1024)
def load_validator(text: str) -> Validator:
    """From the stored text of an analyzed function. `null`, an absent `returns`, accepts anything."""
    return ANY if text == "null" else parse_validator(orjson.loads(text))


def parse_args_validator(json: object) -> Validator:
    validator = parse_validator(json)
    if not isinstance(validator, ObjectValidator | AnyValidator):
        raise _invalid("Args validator must be an object or any")
    return validator


def parse_validator(json: Any) -> Validator:
    """Raises RequestError with the code and text a push reports, without the push's own prefixes."""
    kind = json.get("type") if isinstance(json, dict) else None
    if isinstance(kind, str) and kind in _SIMPLE:
        return _SIMPLE[kind]
    if not isinstance(kind, str) or kind not in _PARSERS:
        raise _invalid(f"Unrecognized validator: {orjson.dumps(json).decode()}")
    return _PARSERS[kind](json)


def _invalid(message: str, code: str = "InvalidSchema") -> RequestError:
    return RequestError(400, code, message)


def _member(json: dict[str, Any], name: str, kind: type) -> Any:
    if not isinstance(json.get(name), kind):
        raise _invalid(f"Invalid `{name}` of a validator: {orjson.dumps(json).decode()}")
    return json[name]


def _parse_id(json: dict[str, Any]) -> Validator:
    table = _member(json, "tableName", str)
    problem = identifier_error(table)
    if problem is not None:
        raise _invalid(problem, "InvalidTableName")
    return IdValidator(table)


def _parse_literal(json: dict[str, Any]) -> Validator:
    try:
        value = decode(json.get("value"))
    except DeveloperError as error:
        raise _invalid(error.message) from None
    if not isinstance(value, bool | int | float | str):
        raise _invalid(f"Unsupported value of a literal validator: {orjson.dumps(json).decode()}")
    if isinstance(value, float) and not isfinite(value):
        raise _invalid("Infinite or NaN values are not supported in literal validators.", "UnsupportedFloatLiteral")
    return LiteralValidator(value)


def _parse_array(json: dict[str, Any]) -> Validator:
    return ArrayValidator(parse_validator(json.get("value")))


def _parse_union(json: dict[str, Any]) -> Validator:
    return UnionValidator(tuple(map(parse_validator, _member(json, "value", list))))


def _parse_object(json: dict[str, Any]) -> Validator:
    fields = _member(json, "value", dict)
    return ObjectValidator({name: _parse_named_field(name, fields[name]) for name in sorted(fields)})


def _parse_named_field(name: str, json: object) -> Field:
    problem = identifier_error(name)
    if problem is not None:
        raise _invalid(problem, "InvalidIdentifier")
    try:
        return _parse_field(json)
    except RequestError as error:
        raise _invalid(f"Invalid validator for key `{name}`: {error.message}", error.code) from None


def _parse_field(json: object) -> Field:
    if not isinstance(json, dict):
        raise _invalid(f"Unrecognized field validator: {orjson.dumps(json).decode()}")
    return Field(parse_validator(json.get("fieldType")), optional=json.get("optional") is True)


def _parse_record(json: dict[str, Any]) -> Validator:
    keys = parse_validator(json.get("keys"))
    values = _parse_field(json.get("values"))
    if not is_subset(keys, STRING):
        raise _invalid_record(
            f"Records can only have string keys. Your validator contains a record with key typed as `{keys}`, "
            "which is not a subtype of `v.string()`"
        )
    if _has_literal(keys):
        raise _invalid_record("Records cannot have string literal keys")
    if values.optional:
        raise _invalid_record("Records cannot have optional values")
    return RecordValidator(keys, values.validator)


def _invalid_record(message: str) -> RequestError:
    return _invalid(message, "InvalidRecordType")


def _has_literal(validator: Validator) -> bool:
    if isinstance(validator, UnionValidator):
        return any(map(_has_literal, validator.members))
    return isinstance(validator, LiteralValidator)


_PARSERS: dict[str, Callable[[dict[str, Any]], Validator]] = {
    "id": _parse_id,
    "literal": _parse_literal,
    "array": _parse_array,
    "union": _parse_union,
    "object": _parse_object,
    "record": _parse_record,
}
