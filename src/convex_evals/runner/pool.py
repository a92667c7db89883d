"""The grading pool: answers of runs, controls and the probes of the analysis are all graded here.

It owns the workers and their folders, replaces workers that break down, and grades again what `core/retry.py` and the
referee say is to be graded again.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from convex_evals.core.files import remove_folder, try_lock
from convex_evals.core.settings import Settings
from convex_evals.core.steps import StepResult
from convex_evals.pipeline import Assignment, Grade
from convex_evals.runner.referee import Referee, Retry
from convex_evals.runner.worker import LocalWorkers, Worker, Workers

PREFIX: Final = "convex-evals-run-"
_LOCK: Final = ".lock"


@contextmanager
def open_workspace(parent: Path | None, *, keep: bool = False) -> Iterator[Path]:
    """A folder below `parent` (or the system's temporary folder), removed at the end unless it is to be kept.

    Folders of commands that were killed are removed as well: nobody holds their lock any more.
    """
    parent = parent or Path(tempfile.gettempdir())
    parent.mkdir(parents=True, exist_ok=True)
    _sweep(parent)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    lock = _lock(folder)
    try:
        yield folder
    finally:
        if keep:
            (folder / _LOCK).unlink(missing_ok=True)
        else:
            with suppress(OSError):
                remove_folder(folder)
        os.close(lock)


def _sweep(parent: Path) -> None:
    for lock in parent.glob(f"{PREFIX}*/{_LOCK}"):
        with suppress(OSError):  # another user's, or another command was faster
            descriptor = try_lock(lock)
            if descriptor is not None:
                remove_folder(lock.parent)
                os.close(descriptor)


def _lock(folder: Path) -> int:
    """Locked before it has its name, so that no other command ever sees it free."""
    unnamed = folder / f"{_LOCK}-{os.getpid()}"
    descriptor = try_lock(unnamed)
    assert descriptor is not None, "the folder is new and ours"
    unnamed.rename(folder / _LOCK)
    return descriptor


class Tries:
    """Is told of every try at grading one answer. This one has no use for it; runs record it."""

    async def begin(self) -> None:
        """A try begins."""

    async def step(self, step: StepResult) -> None:
        """A step of it is done."""

    async def end(self, grade: Grade) -> None:
        """It is decided what came of it; its folder is still there."""

    async def again(self, grade: Grade, pause: float | None) -> bool:
        """Whether another try follows now; with a pause one is due, when the pause is over."""
        if pause is not None:
            await asyncio.sleep(pause)
        return pause is not None


@dataclass(frozen=True)
class Turn:
    """A worker for as long as one needs it."""

    worker: Worker
    referee: Referee
    keep: bool

    async def grade(self, assignment: Assignment, tries: Tries | None = None) -> Grade:
        """Grades until there is a verdict, or none to be had. Each try has a folder of its own, named after that of the
        assignment and removed after the try."""
        tries, graded = tries or Tries(), list[Grade]()
        while True:
            await tries.begin()
            number = len(graded) + 1
            folder = assignment.folder.with_name(f"{assignment.folder.name}-{number}")
            async with _made(folder, keep=self.keep):
                given = replace(assignment, folder=folder)
                graded.append(await self.worker.grade(given, tries.step))
                decision = await self.referee.decide(given, graded)
                grade, pause = (graded[-1], decision.pause) if isinstance(decision, Retry) else (decision, None)
                await tries.end(grade)
            if not await tries.again(grade, pause):
                return grade


class GradingPool:
    """Use `open`. As many answers are graded at once as there are workers; a worker starts with its first answer."""

    def __init__(self, workers: Workers, folder: Path, size: int, *, keep: bool) -> None:
        self.folder, self.size = folder, size
        self._referee = Referee(workers, folder)
        self._keep = keep
        self._idle: asyncio.LifoQueue[Worker] = asyncio.LifoQueue()

    @classmethod
    @asynccontextmanager
    async def open(
        cls, settings: Settings, folder: Path, size: int, *, keep: bool = False, workers: Workers | None = None
    ) -> AsyncIterator[Self]:
        """`folder` is temporary and belongs to this command alone; with `keep` gradings leave their folders there.

        Without `workers`, they are processes on this machine.
        """
        workers = workers or LocalWorkers(settings)
        pool = cls(workers, folder, size, keep=keep)
        async with AsyncExitStack() as opened:
            for number in reversed(range(size)):
                worker = await opened.enter_async_context(workers.worker(folder / f"worker-{number}"))
                pool._idle.put_nowait(worker)
            yield pool

    async def grade(self, assignment: Assignment) -> Grade:
        """One answer, when a worker is free for it."""
        async with self.turn() as turn:
            return await turn.grade(assignment)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        """Waits for a worker that is free. One that is interrupted is replaced before its next turn."""
        worker = await self._idle.get()
        try:
            yield Turn(worker, self._referee, self._keep)
        except BaseException:
            await worker.discard()
            raise
        finally:
            self._idle.put_nowait(worker)


@asynccontextmanager
async def _made(folder: Path, *, keep: bool) -> AsyncIterator[None]:
    await asyncio.to_thread(folder.mkdir, parents=True)
    try:
        yield
    finally:
        if not keep:
            await asyncio.to_thread(remove_folder, folder)
