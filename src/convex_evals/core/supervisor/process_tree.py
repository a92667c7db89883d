"""The processes that descend from this one: finding, signalling and adopting them, and noticing when a child exits."""

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from typing import Final, NamedTuple

PR_SET_PDEATHSIG: Final = 1
PR_SET_CHILD_SUBREAPER: Final = 36
FORK_SECONDS: Final = 5.0
_FORK_PAUSE: Final = 0.05
_libc: Final = ctypes.CDLL(None) if sys.platform == "linux" else None


class Relation(NamedTuple):
    pid: int
    parent: int
    group: int


def _prctl(option: int, value: int) -> None:
    if _libc is not None:
        _libc.prctl(option, value, 0, 0, 0)


def fork(seconds: float = FORK_SECONDS) -> int:
    """Retries for `seconds`: a machine that is out of processes or memory may soon have some again. Raises OSError."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return os.fork()
        except OSError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(_FORK_PAUSE)


def adopt_orphans() -> None:
    """From now on a descendant whose parent dies becomes our child, even after a double fork and setsid."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(signal_number: int) -> None:
    _prctl(PR_SET_PDEATHSIG, signal_number)


def signal_groups(groups: set[int], signal_number: int) -> None:
    # Whole groups, not single processes: a group is signalled in one step, so no member can fork its way out.
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal_number)


def descendant_groups(ancestor: int) -> set[int]:
    """Process groups of all descendants. Ours is never among them: every program is started in its own session."""
    return {relation.group for relation in descendants(ancestor)} - {os.getpgrp()}


def descendants(ancestor: int) -> list[Relation]:
    children: dict[int, list[Relation]] = {}
    for relation in _all_processes():
        children.setdefault(relation.parent, []).append(relation)
    found = list(children.get(ancestor, ()))
    for relation in found:  # grows while we walk it: breadth first
        found.extend(children.get(relation.pid, ()))
    return found


def _all_processes() -> list[Relation]:
    """Empty where /proc is missing or belongs to another PID namespace: containers do not let us mount a new one."""
    try:
        if os.readlink("/proc/self") != str(os.getpid()):  # noqa: PTH115 - pathlib is slow to import
            return []
        pids = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - the same
    except FileNotFoundError:
        return []
    return [relation for pid in pids if (relation := _relation(pid)) is not None]


def _relation(pid: str) -> Relation | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib is slow to import
            stat = file.read()
    except OSError:  # it ended meanwhile
        return None
    # The name in parentheses may hold anything, also parentheses; what follows the last one is numbers.
    fields = stat[stat.rindex(b")") + 2 :].split()
    return Relation(int(pid), int(fields[1]), int(fields[2]))


# ru_maxrss is in bytes on macOS and in kilobytes elsewhere.
MEMORY_UNIT: Final = 1 if sys.platform == "darwin" else 1024


def wake_on_child_exit() -> int:
    """A descriptor that becomes readable when a child exits; see `drain`."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reader


def drain(descriptor: int) -> None:
    with suppress(BlockingIOError):
        while os.read(descriptor, 4096):
            pass
