import base64
import json
from typing import Any

import pytest

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import DocumentId
from convex_evals.backend.system.filters import (
    UNDEFINED_PLACEHOLDER,
    Filters,
    IndexFilter,
    Problem,
    SearchFilter,
    parse_filters,
)
from convex_evals.backend.values import Value

DOCUMENT_ID = str(DocumentId(10001, bytes(16)))  # fixed: test names must not differ between workers


def filters(**document: Any) -> Filters:
    return parse_filters(base64.b64encode(json.dumps(document).encode()).decode())


def clause(field: str, op: str, value: object = None, **more: object) -> dict[str, object]:
    return {"field": field, "op": op, "value": value, **more}


FIELD = {"$field": "a"}


@pytest.mark.parametrize(
    ("given", "expression"),
    [
        (clause("a", "eq", 1), {"$eq": [FIELD, {"$literal": 1}]}),
        (
            clause("a", "neq", {"$integer": "AQAAAAAAAAA="}),
            {"$neq": [FIELD, {"$literal": {"$integer": "AQAAAAAAAAA="}}]},
        ),
        (clause("a", "gt", None), {"$gt": [FIELD, {"$literal": None}]}),
        (clause("a", "gte", "x"), {"$gte": [FIELD, {"$literal": "x"}]}),
        (clause("a", "lt", True), {"$lt": [FIELD, {"$literal": True}]}),
        (clause("a", "lte", []), {"$lte": [FIELD, {"$literal": []}]}),
        (clause("a", "eq", UNDEFINED_PLACEHOLDER), {"$eq": [FIELD, {"$literal": {"$undefined": None}}]}),
        (
            clause("a", "anyOf", [1, 2]),
            {"$or": [{"$eq": [FIELD, {"$literal": 1}]}, {"$eq": [FIELD, {"$literal": 2}]}]},
        ),
        (clause("a", "noneOf", [1]), {"$and": [{"$neq": [FIELD, {"$literal": 1}]}]}),
    ],
)
def test_a_clause_becomes_an_operator_of_the_query(given: dict[str, object], expression: object) -> None:
    assert filters(clauses=[given]).operators == [{"filter": expression}]


@pytest.mark.parametrize(
    "given",
    [
        clause("a", "eq", 1, enabled=False),
        {"op": "eq", "value": 1},
        clause("", "eq", 1),
        clause("a", "anyOf", []),
        clause("a", "noneOf", []),
        clause("a", "type", "string"),
    ],
)
def test_some_clauses_ask_nothing_of_the_query(given: dict[str, object]) -> None:
    assert filters(clauses=[given]).operators == []


TYPES: list[tuple[Value, str]] = [
    ("x", "string"),
    (DOCUMENT_ID, "id"),
    (DOCUMENT_ID, "string"),
    (True, "boolean"),
    (1.0, "number"),
    (1, "bigint"),
    (None, "null"),
    ([], "array"),
    ({}, "object"),
    (b"", "bytes"),
]


@pytest.mark.parametrize(("value", "type_name"), TYPES)
def test_type_clauses_look_at_the_document(value: Value, type_name: str) -> None:
    document: dict[str, Value] = {"a": {"b": value}}
    assert filters(clauses=[clause("a.b", "type", type_name)]).accepts(document)
    assert not filters(clauses=[clause("a.b", "notype", type_name)]).accepts(document)
    assert not filters(clauses=[clause("a.b", "type", "unset")]).accepts(document)


@pytest.mark.parametrize("path", ["b", "a.c", "a.b.c"])
def test_a_missing_field_is_unset(path: str) -> None:
    assert filters(clauses=[clause(path, "type", "unset")]).accepts({"a": {"b": 1.0}})


def test_clauses_are_joined_by_and() -> None:
    both = filters(clauses=[clause("a", "type", "number"), clause("b", "type", "string")])
    assert both.accepts({"a": 1.0, "b": "x"})
    assert not both.accepts({"a": 1.0, "b": 2.0})


def test_invalid_values_are_reported_per_clause() -> None:
    given = filters(clauses=[clause("a", "eq", 1), clause("b", "eq", {"$x": 1}), clause("c", "anyOf", [{"$y": 2}])])
    assert given.problems == [Problem(1, 'Invalid value: {"$x":1}.'), Problem(2, 'Invalid value: {"$y":2}.')]


