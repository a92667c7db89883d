"""Values as error texts show them: `{author: "a", likes: 1.0}`."""

from base64 import b64encode
from math import isinf, isnan

from convex_evals.backend.values.types import UNDEFINED, Undefined, Value

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def display(value: Value | Undefined) -> str:
    if value is UNDEFINED:
        return "undefined"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
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


def quote(text: str) -> str:
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
