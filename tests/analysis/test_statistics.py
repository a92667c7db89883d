import pytest

from convex_evals.analysis.statistics import wilson_interval


@pytest.mark.parametrize(("passed", "total"), [(47, 66), (1, 2), (21, 34), (3, 1000)])
def test_the_ends_of_the_interval_are_the_rates_that_the_result_is_just_compatible_with(
    passed: int, total: int
) -> None:
    found, rate = wilson_interval(passed, total), passed / total
    for end in (found.low, found.high):
        assert (rate - end) ** 2 == pytest.approx(1.959964**2 * end * (1 - end) / total, rel=1e-5)
    assert found.low < rate < found.high


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"), [(0, 10, 0.0, 0.278), (10, 10, 0.722, 1.0), (0, 0, 0.0, 1.0)]
)
def test_none_and_all_are_no_certainty(passed: int, total: int, low: float, high: float) -> None:
    found = wilson_interval(passed, total)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-4), pytest.approx(high, abs=5e-4))
