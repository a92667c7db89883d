"""The time of a deployment."""

from convex_evals.backend.clock import DeploymentClock, milliseconds


def test_whole_milliseconds_stay_whole() -> None:
    first = 1_795_000_000_000
    assert [milliseconds(ms * 1_000_000) for ms in range(first, first + 3000)] == [*range(first, first + 3000)]


def test_a_stopped_clock_shows_the_moment_it_was_moved_to() -> None:
    clock = DeploymentClock()
    clock.stop()
    for ms in range(1_990_000_000_000, 1_990_000_000_100):
        clock.move_to(ms * 1_000_000)
        assert clock.now_ms() == ms
