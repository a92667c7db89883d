"""Ranks with ties."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from convex_evals.statistics import Tally, holm, rank


@given(some.lists(some.floats(0, 1), min_size=1, max_size=30))
def test_holm_never_lowers_a_value_and_keeps_their_order(values: list[float]) -> None:
    corrected = holm(values)
    assert all(value <= found <= 1 for value, found in zip(values, corrected, strict=True))
    assert all(a <= b for (_, a), (_, b) in pairwise(sorted(zip(values, corrected, strict=True))))
    assert min(corrected) == pytest.approx(min(1, min(values) * len(values)))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def outcomes(passed: int, total: int = 66) -> dict[str, Tally]:
    return {str(index): Tally(int(index < passed), 1) for index in range(total)}


def test_models_that_cannot_be_told_apart_share_a_range_of_ranks() -> None:
    ranked = rank({"low": outcomes(20), "best": outcomes(66), "good": outcomes(64), "fair": outcomes(62)})
    assert [(each.name, each.rank) for each in ranked] == [
        ("best", "1–3"),
        ("good", "1–3"),
        ("fair", "1–3"),
        ("low", "4"),
    ]


def test_clear_differences_give_clear_ranks() -> None:
    ranked = rank({"a": outcomes(60), "b": outcomes(40), "c": outcomes(20)})
    assert [each.rank for each in ranked] == ["1", "2", "3"]


def test_one_model_is_first_and_one_without_verdicts_is_not_ranked() -> None:
    assert [(each.name, each.rank) for each in rank({"only": outcomes(3), "none": {}})] == [("only", "1")]
    assert rank({}) == ()
