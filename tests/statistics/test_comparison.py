"""Paired comparison: known answers, oracles, and how often it is wrong."""

from itertools import pairwise

import numpy
import pytest
import scipy  # loads its parts when they are needed
from hypothesis import given
from hypothesis import strategies as some
from tests.examples import exhaustively

from convex_evals.statistics import Tally, compare, holm, rank
from convex_evals.statistics.comparison import bootstrap_interval, mcnemar, sign_flip


def one_trial(outcomes: str) -> dict[str, Tally]:
    return {str(index): Tally(int(outcome), 1) for index, outcome in enumerate(outcomes)}


@given(some.lists(some.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=80))
def test_mcnemar_is_the_binomial_test_of_what_flipped(differences: list[float]) -> None:
    up, down = differences.count(1.0), differences.count(-1.0)
    expected = scipy.stats.binomtest(up, up + down).pvalue if up + down else 1.0
    assert mcnemar(differences) == pytest.approx(min(1.0, expected), abs=1e-12)


def test_mcnemar_takes_thousands_of_flips() -> None:
    assert mcnemar([1.0] * 1_600 + [-1.0] * 1_400) == pytest.approx(scipy.stats.binomtest(1_600, 3_000).pvalue)
    assert mcnemar([1.0] * 5_000) == 0.0


@given(some.lists(some.sampled_from([-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=10))
def test_sign_flips_are_what_scipy_says(differences: list[float]) -> None:
    values = numpy.array(differences)
    expected = scipy.stats.permutation_test(
        (values,),
        lambda sample, axis: numpy.mean(sample, axis=axis),
        permutation_type="samples",
        n_resamples=numpy.inf,
        vectorized=True,
    ).pvalue
    assert sign_flip(differences) == pytest.approx(float(expected), abs=1e-9)


def test_many_sign_flips_are_sampled_and_never_certain() -> None:
    assert sign_flip([1.0] * 40) == pytest.approx(1 / 10_001)
    assert sign_flip([0.5, -0.5] * 20) > 0.5


def test_the_bootstrap_interval_is_that_of_scipy() -> None:
    differences = numpy.random.default_rng(3).choice([-1, 0, 0, 0, 1, 1], 66).astype(float)
    expected = scipy.stats.bootstrap((differences,), numpy.mean, method="percentile", n_resamples=10_000, rng=1)
    found = bootstrap_interval(list(differences))
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval), abs=0.02)


def test_the_same_runs_give_the_same_numbers_each_time() -> None:
    a, b = one_trial("0101010101010101"), one_trial("1111010111010111")
    assert compare(a, b) == compare(a, b)


def test_flipped_evals_are_named_in_both_directions() -> None:
    found = compare(one_trial("0011"), one_trial("1010"))
    assert found is not None
    assert (found.gained, found.lost, found.difference) == (("0",), ("3",), 0)
    assert (found.verdict, found.p, found.test) == ("cannot tell", 1.0, "exact McNemar")


def test_a_clear_difference_is_reported() -> None:
    found = compare(one_trial("0" * 12 + "1" * 54), one_trial("1" * 66))
    assert found is not None
    assert found.verdict == "better"
    assert found.needed is None
    back = compare(one_trial("1" * 66), one_trial("0" * 12 + "1" * 54))
    assert back is not None
    assert back.verdict == "worse"


def test_only_evals_that_both_have_are_compared() -> None:
    found = compare({"a": Tally(1, 1), "b": Tally(0, 1)}, {"b": Tally(1, 1), "c": Tally(1, 1)})
    assert found is not None
    assert found.evals == 1
    assert compare({"a": Tally(1, 1)}, {"b": Tally(1, 1)}) is None


def test_an_undecided_case_says_what_would_decide_it() -> None:
    a = {str(index): Tally(index % 2, 2) for index in range(20)}
    b = {str(index): Tally(min(2, index % 2 + (index % 10 == 0)), 2) for index in range(20)}
    found = compare(a, b)
    assert found is not None
    assert found.verdict == "cannot tell"
    assert found.needed is not None
    assert found.needed.evals is not None
    assert found.needed.evals > 20


def test_equal_runs_need_nothing() -> None:
    found = compare(one_trial("0101"), one_trial("0101"))
    assert found is not None
    assert (found.verdict, found.needed) == ("cannot tell", None)


@pytest.mark.slow
@pytest.mark.parametrize("trials", [1, *exhaustively(4)])
def test_models_that_are_equal_are_told_apart_in_at_most_5_of_100_cases(trials: int) -> None:
    random, wrong, tries = numpy.random.default_rng(11), 0, 400
    for _ in range(tries):
        rates = random.beta(4, 2, 66)
        a, b = ({str(i): Tally(int(n), trials) for i, n in enumerate(random.binomial(trials, rates))} for _ in range(2))
        found = compare(a, b)
        assert found is not None
        wrong += found.verdict != "cannot tell"
    assert wrong / tries <= 0.05 + 0.015


def test_an_interval_holds_the_mean_narrows_with_more_evals_and_is_always_the_same() -> None:
    widths = []
    for count in (8, 32, 128):
        before = {f"e{number}": Tally(1, 1) for number in range(count)}
        after = {f"e{number}": Tally(int(number % 4 != 0), 1) for number in range(count)}
        found = compare(before, after)
        assert found is not None and found == compare(before, after)
        low, high = found.interval.low, found.interval.high
        assert found.difference == -0.25
        assert low < found.difference < high <= 0
        # The standard error of a share of a quarter, 1.96 times to both sides.
        assert high - low == pytest.approx(2 * 1.96 * (0.25 * 0.75 / count) ** 0.5, rel=0.25)
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)


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
