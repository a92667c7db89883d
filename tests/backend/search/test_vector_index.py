import pytest

from convex_evals.backend.ids import DocumentId
from convex_evals.backend.schema import VectorIndexSpec
from convex_evals.backend.search import VectorDocument, VectorIndex, VectorQuery
from convex_evals.backend.values import Value, sort_key

SPEC = VectorIndexSpec("near", "emb", 2, ("color",))


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
