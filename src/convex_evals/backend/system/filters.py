"""What the data browser may filter a table by: parsed, checked, and turned into a query. Pure."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import orjson

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import DocumentId
from convex_evals.backend.values import UNDEFINED, Undefined, Value, decode

UNDEFINED_PLACEHOLDER = (
    "__CONVEX_PLACEHOLDER_undefined_I23atX0jcndVbFgXoQZffsih7eAqktCyFjgUuAeNBtfr3ySOljPSPSEOPFgprkdBO3zXNiGEJxmJ5ZFPc5C5"
    "qKesG80QRPvlJe8vgSxAt9feLTwxTg4PHfVwUaTEJU67FDwldWmTxp1guMPwxQ2jOuhEryTBf3mQ"
)

Order = Literal["asc", "desc"]
Json = object
WHOLE = -1  # the "clause" that problems of the index selection belong to

COMPARISONS = {"eq": "$eq", "neq": "$neq", "gt": "$gt", "gte": "$gte", "lt": "$lt", "lte": "$lte"}
LISTS = ("anyOf", "noneOf")
TYPES = ("type", "notype")


@dataclass(frozen=True, slots=True)
class Problem:
    clause: int
    error: str

    def to_value(self) -> Value:
        return {"filter": float(self.clause), "error": self.error}


@dataclass(frozen=True, slots=True)
class Clause:
    position: int
    field: str
    op: str
    value: Json

    @property
    def problem(self) -> Problem | None:
        if self.op in TYPES:
            return None
        values = self.value if self.op in LISTS and isinstance(self.value, list) else [self.value]
        invalid = next((value for value in values if not _is_operand(value)), None)
        if invalid is None:
            return None
        return Problem(self.position, f"Invalid value: {orjson.dumps(invalid).decode()}.")

    def expression(self) -> Json | None:
        """None when it lets everything pass, or can only be judged on the document."""
        if self.op in COMPARISONS:
            return {COMPARISONS[self.op]: [{"$field": self.field}, _literal(self.value)]}
        if self.op in TYPES or not isinstance(self.value, list) or not self.value:
            return None
        joined, compared = ("$or", "$eq") if self.op == "anyOf" else ("$and", "$neq")
        return {joined: [{compared: [{"$field": self.field}, _literal(value)]} for value in self.value]}

    def accepts(self, document: Mapping[str, Value]) -> bool:
        """Type clauses look at the document itself; others have been applied by the query."""
        if self.op not in TYPES:
            return True
        return (self.value in _types_of(_field(document, self.field))) == (self.op == "type")


@dataclass(frozen=True, slots=True)
class IndexClause:
    """`indexEq` with its value, or `indexRange` with its bounds."""

    enabled: bool
    is_range: bool
    bounds: tuple[tuple[str, Json], ...]  # ("Eq" | "Gt" | "Gte" | "Lt" | "Lte", value)

    def expressions(self, field: str) -> Iterator[Json]:
        for comparison, value in self.bounds:
            yield {"type": comparison, "fieldPath": field, "value": _operand(value)}


@dataclass(frozen=True, slots=True)
class IndexFilter:
    name: str
    clauses: tuple[IndexClause, ...]

    def problem(self, fields: tuple[str, ...]) -> Problem | None:
        if len(self.clauses) > len(fields):
            return Problem(
                WHOLE, f"Index {self.name} has {len(fields)} fields, but the query has {len(self.clauses)} clauses."
            )
        previous: IndexClause | None = None
        for clause in self.clauses:
            if clause.enabled and previous is not None:
                if not previous.enabled:
                    return Problem(
                        WHOLE, "Invalid index filter selection: found an enabled clause after an disabled clause."
                    )
                if previous.is_range:
                    return Problem(
                        WHOLE, "Invalid index filter selection: found a range filter after a non-range filter."
                    )
            previous = clause
        return self._invalid_value()

    def _invalid_value(self) -> Problem | None:
        for position, clause in enumerate(self.clauses):
            for _, value in clause.bounds:
                if clause.enabled and not _is_operand(value):
                    return Problem(position, f"Invalid value: {orjson.dumps(value).decode()}.")
        return None

    def range(self, fields: tuple[str, ...]) -> list[Json]:
        enabled = ((field, clause) for field, clause in zip(fields, self.clauses, strict=False) if clause.enabled)
        return [expression for field, clause in enabled for expression in clause.expressions(field)]


@dataclass(frozen=True, slots=True)
class SearchFilter:
    name: str
    search: str
    clauses: tuple[tuple[str, Json], ...]  # the enabled ones

    def problem(self, filter_fields: tuple[str, ...], order: Order) -> Problem | None:
        if order == "desc":
            return Problem(WHOLE, f"Trying to query search index `{self.name}` in descending order.")
        seen: set[str] = set()
        for position, (field, value) in enumerate(self.clauses):
            if field in seen:
                return Problem(position, f"Invalid filter: there are multiple filters for field `{field}`.")
            if field not in filter_fields:
                return Problem(position, f"Invalid filter: field `{field}` is not a filter field of the search index.")
            if not _is_operand(value):
                return Problem(position, f"Invalid value: {orjson.dumps(value).decode()}.")
            seen.add(field)
        return None

    def filters(self, search_field: str) -> list[Json]:
        equalities = [{"type": "Eq", "fieldPath": field, "value": _operand(value)} for field, value in self.clauses]
        return [{"type": "Search", "fieldPath": search_field, "value": self.search}, *equalities]


@dataclass(frozen=True, slots=True)
class Filters:
    clauses: tuple[Clause, ...] = ()
    order: Order = "desc"
    index: IndexFilter | SearchFilter | None = None

    @property
    def problems(self) -> list[Problem]:
        return [problem for clause in self.clauses if (problem := clause.problem) is not None]

    @property
    def operators(self) -> list[Json]:
        return [{"filter": expression} for clause in self.clauses if (expression := clause.expression()) is not None]

    @property
    def document_id(self) -> str | None:
        """The id when nothing but one document is asked for."""
        match self:
            case Filters(clauses=(Clause(field="_id", op="eq", value=str(document_id)),), index=None):
                return document_id
            case _:
                return None

    def accepts(self, document: Mapping[str, Value]) -> bool:
        return all(clause.accepts(document) for clause in self.clauses)


def parse_filters(text: str | None) -> Filters:
    """From base64 of JSON. Raises DeveloperError for what is not a filter at all."""
    if text is None:
        return Filters()
    try:
        document = orjson.loads(base64.b64decode(text, validate=True))
        clauses = tuple(_clauses(document.get("clauses") or []))
        return Filters(clauses, "asc" if document.get("order") == "asc" else "desc", _index(document.get("index")))
    except (binascii.Error, orjson.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise DeveloperError(f"Invalid filters: {error}") from error


def _clauses(entries: list[dict[str, Json]]) -> Iterator[Clause]:
    for position, entry in enumerate(entries):
        op, field = entry.get("op"), entry.get("field")
        if op not in COMPARISONS and op not in LISTS and op not in TYPES:
            raise DeveloperError(f"Invalid filter operator: {op}")
        if entry.get("enabled") is not False and isinstance(field, str) and field:
            yield Clause(position, field, str(op), entry.get("value"))


def _index(entry: dict[str, Json] | None) -> IndexFilter | SearchFilter | None:
    if entry is None:
        return None
    name, clauses = str(entry["name"]), entry.get("clauses") or []
    assert isinstance(clauses, list)
    search = entry.get("search")
    if isinstance(search, str):
        enabled = (clause for clause in clauses if clause.get("enabled") is not False)
        return SearchFilter(name, search, tuple((str(clause["field"]), clause.get("value")) for clause in enabled))
    return IndexFilter(name, tuple(map(_index_clause, clauses)))


def _index_clause(entry: dict[str, Json]) -> IndexClause:
    enabled = entry.get("enabled") is not False
    if entry["type"] == "indexEq":
        return IndexClause(enabled, is_range=False, bounds=(("Eq", entry.get("value")),))
    bounds = [
        (str(entry[op]).capitalize(), entry.get(value))
        for op, value in (("lowerOp", "lowerValue"), ("upperOp", "upperValue"))
        if entry.get(op) is not None
    ]
    return IndexClause(enabled, is_range=True, bounds=tuple(bounds))


def _is_operand(value: Json) -> bool:
    if value == UNDEFINED_PLACEHOLDER:
        return True
    try:
        decode(value)
    except DeveloperError:
        return False
    return True


def _operand(value: Json) -> Json:
    return {"$undefined": None} if value == UNDEFINED_PLACEHOLDER else value


def _literal(value: Json) -> Json:
    return {"$literal": _operand(value)}


def _field(document: Mapping[str, Value], path: str) -> Value | Undefined:
    current: Value | Undefined = dict(document)
    for name in path.split("."):
        if not isinstance(current, dict) or name not in current:
            return UNDEFINED
        current = current[name]
    return current


def _types_of(value: Value | Undefined) -> tuple[str, ...]:
    match value:
        case None:
            return ("null",)
        case bool():
            return ("boolean",)
        case int():
            return ("bigint",)
        case float():
            return ("number",)
        case str():
            return ("string", "id") if _is_id(value) else ("string",)
        case bytes():
            return ("bytes",)
        case list():
            return ("array",)
        case dict():
            return ("object",)
        case _:
            return ("unset",)


def _is_id(text: str) -> bool:
    try:
        DocumentId.decode(text)
    except DeveloperError:
        return False
    return True
