"""How much a transaction has read, written and scheduled, and how much it may."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.limits import format_size

READ_ADVICE = (
    "Consider using smaller limits in your queries, paginating your queries, "
    "or using indexed queries with a selective index range expressions."
)
_MEBIBYTE = 2**20


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
    bytes_read: int = 16 * _MEBIBYTE
    bytes_written: int = 16 * _MEBIBYTE
    database_queries: int = 4096
    documents_read: int = 32_000
    documents_written: int = 16_000
    functions_scheduled: int = 1000
    scheduled_function_args_bytes: int = 16 * _MEBIBYTE

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
