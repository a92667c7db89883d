"""System calls that Python has no function for. Each raises OSError like Python's own."""

import ctypes
import os
import sys
from typing import Final

IS_LINUX: Final = sys.platform == "linux"
_libc: Final = ctypes.CDLL(None, use_errno=True) if IS_LINUX else None

PR_CAPBSET_DROP: Final = 24
PR_SET_NO_NEW_PRIVS: Final = 38

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
_MNT_DETACH: Final = 2

_MOUNT_SETATTR: Final = 442  # the same number on every architecture
_PIVOT_ROOT: Final = {"x86_64": 155, "aarch64": 41}
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_ATTR_RDONLY: Final = 1


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("user_namespace", ctypes.c_uint64),
    )


def syscall(number: int, *arguments: object) -> int:
    return int(_require().syscall(ctypes.c_long(number), *arguments))


def checked_syscall(number: int, *arguments: object) -> int:
    return _checked(syscall(number, *arguments))


def prctl(option: int, value: int) -> int:
    """The return value of the call; raises nothing."""
    return int(_require().prctl(option, value, 0, 0, 0))


def forbid_new_privileges() -> None:
    _checked(prctl(PR_SET_NO_NEW_PRIVS, 1))


def unshare(flags: int) -> None:
    _checked(_require().unshare(flags))


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    names = (source.encode(), target.encode(), kind.encode() if kind else None)
    _checked(_require().mount(*names, ctypes.c_ulong(flags), options.encode() or None))


def make_read_only(path: str) -> None:
    """A mount with all mounts below it."""
    attributes = _MountAttributes(_MOUNT_ATTR_RDONLY, 0, 0, 0)
    checked_syscall(
        _MOUNT_SETATTR,
        ctypes.c_int(_AT_FDCWD),
        path.encode(),
        ctypes.c_uint(_AT_RECURSIVE),
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )


def enter_root(path: str) -> None:
    """`path`, a mount, becomes the root of this process's mount namespace; the old one is out of sight."""
    os.chdir(path)
    checked_syscall(_PIVOT_ROOT[os.uname().machine], b".", b".")
    _checked(_require().umount2(b".", _MNT_DETACH))
    os.chdir("/")


def _require() -> ctypes.CDLL:
    if _libc is None:
        raise OSError("only Linux can confine a program this way")
    return _libc


def _checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
