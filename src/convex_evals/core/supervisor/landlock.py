"""Landlock: the kernel's own rules about which files a process may reach. They need no privileges and hold for
everything the program starts."""

import ctypes
import os
import stat
from collections.abc import Iterable
from typing import Final

from convex_evals.core.supervisor import libc

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


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def abi() -> int:
    """The version of its interface: 1 and up for files, 6 and up also for signals; 0 when the kernel has none."""
    if not libc.IS_LINUX:
        return 0
    return max(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_QUESTION)), 0)


def restrict(read: Iterable[str], write: Iterable[str], version: int) -> None:
    """From now on this process reaches only these paths and what is below them. Raises OSError."""
    rights = _FIRST_RIGHTS | sum(right for since, right in _LATER_RIGHTS if version >= since)
    attributes = _Ruleset(rights, 0, _SCOPES if version >= _SCOPES_ABI else 0)
    size = 24 if version >= _SCOPES_ABI else 16 if version >= _TCP_ABI else 8
    ruleset = libc.checked_syscall(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path in read:
            _allow(ruleset, path, rights & _READING)
        for path in write:
            _allow(ruleset, path, rights)
        libc.forbid_new_privileges()  # the kernel asks this of everyone but root
        libc.checked_syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


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
        libc.checked_syscall(
            _ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0)
        )
    finally:
        os.close(place)
