"""Locking a process in before its program starts. Every layer holds for everything the program starts, too.

Landlock says which files can be reached, and seccomp which system calls can be made; capabilities are given up. The
namespaces around the process (see `namespaces`) are entered before.
"""

from typing import Final

from convex_evals.core.keeper import landlock, libc, seccomp, wire

_CAPABILITIES: Final = 64  # more than there are; what does not exist cannot be dropped


def restrict(confinement: wire.Confinement) -> None:
    """Holds for this process from now on. Raises OSError."""
    if confinement["read"] is None:
        return
    libc.forbid_new_privileges()
    version = landlock.abi() if confinement["landlock"] else 0
    if version:
        writable = confinement["write"]
        scratch = confinement["scratch"]
        landlock.restrict(confinement["read"], [*writable, *([scratch] if scratch else [])], version)
    _renounce_capabilities()
    try:
        seccomp.restrict(confinement)
    except OSError:
        if confinement["strict"]:
            raise


def _renounce_capabilities() -> None:
    """Root's powers end with the next exec: one of them is reading the environment of other processes. Whoever may not
    drop them has none."""
    for number in range(_CAPABILITIES):
        libc.prctl(libc.PR_CAPBSET_DROP, number)
