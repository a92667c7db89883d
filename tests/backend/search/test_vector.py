import pytest

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import DocumentId
from convex_evals.backend.schema import VectorIndexSpec
from convex_evals.backend.search import VectorDocument, VectorIndex, VectorQuery
from convex_evals.backend.values import UNDEFINED, Value, sort_key

FILTERED = VectorIndexSpec("near", "emb", 3, ("color", "size"))
VECTOR = [1, 0.5, {"$float": "AAAAAAAAAIA="}]

SPEC = VectorIndexSpec("near", "emb", 2, ("color",))


def eq(field: str, value: object) -> dict[str, object]:
    return {"$eq": [{"$field": field}, {"$literal": value}]}


def compile_query(**query: object) -> VectorQuery:
    return VectorQuery.compile("t.near", FILTERED, {"vector": VECTOR, "limit": None, "expressions": None, **query})


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


def document(number: int, vector: Value, **fields: Value) -> VectorDocument | None:
    document_id = str(DocumentId(10001, number.to_bytes(16, "big")))
    return VectorDocument.of(SPEC, {"_id": document_id, "_creationTime": 1.0, "emb": vector, **fields})


def index(*vectors: Value) -> VectorIndex:
    built = VectorIndex()
    for number, vector in enumerate(vectors, 1):
        if (added := document(number, vector)) is not None:
            built.add(added)
    return built


def found(built: VectorIndex, query: VectorQuery) -> list[tuple[int, float]]:
    return [(int.from_bytes(DocumentId.decode(hit.id).internal, "big"), hit.score) for hit in built.search(query)]


def test_the_nearest_come_first_by_cosine() -> None:
    built = index([1.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [10.0, 10.0])
    assert found(built, VectorQuery((2.0, 0.0))) == [
        (1, 1.0),
        (4, 0.7071067690849304),
        (2, 0.0),
        (3, -1.0),
    ]


def test_a_zero_vector_scores_zero() -> None:
    assert found(index([0.0, 0.0], [1.0, 1.0]), VectorQuery((0.0, 0.0))) == [(2, 0.0), (1, 0.0)]


def test_ties_are_broken_by_the_larger_id_and_the_limit_cuts() -> None:
    same: list[Value] = [[1.0, 1.0]] * 20
    built = index(*same)
    assert [number for number, _ in found(built, VectorQuery((1.0, 1.0)))] == list(range(20, 10, -1))
    assert [number for number, _ in found(built, VectorQuery((1.0, 1.0), limit=1))] == [20]


@pytest.mark.parametrize("vector", [None, "x", [], [1.0], [1.0, 2.0, 3.0], [1.0, 2], [1.0, None]], ids=repr)
def test_a_document_without_a_fitting_vector_is_not_indexed(vector: Value) -> None:
    assert document(1, vector) is None


def test_removed_documents_are_not_found() -> None:
    built = index([1.0, 0.0], [0.0, 1.0])
    removed = document(1, [1.0, 0.0])
    assert removed is not None
    built.remove(removed.id)
    built.remove(removed.id)
    assert [number for number, _ in found(built, VectorQuery((1.0, 0.0)))] == [2]


def test_any_of_the_conditions_admits_a_document() -> None:
    built = VectorIndex()
    for number, color in enumerate(["red", "green", "blue"], 1):
        added = document(number, [1.0, 0.0], color=color)
        assert added is not None
        built.add(added)
    conditions = frozenset({("color", sort_key("red")), ("color", sort_key("blue"))})
    assert [number for number, _ in found(built, VectorQuery((1.0, 0.0), conditions=conditions))] == [3, 1]
