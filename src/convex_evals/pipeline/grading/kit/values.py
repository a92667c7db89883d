"""Convex values as graders write and read them.

A number is a Python `int` or `float`, as in TypeScript: 5 and 5.0 are the same Float64, and whole numbers come back as
`int`. An Int64 (`v.int64()`, a bigint) is always `Int64`, which equals no number: one cannot pass for the other.
"""

from collections.abc import Mapping
from typing import Any, Final

from convex_evals.backend import Value, decode, encode

LARGEST_WHOLE_NUMBER: Final = 2**53


class Int64(int):
    """A Convex Int64: `Int64(5)`. It calculates like an `int`, but is equal to nothing but the same Int64."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Int64) and int(self) == int(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("Int64", int(self)))

    def __repr__(self) -> str:
        return f"Int64({int(self)})"


def to_json(value: object) -> object:
    """What the HTTP API takes."""
    return encode(_sent(value))


def from_json(json: object) -> Any:
    return _received(decode(json))


def _sent(value: object) -> Value:
    if isinstance(value, Int64):
        return int(value)
    if value is None or isinstance(value, bool | str | bytes):
        return value
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, Mapping):
        return {str(name): _sent(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_sent(item) for item in value]
    raise TypeError(f"{value!r} is no Convex value: write None, bool, int, float, Int64, str, bytes, list or dict")


def _received(value: Value) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return Int64(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list):
        return [_received(item) for item in value]
    if isinstance(value, dict):
        return {name: _received(item) for name, item in value.items()}
    return value


def _number(value: float) -> int | float:
    # -0.0 stays a float: it is the one whole number that an int cannot be.
    is_whole = value.is_integer() and abs(value) <= LARGEST_WHOLE_NUMBER and str(value) != "-0.0"
    return int(value) if is_whole else value
