"""The main process's end of the spawn server: started on first use, shared by everything in this process."""

import atexit
import os
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from convex_evals.core.errors import ProcessError

_SOURCE_ROOT: Final = Path(__file__).parents[3]
_SERVER_DESCRIPTOR: Final = 3
_BOOT: Final = (
    f"import sys; sys.path.append({str(_SOURCE_ROOT)!r}); "
    f"from convex_evals.core.supervisor.server import serve; serve({_SERVER_DESCRIPTOR})"
)


class Spawner:
    """Hands file descriptors to the spawn server and replaces the server should it die."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: socket.socket | None = None
        self._server: tuple[int, int] | None = None

    def open_supervisor(self, streams: Sequence[int]) -> socket.socket:
        """A non-blocking channel to a new supervisor whose program will have these as files 0, 1, 2 and so on."""
        channel, their_end = socket.socketpair()
        with their_end:
            descriptors = [their_end.fileno(), *streams]
            with self._lock:
                try:
                    self._send(descriptors)
                except (BrokenPipeError, ConnectionResetError):
                    self._stop()
                    self._send(descriptors)
        channel.setblocking(False)
        return channel

    def close(self) -> None:
        with self._lock:
            self._stop()

    def _send(self, descriptors: list[int]) -> None:
        requests = self._requests or self._start()
        socket.send_fds(requests, [b"+"], descriptors)

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            arguments = [sys.executable, "-I", "-S", "-c", _BOOT]
            # Not 3 itself: a descriptor copied onto its own number would keep its close-on-exec flag.
            source = os.dup(theirs.fileno()) if theirs.fileno() == _SERVER_DESCRIPTOR else theirs.fileno()
            actions = [(os.POSIX_SPAWN_DUP2, source, _SERVER_DESCRIPTOR)]
            try:
                pid = os.posix_spawn(sys.executable, arguments, {}, file_actions=actions)
            except OSError as error:
                ours.close()
                raise ProcessError(
                    f"The process that starts programs could not be started with {sys.executable}: {error.strerror}."
                ) from error
            finally:
                if source != theirs.fileno():
                    os.close(source)
        self._requests, self._server = ours, (pid, os.getpid())
        return ours

    def _stop(self) -> None:
        if self._requests is not None:
            self._requests.close()
        # A process forked from the one that started the server shares its socket, but is not its parent.
        if self._server is not None and self._server[1] == os.getpid():
            _reap(self._server[0])
        self._requests = self._server = None


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:  # something else in this process reaped it first
        return


spawner: Final = Spawner()
atexit.register(spawner.close)
