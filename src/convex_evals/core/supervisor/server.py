"""The spawn server: a small single-threaded process that forks one supervisor per program.

Forking here costs a fraction of a millisecond whatever the size of the main process, and is safe because no other
thread can hold a lock. The server ends when the last holder of its socket does.
"""

import os
import signal
import socket
import sys
from contextlib import suppress
from typing import Final, NoReturn

from convex_evals.core.supervisor import child, process_tree, supervisor, wire

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
        supervisor.supervise(socket.socket(fileno=channel), streams)
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)
