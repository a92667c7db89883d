"""The JSON formats a caller of the HTTP API can ask results in."""

from base64 import b64encode
from math import isfinite, isnan
from typing import Literal

from convex_evals.backend.errors import RequestError
from convex_evals.backend.values.encoding import encode
from convex_evals.backend.values.types import Value

Format = Literal["convex_encoded_json", "json", "export_json"]

_FORMATS: dict[str, Format] = {
    "convex_encoded_json": "convex_encoded_json",
    "convex_json": "convex_encoded_json",
    "json": "json",
    "convex_clean_json": "json",
    "export_json": "export_json",
}


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
