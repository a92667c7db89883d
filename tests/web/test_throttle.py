from convex_evals.web.throttle import MOST_KEYS, Rate, Throttle


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_allowed_and_then_a_fixed_rate() -> None:
    clock = Clock()
    throttle = Throttle(Rate(3, 0.5), clock)
    for _ in range(3):
        assert throttle.wait("a") == 0
        throttle.take("a")
    assert throttle.wait("a") == 2 and throttle.wait("b") == 0
    clock.now += 1.9
    assert throttle.wait("a") == 1
    clock.now += 0.2
    assert throttle.wait("a") == 0


def test_a_bucket_is_never_more_than_full() -> None:
    clock = Clock()
    throttle = Throttle(Rate(2, 1), clock)
    throttle.take("a")
    clock.now += 1000
    throttle.take("a")
    throttle.take("a")
    assert throttle.wait("a") == 1


def test_only_the_most_recent_clients_are_remembered() -> None:
    throttle = Throttle(Rate(1, 0.001), Clock())
    for key in range(MOST_KEYS + 1):
        throttle.take(key)
    assert throttle.wait(0) == 0 and throttle.wait(1) > 0
