from typing import Any

import pytest

from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.expressions import compile_expression, compile_predicate
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.values import Value, display, encode

MISSING = {"$literal": {"$undefined": None}}
LARGEST = {"$literal": {"$integer": "/////////38="}}


def lit(value: Any) -> dict[str, Any]:
    return {"$literal": value}


def big(value: int) -> dict[str, Any]:
    return lit(encode(value))


@pytest.fixture
def document() -> Document:
    value: dict[str, Value] = {"a": 1.0, "name": "x", "nested": {"b": None}, "list": [1.0], "count": 3, "ok": True}
    return Document.assemble("id", 0.0, value)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ({"$eq": [{"$field": "a"}, lit(1)]}, True),
        ({"$eq": [{"$field": "a"}, big(1)]}, False),
        ({"$eq": [{"$field": "gone"}, MISSING]}, True),
        ({"$eq": [{"$field": "gone"}, lit(None)]}, False),
        ({"$eq": [{"$field": "nested.b"}, lit(None)]}, True),
        ({"$eq": [{"$field": "list.0"}, MISSING]}, True),
        ({"$eq": [{"$field": "name.length"}, MISSING]}, True),
        ({"$neq": [{"$field": "name"}, lit("y")]}, True),
        ({"$gt": [{"$field": "name"}, lit(5)]}, True),
        ({"$gt": [{"$field": "gone"}, lit(None)]}, False),
        ({"$lt": [MISSING, lit(None)]}, True),
        ({"$lt": [big(100), lit(0.5)]}, True),
        ({"$lte": [lit("a"), lit("a")]}, True),
        ({"$gte": [lit("ａ"), lit("😀")]}, False),
        ({"$eq": [lit({"$float": "AAAAAAAA+H8="}), lit({"$float": "AAAAAAAA+H8="})]}, True),
        ({"$eq": [lit(0), lit({"$float": "AAAAAAAAAIA="})]}, False),
        ({"$and": []}, True),
        ({"$or": []}, False),
        ({"$and": [lit(True), {"$not": lit(False)}]}, True),
        ({"$and": [lit(False), lit(1)]}, False),
        ({"$or": [lit(True), lit(1)]}, True),
        ({"$field": "ok"}, True),
    ],
)
def test_predicates(document: Document, expression: Any, expected: bool) -> None:
    assert compile_predicate(expression)(document) is expected


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ({"$add": [{"$field": "a"}, lit(2)]}, "3.0"),
        ({"$sub": [{"$field": "count"}, big(5)]}, "-2"),
        ({"$mul": [big(-3), big(4)]}, "-12"),
        ({"$div": [big(-7), big(2)]}, "-3"),
        ({"$mod": [big(-7), big(2)]}, "-1"),
        ({"$div": [lit(1), lit(0)]}, "inf"),
        ({"$div": [lit(-1), lit(0)]}, "-inf"),
        ({"$div": [lit(0), lit(0)]}, "NaN"),
        ({"$mod": [lit(5.5), lit(2)]}, "1.5"),
        ({"$mod": [lit(5), lit(0)]}, "NaN"),
        ({"$neg": lit(2)}, "-2.0"),
        ({"$neg": big(2)}, "-2"),
    ],
)
def test_arithmetic(document: Document, expression: Any, shown: str) -> None:
    result = compile_expression(expression)(document)
    assert display(result) == shown


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ({"$add": [lit(1), lit("x")]}, 'Cannot add 1.0 (type Float64) and "x" (type String)'),
        (
            {"$sub": [{"$field": "gone"}, lit(1)]},
            "Cannot subtract undefined (type undefined) and 1.0 (type Float64)",
        ),
        ({"$mul": [big(1), lit(1)]}, "Cannot multiply 1 (type Int64) and 1.0 (type Float64)"),
        ({"$mod": [lit(True), lit(1)]}, "Cannot mod true (type Boolean) and 1.0 (type Float64)"),
        ({"$add": [LARGEST, big(1)]}, "Cannot add 9223372036854775807 and 1: the result is out of range for Int64"),
        ({"$div": [big(4), big(0)]}, "Cannot divide 4 by zero"),
        ({"$mod": [big(4), big(0)]}, "Cannot divide 4 by zero"),
        ({"$neg": lit("x")}, 'Cannot negate "x" (type String)'),
        ({"$not": lit(1)}, "Cannot use value 1.0 (type Float64) as a Boolean"),
        ({"$and": [lit(True), {"$field": "gone"}]}, "Cannot use value undefined (type undefined) as a Boolean"),
        ({"$or": [lit(None)]}, "Cannot use value null (type Null) as a Boolean"),
        ({"$field": "a"}, "Cannot use value 1.0 (type Float64) as a Boolean"),
    ],
)
def test_values_that_cannot_be_combined(document: Document, expression: Any, text: str) -> None:
    with pytest.raises(DeveloperError) as caught:
        compile_predicate(expression)(document)
    assert caught.value.message == text


@pytest.mark.parametrize("expression", [None, {}, {"$eq": [lit(1)]}, {"$what": 1}, {"$field": 1}, {"$and": 1}])
def test_json_that_is_not_an_expression_is_refused_when_it_is_compiled(expression: Any) -> None:
    with pytest.raises(DeveloperError, match="Invalid filter"):
        compile_expression(expression)
