"""A program that runs: start it, wait for it, stop it; or why it did not start, in one sentence."""

import asyncio
import errno
import os
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, cast

from convex_evals.core.errors import ProcessError, ProcessLimitError
from convex_evals.core.processes.confinement import UNCONFINED, Confinement, Limits
from convex_evals.core.processes.spawner import spawner
from convex_evals.core.supervisor import wire

Argument = str | os.PathLike[str]
UNLIMITED = Limits()


class RequestLost(ProcessError):
    """Whoever should have read what we sent is gone without having done so: nothing was started."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a program and its process tree used: seconds, and bytes of the largest single process."""

    wall: float
    cpu_user: float
    cpu_system: float
    peak_memory: int

    @property
    def cpu(self) -> float:
        return self.cpu_user + self.cpu_system


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: with an exit code or by a signal. `left_behind` counts processes it did not wait for;
    `supervision` is the processor time in seconds that starting and watching it took."""

    exit_code: int | None
    signal: int | None
    timed_out: bool
    usage: Usage
    left_behind: int
    supervision: float


@dataclass(frozen=True, slots=True)
class EndedProgram:
    """For those who account for processor time."""

    arguments: tuple[str, ...]
    ended: Ended


_accounts: Final[list[list[EndedProgram]]] = []


@contextmanager
def endings_recorded() -> Iterator[list[EndedProgram]]:
    """Fills the list with every program of this process that ends meanwhile, whoever started it."""
    account: list[EndedProgram] = []
    _accounts.append(account)
    try:
        yield account
    finally:
        _accounts.remove(account)


class Process:
    """A running program and all its descendants. Use as a context: leaving it stops them."""

    def __init__(
        self, channel: socket.socket, arguments: Sequence[str], pid: int, listeners: Sequence[socket.socket] = ()
    ) -> None:
        self.pid = pid
        self.listeners = tuple(listeners)
        """One per port of its own network that it was given, in that order; they are closed with the context."""
        self._channel = channel
        self._arguments = tuple(arguments)
        self._ending: asyncio.Task[Ended] | None = None

    async def wait(self) -> Ended:
        """Waits until the program and everything it started are gone. Cancelling the wait does not stop it."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        return await asyncio.shield(self._ending)

    def terminate(self) -> None:
        """SIGTERM to the whole process tree, SIGKILL after the grace period."""
        self._order(wire.TERMINATE)

    def kill(self) -> None:
        """SIGKILL to the whole process tree, now."""
        self._order(wire.KILL)

    async def stop(self) -> Ended:
        """Stops the program and returns when nothing of it is left, even if the waiting task is cancelled meanwhile."""
        self.terminate()
        waiting = asyncio.ensure_future(self.wait())
        if await _persist(waiting):
            raise asyncio.CancelledError
        return waiting.result()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if self._ending is None or not self._ending.done():
                await self.stop()
        finally:
            for listener in self.listeners:
                listener.close()

    def _order(self, order: bytes) -> None:
        with suppress(OSError):  # it has just ended by itself
            self._channel.send(order)

    async def _end(self) -> Ended:
        try:
            ending = cast(wire.Ending, await _receive(self._channel, self._arguments[0]))
        except ConnectionResetError:  # it has not read our last order
            raise _unknown_ending(self._arguments[0]) from None
        finally:
            self._channel.close()
        exit_code, signal_number = wire.exit_status(ending["status"])
        usage = Usage(ending["wall"], ending["cpu_user"], ending["cpu_system"], ending["peak_memory"])
        timed_out, left_behind = ending["timed_out"], ending["left_behind"]
        ended = Ended(exit_code, signal_number, timed_out, usage, left_behind, ending["supervision"])
        for account in _accounts:
            account.append(EndedProgram(self._arguments, ended))
        return ended


async def start(
    arguments: Sequence[Argument],
    *,
    cwd: Path,
    stdin: int,
    stdout: int,
    stderr: int,
    more: Sequence[int] = (),
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
    grace: float = 2.0,
    limits: Limits = UNLIMITED,
    confinement: Confinement = UNCONFINED,
) -> Process:
    """Starts a program on file descriptors that stay the caller's own; it gets `more` as 3, 4 and so on, at most four.
    Cancelling stops what has been started before the cancellation goes on. Most callers want `run` instead."""
    request = _request(arguments, cwd, dict(environment or {}), timeout, grace, limits, confinement)
    starting = asyncio.ensure_future(_start_on((stdin, stdout, stderr, *more), request))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await _persist(starting)
        if not starting.cancelled() and starting.exception() is None:
            async with starting.result():
                pass  # leaving it stops the program and closes its listeners
        raise


async def _start_on(streams: Sequence[int], request: wire.Request) -> Process:
    """A spawn server that is dying may take a request and never read it; such a request is made again."""
    try:
        return await _start(spawner.open_supervisor(streams), request)
    except RequestLost:
        return await _start(spawner.open_supervisor(streams), request)


async def _start(channel: socket.socket, request: wire.Request) -> Process:
    try:
        answer = await _answer(channel, request)
        if "failure" in answer:
            raise refusal(request, answer["failure"])
        listeners = await _receive_sockets(channel, answer["listeners"])
    except BaseException:
        channel.close()
        raise
    return Process(channel, request["arguments"], answer["pid"], listeners)


