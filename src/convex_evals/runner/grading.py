"""The run's side of one grading worker: started when it is needed, replaced when it dies."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.checkout import package_folder
from convex_evals.core.errors import InfrastructureError, ProcessError
from convex_evals.core.processes import PipedProcess, base_environment, start_piped
from convex_evals.core.settings import Settings
from convex_evals.pipeline.messages import Assignment, Graded, Message, StepDone, Trouble, receive, send
from convex_evals.pipeline.types import Grade, StepResult

COMMAND: Final = (sys.executable, "-P", "-m", "convex_evals.pipeline.worker")
LOG: Final = "worker.log"
OVERHEAD_SECONDS: Final = 1200.0
"""What the steps before the grader may take at most, all limits of single tools together."""

OnStep = Callable[[StepResult], Awaitable[None]]


class GradingError(InfrastructureError):
    """There is no grade, and the model has nothing to do with it. `failure` is the kind of failure."""

    def __init__(self, failure: str, sentence: str) -> None:
        super().__init__(sentence)
        self.failure = failure


@dataclass
class GradingWorker:
    """One process that grades one submission at a time."""

    settings: Settings
    folder: Path
    """Its temporary folder: also the working folder of the process, and where its own log is."""
    _process: PipedProcess | None = None
    _stack: AsyncExitStack | None = None

    async def grade(self, assignment: Assignment, on_step: OnStep) -> Grade:
        """Grades; `on_step` is told of every step as it is done. Raises GradingError."""
        process = await self._running()
        try:
            async with asyncio.timeout(assignment.options.grader_seconds + OVERHEAD_SECONDS):
                return await _converse(process, assignment, on_step)
        except TimeoutError:
            await self.close()
            raise GradingError("worker-hangs", "The grading worker did not come to an end and was stopped.") from None
        except _WorkerGone:
            raise GradingError("worker-died", f"The grading worker died: {await self._bury()}.") from None

    async def close(self) -> None:
        """Stops the process and everything below it."""
        stack, self._stack, self._process = self._stack, None, None
        if stack is not None:
            await stack.aclose()

    async def _running(self) -> PipedProcess:
        if self._process is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._stack = AsyncExitStack()
            log = self._stack.enter_context((self.folder / LOG).open("ab"))
            self._process = await self._stack.enter_async_context(
                start_piped(COMMAND, cwd=self.folder, stderr=log.fileno(), environment=self._environment())
            )
        return self._process

    async def _bury(self) -> str:
        """Makes sure that nothing is left of it; how it ended."""
        assert self._process is not None
        self._process.process.kill()
        try:
            ended = await self._process.process.wait()
            await self.close()
        except ProcessError as error:  # whoever watched over it was killed as well
            return str(error).rstrip(".")
        if ended.signal is not None:
            return f"signal {ended.signal}"
        return f"exit code {ended.exit_code}, {_last_line(self.folder / LOG)}"

    def _environment(self) -> dict[str, str]:
        """No keys: a worker runs tools on files that a model wrote."""
        extra = {
            "CONVEX_EVALS_CACHE": str(self.settings.cache_folder),
            "PYTHONPATH": str(package_folder().parent),
            "TMPDIR": str(self.folder),  # whatever a killed worker leaves is removed with the folder
            **({"CONVEX_EVALS_NODE": str(self.settings.node)} if self.settings.node else {}),
            **self.settings.network_environment(),
        }
        return base_environment(self.settings.home, extra, path=self.settings.search_path)


class _WorkerGone(Exception):
    pass


async def _converse(process: PipedProcess, assignment: Assignment, on_step: OnStep) -> Grade:
    try:
        await send(process.stdin, assignment)
    except ConnectionError as error:
        raise _WorkerGone from error
    while True:
        match await _received(process):
            case StepDone(step):
                await on_step(step)
            case Graded(grade):
                return grade
            case Trouble(sentence):
                raise GradingError("grading-broke", sentence)
            case _:
                raise _WorkerGone


async def _received(process: PipedProcess) -> Message | None:
    try:
        return await receive(process.stdout)
    except (KeyError, TypeError, ValueError) as error:  # not one of our messages
        raise _WorkerGone from error


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    return lines[-1] if lines else "without a word"


@asynccontextmanager
async def grading_worker(settings: Settings, folder: Path) -> AsyncIterator[GradingWorker]:
    worker = GradingWorker(settings, folder)
    try:
        yield worker
    finally:
        await worker.close()
