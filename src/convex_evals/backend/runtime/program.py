"""The Node program of a worker: started under a supervisor, so that it cannot outlive this process."""

import asyncio
import contextlib
import os
import resource
import signal
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from convex_evals.backend.errors import WorkerLost
from convex_evals.backend.runtime.limits import LARGEST_FILE_BYTES, OPEN_FILES
from convex_evals.backend.runtime.network import PORT, open_listener
from convex_evals.core.errors import ProcessError
from convex_evals.core.processes import Confinement, Limits, Process, start

KEPT_OUTPUT: Final = 16384
FRAMES: Final = 3  # file descriptors of the program
QUESTIONS: Final = 4
LIMITS: Final = Limits(file_size=LARGEST_FILE_BYTES, open_files=OPEN_FILES)
WALL_PER_CPU: Final = 2.0  # how much slower than its CPU time a function may run


@dataclass(frozen=True, slots=True)
class WorkerCommand:
    node: Path
    flags: Sequence[str]
    script: Path
    folder: Path  # its working directory
    environment: dict[str, str] = field(default_factory=dict, hash=False)
    read: tuple[Path, ...] = ()  # folders, besides the scripts and its working directory
    write: tuple[Path, ...] = ()
    scratch: Path | None = None  # becomes an empty folder in memory
    has_port: bool = False  # whether there is a port in its network, which is `Program.listener` here
    strict: bool = True  # False: run even where the kernel cannot confine it completely
    memory_bytes: int | None = None  # what it may allocate after it has started, array buffers included
    arguments: Sequence[str] = ()  # after the file descriptors

    @property
    def confinement(self) -> Confinement:
        """The same as Node's own permissions, in case they fail."""
        node = self.node.resolve().parents[1]
        return Confinement(
            read=(node, self.script.parent, self.folder, *self.read),
            write=self.write,
            network="own",
            ports=(PORT,) if self.has_port else (),
            sockets="tcp" if self.has_port else "none",
            children=False,
            scratch=self.scratch,
            strict=self.strict,
        )

    @property
    def words(self) -> list[str | Path]:
        return [self.node, *self.flags, self.script, str(FRAMES), str(QUESTIONS), *self.arguments]


class Program:
    """Use `start`. `frames` and `questions` are our ends of the two sockets to it."""

    def __init__(
        self,
        process: Process,
        frames: socket.socket,
        questions: socket.socket,
        errors: socket.socket,
        listener: socket.socket | None,
    ) -> None:
        self._process = process
        self.listener = listener  # of the port in its network; ours to close
        self.frames = frames
        self.questions = questions
        self._output = asyncio.create_task(_read_end(errors))

    @classmethod
    async def start(cls, command: WorkerCommand) -> "Program":
        """Raises WorkerLost when it does not start."""
        ours, theirs = zip(*(socket.socketpair() for _ in range(3)), strict=True)
        nothing = os.open(os.devnull, os.O_RDWR)
        frames, questions, errors = (end.fileno() for end in theirs)
        try:
            process = await start(
                command.words,
                cwd=command.folder,
                stdin=nothing,
                stdout=nothing,
                stderr=errors,
                more=(frames, questions),
                environment=command.environment,
                limits=LIMITS,
                confinement=command.confinement,
            )
        except BaseException as error:
            for end in ours:
                end.close()
            if isinstance(error, ProcessError):
                raise WorkerLost(str(error)) from error
            raise
        finally:
            os.close(nothing)
            for end in theirs:
                end.close()
        listener = next(iter(process.listeners), None) or (open_listener() if command.has_port else None)
        return cls(process, ours[0], ours[1], ours[2], listener)

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        self._process.kill()

    def interrupt(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGINT)

    def main_thread_seconds(self) -> float:
        """CPU time of the thread that runs JavaScript; half of the elapsed time where the system does not report it."""
        try:
            spent = Path(f"/proc/{self.pid}/task/{self.pid}/schedstat").read_text()
        except OSError:
            return time.monotonic() / WALL_PER_CPU
        return int(spent.split()[0]) / 1e9

    async def status(self) -> int:
        """Waits for its end: the exit code, or the negative number of the signal that ended it."""
        try:
            ended = await self._process.wait()
        except ProcessError:
            return -signal.SIGKILL  # its supervisor was killed, and it with the supervisor
        return -(ended.signal or 0) if ended.exit_code is None else ended.exit_code

    async def output(self) -> str:
        """The last part of what it wrote to standard error. Known when it has ended."""
        return await self._output

    def limit_memory(self, more_bytes: int) -> None:
        """Bounds memory outside the JavaScript heap, too, where the system can set that from outside."""
        status = Path(f"/proc/{self.pid}/status")
        if not hasattr(resource, "prlimit"):
            return
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            limit = _data_bytes(status.read_text()) + more_bytes
            resource.prlimit(self.pid, resource.RLIMIT_DATA, (limit, limit))


async def _read_end(source: socket.socket) -> str:
    reader, writer = await asyncio.open_connection(sock=source)
    kept = b""
    try:
        while chunk := await reader.read(4096):
            kept = (kept + chunk)[-KEPT_OUTPUT:]
    finally:
        writer.close()
    return kept.decode(errors="replace")


def _data_bytes(status: str) -> int:
    """What the process has allocated so far; most of it is address space that Node will never touch."""
    (line,) = (line for line in status.splitlines() if line.startswith("VmData:"))
    return int(line.split()[1]) * 1024
