"""Waiting with a deadline."""

import itertools

import pytest

from convex_evals.pipeline.grading.kit import wait_until


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


def test_after_the_deadline_the_last_answer_is_told() -> None:
    with pytest.raises(AssertionError, match=r"the count did not come true within 0.02 s: it was \[\]"):
        wait_until(list, "the count", seconds=0.02)


def test_after_the_deadline_the_last_failed_assertion_is_told() -> None:
    def never() -> bool:
        raise AssertionError("still empty")

    with pytest.raises(AssertionError, match=r"the condition did not come true within 0.02 s: still empty"):
        wait_until(never, seconds=0.02)


def test_other_errors_are_not_waited_for() -> None:
    with pytest.raises(KeyError):
        wait_until(lambda: {}["missing"])
