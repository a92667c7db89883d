import pytest

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.limits import (
    Limits,
    Usage,
    arguments_warning,
    document_warnings,
    duration_warning,
    format_size,
    return_warning,
    scheduled_arguments_warning,
    usage_warnings,
)
from convex_evals.backend.values import Value, decode, encode

ADVICE = (
    " Consider using smaller limits in your queries, paginating your queries, or using indexed queries with a "
    "selective index range expressions."
)


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


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (Usage(), []),
        (Usage(documents_read=25_600), []),
        (
            Usage(documents_read=25_601),
            [f"Many documents read in a single function execution (actual: 25601, limit: 32000).{ADVICE}"],
        ),
        (Usage(documents_read=32_001), []),
        (
            Usage(database_queries=4096),
            [f"Many reads in a single function execution (actual: 4096, limit: 4096).{ADVICE}"],
        ),
        (
            Usage(bytes_read=16_000_000),
            [
                "Many bytes read in a single function execution (actual: 16000000 bytes, limit: 16777216 bytes)."
                f"{ADVICE}"
            ],
        ),
        (
            Usage(documents_written=13_000, bytes_written=14_000_000),
            [
                "Many writes in a single function execution (actual: 13000, limit: 16000).",
                "Many bytes written in a single function execution (actual: 14000000 bytes, limit: 16777216 bytes).",
            ],
        ),
        (
            Usage(functions_scheduled=900, scheduled_function_args_bytes=15_000_000),
            [
                "Many functions scheduled by this mutation (actual: 900, limit: 1000).",
                "Large total size of the arguments of scheduled functions from this mutation "
                "(actual: 15000000 bytes, limit: 16777216 bytes).",
            ],
        ),
    ],
)
def test_a_transaction_close_to_a_limit_is_warned(usage: Usage, expected: list[str]) -> None:
    assert list(usage_warnings(usage, Limits())) == expected


def test_large_values_and_documents_are_warned_about() -> None:
    assert list(arguments_warning(14_000_000)) == [
        "Large size of the function arguments (actual: 14000000 bytes, limit: 16777216 bytes)."
    ]
    assert list(return_warning(14_000_000)) == [
        "Large size of the function return value (actual: 14000000 bytes, limit: 16777216 bytes)."
    ]
    assert list(document_warnings("j57", 1_000_000, 14)) == [
        'Large document written with ID "j57" (actual: 1000000 bytes, limit: 1048576 bytes).',
        'Deeply nested document written with ID "j57" (actual: 14 levels, limit: 16 levels).',
    ]


@pytest.mark.parametrize(("size", "warned"), [(3_000_000, False), (4_000_000, True), (9_000_000, True)])
def test_arguments_of_one_job_are_warned_about_beyond_their_limit_too(size: int, warned: bool) -> None:
    assert bool(list(scheduled_arguments_warning(size))) == warned


@pytest.mark.parametrize(("milliseconds", "warned"), [(500, False), (900, True), (1500, False)])
def test_a_slow_function_is_warned(milliseconds: float, warned: bool) -> None:
    expected = (
        ["Function execution took a long time. (maximum duration: 1s, actual duration: 900ms)."] if warned else []
    )
    assert list(duration_warning(milliseconds)) == expected
