"""Runs a program to its end and says what happened, or talks with one while it runs."""

import asyncio
import os
import signal as signals
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass
from pathlib import Path

from convex_evals.core.errors import ProcessError
from convex_evals.core.processes.confinement import UNCONFINED, Confinement, Limits
from convex_evals.core.processes.output import EXCERPT_BYTES, Log, Output
from convex_evals.core.processes.process import UNLIMITED, Argument, Ended, Process, Usage, start
from convex_evals.core.processes.relay import relayed


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a program ended and what it printed.

    `output` is standard output, with standard error in between unless the two were asked for apart.
    Exactly one of `exit_code` and `signal` is set, also after a time-out.
    """

    arguments: tuple[str, ...]
    exit_code: int | None
    signal: int | None
    timed_out: bool
    usage: Usage
    output: Output
    errors: Output | None
    left_behind: int

    @property
    def ok(self) -> bool:
        return self.exit_code == 0 and not self.timed_out

    @property
    def ending(self) -> str:
        """For messages: "exit code 1", "killed by SIGSEGV", "stopped after 30 s"."""
        if self.timed_out:
            return f"stopped after {self.usage.wall:.3g} s"
        if self.signal is not None:
            return f"killed by {_signal_name(self.signal)}"
        return f"exit code {self.exit_code}"


async def run(
    arguments: Sequence[Argument],
    *,
    cwd: Path,
    timeout: float | None,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    log: Path | None = None,
    errors_log: Path | None = None,
    separate_errors: bool = False,
    limits: Limits = UNLIMITED,
    confinement: Confinement = UNCONFINED,
    grace: float = 2.0,
    excerpt_bytes: int = EXCERPT_BYTES,
    on_start: Callable[[Process], AbstractAsyncContextManager[object]] = nullcontext,
) -> ProcessResult:
    """Runs a program until it ends or its time is up; afterwards nothing that it started is alive.

    The environment is exactly `environment`. All output goes to `log` (replaced if it exists) or to a temporary file;
    standard error joins it unless `errors_log` or `separate_errors` asks for a file of its own. Cancelling kills the
    program and its descendants before the cancellation goes on. The context `on_start` lasts as long as it runs.
    """
    with ExitStack() as stack:
        output = stack.enter_context(_open_log(log))
        errors = stack.enter_context(_open_log(errors_log)) if separate_errors or errors_log else None
        streams = stack.enter_context(_input(stdin)), output.descriptor, (errors or output).descriptor
        process = await start(
            arguments,
            cwd=cwd,
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            environment=environment,
            timeout=timeout,
            grace=grace,
            limits=limits,
            confinement=confinement,
        )
        ports = confinement.ports[: len(process.listeners)]
        async with process, relayed(process.listeners, ports), on_start(process):
            ended = await process.wait()
        complaints = errors.output(excerpt_bytes) if errors else None
        return _result(arguments, ended, output.output(excerpt_bytes), complaints)


def _result(arguments: Sequence[Argument], ended: Ended, output: Output, errors: Output | None) -> ProcessResult:
    return ProcessResult(
        arguments=tuple(os.fspath(argument) for argument in arguments),
        exit_code=ended.exit_code,
        signal=ended.signal,
        timed_out=ended.timed_out,
        usage=ended.usage,
        output=output,
        errors=errors,
        left_behind=ended.left_behind,
    )


@contextmanager
def _open_log(path: Path | None) -> Iterator[Log]:
    try:
        log = Log(path)
    except OSError as error:
        raise ProcessError(f"The log file {str(path)!r} cannot be written: {error.strerror}.") from error
    try:
        yield log
    except BaseException:
        log.discard()
        raise
    finally:
        log.close()


@contextmanager
def _input(content: bytes) -> Iterator[int]:
    """Standard input from a file, not a pipe: a program that never reads it blocks nobody."""
    if not content:
        descriptor = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
        return
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        yield file.fileno()


def _signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:  # real-time signals have numbers only
        return f"signal {number}"


@dataclass(frozen=True, slots=True)
class PipedProcess:
    """Write to `stdin`, read from `stdout`; end of file there means that the program closed it or is gone."""

    process: Process
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader


@asynccontextmanager
async def start_piped(
    arguments: Sequence[Argument],
    *,
    cwd: Path,
    stderr: int,
    environment: Mapping[str, str] | None = None,
    grace: float = 2.0,
    limits: Limits = UNLIMITED,
    confinement: Confinement = UNCONFINED,
    buffer_bytes: int = 1 << 20,
) -> AsyncIterator[PipedProcess]:
    """Runs a program until the context ends, then stops it with all its descendants. `stderr` stays the caller's."""
    ours, theirs = socket.socketpair()
    stdout, stdin = await asyncio.open_connection(sock=ours, limit=buffer_bytes)
    try:
        with theirs:
            process = await start(
                arguments,
                cwd=cwd,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=stderr,
                environment=environment,
                grace=grace,
                limits=limits,
                confinement=confinement,
            )
        async with process:
            yield PipedProcess(process, stdin, stdout)
    finally:
        stdin.close()
        with suppress(OSError):  # the program may be gone with bytes for it unread
            await stdin.wait_closed()
