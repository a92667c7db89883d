"""How much time is left: for the running test, and for one call in it."""

import time
from dataclasses import dataclass
from typing import Final

CALL_SECONDS: Final = 20.0
LEAST_SECONDS: Final = 0.05


@dataclass(slots=True)
class Clock:
    """The deadline of the running test. Whatever waits asks here for how long it may."""

    ends: float = float("inf")

    def start(self, seconds: float) -> None:
        self.ends = time.monotonic() + seconds

    @property
    def remaining(self) -> float:
        return self.ends - time.monotonic()

    def allow(self, seconds: float | None) -> float:
        """`seconds`, or what a call may take, unless the test ends earlier."""
        wanted = CALL_SECONDS if seconds is None else seconds
        return max(min(wanted, self.remaining), LEAST_SECONDS)
