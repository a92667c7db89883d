from typing import Any

import pytest

from convex_evals.backend.errors import DeveloperError


@pytest.fixture
def points(bench: Any) -> Any:
    spec = {"vectorField": "v", "dimensions": 2, "filterFields": ["kind"]}
    bench.push(bench.table("t", None, {"by_kind": ["kind"]}, vector={"near": spec}))
    bench.insert("t", {"v": [1, 0], "kind": "x"}, {"v": [0, 1], "kind": "y"}, {"v": [1, 1], "kind": "y"}, {"v": [1]})
    return bench


def search(bench: Any, **more: Any) -> list[Any]:
    query = {"indexName": "t.near", "vector": [1, 0], "limit": None, "expressions": None, **more}
    reader = bench.begin()
    return [reader.get("", hit.id).value["v"] for hit in bench.database.vector_search("", query)]


def test_the_nearest_come_first(points: Any) -> None:
    assert search(points) == [[1, 0], [1, 1], [0, 1]]
    assert search(points, limit=1) == [[1, 0]]
    only_y = {"$eq": [{"$field": "kind"}, {"$literal": "y"}]}
    assert search(points, expressions=only_y) == [[1, 1], [0, 1]]


def test_commits_change_the_results_and_open_transactions_do_not(points: Any) -> None:
    transaction = points.begin()
    nearest = points.pull_all(transaction, points.scan("t"))[0]
    transaction.delete("", nearest.id)
    assert search(points)[0] == [1, 0]
    points.database.commit(transaction)
    assert search(points)[0] == [1, 1]


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"indexName": "t.missing"}, "Index t.missing not found."),
        ({"indexName": "t.by_kind"}, "Index t.by_kind is not a vector index"),
        ({"vector": [1, 2, 3]}, "Expected a vector with dimensions 2, received 3."),
        ({"limit": 300}, "Vector queries can fetch at most 256 results, requested 300."),
    ],
)
def test_texts(points: Any, more: Any, text: str) -> None:
    with pytest.raises(DeveloperError) as caught:
        search(points, **more)
    assert caught.value.message == text


def test_a_missing_table_has_no_neighbours(bench: Any) -> None:
    assert bench.database.vector_search("", {"indexName": "nothing.near", "vector": [1]}) == []
