"""Arithmetic in 32-bit floats: compute in 64 bits, round after every step."""

from struct import Struct

_FLOAT32 = Struct("f")


def float32(value: float) -> float:
    rounded: float = _FLOAT32.unpack(_FLOAT32.pack(value))[0]
    return rounded
