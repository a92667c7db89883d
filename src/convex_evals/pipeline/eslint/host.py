"""Keeps ESLint processes warm, one per configuration and set of packages, and lets each lint one answer at a time.

A process is confined as a cold ESLint is, and sees the files of one answer at a time: they are copied into its folder
under a random name and removed afterwards. Whatever is unusual about a job ends the process and leaves the job to a
cold ESLint, whose words count. A process that has grown is replaced. `worker.mjs` is the other end.
"""

import asyncio
import json
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from convex_evals.core.errors import ProcessError
from convex_evals.core.processes import LIBRARIES, Confinement, Limits, PipedProcess, base_environment, start_piped

MEGABYTE: Final = 1024 * 1024
JOB_SECONDS: Final = 60.0
MOST_JOBS: Final = 30
MOST_MEMORY: Final = 900 * MEGABYTE
MOST_PROCESSES: Final = 2
"""Per host: one for `convex/` and one for `src/`."""
MOST_REPLY: Final = 16 * MEGABYTE
# Processor time is counted over all jobs; the time of one is limited by the clock.
LIMITS: Final = Limits(
    cpu_seconds=MOST_JOBS * int(JOB_SECONDS), file_size=MEGABYTE, data=4096 * MEGABYTE, open_files=4096
)
LAST_WORDS: Final = 1000
WORKER: Final = "worker.mjs"
PROGRAM: Final = (WORKER, "packages.mjs")


@dataclass(frozen=True, slots=True)
class LintJob:
    """`pattern` in `folder`, by `config`. The process may read `read` besides: configuration, tools, packages."""

    node: Path
    script: Path  # ESLint's own
    config: Path
    read: tuple[Path, ...]
    folder: Path
    pattern: str

    @property
    def setup(self) -> tuple[object, ...]:
        """Jobs that agree in this may share a process."""
        return self.node, self.script, self.config, self.read


@dataclass(frozen=True, slots=True)
class Linted:
    """What ESLint's JSON format says about each file, as if it had been run in the job's own folder."""

    reports: list[dict[str, Any]]
    wall_ms: float
    cpu_ms: float


class _Unusual(Exception):
    """This job is for a cold ESLint."""


@dataclass
class _WarmProcess:
    process: PipedProcess
    folder: Path
    stack: AsyncExitStack
    jobs: int = 0

    @classmethod
    async def start(cls, job: LintJob) -> "_WarmProcess":
        stack = AsyncExitStack()
        try:
            folder = stack.enter_context(_folder_of_process())
            errors = stack.enter_context((folder / "errors.log").open("wb"))
            started = start_piped(
                [job.node, folder / "program" / WORKER, job.script],
                cwd=folder / "jobs",
                stderr=errors.fileno(),
                environment=base_environment(folder / "home", {"CI": "1", "TMPDIR": str(folder / "home")}),
                limits=LIMITS,
                confinement=_confinement(job, folder),
                buffer_bytes=MOST_REPLY,
            )
            return cls(await stack.enter_async_context(started), folder, stack)
        except BaseException:
            await stack.aclose()
            raise

    @property
    def is_used_up(self) -> bool:
        return self.jobs >= MOST_JOBS

    async def lint(self, job: LintJob) -> Linted:
        """Raises _Unusual."""
        self.jobs += 1
        name = secrets.token_hex(16)
        place = self.folder / "jobs" / name
        try:
            await asyncio.to_thread(shutil.copytree, job.folder, place, symlinks=True)
            return await self._ask(job, name, place)
        finally:
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)

    async def _ask(self, job: LintJob, name: str, place: Path) -> Linted:
        order = {"id": name, "folder": str(place), "config": str(job.config), "pattern": job.pattern}
        clock = asyncio.get_running_loop().time
        started = clock()
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        try:
            async with asyncio.timeout(JOB_SECONDS):
                line = await self.process.stdout.readline()
        except (TimeoutError, ValueError, OSError) as error:  # ValueError: a line longer than the buffer
            raise _Unusual(f"no reply ({type(error).__name__})") from error
        if not line:
            raise _Unusual(f"it ended: {(self.folder / 'errors.log').read_text(errors='replace')[-LAST_WORDS:]}")
        reply = _read(line.replace(str(place).encode(), json.dumps(str(job.folder))[1:-1].encode()), name)
        if reply["memory"] > MOST_MEMORY:
            self.jobs = MOST_JOBS
        return Linted(reply["reports"], (clock() - started) * 1000, reply["cpu"])


@contextmanager
def _real_temporary_folder(prefix: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        yield Path(name).resolve()


@contextmanager
def _folder_of_process() -> Iterator[Path]:
    with _real_temporary_folder("eslint-") as folder:
        for name in ("home", "jobs", "program"):
            (folder / name).mkdir()
        for name in PROGRAM:
            (folder / "program" / name).write_bytes((files(__package__) / name).read_bytes())
        yield folder


def _read(line: bytes, name: str) -> dict[str, Any]:
    try:
        reply = json.loads(line)
        if reply["id"] != name:
            raise _Unusual("a reply to another job")
        if "error" in reply or not reply["reusable"]:
            raise _Unusual(str(reply.get("error", "something was left behind")))
        return {"reports": list(reply["reports"]), "cpu": float(reply["cpu"]), "memory": float(reply["memory"])}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _Unusual("an unreadable reply") from error


def _confinement(job: LintJob, folder: Path) -> Confinement:
    """As `tool_confinement`: nothing but these can be read, nothing written, no network."""
    read = (job.node.resolve(), folder / "program", folder / "jobs", *(path.resolve() for path in job.read))
    return Confinement(read, (), LIBRARIES, network="own", sockets="none", scratch=folder / "home")


@dataclass
class EslintHost:
    """Any number of jobs may be asked for at the same time; those of one setup wait for one another."""

    folder: Path
    """For configurations of ours; those of suites stay where they are."""
    is_open: bool = True
    _locks: dict[tuple[object, ...], asyncio.Lock] = field(default_factory=dict)
    _processes: dict[tuple[object, ...], _WarmProcess] = field(default_factory=dict)

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncIterator["EslintHost"]:
        with _real_temporary_folder("eslint-configuration-") as folder:
            host = cls(folder)
            try:
                yield host
            finally:
                host.is_open = False
                for setup in [*host._processes]:
                    await host._stop(setup)

    @property
    def setups(self) -> tuple[tuple[object, ...], ...]:
        """Of the processes that are running."""
        return tuple(self._processes)

    async def lint(self, job: LintJob) -> Linted | str:
        """A text says why a cold ESLint has to do it."""
        if not self.is_open:
            return "there is no warm ESLint here"
        async with self._locks.setdefault(job.setup, asyncio.Lock()):
            try:
                linted = await (await self._ready(job)).lint(job)
            except (_Unusual, ProcessError, OSError) as error:
                await self._stop(job.setup)
                return f"the warm ESLint gave up: {error}"
            except BaseException:
                await self._stop(job.setup)
                raise
            if self._processes[job.setup].is_used_up:
                await self._stop(job.setup)
            return linted

    async def _ready(self, job: LintJob) -> _WarmProcess:
        process = self._processes.pop(job.setup, None) or await _WarmProcess.start(job)
        self._processes[job.setup] = process  # the last one is the one used last
        for setup in [*self._processes][:-MOST_PROCESSES]:
            if not self._locks[setup].locked():
                await self._stop(setup)
        return process

    async def _stop(self, setup: tuple[object, ...]) -> None:
        process = self._processes.pop(setup, None)
        if process is not None:
            await process.stack.aclose()
