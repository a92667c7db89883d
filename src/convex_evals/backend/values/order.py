"""The total order of values, as bytes that compare like the values."""

from struct import Struct

from convex_evals.backend.values.value import UNDEFINED, Undefined, Value

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
