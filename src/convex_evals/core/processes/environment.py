"""What a program is given: environment variables, which are always built and never inherited, and resource limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


def base_environment(home: Path, extra: Mapping[str, str] | None = None, *, path: str = SYSTEM_PATH) -> dict[str, str]:
    """The least that ordinary programs expect: PATH, HOME, LANG and TZ, the last two fixed so that output is too."""
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC", **(extra or {})}


Bounds = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one process may use at most; None leaves the machine's own limit.

    Each holds per process, except `processes`, which counts all processes of the user and does not bind root.
    Programs that reserve address space they never touch (Node does) need `data` rather than `address_space`.
    """

    cpu_seconds: int | None = None
    file_size: int | None = None
    address_space: int | None = None
    data: int | None = None
    processes: int | None = None
    open_files: int | None = None

    def bounds(self) -> dict[str, Bounds]:
        """(soft, hard) by resource name. No program leaves a core dump."""
        named = {
            "FSIZE": self.file_size,
            "AS": self.address_space,
            "DATA": self.data,
            "NPROC": self.processes,
            "NOFILE": self.open_files,
        }
        bounds = {name: (value, value) for name, value in named.items() if value is not None}
        if self.cpu_seconds is not None:
            # SIGXCPU at the first bound, SIGKILL a second later for a program that ignores it.
            bounds["CPU"] = (self.cpu_seconds, self.cpu_seconds + 1)
        return {"CORE": (0, 0), **bounds}
