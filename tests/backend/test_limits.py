import pytest

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.limits import format_size
from convex_evals.backend.values import Value, decode, encode


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536 * 1024, "1.50 MiB"),
        (16 * 2**20, "16 MiB"),
        (int(1.2 * 2**20), "1.20 MiB"),
        (3 * 2**40, "3072 GiB"),
    ],
)
def test_sizes_are_shown_in_binary_units(size: int, text: str) -> None:
    assert format_size(size) == text


def nested(levels: int) -> Value:
    value: Value = None
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [nested(64), [None] * 8192, {str(n): None for n in range(1024)}, {"": None, " ~": None, "x" * 1024: None}],
    ids=["nesting", "array", "object", "names"],
)
def test_values_at_the_limit_pass(value: Value) -> None:
    decode(encode(value))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (nested(65), "Value is too nested (nested 65 levels deep > maximum nesting 64)"),
        ([[None] * 8193], "Array length is too long (8193 > maximum length 8192)"),
        ({str(n): None for n in range(1025)}, "Object has too many fields (1025 > maximum number 1024)"),
        ({"a": {"$x": None}}, "Field name $x starts with '$', which is reserved."),
    ],
    ids=["nesting", "array", "object", "name"],
)
def test_values_beyond_a_limit_are_refused(value: Value, message: str) -> None:
    with pytest.raises(DeveloperError) as refusal:
        decode(encode(value))
    assert refusal.value.message == message
