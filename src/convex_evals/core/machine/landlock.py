"""Asking the kernel for Landlock, its per-process file and network rules."""

import ctypes
import sys
from typing import Final

# The same number on every architecture that Linux has added it to.
_SYS_LANDLOCK_CREATE_RULESET: Final = 444
_VERSION_QUESTION: Final = 1


def landlock_abi() -> int:
    """The version of its interface: 1 and up for files, 4 and up also for TCP; 0 when the kernel has none."""
    if sys.platform != "linux":
        return 0
    answer = ctypes.CDLL(None, use_errno=True).syscall(
        ctypes.c_long(_SYS_LANDLOCK_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_QUESTION)
    )
    return max(int(answer), 0)
