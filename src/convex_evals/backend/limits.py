"""What Convex allows: every limit on apps and their data, with its error and the warning for coming close.

What a request or a connection may cost is in `http/bodies.py` and `core/http/limits.py`; what a worker may use, in
`runtime/limits.py`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from convex_evals.backend.errors import DeveloperError, RequestError
from convex_evals.core.files import MEBIBYTE


def format_size(size: int) -> str:
    """In binary units, with at most two decimals: `1.50 MiB`, `16 MiB`."""
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.2f}".removesuffix(".00") + f" {unit}"


# ---------------------------------------------------------------------- values

MAX_ARRAY_LENGTH: Final = 8192
MAX_OBJECT_FIELDS: Final = 1024
MAX_NESTING: Final = 64


def too_nested(nesting: int) -> DeveloperError:
    return DeveloperError(f"Value is too nested (nested {nesting} levels deep > maximum nesting {MAX_NESTING})")


def array_too_long(length: int) -> DeveloperError:
    return DeveloperError(f"Array length is too long ({length} > maximum length {MAX_ARRAY_LENGTH})")


def too_many_fields(count: int) -> DeveloperError:
    return DeveloperError(f"Object has too many fields ({count} > maximum number {MAX_OBJECT_FIELDS})")


# ---------------------------------------------------------------------- documents and tables

MAX_DOCUMENT_NESTING: Final = 16
MAX_DOCUMENT_SIZE: Final = 2**20
MAX_TABLES: Final = 10_000


def document_too_nested(nesting: int) -> str:
    return f"Document is too nested (nested {nesting} levels deep > maximum nesting {MAX_DOCUMENT_NESTING})"


def document_too_large(size: int) -> DeveloperError:
    return DeveloperError(f"Value is too large ({format_size(size)} > maximum size {format_size(MAX_DOCUMENT_SIZE)})")


def too_many_tables() -> DeveloperError:
    return DeveloperError(f"Number of tables cannot exceed {MAX_TABLES}.")


# ---------------------------------------------------------------------- schemas (texts in `schema/errors.py`)

MAX_INDEXES: Final = 64
MAX_INDEX_FIELDS: Final = 16
MAX_FILTER_FIELDS: Final = 16
MIN_DIMENSIONS: Final = 2
MAX_DIMENSIONS: Final = 4096


# ---------------------------------------------------------------------- queries and searches

MAX_OPERATORS: Final = 256
MAX_PAGE_SIZE: Final = 32_000

MAX_CANDIDATES: Final = 1024
MAX_TERMS: Final = 64
MAX_QUERY_TOKENS: Final = 16
MAX_SEARCH_FILTERS: Final = 8
MAX_VECTOR_RESULTS: Final = 256
MAX_VECTOR_CONDITIONS: Final = 64


def too_many_operators() -> DeveloperError:
    return DeveloperError(f"Can't construct query with more than {MAX_OPERATORS} operators")


def page_too_large(size: int) -> DeveloperError:
    return DeveloperError(f"Requested too many items: {size}")


def too_many_scanned() -> DeveloperError:
    """For the query that pulls one more result than there are candidates."""
    return DeveloperError(
        f"Search query scanned too many documents (fetched {MAX_CANDIDATES}). Consider using a smaller limit, "
        "paginating the query, or using a filter field to limit the number of documents pulled from the search index."
    )


def too_many_search_filters(index: str, count: int) -> DeveloperError:
    return DeveloperError(
        f"Search query against {index} has too many filter conditions. Max: {MAX_SEARCH_FILTERS} Actual: {count}"
    )


def too_many_vector_results(count: int) -> DeveloperError:
    return DeveloperError(f"Vector queries can fetch at most {MAX_VECTOR_RESULTS} results, requested {count}.")


def too_many_vector_conditions(index: str, count: int) -> DeveloperError:
    return DeveloperError(
        f"Vector query against {index} has too many conditions. Max: {MAX_VECTOR_CONDITIONS} Actual: {count}"
    )


# ---------------------------------------------------------------------- transactions

READ_ADVICE = (
    "Consider using smaller limits in your queries, paginating your queries, "
    "or using indexed queries with a selective index range expressions."
)


@dataclass(slots=True)
class Usage:
    bytes_read: int = 0
    bytes_written: int = 0
    database_queries: int = 0
    documents_read: int = 0
    documents_written: int = 0
    functions_scheduled: int = 0
    scheduled_function_args_bytes: int = 0

    def after_reading(self, documents: int, size: int) -> "Usage":
        return replace(self, documents_read=self.documents_read + documents, bytes_read=self.bytes_read + size)


@dataclass(frozen=True, slots=True)
class Limits:
    bytes_read: int = 16 * MEBIBYTE
    bytes_written: int = 16 * MEBIBYTE
    database_queries: int = 4096
    documents_read: int = 32_000
    documents_written: int = 16_000
    functions_scheduled: int = 1000
    scheduled_function_args_bytes: int = 16 * MEBIBYTE

    def tightened(self, usage: Usage, budgets: Mapping[str, float]) -> "Limits":
        """For a nested call: each budget (by its public name, `documentsRead`) comes on top of what is used already,
        and never exceeds the limit in force."""
        return replace(
            self,
            **{
                name: min(getattr(self, name), getattr(usage, name) + int(budgets[public]))
                for public, name in METRICS.items()
                if public in budgets
            },
        )

    def check_reads(self, usage: Usage) -> None:
        if usage.documents_read > self.documents_read:
            raise self._too_many("documents read", str(self.documents_read))
        if usage.bytes_read > self.bytes_read:
            raise self._too_many("bytes read", f"{self.bytes_read} bytes")
        if usage.database_queries > self.database_queries:
            raise self._too_many("reads", str(self.database_queries))

    def check_writes(self, usage: Usage) -> None:
        if usage.documents_written > self.documents_written:
            raise DeveloperError(
                f"Too many writes in a single function execution (limit: {self.documents_written})",
            )
        if usage.bytes_written > self.bytes_written:
            limit = format_size(self.bytes_written)
            raise DeveloperError(f"Too many bytes written in a single function execution (limit: {limit})")

    def check_scheduled(self, usage: Usage) -> None:
        if usage.functions_scheduled > self.functions_scheduled:
            raise DeveloperError(f"Too many functions scheduled by this mutation (limit: {self.functions_scheduled})")
        if usage.scheduled_function_args_bytes > self.scheduled_function_args_bytes:
            raise DeveloperError(
                "Too large total size of the arguments of scheduled functions from this mutation "
                f"(limit: {self.scheduled_function_args_bytes} bytes)"
            )

    def _too_many(self, what: str, limit: str) -> DeveloperError:
        return DeveloperError(f"Too many {what} in a single function execution (limit: {limit}). {READ_ADVICE}")


def metrics(usage: Usage, limits: Limits) -> dict[str, dict[str, int]]:
    """The answer of `getTransactionMetrics`, as plain JSON."""
    return {
        public: {"used": getattr(usage, name), "remaining": getattr(limits, name) - getattr(usage, name)}
        for public, name in METRICS.items()
    }


def _public_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


METRICS: Final[dict[str, str]] = {_public_name(field.name): field.name for field in fields(Usage)}
"""Public name of each metric -> attribute of `Usage` and `Limits`."""


# ---------------------------------------------------------------------- functions

TRANSACTION_USER_SECONDS: Final = 1.0  # in the code of a query or mutation
TRANSACTION_SECONDS: Final = 15.0  # with its syscalls
ACTION_SECONDS: Final = 1800.0
NODE_ACTION_SECONDS: Final = 600.0
MAX_ARGUMENTS_SIZE: Final = 16 * MEBIBYTE
MAX_NODE_ARGUMENTS_SIZE: Final = 5 * MEBIBYTE
MAX_RETURN_SIZE: Final = 16 * MEBIBYTE
MAX_SCHEDULED_ARGUMENTS: Final = 4 * MEBIBYTE
MAX_ERROR_BYTES: Final = 65_536
MAX_AUDIT_LOG_BYTES: Final = 4_000_000
MAX_CALL_DEPTH: Final = 8
MAX_SCHEDULE_SECONDS: Final = 5 * 366 * 86_400

OUT_OF_MEMORY: Final = DeveloperError("JavaScript execution ran out of memory (maximum memory usage: 64 MB)")
TIMED_OUT: Final = DeveloperError("Function execution timed out (maximum duration: 1s)")


def calls_too_deep() -> DeveloperError:
    return DeveloperError("Cross component call depth limit exceeded. Do you have an infinite loop in your app?")


def audit_log_too_large() -> DeveloperError:
    return DeveloperError("Audit logs exceed function execution limits")


def node_arguments_too_large() -> DeveloperError:
    return DeveloperError(
        "Node actions arguments size is too large. The maximum size is 5 MiB. Reduce the size of the arguments or "
        "consider using Convex runtime actions instead, which have a 16 MiB limit. "
        "See https://docs.convex.dev/functions/runtimes"
    )


def arguments_too_large(function: str, size: int) -> DeveloperError:
    actual, limit = format_size(size), format_size(MAX_ARGUMENTS_SIZE)
    return DeveloperError(f"Arguments for {function} are too large (actual: {actual}, limit: {limit})")


def return_too_large(function: str, size: int) -> DeveloperError:
    actual, limit = format_size(size), format_size(MAX_RETURN_SIZE)
    return DeveloperError(f"Function {function} return value is too large (actual: {actual}, limit: {limit})")


def scheduled_too_far(seconds: float, now_seconds: float) -> DeveloperError:
    where = "future" if seconds > now_seconds else "past"
    shown = f"{seconds:.9f}".rstrip("0").rstrip(".")
    return DeveloperError(f"UnixTimestamp({shown}s) is more than 5 years in the {where}")


# ---------------------------------------------------------------------- environment variables

MAX_VARIABLE_NAME_BYTES: Final = 256
MAX_VARIABLE_BYTES: Final = 8192
MAX_VARIABLES: Final = 512
MAX_VARIABLES_BYTES: Final = 512 * 1024


def variable_name_too_long(name: str) -> RequestError:
    return RequestError(
        400,
        "EnvironmentVariableNameTooLong",
        f"The environment variable name {name} is too long. "
        f"Environment variable names must be less than {MAX_VARIABLE_NAME_BYTES}.",
    )


def variable_too_large(size: int) -> RequestError:
    return RequestError(
        400,
        "EnvironmentVariableValueTooLarge",
        f"The environment variable value is {size} bytes, which is too large. (max size: {MAX_VARIABLE_BYTES}",
    )


def too_many_variables() -> RequestError:
    return RequestError(400, "EnvVarLimitMet", f"The environment variable limit ({MAX_VARIABLES}) has been met.")


def variables_too_large(total: int) -> RequestError:
    return RequestError(
        400,
        "EnvVarTotalSizeLimitMet",
        f"The total size of all environment variables ({total} bytes) exceeds the limit ({MAX_VARIABLES_BYTES} bytes).",
    )


# ---------------------------------------------------------------------- warnings close to a limit

WARNING_SHARE: Final = 0.8


def usage_warnings(usage: Usage, limits: Limits) -> Iterator[str]:
    for text, name, unit, advice in (
        ("Many documents read in a single function execution", "documents_read", "", READ_ADVICE),
        ("Many reads in a single function execution", "database_queries", "", READ_ADVICE),
        ("Many bytes read in a single function execution", "bytes_read", " bytes", READ_ADVICE),
        ("Many writes in a single function execution", "documents_written", "", ""),
        ("Many bytes written in a single function execution", "bytes_written", " bytes", ""),
        ("Many functions scheduled by this mutation", "functions_scheduled", "", ""),
        (
            "Large total size of the arguments of scheduled functions from this mutation",
            "scheduled_function_args_bytes",
            " bytes",
            "",
        ),
    ):
        yield from _near(text, getattr(usage, name), getattr(limits, name), unit, advice)


def arguments_warning(size: int) -> Iterator[str]:
    return _near("Large size of the function arguments", size, MAX_ARGUMENTS_SIZE, " bytes")


def return_warning(size: int) -> Iterator[str]:
    return _near("Large size of the function return value", size, MAX_RETURN_SIZE, " bytes")


def document_warnings(document_id: str, size: int, nesting: int) -> Iterator[str]:
    yield from _near(f'Large document written with ID "{document_id}"', size, MAX_DOCUMENT_SIZE, " bytes")
    yield from _near(
        f'Deeply nested document written with ID "{document_id}"', nesting, MAX_DOCUMENT_NESTING, " levels"
    )


def scheduled_arguments_warning(size: int) -> Iterator[str]:
    """More than the limit is allowed here, and warned about too."""
    if size > WARNING_SHARE * MAX_SCHEDULED_ARGUMENTS:
        text = "Large arguments for a single scheduled function from this mutation"
        yield _line(text, size, MAX_SCHEDULED_ARGUMENTS, " bytes")


def duration_warning(user_ms: float, limit_ms: float = 1000.0) -> Iterator[str]:
    if WARNING_SHARE * limit_ms < user_ms <= limit_ms:
        yield (
            f"Function execution took a long time. (maximum duration: {limit_ms / 1000:g}s, "
            f"actual duration: {round(user_ms)}ms)."
        )


def _near(text: str, actual: int, limit: int, unit: str = "", advice: str = "") -> Iterator[str]:
    if WARNING_SHARE * limit < actual <= limit:
        yield " ".join(filter(None, (_line(text, actual, limit, unit), advice)))


def _line(text: str, actual: int, limit: int, unit: str) -> str:
    return f"{text} (actual: {actual}{unit}, limit: {limit}{unit})."
