"""The time of a deployment: that of the machine, plus what it was moved ahead by."""

import time
from dataclasses import dataclass


@dataclass
class DeploymentClock:
    """Functions, timestamps, the scheduler and cron jobs go by it. It never goes back.

    What concerns the machine keeps the machine's time: time limits, logs, and when a user's token expires.
    """

    ahead_ns: int = 0

    def now_ns(self) -> int:
        return time.time_ns() + self.ahead_ns

    def now_ms(self) -> float:
        return self.now_ns() / 1e6

    def monotonic(self) -> float:
        """Seconds since some moment; also moved ahead, but not when the machine's clock is set."""
        return time.monotonic() + self.ahead_ns / 1e9

    @property
    def ahead_ms(self) -> float:
        return self.ahead_ns / 1e6

    def move_to(self, now_ns: int) -> None:
        """Nothing if that time is over."""
        self.ahead_ns += max(now_ns - self.now_ns(), 0)
