from collections.abc import Iterable

import pytest

from convex_evals.backend.functions.warnings import (
    arguments_warning,
    document_warnings,
    duration_warning,
    return_warning,
    scheduled_arguments_warning,
    usage_warnings,
)
from convex_evals.backend.limits import Limits, Usage
from convex_evals.backend.runtime.types import LogLine

ADVICE = (
    " Consider using smaller limits in your queries, paginating your queries, or using indexed queries with a "
    "selective index range expressions."
)


def texts(lines: Iterable[LogLine]) -> list[str]:
    return [line.text for line in lines]


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
    assert texts(usage_warnings(usage, Limits())) == [f"[WARN] {text}" for text in expected]


def test_large_values_and_documents_are_warned_about() -> None:
    assert texts(arguments_warning(14_000_000)) == [
        "[WARN] Large size of the function arguments (actual: 14000000 bytes, limit: 16777216 bytes)."
    ]
    assert texts(return_warning(14_000_000)) == [
        "[WARN] Large size of the function return value (actual: 14000000 bytes, limit: 16777216 bytes)."
    ]
    assert texts(document_warnings("j57", 1_000_000, 14)) == [
        '[WARN] Large document written with ID "j57" (actual: 1000000 bytes, limit: 1048576 bytes).',
        '[WARN] Deeply nested document written with ID "j57" (actual: 14 levels, limit: 16 levels).',
    ]


@pytest.mark.parametrize(("size", "warned"), [(3_000_000, False), (4_000_000, True), (9_000_000, True)])
def test_arguments_of_one_job_are_warned_about_beyond_their_limit_too(size: int, warned: bool) -> None:
    assert bool(texts(scheduled_arguments_warning(size))) == warned


@pytest.mark.parametrize(("milliseconds", "warned"), [(500, False), (900, True), (1500, False)])
def test_a_slow_function_is_warned(milliseconds: float, warned: bool) -> None:
    expected = (
        ["[WARN] Function execution took a long time. (maximum duration: 1s, actual duration: 900ms)."]
        if warned
        else []
    )
    assert texts(duration_warning(milliseconds)) == expected
