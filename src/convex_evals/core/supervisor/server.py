"""The spawn server: a small single-threaded process that forks one supervisor per program.

A supervisor starts its program, waits for it, stops it when asked, and reaps its whole process tree.

Forking here costs a fraction of a millisecond whatever the size of the main process, and is safe because no other
thread can hold a lock. The server ends when the last holder of its socket does.
"""

import os
import select
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NoReturn

from convex_evals.core.supervisor import child, namespaces, process_tree, wire

MOST_DESCRIPTORS: Final = 8  # a channel and up to seven files of the program


def serve(descriptor: int) -> None:
    os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))  # whatever the main process was started with
    os.setsid()  # Ctrl-C in the terminal is for the main process, which then tells the supervisors
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # finished supervisors vanish without a zombie
    requests = socket.socket(fileno=descriptor)
    requests.set_inheritable(False)
    patience = process_tree.FORK_SECONDS
    while True:
        data, descriptors, _, _ = socket.recv_fds(requests, 1, MOST_DESCRIPTORS)
        if not data:
            return
        try:
            pid = process_tree.fork(patience)
            patience = process_tree.FORK_SECONDS
        except OSError as error:
            pid = None
            patience = 0.0  # those who asked meanwhile have waited with us
            _refuse(descriptors[0], error)
        if pid == 0:
            requests.close()
            _supervise_and_exit(descriptors)
        for received in descriptors:
            os.close(received)


def _refuse(channel: int, error: OSError) -> None:
    with socket.socket(fileno=os.dup(channel)) as asking, suppress(BrokenPipeError, ConnectionResetError):
        wire.send(asking, {"failure": child.failure("fork", error)})


def _supervise_and_exit(descriptors: list[int]) -> NoReturn:
    for received in descriptors:
        os.set_inheritable(received, False)
    channel, *streams = descriptors
    code = 1
    try:
        supervise(socket.socket(fileno=channel), streams)
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


# A process stuck in the kernel cannot be killed by anyone; after this long we report without it.
REAP_SECONDS: Final = 10.0


def supervise(channel: socket.socket, streams: Sequence[int]) -> None:
    """Answers one request: first {"pid"} or {"failure"}, with the listening sockets if any were asked for, and at the
    end one `Ending`."""
    request = wire.receive(channel)
    if request is None:
        return
    supervisor = Supervisor(channel, wire.Request(**request))  # type: ignore[typeddict-item]
    try:
        listeners = namespaces.enter(supervisor.request["confinement"])
    except OSError as error:
        wire.send(channel, {"failure": child.failure("confinement", error)})
        return
    started = child.start(supervisor.request, streams)
    for stream in streams:
        os.close(stream)
    if isinstance(started, dict):
        wire.send(channel, {"failure": started})
        return
    with suppress(BrokenPipeError, ConnectionResetError):  # nobody is left to tell, but the process tree must be reaped
        wire.send(channel, {"pid": started, "listeners": len(listeners)})
        wire.send_sockets(channel, listeners)
    ending = supervisor.watch(started)
    with suppress(BrokenPipeError, ConnectionResetError):
        wire.send(channel, ending)


class Supervisor:
    """Of one program. SIGCHLD wakes it through a pipe, so it sleeps until something happens."""

    def __init__(self, channel: socket.socket, request: wire.Request) -> None:
        self.request = request
        self._channel = channel
        self._statuses: dict[int, int] = {}
        self._cpu_user = self._cpu_system = 0.0
        self._peak_memory = 0
        self._childless = False
        self._started = time.monotonic()
        self._wakeup = process_tree.wake_on_child_exit()
        process_tree.adopt_orphans()

    def watch(self, pid: int) -> wire.Ending:
        timed_out = self._wait_for_end(pid)
        wall = time.monotonic() - self._started
        left_behind = self._reap_remaining()
        return {
            "status": self._statuses.get(pid, signal.SIGKILL),
            "timed_out": timed_out,
            "wall": wall,
            "cpu_user": self._cpu_user,
            "cpu_system": self._cpu_system,
            "peak_memory": self._peak_memory,
            "left_behind": left_behind,
            "supervision": time.process_time(),
        }

    def _wait_for_end(self, pid: int) -> bool:
        """Returns when the program has ended, whoever ended it; True when that was its time-out."""
        timeout = self.request["timeout"]
        deadline = None if timeout is None else self._started + timeout
        order = self._sleep_until_end(pid, deadline, accept_orders=True)
        if pid in self._statuses:
            return False
        if order != wire.KILL and self.request["confinement"]["read"] is None:
            self._signal_tree(signal.SIGTERM)
            self._sleep_until_end(pid, time.monotonic() + self.request["grace"], accept_orders=order != wire.GONE)
        if pid not in self._statuses:
            self._signal_tree(signal.SIGKILL)
            self._sleep_until_end(pid, time.monotonic() + REAP_SECONDS, accept_orders=False)
        return order is None

    def _sleep_until_end(self, pid: int, deadline: float | None, *, accept_orders: bool) -> bytes | None:
        """Sleeps until the program ended or the deadline passed (None), or until an order came."""
        poller = select.poll()
        poller.register(self._wakeup, select.POLLIN)
        if accept_orders:
            poller.register(self._channel, select.POLLIN)
        while True:
            self._reap()
            remaining = None if deadline is None else deadline - time.monotonic()
            if pid in self._statuses or (remaining is not None and remaining <= 0):
                return None
            for descriptor, _ in poller.poll(None if remaining is None else remaining * 1000):
                if descriptor == self._wakeup:
                    process_tree.drain(self._wakeup)
                else:
                    return self._order()

    def _order(self) -> bytes:
        try:
            return self._channel.recv(1)
        except ConnectionResetError:
            return wire.GONE

    def _signal_tree(self, number: int) -> None:
        process_tree.signal_groups(process_tree.descendant_groups(os.getpid()), number)

    def _reap_remaining(self) -> int:
        """Kills what the program left behind and waits for it. Returns how many processes there were."""
        known = len(self._statuses)
        deadline = time.monotonic() + REAP_SECONDS
        self._reap()
        while not self._childless and time.monotonic() < deadline:
            self._signal_tree(signal.SIGKILL)
            select.select([self._wakeup], [], [], deadline - time.monotonic())
            process_tree.drain(self._wakeup)
            self._reap()
        return len(self._statuses) - known

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                self._childless = True
                return
            if pid == 0:
                return
            self._statuses[pid] = status
            self._cpu_user += usage.ru_utime
            self._cpu_system += usage.ru_stime
            self._peak_memory = max(self._peak_memory, usage.ru_maxrss * process_tree.MEMORY_UNIT)
