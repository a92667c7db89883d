"""From fork to exec: what happens in the new process before the program replaces it."""

import errno
import os
import resource
import signal
from collections.abc import Sequence
from typing import Final, NoReturn

from convex_evals.core.keeper import confine, landlock, namespaces, tree, wire

_RESET_SIGNALS: Final = tuple(
    number
    for number in signal.valid_signals()
    if number not in (signal.SIGKILL, signal.SIGSTOP) and signal.getsignal(number) is not None
)


def start(request: wire.Request, streams: Sequence[int]) -> int | wire.Failure:
    """Forks and executes the program; its process id, or why it did not start.

    The program gets `streams` as its file descriptors 0, 1, 2 and so on.
    """
    report, confession = os.pipe()
    try:
        pid = tree.fork()
    except OSError as error:
        return failure("fork", error)
    if pid == 0:
        os.close(report)
        _become(request, streams, confession)
    os.close(confession)
    told = _read_all(report)
    os.close(report)
    if not told:
        return pid
    os.waitpid(pid, 0)
    return _parse(told)


def _become(request: wire.Request, streams: Sequence[int], confession: int) -> NoReturn:
    confinement = request["confinement"]
    stage = "confinement"
    try:
        tree.die_with_parent(signal.SIGKILL)
        os.setsid()
        confession = _connect(streams, confession)
        namespaces.settle(confinement, landlock=confinement["landlock"] and landlock.abi() > 0)
        stage = "cwd"
        os.chdir(request["cwd"])
        stage = "limits"
        for name, bounds in request["limits"].items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), bounds)
        stage = "confinement"
        confine.restrict(confinement)
        stage = "exec"
        _reset_signals()
        os.execve(request["program"], request["arguments"], request["environment"])
    except OSError as error:
        _confess(confession, stage, error.errno or errno.EIO, error.strerror or str(error))
    except ValueError as error:  # a limit above the hard one
        _confess(confession, stage, errno.EINVAL, str(error))
    finally:
        os._exit(127)


def _connect(streams: Sequence[int], confession: int) -> int:
    """Returns where the confession is now."""
    # Lifted above all targets first, so that connecting one stream cannot overwrite the source of the next.
    *sources, confession = [_lifted(descriptor, len(streams)) for descriptor in (*streams, confession)]
    for target, source in enumerate(sources):
        os.dup2(source, target, inheritable=True)
    return confession


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


def _confess(confession: int, stage: str, number: int, detail: str) -> None:
    os.write(confession, f"{stage}\n{number}\n{detail}".encode())


def _parse(told: bytes) -> wire.Failure:
    stage, number, detail = told.decode().split("\n", 2)
    return {"stage": stage, "errno": int(number), "detail": detail}


def _read_all(descriptor: int) -> bytes:
    parts = []
    while part := os.read(descriptor, 4096):
        parts.append(part)
    return b"".join(parts)
