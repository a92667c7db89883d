"""One class per kind of validator. Each knows its JSON, its spelling in error texts, what it accepts, and why not."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import orjson

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import PUBLIC_SYSTEM_TABLE_NUMBERS, DocumentId, is_system_table_number
from convex_evals.backend.values import CommitTs, Value, display, encode, sort_key

TableNames: TypeAlias = Mapping[int, str]
"""User tables by number. System tables are known without it."""


@dataclass(slots=True)
class Mismatch(ABC):
    """Why a value does not match, and where inside the value. The text is made on demand: a union tries its members one
    after the other, and most of their mismatches are never shown."""

    value: Value
    validator: object
    path: str = field(default="", kw_only=True)

    def inside(self, segment: str) -> "Mismatch":
        """The same, seen from the container that holds the value."""
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


def check(validator: "Validator", value: Value, tables: TableNames) -> str | None:
    """The text of the first problem, or None if the value matches."""
    mismatch = validator.mismatch(value, tables)
    return None if mismatch is None else mismatch.text


class Validator(ABC):
    __slots__ = ()

    @abstractmethod
    def to_json(self) -> dict[str, object]: ...

    def to_text(self) -> str:
        """The canonical JSON text, as analysis stores it."""
        return orjson.dumps(self.to_json(), option=orjson.OPT_SORT_KEYS).decode()

    @abstractmethod
    def __str__(self) -> str: ...

    @abstractmethod
    def mismatch(self, value: Value, tables: TableNames) -> Mismatch | None: ...


@dataclass(frozen=True, slots=True)
class AnyValidator(Validator):
    def to_json(self) -> dict[str, object]:
        return {"type": "any"}

    def __str__(self) -> str:
        return "v.any()"

    def mismatch(self, value: Value, tables: TableNames) -> Mismatch | None:
        return None


@dataclass(frozen=True, slots=True)
class PrimitiveValidator(Validator):
    kind: str
    builder: str
    accepts: frozenset[type] = field(repr=False)

    def to_json(self) -> dict[str, object]:
        return {"type": self.kind}

    def __str__(self) -> str:
        return f"v.{self.builder}()"

    def mismatch(self, value: Value, tables: TableNames) -> Mismatch | None:
        return None if type(value) in self.accepts else NoMatch(value, self)


ANY: Final = AnyValidator()

NULL: Final = PrimitiveValidator("null", "null", frozenset({type(None)}))

NUMBER: Final = PrimitiveValidator("number", "float64", frozenset({float}))

BIGINT: Final = PrimitiveValidator("bigint", "int64", frozenset({int, CommitTs}))

COMMIT_TIMESTAMP: Final = PrimitiveValidator("commitTs", "commitTs", frozenset({int, CommitTs}))

BOOLEAN: Final = PrimitiveValidator("boolean", "boolean", frozenset({bool}))

STRING: Final = PrimitiveValidator("string", "string", frozenset({str}))

BYTES: Final = PrimitiveValidator("bytes", "bytes", frozenset({bytes}))


@dataclass(frozen=True, slots=True)
class IdValidator(Validator):
    table: str

    def to_json(self) -> dict[str, object]:
        return {"type": "id", "tableName": self.table}

    def __str__(self) -> str:
        return f'v.id("{self.table}")'

    def mismatch(self, value: Value, tables: TableNames) -> Mismatch | None:
        if not isinstance(value, str):
            return NoMatch(value, self)
        try:
            number = DocumentId.decode(value).table_number
        except DeveloperError:
            return NoMatch(value, self)
        return self._table_mismatch(value, number, tables)

    def _table_mismatch(self, document_id: str, number: int, tables: TableNames) -> Mismatch | None:
        if is_system_table_number(number):
            matches = PUBLIC_SYSTEM_TABLE_NUMBERS.get(self.table) == number
            return None if matches else OtherTable(document_id, self, None)
        name = tables.get(number)
        if name == self.table:
            return None
        return NoMatch(document_id, self) if name is None else OtherTable(document_id, self, name)


@dataclass(frozen=True, slots=True)
class LiteralValidator(Validator):
    value: bool | int | float | str = field(compare=False)  # 1 and 1.0 are equal in Python, but not here
    key: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", sort_key(self.value))

    def to_json(self) -> dict[str, object]:
        return {"type": "literal", "value": encode(self.value)}

    def __str__(self) -> str:
        is_bigint = isinstance(self.value, int) and not isinstance(self.value, bool)
        return f"v.literal({'<bigint>' if is_bigint else display(self.value)})"

    def mismatch(self, value: Value, tables: TableNames) -> Mismatch | None:
        return None if sort_key(value) == self.key else OtherLiteral(value, self)


@dataclass(frozen=True, slots=True)
class ArrayValidator(Validator):
    element: Validator

    def to_json(self) -> dict[str, object]:
        return {"type": "array", "value": self.element.to_json()}

    def __str__(self) -> str:
        return f"v.array({self.element})"

    def mismatch(self, value: Value, tables: TableNames) -> Mismatch | None:
        if not isinstance(value, list):
            return NoMatch(value, self)
        for index, item in enumerate(value):
            mismatch = self.element.mismatch(item, tables)
            if mismatch is not None:
                return mismatch.inside(f"[{index}]")
        return None


@dataclass(frozen=True, slots=True)
class RecordValidator(Validator):
    keys: Validator
    values: Validator

    def to_json(self) -> dict[str, object]:
        return {
            "type": "record",
            "keys": self.keys.to_json(),
            "values": {"fieldType": self.values.to_json(), "optional": False},
        }

    def __str__(self) -> str:
        return f"v.record({self.keys}, {self.values})"

    def mismatch(self, value: Value, tables: TableNames) -> Mismatch | None:
        if not isinstance(value, dict):
            return NoMatch(value, self)
        for name in sorted(value):
            if (mismatch := self.keys.mismatch(name, tables)) is not None:
                return mismatch.inside(".keys()")
            if (mismatch := self.values.mismatch(value[name], tables)) is not None:
                return mismatch.inside(".values()")
        return None


@dataclass(frozen=True, slots=True)
class Field:
    validator: Validator
    optional: bool = False

    def to_json(self) -> dict[str, object]:
        return {"fieldType": self.validator.to_json(), "optional": self.optional}

    def __str__(self) -> str:
        return f"v.optional({self.validator})" if self.optional else str(self.validator)


@dataclass(frozen=True, slots=True)
class ObjectValidator(Validator):
    fields: dict[str, Field]  # sorted by name

    def to_json(self) -> dict[str, object]:
        return {"type": "object", "value": {name: field.to_json() for name, field in self.fields.items()}}

    def __str__(self) -> str:
        return f"v.object({{{', '.join(f'{name}: {field}' for name, field in self.fields.items())}}})"

    def mismatch(self, value: Value, tables: TableNames) -> Mismatch | None:
        if not isinstance(value, dict):
            return NoMatch(value, self)
        for name, declared in self.fields.items():
            if name in value:
                mismatch = declared.validator.mismatch(value[name], tables)
                if mismatch is not None:
                    return mismatch.inside(f".{name}")
            elif not declared.optional:
                return MissingField(value, self, name)
        if value.keys() <= self.fields.keys():
            return None
        return ExtraField(value, self, min(value.keys() - self.fields.keys()))


@dataclass(frozen=True, slots=True)
class UnionValidator(Validator):
    members: tuple[Validator, ...]

    def to_json(self) -> dict[str, object]:
        return {"type": "union", "value": [member.to_json() for member in self.members]}

    def __str__(self) -> str:
        return f"v.union({', '.join(map(str, self.members))})"

    def mismatch(self, value: Value, tables: TableNames) -> Mismatch | None:
        if len(self.members) == 1:
            return self.members[0].mismatch(value, tables)
        if any(member.mismatch(value, tables) is None for member in self.members):
            return None
        return NoMatch(value, self)


def is_subset(a: Validator, b: Validator) -> bool:
    if a == b or b == ANY:
        return True
    if isinstance(a, UnionValidator):
        return all(is_subset(member, b) for member in a.members)
    if isinstance(b, UnionValidator):
        return any(is_subset(a, member) for member in b.members)
    match a, b:
        case LiteralValidator(), PrimitiveValidator():
            return type(a.value) in b.accepts
        case IdValidator(), _:
            return b == STRING
        case PrimitiveValidator(), PrimitiveValidator():
            return a.accepts <= b.accepts
        case ArrayValidator(), ArrayValidator():
            return is_subset(a.element, b.element)
        case RecordValidator(), RecordValidator():
            return is_subset(a.keys, b.keys) and is_subset(a.values, b.values)
        case ObjectValidator(), RecordValidator():
            return b.keys == STRING and all(is_subset(field.validator, b.values) for field in a.fields.values())
        case ObjectValidator(), ObjectValidator():
            return _is_object_subset(a, b)
        case _:
            return False


def _is_object_subset(a: ObjectValidator, b: ObjectValidator) -> bool:
    if not a.fields.keys() <= b.fields.keys():
        return False
    for name, wider in b.fields.items():
        narrower = a.fields.get(name)
        if narrower is None:
            if not wider.optional:
                return False
        elif (narrower.optional and not wider.optional) or not is_subset(narrower.validator, wider.validator):
            return False
    return True
