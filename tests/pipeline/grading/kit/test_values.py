"""Numbers as TypeScript has them, and Int64 apart."""

import pytest

from convex_evals.pipeline.grading.kit.values import Int64, from_json, to_json

FIVE = {"$integer": "BQAAAAAAAAA="}
SENT: list[tuple[object, object]] = [
    (5, 5.0),
    (5.5, 5.5),
    (True, True),
    (Int64(5), FIVE),
    ((1, Int64(5)), [1.0, FIVE]),
    ({"b": 1, "a": None}, {"a": None, "b": 1.0}),
    (b"a", {"$bytes": "YQ=="}),
]


@pytest.mark.parametrize(("value", "json"), SENT, ids=repr)
def test_values_are_sent(value: object, json: object) -> None:
    assert to_json(value) == json


@pytest.mark.parametrize(
    ("json", "value"),
    [(5.0, 5), (5.5, 5.5), (1e300, 1e300), ({"$float": "AAAAAAAAAIA="}, -0.0), (FIVE, Int64(5)), ([1.0], [1])],
    ids=repr,
)
def test_values_are_received(json: object, value: object) -> None:
    received = from_json(json)
    assert (received, type(received), str(received)) == (value, type(value), str(value))


def test_an_int64_is_not_a_number() -> None:
    assert Int64(5) == Int64(5)
    assert Int64(5) != 5
    assert [5].count(Int64(5)) == 0
    assert [Int64(5)] != [5]
    assert {Int64(5): 1}.get(5) is None  # type: ignore[call-overload]
    assert Int64(5) + 1 == 6
    assert repr([Int64(5)]) == "[Int64(5)]"


def test_what_convex_does_not_know_is_not_sent() -> None:
    with pytest.raises(TypeError, match="is no Convex value: write None, bool, int"):
        to_json({"when": object()})
