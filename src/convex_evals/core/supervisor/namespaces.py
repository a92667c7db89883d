"""Namespaces of a program's own: other users, processes, networks and mounts do not exist in them.

The supervisor enters the new namespaces and thus opens them for its child, the program; it stays outside of the PID
namespace itself, so process ids here are the host's.
"""

import errno
import fcntl
import os
import socket
import struct
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from convex_evals.core.supervisor import libc, wire

_NEW_MOUNTS: Final = 0x0002_0000
_NEW_IPC: Final = 0x0800_0000
_NEW_USER: Final = 0x1000_0000
_NEW_PROCESSES: Final = 0x2000_0000
_NEW_NETWORK: Final = 0x4000_0000

_ORDINARY: Final = 1000
_SIOCSIFFLAGS: Final = 0x8914
_UP_AND_RUNNING: Final = 0x41
_BACKLOG: Final = 512
_LOOPBACK: Final = "127.0.0.1"
_SAFE: Final = libc.MS_NOSUID | libc.MS_NODEV
_HIDDEN: Final = ("/run", "/var/run")  # where the sockets of the host's services are
_SETTINGS: Final = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi")
_NEW_ROOT: Final = "/tmp"  # covered by a mount of our own before anything is made in it


def enter(confinement: wire.Confinement) -> list[socket.socket]:
    """Called by the supervisor before it starts the program. Returns the listening sockets of the program's network."""
    wanted = _wanted(confinement)
    if not wanted:
        return []
    try:
        _unshare(wanted, nested=confinement["nested"])
    except OSError:
        if confinement["strict"]:
            raise
        return []
    return open_ports(confinement["ports"])


def settle(confinement: wire.Confinement, *, landlock: bool) -> None:
    """Called in the program's process before it gives up its powers. Raises OSError."""
    if confinement["read"] is None:
        return
    try:
        libc.unshare(_NEW_MOUNTS)
        libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
    except OSError:
        if confinement["strict"] or not landlock:
            raise
        return
    _mount_processes()
    if confinement["nested"]:
        _protect_settings()
    if confinement["sockets"] == "any" and confinement["network"] == "own":
        _hide(_HIDDEN)
    if confinement["scratch"] is not None:
        _mount_scratch(confinement["scratch"], confinement["scratch_bytes"])
    if not landlock:
        _build_root(confinement)


def _wanted(confinement: wire.Confinement) -> int:
    wanted = 0 if confinement["read"] is None else _NEW_PROCESSES | _NEW_IPC
    return wanted | _NEW_NETWORK if confinement["network"] == "own" else wanted


def _unshare(wanted: int, *, nested: bool) -> None:
    """In a user namespace, which makes it possible for ordinary users. Root can do without one, where there is none. It
    is an ordinary user where more are to be made inside, because the kernel would not let it pass root on."""
    user, group = os.getuid(), os.getgid()
    try:
        libc.unshare(_NEW_USER | wanted)
    except OSError:
        if user != 0:
            raise
        libc.unshare(wanted)
        return
    own_user, own_group = (each or _ORDINARY if nested else each for each in (user, group))
    maps = (("setgroups", "deny"), ("uid_map", f"{own_user} {user} 1"), ("gid_map", f"{own_group} {group} 1"))
    for name, text in maps:
        _write(f"/proc/self/{name}", text)


def open_ports(ports: Iterable[int]) -> list[socket.socket]:
    """Listening sockets on the loopback of a new network, which is brought up for them."""
    ports = list(ports)
    if ports:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _UP_AND_RUNNING))
    return [_listen(port) for port in ports]


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind((_LOOPBACK, port))
    listener.listen(_BACKLOG)
    return listener


def _mount_processes() -> None:
    """The program sees its own processes. Containers that hide parts of /proc refuse; Landlock still guards them."""
    with suppress(OSError):
        libc.mount("proc", "/proc", "proc", _SAFE | libc.MS_NOEXEC)


def _protect_settings() -> None:
    """A program that makes namespaces must write to /proc, where root may also change settings of the machine."""
    for path in _SETTINGS:
        if os.path.exists(path):  # noqa: PTH110 - pathlib is slow to import
            libc.mount(path, path, None, libc.MS_BIND | libc.MS_REC)
            libc.make_read_only(path)


def _hide(paths: Iterable[str]) -> None:
    for path in paths:
        if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114 - pathlib is slow to import
            libc.mount("tmpfs", path, "tmpfs", _SAFE | libc.MS_NOEXEC, "size=4k,mode=0755")


def _mount_scratch(path: str, size: int) -> None:
    libc.mount("tmpfs", path, "tmpfs", _SAFE, f"size={size},nr_inodes=20000,mode=0700")


# ---------------------------------------------------------------- where Landlock is missing


def _build_root(confinement: wire.Confinement) -> None:
    """A file system in which only what may be reached exists, read-only but for what may be written."""
    read, write = confinement["read"] or [], [*confinement["write"]]
    if confinement["scratch"] is not None:
        write.append(confinement["scratch"])
    sources = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in (*read, *write) if os.path.exists(path)}  # noqa: PTH110
    links = {path: os.readlink(path) for path in read if os.path.islink(path)}  # noqa: PTH114, PTH115
    libc.mount("tmpfs", _NEW_ROOT, "tmpfs", _SAFE, "size=1m,mode=0755")
    for path, target in links.items():
        _make_folder(os.path.dirname(_NEW_ROOT + path))  # noqa: PTH120
        os.symlink(target, _NEW_ROOT + path)  # noqa: PTH211
    for path in sorted(sources, key=len):
        if path not in links:
            _bind(sources[path], path, read_only=path not in write)
    for descriptor in sources.values():
        os.close(descriptor)
    libc.enter_root(_NEW_ROOT)


def _bind(source: int, path: str, *, read_only: bool) -> None:
    target = _NEW_ROOT + path
    if not os.path.lexists(target):
        _make_place(source, target)
    libc.mount(f"/proc/self/fd/{source}", target, None, libc.MS_BIND | libc.MS_REC)
    if read_only:
        with suppress(OSError):  # a mount below may be locked by whoever made it, and is read-only for us as it was
            libc.make_read_only(target)


def _make_place(source: int, target: str) -> None:
    if _is_folder(source):
        _make_folder(target)
        return
    _make_folder(os.path.dirname(target))  # noqa: PTH120
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))


def _is_folder(descriptor: int) -> bool:
    try:
        os.close(os.open(f"/proc/self/fd/{descriptor}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
    except OSError as error:
        if error.errno != errno.ENOTDIR:
            raise
        return False
    return True


def _make_folder(path: str) -> None:
    os.makedirs(path, exist_ok=True)  # noqa: PTH103 - pathlib is slow to import


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:  # noqa: PTH123 - pathlib is slow to import
        file.write(text)
