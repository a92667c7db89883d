"""Our end of the warm process: started with the first grader, started again should it die."""

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

from convex_evals.core.errors import ProcessError
from convex_evals.core.processes import Output, PipedProcess, ProcessResult, Usage, base_environment, start_piped
from convex_evals.pipeline.grading.python.job import Job

EXCERPT_BYTES: Final = 16_384
COMMAND: Final = (sys.executable, "-I", "-m", "convex_evals.pipeline.grading")


class GraderHost:
    """Runs Python graders, any number at the same time."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._starting = asyncio.Lock()
        self._process: PipedProcess | None = None
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._last_number = 0

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncIterator["GraderHost"]:
        host = cls()
        try:
            yield host
        finally:
            await host._stack.aclose()

    async def run(self, job: Job) -> ProcessResult:
        """Runs a grader to its end. Cancelling kills it first."""
        process = await self._started()
        self._last_number += 1
        number = self._last_number
        self._waiting[number] = ended = asyncio.get_running_loop().create_future()
        process.stdin.write(f"run {number} {job.dumps()}\n".encode())
        try:
            return _result(job, await asyncio.shield(ended))
        except asyncio.CancelledError:
            process.stdin.write(f"stop {number}\n".encode())
            with suppress(ProcessError):
                await ended
            raise

    async def _started(self) -> PipedProcess:
        async with self._starting:
            if self._process is None:
                self._process = await self._start()
            return self._process

    async def _start(self) -> PipedProcess:
        home = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="grader-host-")))
        errors = self._stack.enter_context((home / "errors.log").open("w+b"))
        process = await self._stack.enter_async_context(
            start_piped(COMMAND, cwd=home, stderr=errors.fileno(), environment=base_environment(home))
        )
        reader = asyncio.create_task(self._listen(process, home / "errors.log"))
        self._stack.callback(reader.cancel)
        return process

    async def _listen(self, process: PipedProcess, errors: Path) -> None:
        async for line in process.stdout:
            ending = json.loads(line)
            self._waiting.pop(ending.pop("number")).set_result(ending)
        self._process = None
        reason = (await asyncio.to_thread(errors.read_text, errors="replace"))[-2000:].strip()
        lost, self._waiting = self._waiting, {}
        for future in lost.values():
            future.set_exception(ProcessError(f"The process that runs Python graders ended: {reason or 'no reason'}."))


def _result(job: Job, ending: dict[str, Any]) -> ProcessResult:
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
