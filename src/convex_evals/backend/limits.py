"""What Convex allows: every limit on apps and their data, with the text for whoever exceeds it.

What a request or a connection may cost is in `http/limits.py`.
"""

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


# ---------------------------------------------------------------------- schemas (texts in `schema/errors.py`)

MAX_INDEXES: Final = 64
MAX_INDEX_FIELDS: Final = 16
MAX_FILTER_FIELDS: Final = 16
MIN_DIMENSIONS: Final = 2
MAX_DIMENSIONS: Final = 4096


# ---------------------------------------------------------------------- searches

MAX_CANDIDATES: Final = 1024
MAX_TERMS: Final = 64
MAX_QUERY_TOKENS: Final = 16
MAX_SEARCH_FILTERS: Final = 8
MAX_VECTOR_RESULTS: Final = 256
MAX_VECTOR_CONDITIONS: Final = 64


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