async def _answer(channel: socket.socket, request: wire.Request) -> wire.Message:
    lost = RequestLost(f"The process that should start {request['program']!r} is gone.")
    try:
        await asyncio.get_running_loop().sock_sendall(channel, wire.encode(request))
    except (BrokenPipeError, ConnectionResetError):  # a supervisor that refuses says why before it closes
        with suppress(ProcessError, ConnectionResetError):
            return await _receive(channel, request["program"])
        raise lost from None
    try:
        return await _receive(channel, request["program"])
    except ConnectionResetError:
        raise lost from None


async def _receive_sockets(channel: socket.socket, count: int) -> list[socket.socket]:
    if count == 0:
        return []
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(channel, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(channel)
    _, descriptors, _, _ = socket.recv_fds(channel, len(wire.SOCKETS), count)
    sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    for each in sockets:
        each.setblocking(False)
    return sockets


async def _persist(future: asyncio.Future[Any]) -> bool:
    """Waits until it is done, and says whether the waiting task was cancelled meanwhile."""
    cancelled = False
    while not future.done():
        try:
            await asyncio.wait({future})
        except asyncio.CancelledError:
            cancelled = True
    return cancelled


def _request(
    arguments: Sequence[Argument],
    cwd: Path,
    environment: dict[str, str],
    timeout: float | None,
    grace: float,
    limits: Limits,
    confinement: Confinement,
) -> wire.Request:
    if isinstance(arguments, str | bytes):
        raise TypeError(f"arguments must be a list of strings, not one string: {arguments!r}")
    words = [os.fspath(argument) for argument in arguments]
    if not words:
        raise ProcessError("A program must be named: the argument list is empty.")
    if any("\0" in text for text in (*words, *environment.keys(), *environment.values())):
        raise ProcessError(f"Cannot start {words[0]!r}: an argument or variable contains a zero byte.")
    return {
        "program": _find(words[0], environment),
        "arguments": words,
        "cwd": str(cwd),
        "environment": environment,
        "limits": limits.bounds(),
        "timeout": timeout,
        "grace": grace,
        "confinement": confinement.to_wire(),
    }


def _find(program: str, environment: dict[str, str]) -> str:
    """Programs named without a folder are looked up in the PATH they will see, not in ours."""
    if "/" in program:
        return program
    path = environment.get("PATH", os.defpath)
    found = shutil.which(program, path=path)
    if found is None:
        raise ProcessError(f"The program {program!r} was not found on PATH ({path}); install it or give its full path.")
    return found


async def _receive(channel: socket.socket, program: str) -> wire.Message:
    """Raises ConnectionResetError if the other side is gone and has not read everything, else ProcessError."""
    header = await _exactly(channel, wire.HEADER.size, program)
    return wire.decode(await _exactly(channel, wire.HEADER.unpack(header)[0], program))


async def _exactly(channel: socket.socket, size: int, program: str) -> bytes:
    loop = asyncio.get_running_loop()
    received = b""
    while len(received) < size:
        part = await loop.sock_recv(channel, size - len(received))
        if not part:
            raise _unknown_ending(program)
        received += part
    return received


def _unknown_ending(program: str) -> ProcessError:
    return ProcessError(f"The process that watches {program!r} is gone, so how the program ended is unknown.")


def refusal(request: wire.Request, failure: wire.Failure) -> ProcessError:
    if failure["stage"] == "fork":
        return ProcessLimitError(
            f"Cannot start {request['program']!r}: this machine has no room for another process "
            f"({failure['detail']}); end some of them or raise `ulimit -u`."
        )
    return ProcessError(_explain(request, failure))


def _explain(request: wire.Request, failure: wire.Failure) -> str:
    if failure["stage"] == "cwd":
        return _explain_folder(request, failure)
    if failure["stage"] == "limits":
        return (
            f"Cannot start {request['program']!r}: its resource limits {request['limits']} were refused "
            f"({failure['detail']}); lower them to what this machine allows."
        )
    if failure["stage"] == "confinement":
        return f"Cannot start {request['program']!r}: it cannot be confined here ({failure['detail']})."
    return _explain_program(request, failure)


def _explain_folder(request: wire.Request, failure: wire.Failure) -> str:
    reason = {
        errno.ENOENT: "does not exist",
        errno.ENOTDIR: "is not a folder",
        errno.EACCES: "may not be entered by this user",
    }.get(failure["errno"], f"is not usable ({failure['detail']})")
    return f"Cannot start {request['program']!r}: the working folder {request['cwd']!r} {reason}."


def _explain_program(request: wire.Request, failure: wire.Failure) -> str:
    program = request["program"]
    number = failure["errno"]
    if number == errno.ENOENT and (Path(request["cwd"]) / program).exists():
        reason = "the interpreter it names in its first line does not exist"
    else:
        reason = {
            errno.ENOENT: "there is no such file",
            errno.EACCES: "the file is not executable for this user",
            errno.ENOEXEC: "the file is not a program this system can run",
            errno.E2BIG: "its arguments and environment are longer than this system allows",
            errno.ENOMEM: "there is not enough memory",
        }.get(number, failure["detail"])
    return f"Cannot start {program!r}: {reason}."
