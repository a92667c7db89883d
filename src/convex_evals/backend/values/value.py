"""What a Convex value is in Python: `int` is Int64, `float` is Float64, a `dict` has string keys."""

from base64 import b64encode
from enum import Enum
from math import isinf, isnan
from typing import Final, TypeAlias

Value: TypeAlias = bool | int | float | str | bytes | list["Value"] | dict[str, "Value"] | None

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


class Undefined(Enum):
    """A field that is not there. Never part of a value; it takes part in index keys, filters and patches."""

    UNDEFINED = "undefined"

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED: Final = Undefined.UNDEFINED


class CommitTs(int):
    """The commit timestamp of the running mutation, not known yet.

    Until the commit it orders, measures and validates as the largest Int64, so it is one.
    """

    def __repr__(self) -> str:
        return "COMMIT_TS"


COMMIT_TS: Final = CommitTs(INT64_MAX)


def field_at(value: Value, path: tuple[str, ...]) -> Value | Undefined:
    """Descends objects only; anything else on the way makes the field undefined."""
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return UNDEFINED
        value = value[name]
    return value


def split_path(path: str) -> tuple[str, ...]:
    return tuple(path.split("."))


def display(value: Value | Undefined) -> str:
    """As error texts show it: `{author: "a", likes: 1.0}`."""
    if value is UNDEFINED:
        return "undefined"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, float):
        return _display_float(value)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, bytes):
        return f'b"{b64encode(value).decode()}"'
    if isinstance(value, list):
        return f"[{', '.join(map(display, value))}]"
    return f"{{{', '.join(f'{name}: {display(value[name])}' for name in sorted(value))}}}"


def type_name(value: Value | Undefined) -> str:
    """The name of a value's type in error texts."""
    if value is UNDEFINED:
        return "undefined"
    for kind, name in _TYPE_NAMES:
        if isinstance(value, kind):
            return name
    raise TypeError(f"not a Convex value: {value!r}")


_TYPE_NAMES: tuple[tuple[type, str], ...] = (
    (type(None), "Null"),
    (bool, "Boolean"),  # before int: a bool is one
    (int, "Int64"),
    (float, "Float64"),
    (str, "String"),
    (bytes, "Bytes"),
    (list, "Array"),
    (dict, "Object"),
)


def _quote(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(map(_escape, text))}"'


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"


def _display_float(value: float) -> str:
    if isnan(value):
        return "NaN"
    if isinf(value):
        return "inf" if value > 0 else "-inf"
    mantissa, exponential, exponent = repr(value).partition("e")
    return f"{mantissa}e{int(exponent)}" if exponential else mantissa


def size_of(value: Value) -> int:
    """In bytes, as limits and usage figures count it."""
    if isinstance(value, str):
        return (len(value) if value.isascii() else len(value.encode())) + 2
    if isinstance(value, dict):
        size = 2 + len(value)
        for name, item in value.items():
            size += len(name) + size_of(item)
        return size
    if isinstance(value, list):
        return 2 + sum(map(size_of, value))
    if isinstance(value, bytes):
        return len(value) + 2
    return 1 if value is None or isinstance(value, bool) else 9


def nesting_of(value: Value) -> int:
    """0 for a scalar, else one more than the deepest child. Counts level by level, so no value is too deep for it."""
    nesting = 0
    level = [value] if isinstance(value, list | dict) else []
    while level:
        nesting += 1
        level = [child for container in level for child in _children(container) if isinstance(child, list | dict)]
    return nesting


def _children(container: list[Value] | dict[str, Value]) -> list[Value]:
    return container if isinstance(container, list) else list(container.values())
