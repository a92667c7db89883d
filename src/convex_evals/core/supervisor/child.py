"""From fork to exec: what happens in the new process before the program replaces it.

A confined process gives up its privileges last: Landlock says which files can be reached, seccomp which system calls
can be made, and capabilities are dropped. All of it holds for everything the program starts. The namespaces around the
process (see `namespaces`) are entered before.
"""

import errno
import os
import resource
import signal
from collections.abc import Sequence
from typing import Final, NoReturn

from convex_evals.core.supervisor import landlock, libc, namespaces, process_tree, seccomp, wire

_RESET_SIGNALS: Final = tuple(
    number
    for number in signal.valid_signals()
    if number not in (signal.SIGKILL, signal.SIGSTOP) and signal.getsignal(number) is not None
)


def start(request: wire.Request, streams: Sequence[int]) -> int | wire.Failure:
    """Forks and executes the program; its process id, or why it did not start.

    The program gets `streams` as its file descriptors 0, 1, 2 and so on.
    """
    error_reader, error_writer = os.pipe()
    try:
        pid = process_tree.fork()
    except OSError as error:
        return failure("fork", error)
    if pid == 0:
        os.close(error_reader)
        _become(request, streams, error_writer)
    os.close(error_writer)
    reported = _read_all(error_reader)
    os.close(error_reader)
    if not reported:
        return pid
    os.waitpid(pid, 0)
    return _parse(reported)


def _become(request: wire.Request, streams: Sequence[int], error_writer: int) -> NoReturn:
    confinement = request["confinement"]
    stage = "confinement"
    try:
        process_tree.die_with_parent(signal.SIGKILL)
        os.setsid()
        error_writer = _connect(streams, error_writer)
        namespaces.settle(confinement, landlock=confinement["landlock"] and landlock.abi() > 0)
        stage = "cwd"
        os.chdir(request["cwd"])
        stage = "limits"
        for name, bounds in request["limits"].items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), bounds)
        stage = "confinement"
        _restrict(confinement)
        stage = "exec"
        _reset_signals()
        os.execve(request["program"], request["arguments"], request["environment"])
    except OSError as error:
        _report_error(error_writer, stage, error.errno or errno.EIO, error.strerror or str(error))
    except ValueError as error:  # a limit above the hard one
        _report_error(error_writer, stage, errno.EINVAL, str(error))
    finally:
        os._exit(127)


def _connect(streams: Sequence[int], error_writer: int) -> int:
    """Returns where the error pipe is now."""
    # Lifted above all targets first, so that connecting one stream cannot overwrite the source of the next.
    *sources, error_writer = [_lifted(descriptor, len(streams)) for descriptor in (*streams, error_writer)]
    for target, source in enumerate(sources):
        os.dup2(source, target, inheritable=True)
    return error_writer


def _lifted(descriptor: int, lowest: int) -> int:
    while descriptor < lowest:
        descriptor = os.dup(descriptor)
    return descriptor


def _reset_signals() -> None:
    # Ignored signals and the mask survive exec, and Python ignores SIGPIPE and SIGXFSZ.
    for number in _RESET_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def failure(stage: str, error: OSError) -> wire.Failure:
    return {"stage": stage, "errno": error.errno or errno.EIO, "detail": error.strerror or str(error)}


def _report_error(error_writer: int, stage: str, number: int, detail: str) -> None:
    os.write(error_writer, f"{stage}\n{number}\n{detail}".encode())


def _parse(reported: bytes) -> wire.Failure:
    stage, number, detail = reported.decode().split("\n", 2)
    return {"stage": stage, "errno": int(number), "detail": detail}


def _read_all(descriptor: int) -> bytes:
    parts = []
    while part := os.read(descriptor, 4096):
        parts.append(part)
    return b"".join(parts)


_CAPABILITIES: Final = 64  # more than there are; what does not exist cannot be dropped


def _restrict(confinement: wire.Confinement) -> None:
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
