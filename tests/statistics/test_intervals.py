"""Intervals, against scipy."""

import pytest
import scipy  # loads its parts when they are needed
from hypothesis import given
from hypothesis import strategies as some

from convex_evals.statistics import wilson_interval
from convex_evals.statistics.intervals import incomplete_beta, t_distribution, t_quantile


@given(some.integers(1, 300).flatmap(lambda total: some.tuples(some.integers(0, total), some.just(total))))
def test_wilson_is_what_scipy_says(case: tuple[int, int]) -> None:
    passed, total = case
    low, high = scipy.stats.binomtest(passed, total).proportion_ci(method="wilson")
    found = wilson_interval(passed, total)
    assert (found.low, found.high) == pytest.approx((max(low, 0), min(high, 1)), abs=1e-12)


def test_nothing_tried_means_that_everything_is_possible() -> None:
    assert (wilson_interval(0, 0).low, wilson_interval(0, 0).high) == (0, 1)


@given(some.floats(0.5, 200), some.floats(0.5, 200), some.floats(0, 1))
def test_the_incomplete_beta_function_is_what_scipy_says(a: float, b: float, x: float) -> None:
    assert incomplete_beta(a, b, x) == pytest.approx(float(scipy.special.betainc(a, b, x)), abs=1e-10)


@given(some.integers(1, 500), some.floats(0.5, 0.9999))
def test_quantiles_of_t_are_what_scipy_says(degrees: int, probability: float) -> None:
    assert t_quantile(probability, degrees) == pytest.approx(
        float(scipy.stats.t.ppf(probability, degrees)), abs=1e-6, rel=1e-8
    )


@given(some.integers(1, 500), some.floats(0.001, 50))
def test_the_distribution_of_t_is_what_scipy_says(degrees: int, value: float) -> None:
    assert t_distribution(value, degrees) == pytest.approx(float(scipy.stats.t.cdf(value, degrees)), abs=1e-8)
