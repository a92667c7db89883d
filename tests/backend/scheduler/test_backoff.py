import pytest

from convex_evals.backend.scheduler.backoff import backoff_seconds


@pytest.mark.parametrize(("failures", "most"), [(0, 0.5), (1, 1.0), (4, 8.0), (5, 15.0), (10_000, 15.0)])
def test_the_wait_doubles_up_to_the_longest(failures: int, most: float) -> None:
    assert all(most / 2 <= backoff_seconds(failures, first=0.5, longest=15.0) <= most for _ in range(50))
