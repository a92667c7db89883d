"""Scores: known answers, oracles, and how often the interval holds the truth."""

from itertools import combinations

import numpy
import pytest
import scipy  # loads its parts when they are needed
from hypothesis import given
from hypothesis import strategies as some

from convex_evals.statistics import (
    Tally,
    durations,
    flakiness,
    merged,
    pass_all,
    pass_at,
    score,
    spread,
    total_interval,
    wilson_interval,
)
from convex_evals.statistics.scores import incomplete_beta, t_distribution, t_quantile

tallies = some.dictionaries(
    some.text(min_size=1),
    some.integers(2, 8).flatmap(lambda trials: some.builds(Tally, some.integers(0, trials), some.just(trials))),
    min_size=2,
)


def test_the_score_of_one_run_has_wilsons_interval() -> None:
    found = score({"a": Tally(1, 1), "b": Tally(0, 1), "c": Tally(1, 1), "d": Tally(1, 1)})
    assert found is not None
    assert (found.value, found.method, found.evals, found.trials) == (0.75, "Wilson", 4, 4)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.3006, 0.9544), abs=1e-4)


@given(tallies)
def test_over_trials_the_interval_is_students_over_evals(given: dict[str, Tally]) -> None:
    found = score(given)
    rates = [tally.rate for tally in given.values()]
    assert found is not None
    if numpy.std(rates) < 1e-9:
        assert found.method == "Wilson"
        return
    low, high = scipy.stats.t.interval(0.95, len(rates) - 1, numpy.mean(rates), scipy.stats.sem(rates))
    assert found.method == "t over evals"
    assert (found.interval.low, found.interval.high) == pytest.approx((max(0, low), min(1, high)), abs=1e-6)


def test_trials_that_all_agree_do_not_make_us_certain() -> None:
    found = score({name: Tally(5, 5) for name in "abcdefghij"})
    assert found is not None
    assert found.value == 1
    assert found.interval.low == pytest.approx(0.7225, abs=1e-4)


@pytest.mark.parametrize("given", [{}, {"a": Tally(1, 1)}, {"a": Tally(0, 3)}])
def test_degenerate_cases_have_a_score_or_none(given: dict[str, Tally]) -> None:
    found = score(given)
    assert (found is None) == (not given)
    if found is not None:
        assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1


@given(some.integers(1, 7).flatmap(lambda n: some.tuples(some.just(n), some.integers(0, n), some.integers(1, n))))
def test_pass_at_k_and_pass_all_count_every_choice_of_trials(case: tuple[int, int, int]) -> None:
    trials, passed, k = case
    outcomes = [True] * passed + [False] * (trials - passed)
    choices = list(combinations(outcomes, k))
    given = {"a": Tally(passed, trials)}
    assert pass_at(k, given) == pytest.approx(sum(map(any, choices)) / len(choices))
    assert pass_all(k, given) == pytest.approx(sum(map(all, choices)) / len(choices))


def test_pass_at_more_trials_than_there_were_is_unknown() -> None:
    assert pass_at(3, {"a": Tally(2, 2)}) is None
    assert pass_all(3, {"a": Tally(2, 2)}) is None
    assert pass_at(1, {}) is None


def test_flaky_evals_are_named_among_those_with_several_trials() -> None:
    found = flakiness({"b": Tally(1, 2), "a": Tally(2, 3), "c": Tally(3, 3), "d": Tally(1, 1)})
    assert found.flaky == ("a", "b")
    assert (found.repeated, found.rate) == (3, pytest.approx(2 / 3))
    assert flakiness({"d": Tally(1, 1)}).rate == 0


def test_runs_are_merged_by_eval_and_their_spread_is_separate() -> None:
    runs = [{"a": Tally(1, 1), "b": Tally(0, 1)}, {"a": Tally(1, 1), "b": Tally(1, 1)}]
    assert merged(runs) == {"a": Tally(2, 2), "b": Tally(1, 2)}
    assert spread(runs) == pytest.approx(numpy.std([0.5, 1.0], ddof=1))
    assert spread(runs[:1]) is None


@pytest.mark.parametrize(("evals", "trials", "a", "b"), [(66, 1, 7.0, 3.0), (66, 4, 7.0, 3.0), (126, 3, 2.0, 2.0)])
def test_the_interval_holds_the_truth_in_95_of_100_cases(evals: int, trials: int, a: float, b: float) -> None:
    """Evals are drawn from a population whose pass rates follow a beta distribution; the truth is its mean."""
    random, truth, held, tries = numpy.random.default_rng(7), a / (a + b), 0, 1500
    for _ in range(tries):
        passed = random.binomial(trials, random.beta(a, b, evals))
        found = score({str(index): Tally(int(count), trials) for index, count in enumerate(passed)})
        assert found is not None
        held += found.interval.contains(truth)
    assert held / tries == pytest.approx(0.95, abs=0.015)


@given(some.lists(some.floats(0, 1e6), min_size=1, max_size=50))
def test_durations_are_those_of_numpy(values: list[float]) -> None:
    found = durations(values)
    assert found is not None
    assert (found.median, found.p90) == pytest.approx((numpy.median(values), numpy.quantile(values, 0.9)))


def test_nothing_measured_has_no_durations() -> None:
    assert durations([]) is None


def test_the_interval_of_a_total_is_students_over_evals() -> None:
    costs = [0.5, 1.0, 0.25, 2.0, 0.75]
    found = total_interval(costs)
    mean, error = sum(costs) / 5, scipy.stats.sem(costs)
    low, high = scipy.stats.t.interval(0.95, 4, mean, error)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((max(0.0, low * 5), high * 5))
    assert total_interval([1.0]) is None


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
