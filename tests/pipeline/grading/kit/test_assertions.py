"""Comparisons that say what was expected, what was received, and where they differ."""

import itertools

import pytest

from convex_evals.pipeline.grading.kit import Int64, assert_same, wait_until, without
from convex_evals.pipeline.grading.kit.assertions import difference

DIFFERENT: list[tuple[object, object, str]] = [
    (1, 2, "first difference: at the top: expected 2, received 1"),
    (1, True, "expected True, received 1"),
    (1, Int64(1), "expected Int64(1), received 1"),
    ({"a": 1}, {"a": 1, "b": 2}, "first difference: b: expected 2, received nothing"),
    ({"a": 1, "b": 2}, {"a": 1}, "first difference: b: expected nothing, received 2"),
    ([{"a": {"b": 1}}], [{"a": {"b": 2}}], "first difference: [0].a.b: expected 2, received 1"),
    ([1, 2], [1], "first difference: at the top: expected 1 items, received 2 items"),
    (None, {"a": 1}, "expected {'a': 1}, received None"),
]

SAME: list[tuple[object, object]] = [
    (1, 1.0),
    (float("nan"), float("nan")),
    ({"_id": "x", "a": 1}, {"a": 1, "_creationTime": 5}),
    ([{"a": {"_id": "x"}}], [{"a": {}}]),
    ((1, 2), [1, 2]),
]


@pytest.mark.parametrize(("received", "expected", "told"), DIFFERENT, ids=repr)
def test_the_first_difference_is_reported(received: object, expected: object, told: str) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_same(received, expected)
    assert told in str(caught.value)
    assert f"expected: {expected!r}\nreceived: {received!r}\n" in str(caught.value)


@pytest.mark.parametrize(("received", "expected"), SAME, ids=repr)
def test_system_fields_do_not_matter(received: object, expected: object) -> None:
    assert_same(received, expected)


def test_system_fields_matter_when_asked_for() -> None:
    with pytest.raises(AssertionError, match="_id"):
        assert_same({"_id": "x"}, {"_id": "y"}, ignore=())


def test_order_matters_unless_told_otherwise() -> None:
    with pytest.raises(AssertionError):
        assert_same([{"n": 1}, {"n": 2}], [{"n": 2}, {"n": 1}])
    assert_same([{"n": 1}, {"n": 2}], [{"n": 2}, {"n": 1}], ordered=False)


def test_in_any_order_missing_and_unexpected_items_are_reported() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_same([1, 1, 3], [1, 2, 3], ordered=False, what="the numbers")
    assert str(caught.value) == (
        "the numbers: not as expected\nexpected: [1, 2, 3]\nreceived: [1, 1, 3]\n"
        "in any order; missing: [2]; not expected: [1]"
    )


def test_long_values_are_shown_in_part() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_same("x" * 10_000, "y" * 10_000)
    assert len(str(caught.value)) < 7_000
    assert "(10002 characters)" in str(caught.value)


def test_fields_are_taken_away_at_any_depth() -> None:
    assert without({"_id": 1, "a": [{"_id": 2, "b": 3}]}) == {"a": [{"b": 3}]}


def test_equal_values_have_no_difference() -> None:
    assert difference({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}) is None


def test_waiting_ends_with_the_first_true_answer() -> None:
    numbers = itertools.count()
    assert wait_until(lambda: next(numbers) >= 3 and "done") == "done"
    assert next(numbers) == 4


def test_a_failed_assertion_means_not_yet() -> None:
    numbers = itertools.count()

    def third_time() -> bool:
        assert next(numbers) == 2
        return True

    assert wait_until(third_time)


def test_after_the_deadline_the_last_answer_is_reported() -> None:
    with pytest.raises(AssertionError, match=r"the count did not come true within 0.02 s: it was \[\]"):
        wait_until(list, "the count", seconds=0.02)


def test_after_the_deadline_the_last_failed_assertion_is_reported() -> None:
    def never() -> bool:
        raise AssertionError("still empty")

    with pytest.raises(AssertionError, match=r"the condition did not come true within 0.02 s: still empty"):
        wait_until(never, seconds=0.02)


def test_other_errors_are_not_waited_for() -> None:
    with pytest.raises(KeyError):
        wait_until(lambda: {}["missing"])
