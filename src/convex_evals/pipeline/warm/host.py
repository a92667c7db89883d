"""What programs that are kept warm have in common.

A process is confined as a cold one is, and sees the files of one answer at a time: they are copied into its folder
under a random name and removed afterwards. Whatever is unusual about a job ends the process and leaves the job to a
cold program, whose result counts. A process that has done its share of jobs or has grown is replaced.
"""

import asyncio
import os
import secrets
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Generic, Protocol, Self, TypeVar

from convex_evals.core.errors import ProcessError
from convex_evals.core.files import MEBIBYTE
from convex_evals.core.processes import LIBRARIES, Confinement, Limits, PipedProcess, start_piped

MOST_PROCESSES: Final = 2
"""Per host: one for `convex/` and one for `src/`, or two sets of packages."""
MOST_REPLY: Final = 16 * MEBIBYTE
LAST_WORDS: Final = 1000
GO_PROGRAMS: Final = {"GOGC": "off", "GOMEMLIMIT": "1500MiB", "GOMAXPROCS": "1"}
"""For programs written in Go (tsc, tsgolint, esbuild) that end soon: they collect garbage only when memory becomes
scarce. More threads would cost processor time, and other gradings and steps keep the other cores busy."""

Setup = tuple[object, ...]


class Job(Protocol):
    """What is asked about the files in `folder`."""

    @property
    def folder(self) -> Path: ...

    @property
    def setup(self) -> Setup:
        """Jobs that agree in this may share a process."""
        ...


J = TypeVar("J", bound=Job)
R = TypeVar("R")


class UnusualJobError(Exception):
    """This job is for a cold program."""


def limits_for(jobs: int, seconds: float) -> Limits:
    """Processor time is counted over all jobs; the time of one is limited by the clock."""
    return Limits(cpu_seconds=max(1, int(jobs * seconds)), file_size=MEBIBYTE, data=4096 * MEBIBYTE, open_files=4096)


@contextmanager
def real_temporary_folder(prefix: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        yield Path(name).resolve()


@dataclass
class WarmProcess(ABC, Generic[J, R]):
    """`folder` is its own: `program` and `jobs` are all that it can read there."""

    process: PipedProcess
    folder: Path
    stack: AsyncExitStack
    most_jobs: int
    job_seconds: float
    jobs: int = 0

    @property
    def is_used_up(self) -> bool:
        return self.jobs >= self.most_jobs

    def retire(self) -> None:
        self.jobs = self.most_jobs

    async def do(self, job: J) -> R:
        """Raises UnusualJobError."""
        self.jobs += 1
        place = self.folder / "jobs" / secrets.token_hex(16)
        try:
            await asyncio.to_thread(shutil.copytree, job.folder, place, symlinks=True)
            async with asyncio.timeout(self.job_seconds):
                return await self.ask(job, place)
        except TimeoutError as error:
            raise UnusualJobError("no reply in time") from error
        except (ValueError, EOFError, asyncio.LimitOverrunError) as error:  # ValueError: more than the buffer holds
            raise UnusualJobError(f"no usable reply ({type(error).__name__}) {self._last_words()}".strip()) from error
        finally:
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)

    @abstractmethod
    async def ask(self, job: J, place: Path) -> R:
        """Asks about the copy at `place`. Raises UnusualJobError; EOFError if the process has ended."""

    @property
    def cpu_ms(self) -> float:
        """So far, of its threads and of the programs it has started and waited for."""
        tasks = Path(f"/proc/{self.process.process.pid}/task").glob("*/schedstat")
        own = sum(int(task.read_text().split()[0]) for task in tasks) / 1e6  # finer than /proc/PID/stat
        fields = Path(f"/proc/{self.process.process.pid}/stat").read_text().rpartition(")")[2].split()
        return own + (int(fields[13]) + int(fields[14])) * 1000 / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> int:
        pages = int(Path(f"/proc/{self.process.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def _last_words(self) -> str:
        return (self.folder / "errors.log").read_text(errors="replace")[-LAST_WORDS:]


@dataclass(frozen=True, slots=True)
class ProcessFolder:
    """Where a warm process lives, and what starts it there."""

    path: Path
    stack: AsyncExitStack

    async def start(
        self, command: Sequence[str | Path], environment: dict[str, str], limits: Limits, read: Sequence[Path]
    ) -> PipedProcess:
        """As `tool_confinement`: nothing but `read` and its own files can be read, nothing written, no network."""
        errors = self.stack.enter_context((self.path / "errors.log").open("wb"))
        readable = (self.path / "program", self.path / "jobs", *(path.resolve() for path in read))
        started = start_piped(
            command,
            cwd=self.path / "jobs",
            stderr=errors.fileno(),
            environment=environment,
            limits=limits,
            confinement=Confinement(readable, (), LIBRARIES, network="own", sockets="none", scratch=self.path / "home"),
            buffer_bytes=MOST_REPLY,
        )
        return await self.stack.enter_async_context(started)


@asynccontextmanager
async def process_folder(prefix: str) -> AsyncIterator[ProcessFolder]:
    """The folder and what is entered on its stack stay, unless the block raises; closing the stack ends both."""
    stack = AsyncExitStack()
    try:
        folder = stack.enter_context(real_temporary_folder(prefix))
        for name in ("home", "jobs", "program"):
            (folder / name).mkdir()
        yield ProcessFolder(folder, stack)
    except BaseException:
        await stack.aclose()
        raise


@dataclass
class WarmHost(ABC, Generic[J, R]):
    """Any number of jobs may be asked for at the same time; those of one setup wait for one another."""

    name: str
    is_open: bool = True
    _locks: dict[Setup, asyncio.Lock] = field(default_factory=dict)
    _processes: dict[Setup, WarmProcess[J, R]] = field(default_factory=dict)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.is_open = False
        for setup in [*self._processes]:
            await self._stop(setup)

    @abstractmethod
    async def start(self, job: J) -> WarmProcess[J, R]: ...

    async def do(self, job: J) -> R | str:
        """A text says why a cold program has to do it."""
        if not self.is_open:
            return f"there is no warm {self.name} here"
        async with self._locks.setdefault(job.setup, asyncio.Lock()):
            try:
                done = await (await self._ready(job)).do(job)
            except (UnusualJobError, ProcessError, OSError, EOFError, ValueError) as error:  # it may fail to start, too
                await self._stop(job.setup)
                reason = "no reply in time" if isinstance(error, TimeoutError) else error
                return f"the warm {self.name} gave up: {reason}"
            except BaseException:
                await self._stop(job.setup)
                raise
            if self._processes[job.setup].is_used_up:
                await self._stop(job.setup)
            return done

    async def _ready(self, job: J) -> WarmProcess[J, R]:
        process = self._processes.pop(job.setup, None) or await self.start(job)
        self._processes[job.setup] = process  # the last one is the one used last
        for setup in [*self._processes][:-MOST_PROCESSES]:
            if not self._locks[setup].locked():
                await self._stop(setup)
        return process

    async def _stop(self, setup: Setup) -> None:
        process = self._processes.pop(setup, None)
        if process is not None:
            await process.stack.aclose()
