"""Runs a command as on a weaker kernel: `python weak_kernel.py LACKS… -- COMMAND…`.

A seccomp filter makes the system calls behind a mechanism fail as they do where the kernel lacks it.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

LOAD, JUMP_EQUAL, JUMP_BITS, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, ERRNO = 0x7FFF_0000, 0x0005_0000
NUMBER, FIRST_ARGUMENT = 0, 16
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
NEW_PROCESSES, NEW_NETWORK = 0x2000_0000, 0x4000_0000
MOUNT, UNSHARE, SECCOMP = (165, 272, 317) if platform.machine() == "x86_64" else (40, 97, 277)
LANDLOCK = 444


def call(number: int, error: int) -> list[tuple[int, int, int, int]]:
    return [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, ERRNO | error)]


def flag(number: int, bits: int, error: int) -> list[tuple[int, int, int, int]]:
    return [
        (JUMP_EQUAL, 0, 4, number),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (JUMP_BITS, 0, 1, bits),
        (RETURN, 0, 0, ERRNO | error),
        (LOAD, 0, 0, NUMBER),
    ]


LACKS = {
    "landlock": call(LANDLOCK, errno.ENOSYS),
    "namespaces": call(UNSHARE, errno.EPERM),
    "processes": flag(UNSHARE, NEW_PROCESSES, errno.EINVAL),
    "network": flag(UNSHARE, NEW_NETWORK, errno.EINVAL),
    "mounts": call(MOUNT, errno.EPERM),
    "seccomp": call(SECCOMP, errno.ENOSYS),
    "nothing": [],
}


def weaken(lacks: list[str]) -> None:
    code = [(LOAD, 0, 0, NUMBER), *(line for lack in lacks for line in LACKS[lack]), (RETURN, 0, 0, ALLOW)]
    instructions = b"".join(struct.pack("HBBI", *line) for line in code)
    buffer = ctypes.create_string_buffer(instructions)
    program = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, FILTER, ctypes.c_char_p(program), 0, 0)):
        if libc.prctl(*arguments):
            sys.exit(f"this kernel cannot be weakened: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    split = sys.argv.index("--")
    weaken(sys.argv[1:split])
    os.execvp(sys.argv[split + 1], sys.argv[split + 1 :])
