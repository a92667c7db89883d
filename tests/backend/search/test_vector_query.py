import pytest

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.schema import VectorIndexSpec
from convex_evals.backend.search import VectorQuery
from convex_evals.backend.values import UNDEFINED, sort_key

SPEC = VectorIndexSpec("near", "emb", 3, ("color", "size"))
VECTOR = [1, 0.5, {"$float": "AAAAAAAAAIA="}]


def eq(field: str, value: object) -> dict[str, object]:
    return {"$eq": [{"$field": field}, {"$literal": value}]}


def compile_query(**query: object) -> VectorQuery:
    return VectorQuery.compile("t.near", SPEC, {"vector": VECTOR, "limit": None, "expressions": None, **query})


def test_a_query_is_compiled_from_its_json() -> None:
    assert compile_query() == VectorQuery((1.0, 0.5, -0.0), 10)
    assert compile_query(limit=256).limit == 256


def test_conditions_are_flattened_and_counted_once() -> None:
    expressions = {"$or": [eq("color", "red"), {"$or": [eq("size", {"$undefined": None}), eq("color", "red")]}]}
    assert compile_query(expressions=expressions).conditions == {
        ("color", sort_key("red")),
        ("size", sort_key(UNDEFINED)),
    }


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"limit": 257}, "Vector queries can fetch at most 256 results, requested 257."),
        ({"vector": [1, 2]}, "Expected a vector with dimensions 3, received 2."),
        (
            {"expressions": eq("shape", 1)},
            'Vector query against t.near contains a filter on "shape" '
            "but that field isn't indexed for filtering in `filterFields`.",
        ),
        (
            {"expressions": {"$or": [eq("size", n) for n in range(65)]}},
            "Vector query against t.near has too many conditions. Max: 64 Actual: 65",
        ),
        ({"expressions": {"$and": []}}, "Filters should be a combination of `q.eq` and `q.or`."),
        (
            {"expressions": {"$eq": [{"$literal": 1}, {"$field": "size"}]}},
            "`q.eq` must take a field path as its first argument and a value as its second",
        ),
    ],
)
def test_a_query_the_index_cannot_answer_is_refused(query: dict[str, object], message: str) -> None:
    with pytest.raises(DeveloperError) as refusal:
        compile_query(**query)
    assert refusal.value.message == message
