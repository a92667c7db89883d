"""Convex values: types, JSON, order, sizes, limits and the way error texts show them."""

from convex_evals.backend.values.display import display, type_name
from convex_evals.backend.values.encoding import decode, decode_field, decode_pending, dumps, encode, loads
from convex_evals.backend.values.formats import Format, parse_format, render
from convex_evals.backend.values.limits import (
    MAX_ARRAY_LENGTH,
    MAX_NESTING,
    MAX_OBJECT_FIELDS,
    MAX_SIZE,
    check_field_name,
    check_limits,
)
from convex_evals.backend.values.order import equal, sort_key
from convex_evals.backend.values.paths import field_at, split_path
from convex_evals.backend.values.size import format_size, nesting_of, size_of
from convex_evals.backend.values.types import COMMIT_TS, INT64_MAX, INT64_MIN, UNDEFINED, CommitTs, Undefined, Value

__all__ = [
    "COMMIT_TS",
    "INT64_MAX",
    "INT64_MIN",
    "MAX_ARRAY_LENGTH",
    "MAX_NESTING",
    "MAX_OBJECT_FIELDS",
    "MAX_SIZE",
    "UNDEFINED",
    "CommitTs",
    "Format",
    "Undefined",
    "Value",
    "check_field_name",
    "check_limits",
    "decode",
    "decode_field",
    "decode_pending",
    "display",
    "dumps",
    "encode",
    "equal",
    "field_at",
    "format_size",
    "loads",
    "nesting_of",
    "parse_format",
    "render",
    "size_of",
    "sort_key",
    "split_path",
    "type_name",
]
