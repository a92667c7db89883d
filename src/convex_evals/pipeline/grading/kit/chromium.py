"""The browser of a grader: a real Chromium, driven by Playwright, that shows pages which may do anything.

Its network is a loopback of its own with the ports it may reach, relayed from here. A page may run any code, so what
it sees of the deployment is held back here and not in the page.
"""

import os
import shlex
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.core.browser import FILES, FLAGS, ONLY_THIS_MACHINE
from convex_evals.core.processes import DEVICES, SYSTEM
from convex_evals.core.supervisor import Enclosure
from convex_evals.pipeline.grading.kit.errors import ToolCrashed
from convex_evals.pipeline.grading.kit.patience import PATIENCE
from convex_evals.pipeline.grading.kit.transport import Clock

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Playwright

_LOOPBACK: Final = "127.0.0.1"
_CHUNK: Final = 1 << 16
_UPGRADED: Final = b"HTTP/1.1 101 "
_MOST_CONNECTIONS: Final = 256

TIMEOUT_MS: Final = 10_000
SHORT_TIMEOUT_MS: Final = 2_000  # once the verdict is known
SHORT_TEST_SECONDS: Final = 20.0  # for a test with the browser, once the verdict is known
EARLIER: Final = 0.8  # of the time for a test: waits for the browser must end before the test itself does
DATA_BYTES: Final = 1536 * 1024 * 1024  # of each of its processes
NEEDED: Final = (Path("/dev/shm"), Path("/proc"))
_SOURCE_ROOT: Final = Path(__file__).parents[4]
_SCRIPT: Final = """\
#!/bin/sh
exec {python} -IS -c {code} "$@"
"""
_CODE: Final = (
    "import sys; sys.path.append({root!r}); "
    "from convex_evals.core.supervisor.enclosure import become; become({enclosure!r})"
)


@dataclass
class BrowserNetwork:
    """`ports` are reachable in the browser as they are here; while `hold` is in force, nothing arrives there from those
    in `held`, and while `cut` is, there is no connection to them. `pid` is the browser's, once it has been started."""

    ports: tuple[int, ...]
    held: frozenset[int]
    relay: Path
    pid: int | None = None
    _open: threading.Event = field(default_factory=threading.Event)
    _slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(_MOST_CONNECTIONS))
    _is_cut: bool = False
    _connections: set[socket.socket] = field(default_factory=set)  # of the held ports, in the browser
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    @contextmanager
    def run(cls, ports: tuple[int, ...], held: frozenset[int], folder: Path) -> Iterator["BrowserNetwork"]:
        """Receives the listening sockets of every browser that is started with `relay`."""
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

    def cut(self) -> None:
        """Breaks the connections to the held ports, and lets nobody connect."""
        with self._lock:
            self._is_cut = True
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        with self._lock:
            self._is_cut = False

    def _register(self, near: socket.socket) -> bool:
        """Whether it may connect."""
        with self._lock:
            if not self._is_cut:
                self._connections.add(near)
            return not self._is_cut

    def _forget(self, near: socket.socket) -> None:
        with self._lock:
            self._connections.discard(near)

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
            with near:
                if port in self.held and not self._register(near):
                    return
                with socket.create_connection((_LOOPBACK, port)) as far:
                    upwards = _start(self._copy, near, far, False)
                    self._copy(far, near, port in self.held)
                    upwards.join()
        except OSError:
            return
        finally:
            self._forget(near)
            self._slots.release()

    def _copy(self, source: socket.socket, target: socket.socket, is_held: bool) -> None:
        with suppress(OSError):
            while chunk := source.recv(_CHUNK):
                if is_held and not chunk.startswith(_UPGRADED):
                    self._open.wait()
                elif is_held:  # a WebSocket may open, so that what the page sends arrives; its messages wait
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


