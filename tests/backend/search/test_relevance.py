from math import log

import pytest

from convex_evals.backend.search.relevance import FrequencyPart, quantized, term_weight


def test_lengths_are_exact_up_to_40_and_then_rounded_down() -> None:
    assert [quantized(length) for length in range(41)] == list(range(41))
    representable = sorted({quantized(length) for length in range(41, 121)} - {40})
    assert representable == [42, 44, 46, 48, 50, 52, 54, 56, 60, 64, 68, 72, 76, 80, 84, 88, 96, 104, 112, 120]


@pytest.mark.parametrize(("length", "code"), [(41, 40), (43, 42), (59, 56), (95, 88), (100_000, 98_328)])
def test_lengths_between_two_codes_take_the_smaller(length: int, code: int) -> None:
    assert quantized(length) == code


def test_rare_terms_weigh_more() -> None:
    assert term_weight(10, 1) == pytest.approx(log(1 + 9.5 / 1.5) * 2.2, rel=1e-6)
    assert term_weight(10, 1) > term_weight(10, 5) > term_weight(10, 10) > 0


def test_frequency_saturates_and_long_documents_count_less() -> None:
    part = FrequencyPart(tokens=40, documents=10)
    assert part(1, 4) == pytest.approx(1 / 2.2, rel=1e-6)
    assert 1 > part(10, 4) > part(2, 4) > part(1, 4) > part(1, 8)
