import pytest

from convex_evals.models.providers import Patience

PATIENCE = Patience(first_pause=1, longest_pause=60)


@pytest.mark.parametrize(
    ("failed", "retry_after", "shortest", "longest"),
    [
        (1, None, 0.5, 1),
        (2, None, 1, 2),
        (4, None, 4, 8),
        (7, None, 30, 60),
        (50, None, 30, 60),
        (1, 20, 20.25, 20.5),  # never sooner than the provider asks for
        (1, 0, 0.25, 0.5),
    ],
)
def test_pauses_grow_and_never_two_wait_equally_long(
    failed: int, retry_after: float | None, shortest: float, longest: float
) -> None:
    assert PATIENCE.pause(failed, retry_after, chance=0) == shortest
    assert PATIENCE.pause(failed, retry_after, chance=1) == longest
    assert shortest <= PATIENCE.pause(failed, retry_after) <= longest