@pytest.mark.parametrize(
    ("given", "document_id"),
    [
        (filters(clauses=[clause("_id", "eq", "j57")]), "j57"),
        (filters(clauses=[clause("_id", "eq", "j57"), clause("a", "eq", 1, enabled=False)]), "j57"),
        (filters(clauses=[clause("_id", "eq", "j57"), clause("a", "eq", 1)]), None),
        (filters(clauses=[clause("_id", "neq", "j57")]), None),
        (filters(clauses=[clause("_id", "eq", "j57")], index={"name": "by_id", "clauses": []}), None),
        (filters(), None),
    ],
)
def test_asking_for_one_id_is_a_lookup(given: Filters, document_id: str | None) -> None:
    assert given.document_id == document_id


def test_the_default_is_everything_newest_first() -> None:
    assert parse_filters(None) == filters() == Filters((), "desc", None)
    assert filters(order="asc").order == "asc"


def equal(value: object, enabled: bool = True) -> dict[str, object]:
    return {"type": "indexEq", "enabled": enabled, "value": value}


def within(enabled: bool = True, **bounds: object) -> dict[str, object]:
    return {"type": "indexRange", "enabled": enabled, **bounds}


def index(*clauses: dict[str, object]) -> IndexFilter:
    found = filters(index={"name": "i", "clauses": list(clauses)}).index
    assert isinstance(found, IndexFilter)
    return found


def test_index_clauses_become_a_range_over_the_index_fields() -> None:
    chosen = index(equal("x"), within(lowerOp="gte", lowerValue=1, upperOp="lt", upperValue=UNDEFINED_PLACEHOLDER))
    assert chosen.problem(("a", "b", "_creationTime")) is None
    assert chosen.range(("a", "b", "_creationTime")) == [
        {"type": "Eq", "fieldPath": "a", "value": "x"},
        {"type": "Gte", "fieldPath": "b", "value": 1},
        {"type": "Lt", "fieldPath": "b", "value": {"$undefined": None}},
    ]
    assert index(equal("x"), equal("y", enabled=False)).range(("a", "b")) == [
        {"type": "Eq", "fieldPath": "a", "value": "x"}
    ]


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        (index(equal(1), equal(2)), Problem(-1, "Index i has 1 fields, but the query has 2 clauses.")),
        (index(equal({"$x": 1})), Problem(0, 'Invalid value: {"$x":1}.')),
        (index(equal({"$x": 1}, enabled=False)), None),
    ],
)
def test_problems_of_a_one_field_index(chosen: IndexFilter, problem: Problem | None) -> None:
    assert chosen.problem(("a",)) == problem


@pytest.mark.parametrize(
    ("chosen", "error"),
    [
        (index(equal(1, enabled=False), equal(2)), "found an enabled clause after an disabled clause."),
        (index(within(lowerOp="gt", lowerValue=1), equal(2)), "found a range filter after a non-range filter."),
    ],
)
def test_enabled_clauses_must_be_a_prefix_that_ends_with_the_range(chosen: IndexFilter, error: str) -> None:
    assert chosen.problem(("a", "b")) == Problem(-1, f"Invalid index filter selection: {error}")


def search(*clauses: dict[str, object]) -> SearchFilter:
    found = filters(index={"name": "s", "search": "hello", "clauses": list(clauses)}).index
    assert isinstance(found, SearchFilter)
    return found


def test_a_search_becomes_search_filters() -> None:
    chosen = search({"field": "c", "enabled": True, "value": "x"}, {"field": "d", "enabled": False, "value": "y"})
    assert chosen.problem(("c", "d"), "asc") is None
    assert chosen.filters("body") == [
        {"type": "Search", "fieldPath": "body", "value": "hello"},
        {"type": "Eq", "fieldPath": "c", "value": "x"},
    ]


def test_problems_of_a_search() -> None:
    twice = search({"field": "c", "value": 1}, {"field": "c", "value": 2})
    assert twice.problem(("c",), "asc") == Problem(1, "Invalid filter: there are multiple filters for field `c`.")
    assert search().problem((), "desc") == Problem(-1, "Trying to query search index `s` in descending order.")
    assert search({"field": "z", "value": 1}).problem(("c",), "asc") is not None
    assert search({"field": "c", "value": {"$x": 1}}).problem(("c",), "asc") == Problem(0, 'Invalid value: {"$x":1}.')


@pytest.mark.parametrize(
    "text",
    [
        "not base64!",
        base64.b64encode(b"not json").decode(),
        base64.b64encode(b"[]").decode(),
        base64.b64encode(json.dumps({"clauses": [clause("a", "like", 1)]}).encode()).decode(),
    ],
)
def test_invalid_filters_are_refused(text: str) -> None:
    with pytest.raises(DeveloperError, match="Invalid filter"):
        parse_filters(text)
