"""`python -I -S -c "… dial(pid)"`: joins the network of a process and opens connections in it for its parent.

Standard input is a Unix socket: two bytes in are a port of that network's loopback, one byte out says whether someone
answers there, with the connected socket if so.
"""

import ctypes
import os
import socket
from typing import Final

_STDIN: Final = 0
_SECONDS: Final = 5.0
YES, NO = b"+", b"-"


def dial(pid: int) -> None:
    _join(pid)
    channel = socket.socket(fileno=_STDIN)
    while request := channel.recv(2):
        try:
            with socket.create_connection(("127.0.0.1", int.from_bytes(request, "big")), _SECONDS) as opened:
                socket.send_fds(channel, [YES], [opened.fileno()])
        except OSError:
            channel.sendall(NO)


def _join(pid: int) -> None:
    """The user namespace first: it gives an ordinary user the right to the other."""
    libc = ctypes.CDLL(None, use_errno=True)
    namespaces = [os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in ("user", "net")]
    for namespace in namespaces:
        if libc.setns(namespace, 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
