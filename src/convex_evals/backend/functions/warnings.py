"""Warnings that the deployment adds to a function's log when it comes close to a limit."""

import time
from collections.abc import Iterator

from convex_evals.backend.functions.arguments import LARGEST
from convex_evals.backend.limits import READ_ADVICE, Limits, Usage
from convex_evals.backend.runtime.types import LogLine

SHARE = 0.8
LARGEST_DOCUMENT = 1024 * 1024
DEEPEST_DOCUMENT = 16
LARGEST_SCHEDULED_ARGS = 4 * 1024 * 1024


def usage_warnings(usage: Usage, limits: Limits) -> Iterator[LogLine]:
    for text, actual, limit, unit, advice in (
        ("Many documents read in a single function execution", usage.documents_read, limits.documents_read, "", True),
        ("Many reads in a single function execution", usage.database_queries, limits.database_queries, "", True),
        ("Many bytes read in a single function execution", usage.bytes_read, limits.bytes_read, " bytes", True),
        ("Many writes in a single function execution", usage.documents_written, limits.documents_written, "", False),
        (
            "Many bytes written in a single function execution",
            usage.bytes_written,
            limits.bytes_written,
            " bytes",
            False,
        ),
        ("Many functions scheduled by this mutation", usage.functions_scheduled, limits.functions_scheduled, "", False),
        (
            "Large total size of the arguments of scheduled functions from this mutation",
            usage.scheduled_function_args_bytes,
            limits.scheduled_function_args_bytes,
            " bytes",
            False,
        ),
    ):
        yield from _near(text, actual, limit, unit, advice=READ_ADVICE if advice else "")


def arguments_warning(size: int) -> Iterator[LogLine]:
    return _near("Large size of the function arguments", size, LARGEST, " bytes")


def return_warning(size: int) -> Iterator[LogLine]:
    return _near("Large size of the function return value", size, LARGEST, " bytes")


def document_warnings(document_id: str, size: int, nesting: int) -> Iterator[LogLine]:
    yield from _near(f'Large document written with ID "{document_id}"', size, LARGEST_DOCUMENT, " bytes")
    yield from _near(f'Deeply nested document written with ID "{document_id}"', nesting, DEEPEST_DOCUMENT, " levels")


def scheduled_arguments_warning(size: int) -> Iterator[LogLine]:
    """More than the limit is allowed here, and warned about too."""
    if size > SHARE * LARGEST_SCHEDULED_ARGS:
        text = "Large arguments for a single scheduled function from this mutation"
        yield warning(_line(text, size, LARGEST_SCHEDULED_ARGS, " bytes"))


def duration_warning(user_ms: float, limit_ms: float = 1000.0) -> Iterator[LogLine]:
    if SHARE * limit_ms < user_ms <= limit_ms:
        yield warning(
            f"Function execution took a long time. (maximum duration: {limit_ms / 1000:g}s, "
            f"actual duration: {round(user_ms)}ms)."
        )


def warning(text: str) -> LogLine:
    return LogLine("WARN", (text,), time.time() * 1000)


def _near(text: str, actual: int, limit: int, unit: str = "", advice: str = "") -> Iterator[LogLine]:
    if SHARE * limit < actual <= limit:
        yield warning(" ".join(filter(None, (_line(text, actual, limit, unit), advice))))


def _line(text: str, actual: int, limit: int, unit: str) -> str:
    return f"{text} (actual: {actual}{unit}, limit: {limit}{unit})."
