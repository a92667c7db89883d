"""Runs a program to its end and says what happened, or talks with one while it runs.

All that it prints is in a file, its beginning and end also in memory. Connections to the ports of a network of its own
are relayed to ours.
"""

import asyncio
import os
import signal as signals
import socket
import tempfile
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
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
from typing import Final

from convex_evals.core.errors import ProcessError
from convex_evals.core.processes.confinement import UNCONFINED, Confinement, Limits
from convex_evals.core.processes.process import UNLIMITED, Argument, Ended, Process, Usage, start

EXCERPT_BYTES: Final = 16_384


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Output:
    """`path` holds every byte. A file that we made ourselves lives as long as this object."""

    path: Path
    size: int
    head: bytes
    tail: bytes

    @property
    def omitted(self) -> int:
        """Bytes between head and tail that only the file has."""
        return self.size - len(self.head) - len(self.tail)

    @property
    def text(self) -> str:
        """Head and tail for people; bytes that are not UTF-8 are shown as replacement characters."""
        if not self.omitted:
            return (self.head + self.tail).decode(errors="replace")
        gap = f"\n… {self.omitted} bytes left out, complete in {self.path} …\n"
        return self.head.decode(errors="replace") + gap + self.tail.decode(errors="replace")

    def read(self) -> bytes:
        """Everything, from the file when memory has not kept it all."""
        return self.path.read_bytes() if self.omitted else self.head + self.tail


class Log:
    """A file that takes a program's output while it runs."""

    def __init__(self, path: Path | None) -> None:
        self.temporary = path is None
        # Append mode: two streams of one program, and its children, share the file without overwriting each other.
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
        if path is None:
            self.descriptor, name = tempfile.mkstemp(prefix="convex-evals-", suffix=".log")
            os.close(self.descriptor)
            path, flags = Path(name), flags & ~os.O_CREAT
        self.path = path
        self.descriptor = os.open(path, flags, 0o644)

    def close(self) -> None:
        os.close(self.descriptor)

    def discard(self) -> None:
        if self.temporary:
            self.path.unlink(missing_ok=True)

    def output(self, excerpt_bytes: int) -> Output:
        size = os.fstat(self.descriptor).st_size
        half = max(excerpt_bytes // 2, 1)
        head = os.pread(self.descriptor, half, 0)
        tail_start = max(size - half, len(head))
        output = Output(self.path, size, head, os.pread(self.descriptor, size - tail_start, tail_start))
        if self.temporary:
            weakref.finalize(output, self.path.unlink, missing_ok=True)
        return output


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


_CHUNK: Final = 1 << 16
_LOOPBACK: Final = "127.0.0.1"


@asynccontextmanager
async def relayed(listeners: Sequence[socket.socket], ports: Sequence[int]) -> AsyncIterator[None]:
    """Inside the block, what is accepted at `listeners[i]` is connected to `ports[i]` of this machine's loopback.
    No connection outlives the block."""
    relays: set[asyncio.Task[None]] = set()
    servers = [
        await asyncio.start_server(_to(port, relays), sock=listener)
        for listener, port in zip(listeners, ports, strict=True)
    ]
    try:
        yield
    finally:
        for server in servers:
            server.close()
        for relay in relays:
            relay.cancel()
        await asyncio.gather(*relays, return_exceptions=True)


def _to(
    port: int, relays: "set[asyncio.Task[None]]"
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        relays.add(task)
        task.add_done_callback(relays.discard)
        # Python 3.11 prints a traceback for a connection whose task ends as cancelled.
        with suppress(asyncio.CancelledError):
            await _connect(reader, writer, port)

    return relay


async def _connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
    try:
        answers, questions = await asyncio.open_connection(_LOOPBACK, port)
    except BaseException as error:
        writer.transport.abort()
        if not isinstance(error, OSError):
            raise
        return
    try:
        await asyncio.gather(_copy(reader, questions), _copy(answers, writer))
    finally:
        questions.close()
        writer.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await source.read(_CHUNK):
            target.write(chunk)
            await target.drain()
        target.write_eof()
