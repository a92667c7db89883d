"""How long graders wait for what should happen.

On a busy machine everything takes longer, and right answers must still pass. So a second in which tasks of this machine
wait for a processor counts a quarter. Once a test has failed, the verdict is known and every second counts.
"""

import os
import threading
import time
from pathlib import Path
from typing import Final

from convex_evals.pipeline.types import STRETCH

PRESSURE: Final = Path("/proc/pressure/cpu")
BUSY_PERCENT: Final = 20.0  # of the last ten seconds


class Patience:
    """A clock for deadlines: seconds since some moment."""

    def __init__(self, pressure: Path = PRESSURE) -> None:
        self._pressure = pressure
        self._lock = threading.Lock()
        self._is_over = False
        self._forgiven = 0.0
        self._seen, self._stalled = time.monotonic(), self._read().stalled

    def now(self) -> float:
        with self._lock:
            seen, stalled = time.monotonic(), self._read().stalled
            if not self._is_over:
                waited = min(max(stalled - self._stalled, 0.0), seen - self._seen)
                self._forgiven += waited * (1 - 1 / STRETCH)
            self._seen, self._stalled = seen, stalled
            return seen - self._forgiven

    def stretched(self, seconds: float) -> float:
        """For waits whose end must be known when they begin."""
        return seconds * (STRETCH if not self._is_over and self._read().percent >= BUSY_PERCENT else 1.0)

    def end(self) -> None:
        """A test has failed."""
        self.now()
        self._is_over = True

    def _read(self) -> "_Pressure":
        try:
            some = self._pressure.read_text().splitlines()[0].split()
        except (OSError, IndexError):  # a kernel that does not measure it
            return self._from_load()
        values = dict(part.split("=") for part in some[1:])
        return _Pressure(float(values["avg10"]), float(values["total"]) / 1e6)

    def _from_load(self) -> "_Pressure":
        is_busy = os.getloadavg()[0] > (os.cpu_count() or 1)
        since = time.monotonic() - self._seen if hasattr(self, "_seen") and is_busy else 0.0
        return _Pressure(100.0 if is_busy else 0.0, getattr(self, "_stalled", 0.0) + since)


class _Pressure:
    """The share of time in which a task has waited for a processor lately, and the seconds of it since the start."""

    def __init__(self, percent: float, stalled: float) -> None:
        self.percent = percent
        self.stalled = stalled


PATIENCE: Final = Patience()
"""Of this process, which runs one grader."""
