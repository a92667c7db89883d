"""Why a value does not match a validator, and where inside the value.

Texts are made on demand: a union tries its members one after the other, and most of their mismatches are never shown.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from convex_evals.backend.values import Value, display

TableNames: TypeAlias = Mapping[int, str]
"""User tables by number. System tables are known without it."""


@dataclass(slots=True)
class Mismatch(ABC):
    value: Value
    validator: object
    path: str = field(default="", kw_only=True)

    def inside(self, segment: str) -> "Mismatch":
        """The same, seen from the container in which the value stands."""
        self.path = segment + self.path
        return self

    @property
    def context(self) -> str:
        return f"Path: {self.path}" if self.path else ""

    @property
    @abstractmethod
    def text(self) -> str: ...


class NoMatch(Mismatch):
    @property
    def text(self) -> str:
        return (
            f"Value does not match validator.\n{self.context}\n"
            f"Value: {display(self.value)}\nValidator: {self.validator}"
        )


@dataclass(slots=True)
class MissingField(Mismatch):
    name: str

    @property
    def text(self) -> str:
        return (
            f"Object is missing the required field `{self.name}`. "
            "Consider wrapping the field validator in `v.optional(...)` if this is expected.\n"
            f"{self.context}\nObject: {display(self.value)}\nValidator: {self.validator}"
        )


@dataclass(slots=True)
class ExtraField(Mismatch):
    name: str

    @property
    def text(self) -> str:
        return (
            f"Object contains extra field `{self.name}` that is not in the validator.\n"
            f"{self.context}\nObject: {display(self.value)}\nValidator: {self.validator}"
        )


class OtherLiteral(Mismatch):
    @property
    def text(self) -> str:
        return f"`{display(self.value)}` does not match literal validator `{self.validator}`.{self.context}"


@dataclass(slots=True)
class OtherTable(Mismatch):
    """An id of another table; `table` is None for system tables."""

    table: str | None

    @property
    def text(self) -> str:
        source = "a system table" if self.table is None else f"table `{self.table}`"
        return (
            f"Found ID {display(self.value)} from {source}, "
            f"which does not match the table name in validator `{self.validator}`.{self.context}"
        )
