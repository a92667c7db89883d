"""Runs Python graders: the warm process is started with the first of them, and again should it die."""

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from convex_evals.core.errors import ProcessError
from convex_evals.core.processes import Output, PipedProcess, ProcessResult, Usage, base_environment, start_piped
from convex_evals.pipeline.grading.python.process import WARM, Job

COMMAND: Final = (sys.executable, "-I", "-m", "convex_evals.pipeline.grading.python")
LAST_WORDS: Final = 2000
EXCERPT_BYTES: Final = 16_384

Ending = dict[str, Any]


@dataclass
class WarmProcess:
    """Our end of one warm process that graders are forked from; its own end is `__main__.py`.

    `is_over` as soon as it has died; jobs that ran then end with a ProcessError.
    """

    process: PipedProcess
    errors: Path
    is_over: bool = False
    _waiting: dict[int, asyncio.Future[Ending]] = field(default_factory=dict)
    _last_number: int = 0

    @classmethod
    @asynccontextmanager
    async def start(cls) -> AsyncIterator["WarmProcess"]:
        with (
            tempfile.TemporaryDirectory(prefix="grader-host-") as name,
            (Path(name) / "errors.log").open("wb") as errors,
        ):
            home = Path(name)
            environment = base_environment(home)
            starting = start_piped(COMMAND, cwd=home, stderr=errors.fileno(), environment=environment, confinement=WARM)
            async with starting as process:
                warm = cls(process, home / "errors.log")
                listening = asyncio.create_task(warm._listen())
                yield warm
            await listening  # ends with the process

    async def run(self, job: Job) -> Ending:
        """Runs a grader to its end. Cancelling kills it first."""
        self._last_number += 1
        number = self._last_number
        self._waiting[number] = ended = asyncio.get_running_loop().create_future()
        self.process.stdin.write(f"run {number} {job.dumps()}\n".encode())
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            self.process.stdin.write(f"stop {number}\n".encode())
            with suppress(ProcessError):
                await ended
            raise

    async def _listen(self) -> None:
        with suppress(ConnectionError):  # it died with orders unread, or before they could be written
            async for line in self.process.stdout:
                ending = json.loads(line)
                self._waiting.pop(ending["number"]).set_result(ending)
        self.is_over = True
        reason = await asyncio.to_thread(self.errors.read_text, errors="replace")
        for future in self._waiting.values():
            future.set_exception(
                ProcessError(f"The process that runs Python graders ended; its last words: {reason[-LAST_WORDS:]!r}.")
            )


class GraderHost:
    """Any number of graders may run at the same time."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._starting = asyncio.Lock()
        self._warm: WarmProcess | None = None

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncIterator["GraderHost"]:
        async with AsyncExitStack() as stack:
            yield cls(stack)

    async def run(self, job: Job) -> ProcessResult:
        """Runs a grader to its end. Cancelling kills it first; a ProcessError means that nobody knows how it ended."""
        return _result(job, await (await self._ready()).run(job))

    async def prepare(self) -> int:
        """The process whose descendants the graders are."""
        return (await self._ready()).process.process.pid

    async def _ready(self) -> WarmProcess:
        async with self._starting:
            if self._warm is None or self._warm.is_over:
                self._warm = await self._stack.enter_async_context(WarmProcess.start())
            return self._warm


def _result(job: Job, ending: Ending) -> ProcessResult:
    usage = Usage(ending["wall"], ending["cpu_user"], ending["cpu_system"], ending["peak_memory"])
    return ProcessResult(
        arguments=("pytest", str(job.grader)),
        exit_code=ending["exit_code"],
        signal=ending["signal"],
        timed_out=ending["timed_out"],
        usage=usage,
        output=_output(job.log),
        errors=None,
        left_behind=0,
    )


def _output(log: Path) -> Output:
    content = log.read_bytes() if log.exists() else b""
    half = EXCERPT_BYTES // 2
    return Output(log, len(content), content[:half], content[half:][-half:])
