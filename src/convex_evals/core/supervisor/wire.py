"""Messages between the main process and a supervisor: four bytes of length, then marshalled plain values.

Both ends run the same interpreter, which is all that marshal asks for; unlike JSON it needs no import and keeps
file names that are not UTF-8.
"""

import marshal
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypedDict

Message = dict[str, Any]
HEADER: Final = struct.Struct("!I")
TERMINATE: Final = b"t"
KILL: Final = b"k"
SOCKETS: Final = b"s"
GONE: Final = b""  # what reading gives when the main process is no more: nobody waits for the program


class Confinement(TypedDict):
    """See `core.processes.Confinement`. `landlock` False leaves Landlock out, as on a kernel that has none."""

    read: list[str] | None
    write: list[str]
    network: str
    ports: list[int]
    sockets: str
    children: bool
    nested: bool
    scratch: str | None
    scratch_bytes: int
    strict: bool
    landlock: bool


class Request(TypedDict):
    """What the main process asks for. Limits are resource names without `RLIMIT_`, each with (soft, hard)."""

    program: str
    arguments: list[str]
    cwd: str
    environment: dict[str, str]
    limits: dict[str, tuple[int, int]]
    timeout: float | None
    grace: float
    confinement: Confinement


class Failure(TypedDict):
    """Why it never ran: the stage that failed ("fork", "cwd", "limits", "confinement" or "exec") and its errno."""

    stage: str
    errno: int
    detail: str


class Ending(TypedDict):
    """How the program ended. `status` is what wait() gave; times are seconds, memory is bytes. `supervision` is the
    processor time that watching it took."""

    status: int
    timed_out: bool
    wall: float
    cpu_user: float
    cpu_system: float
    peak_memory: int
    left_behind: int
    supervision: float


def encode(message: Mapping[str, Any]) -> bytes:
    body = marshal.dumps(dict(message))
    return HEADER.pack(len(body)) + body


def decode(body: bytes) -> Message:
    message = marshal.loads(body)
    assert isinstance(message, dict)
    return message


def send(channel: socket.socket, message: Mapping[str, Any]) -> None:
    channel.sendall(encode(message))


def send_sockets(channel: socket.socket, sockets: Sequence[socket.socket]) -> None:
    """Gives them away, in one message of a single byte."""
    if sockets:
        socket.send_fds(channel, [SOCKETS], [each.fileno() for each in sockets])
    for each in sockets:
        each.close()


def receive(channel: socket.socket) -> Message | None:
    """The next message, or None when the other end went away."""
    header = _exactly(channel, HEADER.size)
    body = header and _exactly(channel, HEADER.unpack(header)[0])
    return decode(body) if body else None


def _exactly(channel: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = channel.recv(min(size - len(parts), 1 << 20))
        if not part:
            return b""
        parts += part
    return bytes(parts)


def exit_status(status: int) -> tuple[int | None, int | None]:
    """(exit code, signal) of a wait status; exactly one of them is set."""
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), None
