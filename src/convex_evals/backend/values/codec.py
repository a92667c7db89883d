"""Convex values as JSON: the form they have on every boundary, and the formats the HTTP API offers for results."""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from math import isfinite, isnan
from struct import Struct
from typing import Any, Literal

import orjson

from convex_evals.backend.errors import DeveloperError, RequestError
from convex_evals.backend.limits import (
    MAX_ARRAY_LENGTH,
    MAX_NESTING,
    MAX_OBJECT_FIELDS,
    array_too_long,
    too_many_fields,
    too_nested,
)
from convex_evals.backend.names import check_field_name, is_field_name
from convex_evals.backend.values.value import COMMIT_TS, INT64_MAX, INT64_MIN, UNDEFINED, CommitTs, Undefined, Value

_FLOAT64 = Struct("<d")
_INT64 = Struct("<q")
_AS_IS = frozenset({str, float, bool, type(None)})
_ENCODED_AS_IS = frozenset({str, bool, type(None)})
_UNDEFINED_JSON = {"$undefined": None}
_Scalars = Mapping[str, Callable[[object], Value]]

Format = Literal["convex_encoded_json", "json", "export_json"]

_FORMATS: dict[str, Format] = {
    "convex_encoded_json": "convex_encoded_json",
    "convex_json": "convex_encoded_json",
    "json": "json",
    "convex_clean_json": "json",
    "export_json": "export_json",
}


def loads(text: str | bytes) -> Value:
    """Raises `ValueError` for text that is not JSON, `DeveloperError` for JSON that is not a value."""
    return decode(orjson.loads(text))


def dumps(value: Value) -> str:
    """The canonical text: keys sorted, floats with a fraction or exponent. Equal values have equal texts."""
    return orjson.dumps(encode(value)).decode()


def decode(json: object) -> Value:
    """The value that parsed JSON stands for. Every number is a Float64. Checks all limits but the total size."""
    return _decode(json, 0, _SCALARS)


def decode_pending(json: object) -> Value:
    """Like `decode`, for places inside a mutation where a commit timestamp may be written before it is known."""
    return _decode(json, 0, _PENDING_SCALARS)


def decode_field(json: object) -> Value | Undefined:
    """Like `decode_pending`, for filter literals, index bounds and patched fields, which may be undefined."""
    return UNDEFINED if json == _UNDEFINED_JSON else decode_pending(json)


def _decode(json: Any, depth: int, scalars: _Scalars) -> Value:
    kind = type(json)
    if kind in _AS_IS:
        return json  # type: ignore[no-any-return]
    if kind is int:
        return float(json)
    if kind is dict:
        if len(json) == 1:
            (name,) = json
            if name in scalars:
                return scalars[name](json[name])
        return _decode_object(json, depth + 1, scalars)
    if kind is list:
        return _decode_array(json, depth + 1, scalars)
    raise DeveloperError(f"{json!r} is not a supported Convex type.")


def _decode_object(json: dict[str, Any], depth: int, scalars: _Scalars) -> Value:
    if depth > MAX_NESTING:
        raise too_nested(depth)
    decoded: dict[str, Value] = {}
    for name in sorted(json):
        if not is_field_name(name):
            check_field_name(name)
        item = json[name]
        decoded[name] = item if type(item) in _AS_IS else _decode(item, depth, scalars)
    if len(decoded) > MAX_OBJECT_FIELDS:
        raise too_many_fields(len(decoded))
    return decoded


def _decode_array(json: list[Any], depth: int, scalars: _Scalars) -> Value:
    if depth > MAX_NESTING:
        raise too_nested(depth)
    decoded = [item if type(item) in _AS_IS else _decode(item, depth, scalars) for item in json]
    if len(decoded) > MAX_ARRAY_LENGTH:
        raise array_too_long(len(decoded))
    return decoded


def _decode_base64(key: str, json: object) -> bytes:
    if not isinstance(json, str):
        raise DeveloperError(f"{key} must have a string value")
    try:
        return b64decode(json, validate=True)
    except (Base64Error, ValueError):
        raise DeveloperError(f"{key} must be valid base64: {json}") from None


def _decode_eight_bytes(key: str, json: object) -> bytes:
    data = _decode_base64(key, json)
    if len(data) != 8:
        raise DeveloperError(f"{key} must be exactly eight bytes, received {len(data)}")
    return data


def _decode_bytes(json: object) -> Value:
    return _decode_base64("$bytes", json)


def _decode_integer(json: object) -> Value:
    return int.from_bytes(_decode_eight_bytes("$integer", json), "little", signed=True)


def _decode_float(json: object) -> Value:
    number: float = _FLOAT64.unpack(_decode_eight_bytes("$float", json))[0]
    if isfinite(number) and number != 0:
        shown = int(number) if number.is_integer() else number
        raise DeveloperError(f"Float64 {shown} should be encoded as a number")
    return number


def _decode_commit_ts(json: object) -> Value:
    if json is not None:
        raise DeveloperError("$commitTs must have a null value")
    return COMMIT_TS


_SCALARS: _Scalars = {"$bytes": _decode_bytes, "$integer": _decode_integer, "$float": _decode_float}

_PENDING_SCALARS: _Scalars = {**_SCALARS, "$commitTs": _decode_commit_ts}


def encode(value: Value) -> object:
    """Plain JSON objects with sorted keys, ready for `orjson.dumps`."""
    kind = type(value)
    if kind in _ENCODED_AS_IS:
        return value
    if isinstance(value, float):
        # An ordinary number: neither a zero (which may be -0) nor NaN nor infinite.
        return value if value and value - value == 0 else _encode_special_float(value)
    if isinstance(value, dict):
        return {name: item if type(item := value[name]) in _ENCODED_AS_IS else encode(item) for name in sorted(value)}
    if isinstance(value, list):
        return [item if type(item) in _ENCODED_AS_IS else encode(item) for item in value]
    if isinstance(value, int):
        return _encode_int64(value)
    if isinstance(value, bytes):
        return {"$bytes": b64encode(value).decode()}
    raise TypeError(f"not a Convex value: {value!r}")


def _encode_int64(value: int) -> object:
    if isinstance(value, CommitTs):
        return {"$commitTs": None}
    if not INT64_MIN <= value <= INT64_MAX:
        raise DeveloperError(f"BigInt {value} does not fit into a 64-bit signed integer.")
    return {"$integer": b64encode(_INT64.pack(value)).decode()}


def _encode_special_float(value: float) -> object:
    data = _FLOAT64.pack(value)
    return 0.0 if data == bytes(8) else {"$float": b64encode(data).decode()}


def parse_format(name: str) -> Format:
    format = _FORMATS.get(name)
    if format is None:
        raise RequestError(400, "BadFormat", f"format param must be one of [`json`]. Got {name}")
    return format


def render(value: Value, format: Format) -> object:
    """The value as plain JSON objects, ready for `orjson.dumps`."""
    match format:
        case "convex_encoded_json":
            return encode(value)
        case "json":
            return _clean(value)
        case "export_json":
            return _export(value)


def _clean(value: Value) -> object:
    """Readable, but types are lost: int64 and bytes become strings."""
    if isinstance(value, dict):
        return {name: _clean(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _export(value: Value) -> object:
    """Like the encoded form, but with bare integers and `-0.0`."""
    if isinstance(value, dict):
        return {name: _export(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_export(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return value if value == 0 else encode(value)
