"""Seccomp: which system calls a confined program may make at all.

The filter is a small program for the kernel's own machine (classic BPF), built here. It forbids what no tool of ours
needs and sandboxes have been left through: namespaces, mounts, tracing, io_uring (which makes system calls past
filters), kernel keys and modules. Sockets are ruled by kind, forking where the program is not to have children.
"""

import ctypes
import errno
import os
import struct
from typing import Final, NamedTuple

from convex_evals.core.supervisor import libc, wire

_ALLOW: Final = 0x7FFF_0000
_ERRNO: Final = 0x0005_0000
_KILL: Final = 0x8000_0000
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # places in what the kernel shows the filter
_SET_FILTER, _ALLOW_SPECULATION = 1, 4
_FIRST_FOREIGN_NUMBER: Final = 0x4000_0000  # x32 calls on x86-64

_AF_INET, _AF_INET6, _AF_NETLINK = 2, 10, 16
_STREAM, _KIND_OF_SOCKET = 1, 0xF
_TCP_PROTOCOLS: Final = (0, 6)
_CLONE_THREAD: Final = 0x0001_0000
_CLONE_NAMESPACES: Final = 0x7E02_0080

_NEVER: Final = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "process_madvise"),
    *("mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount"),
    *("fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at", "swapon", "swapoff", "quotactl"),
    *("quotactl_fd", "acct", "reboot", "sethostname", "setdomainname", "settimeofday", "clock_settime"),
    *("clock_adjtime", "adjtimex", "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load"),
    *("bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "syslog", "iopl", "ioperm"),
    *("fanotify_init", "lookup_dcookie", "vhangup", "personality"),
)
_NOT_THERE: Final = ("io_uring_setup", "io_uring_enter", "io_uring_register")
_NAMESPACES: Final = ("unshare", "setns", "chroot")


class _Machine(NamedTuple):
    audit: int
    seccomp: int
    numbers: dict[str, int]