@dataclass
class Chromium:
    """One browser at a time, and a new one when a page has crashed it. Each page belongs to a new visitor: no cookies,
    nothing stored."""

    playwright: "Playwright"
    program: Path
    executable: Path
    network: BrowserNetwork
    clock: Clock
    _browser: "Browser | None" = None
    _visitors: "list[BrowserContext]" = field(default_factory=list)
    _crashes: list[str] = field(default_factory=list)
    _timeout_ms: int = TIMEOUT_MS
    _is_hurried: bool = False
    _watchdog: threading.Timer | None = None

    @classmethod
    @contextmanager
    def run(cls, executable: Path, network: BrowserNetwork, folder: Path, clock: Clock) -> Iterator["Chromium"]:
        """Raises ToolCrashed when it does not start. `folder` is all that it may write to."""
        from playwright.sync_api import expect, sync_playwright  # takes half a second, and most graders need no browser

        expect.set_options(timeout=TIMEOUT_MS)
        os.environ["TMPDIR"] = str(folder)  # where Playwright makes the browser's profile
        with sync_playwright() as playwright:
            chromium = cls(playwright, _write_program(executable, network, folder), executable, network, clock)
            try:
                chromium._launch()
                yield chromium
            finally:
                chromium._close()

    @property
    def browser(self) -> "Browser":
        return self._browser if self._browser is not None else self._launch()

    def new_page(self) -> "Page":
        """An empty page. It opens no other windows, downloads nothing and outlives no visit."""
        context = self.browser.new_context(
            locale="en-US", timezone_id="UTC", accept_downloads=False, service_workers="block"
        )
        self._visitors.append(context)
        context.set_default_timeout(self._timeout_ms)
        page = context.new_page()
        page.on("crash", lambda _: self._crashes.append("the page crashed"))
        return page

    def begin_test(self) -> None:
        """Kills the browser when the time for the test is up, which ends all waits for a page that never answers."""
        seconds = EARLIER * PATIENCE.stretched(self.clock.remaining)
        if self._is_hurried:
            seconds = min(seconds, SHORT_TEST_SECONDS)
        else:
            self._wait_at_most(round(PATIENCE.stretched(TIMEOUT_MS)))
        self._crashes.clear()
        self._watchdog = threading.Timer(max(seconds, 0.0), self._kill)
        self._watchdog.daemon = True
        self._watchdog.start()

    def end_test(self) -> None:
        """Also after a test that left the browser dead."""
        if self._watchdog is not None:
            self._watchdog.cancel()
        self.network.release()
        self.network.mend()
        try:
            while self._visitors:
                self._visitors.pop().close()
        except Exception:  # whatever the reason, the next test gets another browser
            self._close()

    def hurry(self) -> None:
        """A test has failed: the others only add to the report, so they wait less."""
        self._is_hurried = True
        self._wait_at_most(SHORT_TIMEOUT_MS)

    def _wait_at_most(self, timeout_ms: int) -> None:
        from playwright.sync_api import expect

        self._timeout_ms = timeout_ms
        expect.set_options(timeout=timeout_ms)

    def trouble(self) -> str | None:
        """How a page of this test crashed the browser, or itself."""
        if self._browser is not None and not self._browser.is_connected():
            self._close()
            self._crashes.append("the browser did not survive the page, or the page never answered")
        return self._crashes[0] if self._crashes else None

    def _launch(self) -> "Browser":
        from playwright.sync_api import Error

        try:
            self._browser = self.playwright.chromium.launch(
                executable_path=self.program,
                args=[*FLAGS, *ONLY_THIS_MACHINE],
                ignore_default_args=["--disable-popup-blocking"],
                chromium_sandbox=True,
            )
        except Error as error:
            raise ToolCrashed(f"Chromium ({self.executable}) does not start: {error.message}") from error
        return self._browser

    def _close(self) -> None:
        """Closes it, and kills what is left."""
        self._visitors.clear()
        browser, self._browser = self._browser, None
        if browser is not None:
            with suppress(Exception):  # it may be dead
                browser.close()
        self._kill()

    def _kill(self) -> None:
        pid, self.network.pid = self.network.pid, None
        if pid is not None:
            with suppress(ProcessLookupError):  # Debian's program is a script that waits for the browser
                os.killpg(pid, signal.SIGKILL)  # Playwright starts it in a process group of its own


def _write_program(executable: Path, network: BrowserNetwork, folder: Path) -> Path:
    """A program that locks itself in and becomes the browser, for Playwright to start."""
    enclosure: Enclosure = {
        "program": str(executable),
        "read": [str(path) for path in (*SYSTEM, *FILES, executable.resolve().parent)],
        "write": [str(path) for path in (*DEVICES, *NEEDED, folder)],
        "folder": str(folder),
        "ports": list(network.ports),
        "relay": str(network.relay),
        "data_bytes": DATA_BYTES,
    }
    code = _CODE.format(root=str(_SOURCE_ROOT), enclosure=enclosure)
    program = network.relay.with_name("browser.sh")
    program.write_text(_SCRIPT.format(python=shlex.quote(sys.executable), code=shlex.quote(code)))
    program.chmod(0o700)
    return program
