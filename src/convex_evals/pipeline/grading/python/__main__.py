"""`python -I -m convex_evals.pipeline.grading.python`: the warm process, which has everything imported and forks one
process per grader.

One line in is one order, one line out is one ending; the orders are `run <number> <job>` and `stop <number>`. Standard
input and output are the same socket. The process ends when that is closed.
"""

import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from _pytest.config import default_plugins, essential_plugins

from convex_evals.core.supervisor import MEMORY_UNIT, adopt_orphans, descendants, drain, wake_on_child_exit
from convex_evals.pipeline.grading.python import session
from convex_evals.pipeline.grading.python.process import Job, become_grader

CONNECTION: Final = 0
GRACE_SECONDS: Final = 5.0  # for a grader to end by its own time limits
PRELOADED: Final = ("msgspec", "websockets.sync.client", "http.client", "ssl", "difflib", "pprint")


@dataclass(slots=True)
class Running:
    number: int
    pid: int
    started: float
    ends: float
    timed_out: bool = False


class ForkServer:
    def __init__(self) -> None:
        self._connection = socket.socket(fileno=CONNECTION)
        self._running: dict[int, Running] = {}
        self._unread = b""
        self._wakeup = wake_on_child_exit()
        adopt_orphans()

    def serve(self) -> None:
        is_open = True
        while is_open:
            ready, _, _ = select.select([CONNECTION, self._wakeup], [], [], self._patience())
            if self._wakeup in ready:
                drain(self._wakeup)
            if CONNECTION in ready:
                is_open = self._obey()
            self._stop_overdue()
            self._reap()
        for running in self._running.values():
            _kill(running.pid)

    def _patience(self) -> float | None:
        ends = [running.ends for running in self._running.values() if not running.timed_out]
        return max(min(ends) - time.monotonic(), 0) if ends else None

    def _obey(self) -> bool:
        received = self._connection.recv(1 << 16)
        *lines, self._unread = (self._unread + received).split(b"\n")
        for line in lines:
            order, number, *rest = line.decode().split(" ", 2)
            if order == "run":
                self._start(int(number), Job.loads(rest[0]))
            elif int(number) in (stopped := {each.number: each for each in self._running.values()}):
                _kill(stopped[int(number)].pid)
        return bool(received)

    def _start(self, number: int, job: Job) -> None:
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            become_grader(job)
        with suppress(PermissionError, ProcessLookupError):
            os.setpgid(pid, pid)  # here as well, so that an order to stop finds the group whoever is faster
        self._running[pid] = Running(number, pid, started, started + job.longest_seconds + GRACE_SECONDS)

    def _stop_overdue(self) -> None:
        for running in self._running.values():
            if not running.timed_out and time.monotonic() >= running.ends:
                running.timed_out = True
                _kill(running.pid)

    def _reap(self) -> None:
        while self._running:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            if pid in self._running:
                _kill(pid)  # whatever it left behind in its group
                ended = self._running.pop(pid)
                self._reap_orphans()
                self._tell(ended, status, usage)

    def _reap_orphans(self) -> None:
        """A browser is in a group of its own. Without its parent it becomes our child, which only graders should be."""
        me = os.getpid()
        while orphans := [each for each in descendants(me) if each.parent == me and each.pid not in self._running]:
            for orphan in orphans:
                _kill(orphan.group)
                os.waitpid(orphan.pid, 0)

    def _tell(self, ended: Running, status: int, usage: resource.struct_rusage) -> None:
        ending = {
            "number": ended.number,
            "exit_code": None if os.WIFSIGNALED(status) else os.WEXITSTATUS(status),
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "timed_out": ended.timed_out,
            "wall": time.monotonic() - ended.started,
            "cpu_user": usage.ru_utime,
            "cpu_system": usage.ru_stime,
            "peak_memory": usage.ru_maxrss * MEMORY_UNIT,
        }
        self._connection.sendall(json.dumps(ending).encode() + b"\n")


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def main() -> None:
    # pytest's own modules are loaded by their names, which only its version bound in pyproject.toml makes safe.
    unused = set(session.UNUSED)
    for name in (*essential_plugins, *default_plugins):
        if name not in unused:
            importlib.import_module(f"_pytest.{name}")
    for name in PRELOADED:
        importlib.import_module(name)
    gc.freeze()  # so that collections in forked processes do not touch, and thereby copy, what they share
    ForkServer().serve()


if __name__ == "__main__":
    main()
