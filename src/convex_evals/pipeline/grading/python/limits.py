"""Time limits of tests, kept inside the grader's process."""

import signal
import time
from collections.abc import Generator
from types import FrameType

import pytest

from convex_evals.pipeline.grading.kit import CallTimedOut, Clock, TimeIsUp

# Calls end first, so that a test that waits for a slow function fails, with the name of the function.
CALLS_END_EARLIER = 1.0


class TimeLimits:
    """A pytest plugin. A test that is still busy with itself when its time is up hangs."""

    def __init__(self, clock: Clock, test_seconds: float, grader_seconds: float) -> None:
        self._clock = clock
        self._test_seconds = test_seconds
        self._grader_seconds = grader_seconds
        self._ends = time.monotonic() + grader_seconds
        signal.signal(signal.SIGALRM, _time_is_up)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        seconds = min(self._test_seconds, self._ends - time.monotonic())
        self._clock.start(seconds)
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0) + CALLS_END_EARLIER)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if self._clock.remaining <= 0:
            raise CallTimedOut("project", "the tests before this one", self._grader_seconds)


def _time_is_up(number: int, frame: FrameType | None) -> None:
    raise TimeIsUp("the test did not end in time, and it was not waiting for a function")
