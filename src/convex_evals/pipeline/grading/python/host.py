"""Runs Python graders: the warm process is started with the first of them, and again should it die."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from convex_evals.core.processes import Output, ProcessResult, Usage
from convex_evals.pipeline.grading.python.job import Job
from convex_evals.pipeline.grading.python.warm_process import Ending, WarmProcess

EXCERPT_BYTES: Final = 16_384


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