# Calls from 424 on have the same number everywhere.
_COMMON: Final = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "mount_setattr": 442,
    "quotactl_fd": 443,
}
_X86_64: Final = {
    "socket": 41, "accept": 43, "listen": 50, "clone": 56, "fork": 57, "vfork": 58, "ptrace": 101, "syslog": 103,
    "personality": 135, "vhangup": 153, "pivot_root": 155, "adjtimex": 159, "chroot": 161, "acct": 163,
    "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169,
    "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176,
    "quotactl": 179, "lookup_dcookie": 212, "clock_settime": 227, "kexec_load": 246, "add_key": 248,
    "request_key": 249, "keyctl": 250, "unshare": 272, "accept4": 288, "perf_event_open": 298, "fanotify_init": 300,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310,
    "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "kexec_file_load": 320, "bpf": 321,
    "userfaultfd": 323,
}  # fmt: skip
_AARCH64: Final = {
    "lookup_dcookie": 18, "umount2": 39, "mount": 40, "pivot_root": 41, "chroot": 51, "vhangup": 58, "quotactl": 60,
    "acct": 89, "personality": 92, "unshare": 97, "kexec_load": 104, "init_module": 105, "delete_module": 106,
    "clock_settime": 112, "syslog": 116, "ptrace": 117, "reboot": 142, "sethostname": 161, "setdomainname": 162,
    "settimeofday": 170, "adjtimex": 171, "socket": 198, "listen": 201, "accept": 202, "add_key": 217,
    "request_key": 218, "keyctl": 219, "clone": 220, "swapon": 224, "swapoff": 225, "perf_event_open": 241,
    "accept4": 242, "fanotify_init": 262, "name_to_handle_at": 264, "open_by_handle_at": 265, "clock_adjtime": 266,
    "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "bpf": 280,
    "userfaultfd": 282, "kexec_file_load": 294,
}  # fmt: skip
_MACHINES: Final = {
    "x86_64": _Machine(0xC000_003E, 317, {**_X86_64, **_COMMON}),
    "aarch64": _Machine(0xC000_00B7, 277, {**_AARCH64, **_COMMON}),
}
_machine: Final = _MACHINES.get(os.uname().machine)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def restrict(confinement: wire.Confinement) -> None:
    """From now on, and for everything the program starts. Privileges must have been given up. Raises OSError."""
    if _machine is None:
        raise OSError(errno.ENOSYS, f"the system calls of {os.uname().machine} are not known")
    instructions = b"".join(_filter(confinement, _machine))
    program = _Program(len(instructions) // 8, instructions)
    libc.checked_syscall(
        _machine.seccomp, ctypes.c_uint(_SET_FILTER), ctypes.c_uint(_ALLOW_SPECULATION), ctypes.byref(program)
    )


def _filter(confinement: wire.Confinement, machine: _Machine) -> list[bytes]:
    rules = [
        *([_forbid(machine, name, errno.EPERM) for name in _NEVER]),
        *([_forbid(machine, name, errno.ENOSYS) for name in _NOT_THERE]),
        *([] if confinement["nested"] else _no_namespaces(machine)),
        *([] if confinement["children"] else _no_children(machine)),
        *_sockets(machine, confinement["sockets"]),
    ]
    return [
        _do(_LOAD, _ARCHITECTURE),
        _jump(_JUMP_EQUAL, machine.audit, 1, 0),
        _do(_RETURN, _KILL),
        _do(_LOAD, _NUMBER),
        _jump(_JUMP_AT_LEAST, _FIRST_FOREIGN_NUMBER, 0, 1),
        _do(_RETURN, _ERRNO | errno.ENOSYS),
        *(instruction for rule in rules for instruction in rule),
        _do(_RETURN, _ALLOW),
    ]


def _no_namespaces(machine: _Machine) -> list[list[bytes]]:
    """The new form of `clone` has its flags in memory, out of the filter's sight: programs fall back to the old one."""
    return [
        *(_forbid(machine, name, errno.EPERM) for name in _NAMESPACES),
        _forbid(machine, "clone3", errno.ENOSYS),
        _when(machine, "clone", [_jump(_JUMP_BITS, _CLONE_NAMESPACES, 0, 1), _do(_RETURN, _ERRNO | errno.EPERM)]),
    ]


def _no_children(machine: _Machine) -> list[list[bytes]]:
    """Threads only."""
    return [
        *(_forbid(machine, name, errno.EPERM) for name in ("fork", "vfork") if name in machine.numbers),
        _forbid(machine, "clone3", errno.ENOSYS),
        _when(machine, "clone", [_jump(_JUMP_BITS, _CLONE_THREAD, 1, 0), _do(_RETURN, _ERRNO | errno.EPERM)]),
    ]


def _sockets(machine: _Machine, kinds: str) -> list[list[bytes]]:
    refusal = _do(_RETURN, _ERRNO | errno.EACCES)
    if kinds == "none":
        return [_when(machine, "socket", [refusal])]
    if kinds == "tcp":
        is_tcp = [
            *_one_of((_AF_INET, _AF_INET6), refusal),
            _do(_LOAD, _FIRST_ARGUMENT + 8),
            _do(_AND, _KIND_OF_SOCKET),
            *_one_of((_STREAM,), refusal),
            _do(_LOAD, _FIRST_ARGUMENT + 16),
            *_one_of(_TCP_PROTOCOLS, refusal),
        ]
        passive = [_forbid(machine, name, errno.EACCES) for name in ("listen", "accept", "accept4")]
        return [_when(machine, "socket", is_tcp), *passive]
    if kinds == "ip":
        return [_when(machine, "socket", _one_of((_AF_INET, _AF_INET6, _AF_NETLINK), refusal))]
    return []


def _one_of(values: tuple[int, ...], refusal: bytes) -> list[bytes]:
    """Skips the refusal if the loaded value is one of them."""
    rest = range(len(values), 0, -1)
    return [*(_jump(_JUMP_EQUAL, value, left, 0) for value, left in zip(values, rest, strict=True)), refusal]


def _forbid(machine: _Machine, name: str, error: int) -> list[bytes]:
    if name not in machine.numbers:
        return []
    return [_jump(_JUMP_EQUAL, machine.numbers[name], 0, 1), _do(_RETURN, _ERRNO | error)]


def _when(machine: _Machine, name: str, steps: list[bytes]) -> list[bytes]:
    """`steps` see the first argument of the call; after them, its number is loaded again."""
    inside = [_do(_LOAD, _FIRST_ARGUMENT), *steps, _do(_LOAD, _NUMBER)]
    return [_jump(_JUMP_EQUAL, machine.numbers[name], 0, len(inside)), *inside]


def _do(code: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, 0, 0, value)


def _jump(code: int, value: int, when_true: int, when_false: int) -> bytes:
    return struct.pack("=HBBI", code, when_true, when_false, value)
