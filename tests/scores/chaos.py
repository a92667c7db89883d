"""A scores service that can be killed, and a proxy in front of it that treats each request as a script says."""

import re
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

PROGRAM = Path(sys.executable).parent / "convex-evals"
Fate = Literal["down", "busy", "pass", "half", "kill", "kill late", "lose answer", "hang"]
BUSY = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class ServeProcess:
    """`convex-evals serve`, which has another port whenever it is started."""

    def __init__(self, scores: str, folder: Path, *options: str) -> None:
        self._scores, self._folder, self._options = scores, folder, options
        self._process: subprocess.Popen[str] | None = None
        self.port, self.kills = 0, 0

    def start(self) -> None:
        if self._process is not None:
            return
        command = [PROGRAM, "serve", "--port", "0", "--name", "development", "--scores", self._scores, *self._options]
        self._process = subprocess.Popen(command, cwd=self._folder, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        found = re.search(r"http://localhost:(\d+)", self._process.stdout.readline())
        assert found is not None
        self.port = int(found[1])

    def kill(self) -> None:
        """SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process, self.kills = None, self.kills + 1


class Proxy:
    """Every request has the next fate of the script; when none is left, all pass."""

    def __init__(self, service: ServeProcess, script: Iterable[Fate]) -> None:
        self._service, self._script = service, deque(script)
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.fates: list[Fate] = []
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def script_is_over(self) -> bool:
        return not self._script

    def close(self) -> None:
        self._listener.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self._listener.accept()[0],), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError, ValueError):
            while self._one_request(client):
                pass

    def _one_request(self, client: socket.socket) -> bool:
        """Whether the connection can be used again."""
        request = read_message(client)
        with self._lock:
            fate = self._script.popleft() if self._script else "pass"
            self.fates.append(fate)
            answer = self._answer(request, fate)
        if fate == "hang":
            client.recv(1)  # until it goes away
        client.sendall(answer)
        return bool(answer) and fate != "busy"

    def _answer(self, request: bytes, fate: Fate) -> bytes:
        if fate in ("down", "hang"):
            return b""
        if fate == "busy":
            return BUSY
        self._service.start()
        with socket.create_connection(("127.0.0.1", self._service.port), timeout=60) as server:
            server.sendall(request[: len(request) // 2] if fate in ("half", "kill") else request)
            if fate in ("half", "kill", "kill late"):
                if fate != "half":
                    self._service.kill()
                return b""
            answer = read_message(server)
        return b"" if fate == "lose answer" else answer


def read_message(stream: socket.socket) -> bytes:
    """One request or answer, with its body. Raises ValueError when there is none."""
    message = b""
    while b"\r\n\r\n" not in message:
        message += _some(stream)
    head, _, body = message.partition(b"\r\n\r\n")
    length = re.search(rb"(?im)^content-length: (\d+)\r?$", head)
    while len(body) < (int(length[1]) if length else 0):
        body += _some(stream)
    return head + b"\r\n\r\n" + body


def _some(stream: socket.socket) -> bytes:
    received = stream.recv(1 << 16)
    if not received:
        raise ValueError("the connection ended")
    return received
