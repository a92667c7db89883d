"""The run's side of one grading worker: started when it is needed, replaced when grading breaks down."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from convex_evals.core.diagnostics import stated
from convex_evals.core.distribution import package_folder
from convex_evals.core.errors import ProcessError
from convex_evals.core.files import MEBIBYTE, remove_folder
from convex_evals.core.processes import Limits, PipedProcess, Sandbox, base_environment, start_piped
from convex_evals.core.settings import Settings
from convex_evals.core.steps import StepResult
from convex_evals.core.toolchain import INSTALL_SECONDS
from convex_evals.core.verdicts import GATES, STEPS, StepName
from convex_evals.pipeline import (
    MOST_BYTES,
    Assignment,
    Grade,
    Graded,
    Message,
    OnStep,
    StepDone,
    Trouble,
    cut_log,
    receive,
    send,
    usage_of,
)
from convex_evals.suite import Pipeline

COMMAND: Final = (sys.executable, "-P", "-m", "convex_evals.pipeline.worker")
LOG: Final = "worker.log"
LIMITS: Final = Limits(data=4096 * MEBIBYTE)
"""Of the worker and of each process that it starts. Measured: at most 66 MB in a worker, 1.6 GB in Node."""

GATE_SECONDS: Final[dict[StepName, float]] = {
    "filesystem": 60.0,
    "install": INSTALL_SECONDS + 60.0,
    "deploy": INSTALL_SECONDS + 240.0,
}
"""How long a worker may take to report these steps; the first includes its start. What they run has lower limits; to
deploy, the `convex` command of a version may have to be installed."""
SPARE_SECONDS: Final = 60.0
"""The other steps run together; they have the grader's time and this much more."""


@dataclass
class GradingWorker:
    """One process that grades one submission at a time."""

    settings: Settings
    folder: Path
    """Its temporary folder: also the working folder of the process, and where its own log is."""
    _process: PipedProcess | None = None
    _sandbox: Sandbox = "required"
    _stack: AsyncExitStack | None = None

    async def grade(self, assignment: Assignment, on_step: OnStep) -> Grade:
        """Grades; `on_step` is told of every step as it is done. A worker that breaks down is a step without a verdict.

        After a grading without a verdict the next one has a new process and a new folder.
        """
        done: list[StepResult] = []

        async def note(step: StepResult) -> None:
            done.append(step)
            await on_step(step)

        try:
            grade = await self._converse(await self._running(assignment.options.sandbox), assignment, note, done)
        except _Accident as accident:
            grade = await self._broken_down(assignment, done, accident)
        except ProcessError as error:  # this machine has no room for it, at the moment
            grade = await self._broken_down(assignment, done, _Accident("worker-died", str(error)))
        if grade.status == "infrastructure" or await asyncio.to_thread(self._has_overflown):
            await self.discard()
        return grade

    async def close(self) -> None:
        """Stops the process and everything below it."""
        stack, self._stack, self._process = self._stack, None, None
        if stack is not None:
            await stack.aclose()

    async def discard(self) -> None:
        """Stops the process and removes its folder: nothing that an answer left there meets the next one."""
        await self.close()
        await asyncio.to_thread(remove_folder, self.folder)

    async def _running(self, sandbox: Sandbox) -> PipedProcess:
        if self._sandbox != sandbox:
            await self.discard()
            self._sandbox = sandbox
        if self._process is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._stack = AsyncExitStack()
            log = self._stack.enter_context((self.folder / LOG).open("ab"))
            self._process = await self._stack.enter_async_context(
                start_piped(
                    (*COMMAND, sandbox),
                    cwd=self.folder,
                    stderr=log.fileno(),
                    environment=self._environment(),
                    limits=LIMITS,
                )
            )
        return self._process

    async def _converse(
        self, process: PipedProcess, assignment: Assignment, on_step: OnStep, done: Sequence[StepResult]
    ) -> Grade:
        try:
            async with asyncio.timeout(GATE_SECONDS["filesystem"]) as patience:
                await _tell(process, assignment)
                while True:
                    match await _received(process):
                        case StepDone(step):
                            await on_step(step)
                            patience.reschedule(asyncio.get_running_loop().time() + _seconds(assignment, done))
                        case Graded(grade):
                            return grade
                        case Trouble(sentence):
                            raise _Accident("grading-broke", sentence)
                        case _:
                            raise _Gone
        except TimeoutError:
            raise _Accident("worker-hangs", "The grading worker did not come to an end and was stopped.") from None
        except _Gone:
            raise _Accident("worker-died", f"The grading worker died: {await self._reap()}.") from None

    async def _broken_down(self, assignment: Assignment, done: Sequence[StepResult], accident: "_Accident") -> Grade:
        await self.close()
        log = await asyncio.to_thread(self._last_words, str(accident))
        return broken_down(assignment, done, accident.kind, str(accident), log)

    def _last_words(self, sentence: str) -> Path:
        """Beside the worker's folder, where nothing of an answer can write."""
        log, kept = self.folder / LOG, self.folder.with_name(f"{self.folder.name}-{LOG}")
        kept.write_bytes(log.read_bytes() if log.is_file() and not log.is_symlink() else b"")
        cut_log(kept, MEBIBYTE)
        with kept.open("a") as file:
            file.write(f"{sentence}\n")
        return kept

    async def _reap(self) -> str:
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

    def _has_overflown(self) -> bool:
        return usage_of(self.folder).bytes > MOST_BYTES

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


