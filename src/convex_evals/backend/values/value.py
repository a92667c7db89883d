"""What a Convex value is in Python: `int` is Int64, `float` is Float64, a `dict` has string keys.

Also how it is displayed, how large it is, and the total order of values, as bytes that compare like them.
"""

from base64 import b64encode
from enum import Enum
from math import isinf, isnan
from struct import Struct
from typing import Final, TypeAlias

Value: TypeAlias = bool | int | float | str | bytes | list["Value"] | dict[str, "Value"] | None

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}

# Sort keys: a tag for the type, then the value.
_UNDEFINED, _NULL, _ZERO, _FLOAT, _FALSE, _TRUE = (bytes((tag,)) for tag in (1, 3, 8, 13, 14, 15))
_STRING, _BYTES, _ARRAY, _OBJECT = (bytes((tag,)) for tag in (16, 17, 18, 21))
_END = b"\x00"
_ESCAPED = b"\x00\xff"

_FLOAT64 = Struct(">d")
_TAGGED_BITS = Struct(">cQ")
_BITS = Struct(">Q")
_SIGN = 1 << 63
_ALL = (1 << 64) - 1

# (bytes, tag of negative numbers, tag of positive numbers): the wider a negative number, the smaller it is.
_INT_WIDTHS = ((1, 7, 9), (2, 6, 10), (4, 5, 11), (8, 4, 12))


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


def sort_key(value: Value | Undefined) -> bytes:
    """Bytes whose order is the order of values. Self-delimiting: keys may be concatenated to order tuples."""
    if isinstance(value, str):
        data = value.encode()
        return _STRING + (data.replace(_END, _ESCAPED) if _END in data else data) + _END
    if isinstance(value, float):
        return _float_key(value)
    if value is None:
        return _NULL
    if value is UNDEFINED:
        return _UNDEFINED
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    if isinstance(value, int):
        return _int_key(value)
    if isinstance(value, bytes):
        return _BYTES + value.replace(_END, _ESCAPED) + _END
    if isinstance(value, list):
        return b"".join((_ARRAY, *map(sort_key, value), _END))
    return _object_key(value)


def equal(a: Value | Undefined, b: Value | Undefined) -> bool:
    """Same type and same value, all the way down: `1` and `1.0` differ, so do `0.0` and `-0.0`; NaN equals itself."""
    return sort_key(a) == sort_key(b)


def _float_key(value: float) -> bytes:
    bits: int = _BITS.unpack(_FLOAT64.pack(value))[0]
    return _TAGGED_BITS.pack(_FLOAT, bits ^ (_ALL if bits & _SIGN else _SIGN))


def _int_key(value: int) -> bytes:
    if value == 0:
        return _ZERO
    for width, negative, positive in _INT_WIDTHS:
        if -(1 << (8 * width - 1)) <= value < 1 << (8 * width - 1):
            return bytes((negative if value < 0 else positive,)) + value.to_bytes(width, "big", signed=True)
    raise OverflowError(f"{value} does not fit into a 64-bit signed integer")


def _object_key(value: dict[str, Value]) -> bytes:
    parts = [_OBJECT]
    for name in sorted(value):
        parts += (sort_key(name), sort_key(value[name]))
    parts.append(_END)
    return b"".join(parts)
