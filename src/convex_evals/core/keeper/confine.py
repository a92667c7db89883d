"""Locking a process in before its program starts: which files it may reach, and whether it has a network.

Files are ruled by Landlock, which needs no privileges and holds for everything the program starts; the network is taken
away by a namespace of its own, which has not even loopback.
"""

import ctypes
import os
import stat
import sys
from collections.abc import Iterable
from typing import Final

from convex_evals.core.keeper import wire

# The same numbers on every architecture that Linux has added them to.
_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_VERSION_QUESTION: Final = 1
_PATH_BENEATH: Final = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_READING: Final = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES: Final = _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
_FIRST_RIGHTS: Final = (1 << 13) - 1
_LATER_RIGHTS: Final = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
_SCOPES: Final = 0b11  # abstract sockets and signals reach nobody outside
_TCP_ABI, _SCOPES_ABI = 4, 6

_NEW_USER_NAMESPACE: Final = 0x1000_0000
_NEW_NETWORK_NAMESPACE: Final = 0x4000_0000
_PR_CAPBSET_DROP: Final = 24
_PR_SET_NO_NEW_PRIVS: Final = 38
_CAPABILITIES: Final = 64  # more than there are; what does not exist cannot be dropped

_libc: Final = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def landlock_abi() -> int:
    """The version of its interface: 1 and up for files, 4 and up also for TCP; 0 when the kernel has none."""
    if _libc is None:
        return 0
    return max(_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_QUESTION)), 0)


def apply(confinement: wire.Confinement) -> None:
    """Holds for this process from now on, and for everything it starts. Raises OSError."""
    if not confinement["network"]:
        _leave_network()
    abi = landlock_abi()
    if confinement["read"] is not None and abi:
        _rule_files(confinement["read"], confinement["write"], abi)
        _renounce_capabilities()


def _leave_network() -> None:
    """In a user namespace, which makes it possible for ordinary users; root gives up its powers there."""
    user, group = os.getuid(), os.getgid()
    _checked(_require_libc().unshare(_NEW_USER_NAMESPACE | _NEW_NETWORK_NAMESPACE))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 - pathlib is slow to import
            file.write(text)


def _rule_files(read: Iterable[str], write: Iterable[str], abi: int) -> None:
    rights = _FIRST_RIGHTS | sum(right for since, right in _LATER_RIGHTS if abi >= since)
    attributes = _Ruleset(rights, 0, _SCOPES if abi >= _SCOPES_ABI else 0)
    size = 24 if abi >= _SCOPES_ABI else 16 if abi >= _TCP_ABI else 8
    ruleset = _checked(_call(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0)))
    try:
        for path in read:
            _allow(ruleset, path, rights & _READING)
        for path in write:
            _allow(ruleset, path, rights)
        _checked(_require_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(_call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)))
    finally:
        os.close(ruleset)


def _renounce_capabilities() -> None:
    """Root's powers end with the next exec: one of them is reading the environment of other processes. Whoever may not
    drop them has none."""
    for number in range(_CAPABILITIES):
        _require_libc().prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """What does not exist needs no rule."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _OF_FILES
        rule = _Beneath(rights, place)
        _checked(
            _call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))
        )
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    return int(_require_libc().syscall(ctypes.c_long(number), *arguments))


def _checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer


def _require_libc() -> ctypes.CDLL:
    if _libc is None:
        raise OSError("only Linux can confine a program this way")
    return _libc
