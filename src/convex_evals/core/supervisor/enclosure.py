"""Confines this process, then turns it into a program: for programs that something else has to start.

Playwright starts the browser itself, so what it starts is this, which locks itself in and then becomes the browser.
"""

import array
import os
import resource
import socket
import sys
from typing import Final, NoReturn, TypedDict

from convex_evals.core.supervisor import landlock, libc, namespaces

_NEW_USER_AND_NETWORK: Final = 0x1000_0000 | 0x4000_0000
_HERE: Final = "/proc/self/cwd"  # browsers make sockets there, whose paths must be short


class Enclosure(TypedDict):
    """`folder` is where it runs and keeps temporary files. `ports` of its loopback are handed, as listening sockets,
    to whoever listens at the Unix socket `relay`."""

    program: str
    read: list[str]
    write: list[str]
    folder: str
    ports: list[int]
    relay: str
    data_bytes: int


def become(enclosure: Enclosure) -> NoReturn:
    if not (version := landlock.abi()):  # the namespaces around a page leave all files within its reach
        raise OSError("A browser is started only where Landlock confines it.")
    relay = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    relay.connect(enclosure["relay"])
    _enter_namespaces()
    listeners = namespaces.open_ports(enclosure["ports"])
    descriptors = array.array("i", [listener.fileno() for listener in listeners])
    relay.sendmsg([b"+"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
    relay.recv(1)  # until the receiver has them
    resource.setrlimit(resource.RLIMIT_DATA, (enclosure["data_bytes"], enclosure["data_bytes"]))
    libc.forbid_new_privileges()
    landlock.restrict(enclosure["read"], enclosure["write"], version)
    os.chdir(enclosure["folder"])
    environment = {**os.environ, "TMPDIR": _HERE}
    os.execve(enclosure["program"], [enclosure["program"], *sys.argv[1:]], environment)


def _enter_namespaces() -> None:
    user, group = os.getuid(), os.getgid()
    libc.unshare(_NEW_USER_AND_NETWORK)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 - pathlib is slow to import
            file.write(text)