class Worker(Protocol):
    """Grades one submission at a time, on this machine or elsewhere."""

    async def grade(self, assignment: Assignment, on_step: OnStep) -> Grade: ...

    async def discard(self) -> None:
        """Nothing that an answer left meets the next one."""
        ...


class Workers(Protocol):
    """Where workers come from. `folder` is temporary and belongs to the worker alone."""

    def worker(self, folder: Path) -> AbstractAsyncContextManager[Worker]: ...


@dataclass(frozen=True, slots=True)
class LocalWorkers:
    """Processes on this machine."""

    settings: Settings

    def worker(self, folder: Path) -> AbstractAsyncContextManager[Worker]:
        return grading_worker(self.settings, folder)


class _Accident(Exception):
    """Grading broke down outside of a step. `kind` is a key of the table of failures."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


class _Gone(Exception):
    pass


def broken_down(
    assignment: Assignment, done: Sequence[StepResult], kind: str, sentence: str, log: Path | None
) -> Grade:
    """The step that was under way has no verdict; its log is the worker's own, if there is one."""
    name = step_under_way(assignment, done)
    step = StepResult(
        name=name,
        status="infrastructure",
        duration_ms=0.0,
        cpu_ms=0.0,
        commands=(),
        excerpt=sentence,
        log=log,
        failure=kind,
        diagnostics=(stated(name, kind, sentence),),
    )
    return Grade(assignment.eval.id, "infrastructure", (*done, step))


def step_under_way(assignment: Assignment, done: Sequence[StepResult]) -> StepName:
    """The step that a worker was at when it broke down. Of those that run together, the tests run an answer's code."""
    told = {step.name for step in done}
    static = assignment.eval.pipeline is Pipeline.STATIC
    order: tuple[StepName, ...] = ("filesystem", "tests") if static else (*GATES, "tests", *STEPS)
    return next((name for name in order if name not in told), "tests")


def _seconds(assignment: Assignment, done: Sequence[StepResult]) -> float:
    """Until the worker must tell of the next step."""
    rest = assignment.options.longest_grader_seconds + SPARE_SECONDS
    return GATE_SECONDS.get(step_under_way(assignment, done), rest)


async def _tell(process: PipedProcess, assignment: Assignment) -> None:
    try:
        await send(process.stdin, assignment)
    except ConnectionError as error:
        raise _Gone from error


async def _received(process: PipedProcess) -> Message | None:
    try:
        return await receive(process.stdout)
    except (KeyError, TypeError, ValueError) as error:  # not one of our messages
        raise _Gone from error


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
