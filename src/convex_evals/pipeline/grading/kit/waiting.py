"""Waiting for something to become true, never for time to pass."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

from convex_evals.pipeline.grading.kit.comparing import show

T = TypeVar("T")
SHORTEST_PAUSE: Final = 0.005
LONGEST_PAUSE: Final = 0.1


def wait_until(condition: Callable[[], T], what: str = "", *, seconds: float = 10.0) -> T:
    """Asks again and again until `condition()` is true, and returns what it then was. `what` names it in the failure.

    An `AssertionError` in the condition means "not yet"; after `seconds` the last one is the failure.
    """
    deadline = time.monotonic() + seconds
    pause = SHORTEST_PAUSE
    while True:
        failure: AssertionError | None = None
        try:
            result = condition()
            if result:
                return result
        except AssertionError as error:
            failure = error
        if time.monotonic() >= deadline:
            last = str(failure) if failure else f"it was {show(result)}"
            raise AssertionError(f"{what or 'the condition'} did not come true within {seconds:g} s: {last}")
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
