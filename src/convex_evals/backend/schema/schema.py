"""A component's schema and its tables: parsed, checked and normalized."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

import orjson

from convex_evals.backend.limits import MAX_INDEXES
from convex_evals.backend.names import is_identifier
from convex_evals.backend.schema import errors
from convex_evals.backend.schema.indexes import (
    CREATION_TIME,
    Index,
    IndexSpec,
    NamedIndex,
    SearchIndexSpec,
    VectorIndexSpec,
    parse_db_index,
    parse_search_index,
    parse_vector_index,
)
from convex_evals.backend.validators import (
    ANY,
    NUMBER,
    AnyValidator,
    ArrayValidator,
    ObjectValidator,
    RecordValidator,
    UnionValidator,
    Validator,
    is_subset,
    parse_validator,
)

_SYSTEM_FIELDS = ("_id", CREATION_TIME)
_RESERVED_INDEX_NAMES = ("by_id", "by_creation_time")

_Spec = TypeVar("_Spec", IndexSpec, SearchIndexSpec, VectorIndexSpec)


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """Each kind of index by name, staged ones included, in the order of their names."""

    name: str
    validator: Validator
    indexes: dict[str, IndexSpec]
    search_indexes: dict[str, SearchIndexSpec]
    vector_indexes: dict[str, VectorIndexSpec]

    @property
    def all_indexes(self) -> Iterable[Index]:
        return chain(self.indexes.values(), self.search_indexes.values(), self.vector_indexes.values())

    @classmethod
    def parse(cls, json: Any) -> "TableDefinition":
        if not isinstance(json, dict):
            raise errors.malformed("A table of the schema is not an object")
        validator = _parse_document_type(json.get("documentType"))
        name = _parse_name(json.get("tableName"))
        lists = {key: _index_list(json, key) for key in _INDEX_LISTS}
        if sum(map(len, lists.values())) > MAX_INDEXES:
            raise errors.too_many_indexes(name, MAX_INDEXES)
        db = _parse_kind(name, parse_db_index, lists["indexes"], lists["stagedDbIndexes"])
        _check_distinct(name, db, lambda index: index.fields, errors.same_fields)
        search = _parse_kind(name, parse_search_index, lists["searchIndexes"], lists["stagedSearchIndexes"])
        _check_distinct(name, search, lambda index: (index.search_field, index.filter_fields), errors.same_search_field)
        vector = _parse_kind(name, parse_vector_index, lists["vectorIndexes"], lists["stagedVectorIndexes"])
        _check_distinct(name, vector, lambda index: (index.vector_field, index.dimensions), errors.same_vector_field)
        _check_names(name, [*db, *search, *vector])
        return cls(name, validator, _by_name(db), _by_name(search), _by_name(vector))

    def check_fields(self) -> None:
        """Every indexed field must be possible in a document. Filter fields of vector indexes are not checked."""
        for index in self.indexes.values():
            self._check_exist(index.name, index.fields)
        for search in self.search_indexes.values():
            self._check_exist(search.name, (search.search_field, *search.filter_fields))
        for vector in self.vector_indexes.values():
            self._check_exist(vector.name, (vector.vector_field,))
            candidates = _validators_at(self.validator, vector.vector_field.split("."))
            if not any(map(_may_hold_vector, candidates)):
                raise errors.not_a_vector_field(self.name, vector.name, vector.vector_field)

    def _check_exist(self, index: str, fields: Iterable[str]) -> None:
        for field in fields:
            exists = any(True for _ in _validators_at(self.validator, field.split(".")))
            if field not in _SYSTEM_FIELDS and not exists:
                raise errors.unknown_field(self.name, index, field)

    def to_json(self) -> dict[str, object]:
        return {
            "tableName": self.name,
            "indexes": _index_json(self.indexes, staged=False),
            "stagedDbIndexes": _index_json(self.indexes, staged=True),
            "searchIndexes": _index_json(self.search_indexes, staged=False),
            "stagedSearchIndexes": _index_json(self.search_indexes, staged=True),
            "vectorIndexes": _index_json(self.vector_indexes, staged=False),
            "stagedVectorIndexes": _index_json(self.vector_indexes, staged=True),
            "documentType": self.validator.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Schema:
    tables: dict[str, TableDefinition]  # sorted by name
    schema_validation: bool = True

    @classmethod
    def parse(cls, json: Any) -> "Schema":
        """From what `schema.export()` wrote. Raises RequestError without the prefixes of a push."""
        if not isinstance(json, dict) or not isinstance(json.get("tables"), list):
            raise errors.malformed("The schema has no array of `tables`")
        tables = sorted(map(TableDefinition.parse, json["tables"]), key=lambda table: table.name)
        schema = cls({table.name: table for table in tables}, json.get("schemaValidation") is True)
        if schema.schema_validation:
            for table in tables:
                table.check_fields()
        return schema

    @classmethod
    def loads(cls, text: str | bytes) -> "Schema":
        """The inverse of `dumps`."""
        json = orjson.loads(text)
        for table in json["tables"]:
            for index in (*table["indexes"], *table["stagedDbIndexes"]):
                index["fields"].remove(CREATION_TIME)
        return cls.parse(json)

    def to_json(self) -> dict[str, object]:
        return {
            "tables": [table.to_json() for table in self.tables.values()],
            "schemaValidation": self.schema_validation,
        }

    def dumps(self) -> str:
        """The text that is stored. Equal schemas have equal texts."""
        return orjson.dumps(self.to_json(), option=orjson.OPT_SORT_KEYS).decode()

    @property
    def indexes(self) -> Iterator[NamedIndex]:
        """Every index of every table, staged ones included."""
        for table in self.tables.values():
            for index in table.all_indexes:
                yield NamedIndex(table.name, index)


_INDEX_LISTS = (
    "indexes",
    "stagedDbIndexes",
    "searchIndexes",
    "stagedSearchIndexes",
    "vectorIndexes",
    "stagedVectorIndexes",
)


def _parse_document_type(json: Any) -> Validator:
    validator = ANY if json is None else parse_validator(json)
    if isinstance(validator, UnionValidator) and len(validator.members) == 1:
        validator = validator.members[0]
    match validator:
        case AnyValidator():
            return validator
        case ObjectValidator():
            return _without_system_fields(validator)
        case UnionValidator() if all(isinstance(member, ObjectValidator) for member in validator.members):
            return UnionValidator(tuple(map(_without_system_fields, validator.members)))
        case _:
            raise errors.invalid_document_type(validator)


def _without_system_fields(validator: Validator) -> Validator:
    assert isinstance(validator, ObjectValidator)
    return ObjectValidator({name: field for name, field in validator.fields.items() if name not in _SYSTEM_FIELDS})


def _parse_name(json: object) -> str:
    if not isinstance(json, str):
        raise errors.malformed("A table of the schema has no `tableName`")
    if not is_identifier(json):
        raise errors.invalid_table_name(json)
    if json.startswith("_"):
        raise errors.reserved_table_name(json)
    return json


def _index_list(json: dict[str, Any], key: str) -> list[Any]:
    entries = json.get(key) or []
    if not isinstance(entries, list):
        raise errors.malformed(f"`{key}` must be an array")
    return entries


def _parse_kind(
    table: str, parse: Callable[[str, Any, bool], _Spec], entries: list[Any], staged: list[Any]
) -> list[_Spec]:
    parsed = [parse(table, json, False) for json in entries] + [parse(table, json, True) for json in staged]
    return sorted(parsed, key=lambda index: index.name)


def _check_distinct(
    table: str,
    indexes: list[_Spec],
    identity: Callable[[_Spec], object],
    error: Callable[[str, str, str], Exception],
) -> None:
    seen: dict[object, _Spec] = {}
    for index in indexes:
        first = seen.setdefault(identity(index), index)
        if first is not index and first.name != index.name:
            raise error(table, first.name, index.name)


def _check_names(table: str, indexes: list[Index]) -> None:
    for index in indexes:
        if index.name.startswith("_") or index.name in _RESERVED_INDEX_NAMES:
            raise errors.reserved_index_name(table, index.name)
    for name, count in Counter(index.name for index in indexes).items():
        if count > 1:
            raise errors.index_defined_twice(table, name)


def _by_name(indexes: list[_Spec]) -> dict[str, _Spec]:
    return {index.name: index for index in indexes}


def _index_json(indexes: dict[str, _Spec], *, staged: bool) -> list[dict[str, object]]:
    return [index.to_json() for index in indexes.values() if index.staged == staged]


def _validators_at(validator: Validator, path: list[str]) -> Iterator[Validator]:
    """Every validator that a value at the path may have to match."""
    match validator:
        case UnionValidator():
            for member in validator.members:
                yield from _validators_at(member, path)
        case AnyValidator():
            yield ANY
        case _ if not path:
            yield validator
        case ObjectValidator() if path[0] in validator.fields:
            yield from _validators_at(validator.fields[path[0]].validator, path[1:])
        case RecordValidator():
            yield from _validators_at(validator.values, path[1:])
        case _:
            return


def _may_hold_vector(validator: Validator) -> bool:
    return validator == ANY or (isinstance(validator, ArrayValidator) and _may_be_number(validator.element))


def _may_be_number(validator: Validator) -> bool:
    if isinstance(validator, UnionValidator):
        return any(map(_may_be_number, validator.members))
    return validator == ANY or is_subset(validator, NUMBER)
