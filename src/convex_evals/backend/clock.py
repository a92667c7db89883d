"""The clock of a deployment: the machine's time plus an offset, or stopped."""

import time
from dataclasses import dataclass

TICK_NS = 1_000_000


def milliseconds(nanoseconds: int) -> float:
    """Rounded down to the microsecond. Nanoseconds since 1970 do not fit into a float exactly, so that whole
    milliseconds would come out slightly too small."""
    return nanoseconds // 1000 / 1000


@dataclass
class DeploymentClock:
    """Functions, timestamps, the scheduler and cron jobs use it. It never goes back.

    What concerns the machine keeps the machine's time: time limits, logs, and when a user's token expires.
    """

    ahead_ns: int = 0
    stopped_at_ns: int | None = None

    def now_ns(self) -> int:
        return time.time_ns() + self.ahead_ns if self.stopped_at_ns is None else self.stopped_at_ns

    def now_ms(self) -> float:
        return milliseconds(self.now_ns())

    def monotonic(self) -> float:
        """Seconds since some moment; also moved ahead, but not when the machine's clock is set."""
        return time.monotonic() + self.ahead_ms / 1e3

    @property
    def ahead_ms(self) -> float:
        return (self.now_ns() - time.time_ns()) / 1e6

    def move_to(self, now_ns: int) -> None:
        """Does nothing if that time has passed."""
        if self.stopped_at_ns is not None:
            self.stopped_at_ns = max(self.stopped_at_ns, now_ns)
        else:
            self.ahead_ns += max(now_ns - self.now_ns(), 0)

    def stop(self) -> None:
        """From now on, time passes only when it is moved, apart from a millisecond per write."""
        self.stopped_at_ns = self.now_ns()

    def tick(self) -> None:
        """After each write. A stopped clock shows another millisecond then: no two writes are at the same time."""
        if self.stopped_at_ns is not None:
            self.stopped_at_ns += TICK_NS

    def start(self) -> None:
        """From where it stopped, or from the machine's time if that is later."""
        if self.stopped_at_ns is not None:
            self.ahead_ns, self.stopped_at_ns = max(self.stopped_at_ns - time.time_ns(), 0), None
