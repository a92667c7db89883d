"""What Convex allows: every limit on apps and their data, with the text for whoever exceeds it.

What a request or a connection may cost is in `http/limits.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from convex_evals.backend.errors import DeveloperError

MEBIBYTE: Final = 2**20


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
