"""A program one talks with: its standard input and output are one socket to this process."""

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from convex_evals.core.processes.confinement import UNCONFINED, Confinement
from convex_evals.core.processes.limits import Limits
from convex_evals.core.processes.process import UNLIMITED, Argument, Process, start


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
