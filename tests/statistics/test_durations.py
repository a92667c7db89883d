"""How long answers took."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as some

from convex_evals.statistics import durations


@given(some.lists(some.floats(0, 1e6), min_size=1, max_size=50))
def test_durations_are_those_of_numpy(values: list[float]) -> None:
    found = durations(values)
    assert found is not None
    assert (found.median, found.p90) == pytest.approx((numpy.median(values), numpy.quantile(values, 0.9)))


def test_nothing_measured_has_no_durations() -> None:
    assert durations([]) is None
