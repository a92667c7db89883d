import pytest

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.values import Value, check_field_name, check_limits


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
    check_limits(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (nested(65), "Value is too nested (nested 65 levels deep > maximum nesting 64)"),
        (nested(5000), "Value is too nested (nested 5000 levels deep > maximum nesting 64)"),
        ([[None] * 8193], "Array length is too long (8193 > maximum length 8192)"),
        ({str(n): None for n in range(1025)}, "Object has too many fields (1025 > maximum number 1024)"),
        (["x" * (33 * 2**20 - 4)], "Value is too large (33 MiB > maximum size 32 MiB)"),
        ({"a": {"$x": None}}, "Field name $x starts with '$', which is reserved."),
    ],
    ids=["nesting", "deep nesting", "array", "object", "size", "name"],
)
def test_values_beyond_a_limit_are_refused(value: Value, message: str) -> None:
    with pytest.raises(DeveloperError) as refusal:
        check_limits(value)
    assert refusal.value.message == message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("$x", "Field name $x starts with '$', which is reserved."),
        (
            "aé",
            "Field name aé has invalid character 'é': Field names can only contain non-control ASCII characters",
        ),
        (
            "a\n",
            "Field name a\n has invalid character '\n': Field names can only contain non-control ASCII characters",
        ),
        ("x" * 1025, "Field name is too long (1025 > maximum 1024)"),
    ],
)
def test_a_bad_field_name_is_named(name: str, message: str) -> None:
    with pytest.raises(DeveloperError) as refusal:
        check_field_name(name)
    assert refusal.value.message == message
