"""BM25 in 32-bit floats, with document lengths that fit into one byte."""

from bisect import bisect_right
from math import log
from struct import Struct
from typing import Final

_FLOAT32 = Struct("f")


def float32(value: float) -> float:
    """Compute in 64 bits, round after every step."""
    rounded: float = _FLOAT32.unpack(_FLOAT32.pack(value))[0]
    return rounded


K1: Final = float32(1.2)
B: Final = float32(0.75)


def _length_of_code(code: int) -> int:
    """Exact for small codes; from there on the step doubles every eight codes."""
    if code < 24:
        return code
    rest = code - 24
    return 24 + (rest if rest < 8 else ((rest & 7) | 8) << ((rest >> 3) - 1))


_LENGTHS: Final = [_length_of_code(code) for code in range(256)]


def quantized(length: int) -> int:
    """The largest representable length that is not above `length`."""
    return _LENGTHS[bisect_right(_LENGTHS, length) - 1]


def term_weight(documents: int, containing: int) -> float:
    """The rarer a term, the more it weighs."""
    ratio = float32(float32(documents - containing + 0.5) / float32(containing + 0.5))
    idf = float32(log(float32(1 + ratio)))
    return float32(idf * float32(1 + K1))


class FrequencyPart:
    """How much the number of occurrences counts, given the lengths of this document and of the average one."""

    def __init__(self, tokens: int, documents: int) -> None:
        self._average = float32(tokens / documents)
        self._known: dict[tuple[int, int], float] = {}

    def __call__(self, frequency: int, length: int) -> float:
        key = (frequency, length)
        part = self._known.get(key)
        if part is None:
            part = self._known[key] = float32(frequency / float32(frequency + self._norm(quantized(length))))
        return part

    def _norm(self, length: int) -> float:
        relative = float32(float32(B * length) / self._average)
        return float32(K1 * float32(float32(1 - B) + relative))
