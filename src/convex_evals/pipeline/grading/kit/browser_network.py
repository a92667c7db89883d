"""The network of the browser: a loopback of its own with the ports it may reach, relayed from here.

A page may run any code, so what it sees of the deployment is held back here and not in the page.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_LOOPBACK: Final = "127.0.0.1"
_CHUNK: Final = 1 << 16
_UPGRADED: Final = b"HTTP/1.1 101 "
_MOST_CONNECTIONS: Final = 256


@dataclass
class BrowserNetwork:
    """`ports` are reachable in the browser as they are here; while `hold` is in force, nothing arrives there from those
    in `held`. `pid` is the browser's, once it has been started."""

    ports: tuple[int, ...]
    held: frozenset[int]
    relay: Path
    pid: int | None = None
    _open: threading.Event = field(default_factory=threading.Event)
    _slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(_MOST_CONNECTIONS))

    @classmethod
    @contextmanager
    def run(cls, ports: tuple[int, ...], held: frozenset[int], folder: Path) -> Iterator["BrowserNetwork"]:
        """Takes the listening sockets of every browser that is started with `relay`."""
        network = cls(ports, held, folder / "relay")
        network.release()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as entrance:
            entrance.bind(str(network.relay))
            entrance.listen()
            _start(network._take_in, entrance)
            yield network
            entrance.shutdown(socket.SHUT_RDWR)

    def hold(self) -> None:
        self._open.clear()

    def release(self) -> None:
        self._open.set()

    def _take_in(self, entrance: socket.socket) -> None:
        with suppress(OSError):  # it was closed
            while True:
                browser, _ = entrance.accept()
                with browser:
                    self.pid = int.from_bytes(
                        browser.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], "little"
                    )
                    _, descriptors, _, _ = socket.recv_fds(browser, 1, len(self.ports))
                    for port, descriptor in zip(self.ports, descriptors, strict=True):
                        _start(self._accept, socket.socket(fileno=descriptor), port)
                    browser.sendall(b"+")

    def _accept(self, listener: socket.socket, port: int) -> None:
        with suppress(OSError), listener:
            while True:
                near, _ = listener.accept()
                if not self._slots.acquire(blocking=False):
                    near.close()
                    continue
                _start(self._connect, near, port)

    def _connect(self, near: socket.socket, port: int) -> None:
        try:
            with near, socket.create_connection((_LOOPBACK, port)) as far:
                upwards = _start(self._copy, near, far, False)
                self._copy(far, near, port in self.held)
                upwards.join()
        except OSError:
            return
        finally:
            self._slots.release()

    def _copy(self, source: socket.socket, target: socket.socket, is_held: bool) -> None:
        with suppress(OSError):
            while chunk := source.recv(_CHUNK):
                if is_held and not chunk.startswith(_UPGRADED):
                    self._open.wait()
                elif is_held:  # what the page sends must arrive, so a WebSocket may open; what comes through it may not
                    head, end, chunk = chunk.partition(b"\r\n\r\n")
                    target.sendall(head + end)
                    if chunk:
                        self._open.wait()
                target.sendall(chunk)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


def _start(work: object, *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
    thread.start()
    return thread
