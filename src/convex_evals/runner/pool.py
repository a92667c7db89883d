"""The grading pool: answers of runs, controls and the probes of the analysis are all graded here.

It owns the workers and their folders, replaces workers that break down, and grades again what `core/retry.py` and the
referee say is to be graded again.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from convex_evals.core.diagnostics import stated
from convex_evals.core.files import remove_folder, try_lock
from convex_evals.core.ids import new_id
from convex_evals.core.retry import GRADING
from convex_evals.core.settings import Settings
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import StepName
from convex_evals.pipeline import FAILURES, Assignment, FailureKind, Grade, GradingOptions, ignore_step, status_of
from convex_evals.runner.worker import LocalWorkers, Worker, Workers
from convex_evals.suite import read_answer

PREFIX: Final = "convex-evals-run-"
_LOCK: Final = ".lock"
CONVICTED: Final = "accident-repeats"

_Key = tuple[str, GradingOptions, StepName | None]


@dataclass(frozen=True, slots=True)
class Retry:
    """The answer is to be graded once more, after a pause (in seconds)."""

    pause: float


@dataclass
class Referee:
    """Decides after each try whose failure it is when grading breaks down.

    One rule: what repeats on a fresh worker while the reference answer passes is the answer's failure. The reference
    answer of an eval is graded once per command; how often an answer is, `core/retry.py` says. `folder` is temporary
    and belongs to this command alone.
    """

    workers: Workers
    folder: Path
    _references: dict[_Key, Grade] = field(default_factory=dict)
    _locks: dict[_Key, asyncio.Lock] = field(default_factory=dict)

    async def decide(self, assignment: Assignment, tries: Sequence[Grade]) -> Retry | Grade:
        """Whether another try follows; otherwise the last one, with its verdict if the accident is the answer's."""
        last, allowed = tries[-1], GRADING.allows(len(tries))
        suspect = suspicious_step(last)
        if suspect is None:
            return Retry(GRADING.pause(len(tries))) if allowed and _passes_by_itself(last) else last
        first = sum(suspicious_step(each) is not None for each in tries) == 1
        again = Retry(GRADING.first_pause) if allowed else last
        if first and _kind(suspect).retried:
            return again
        if not await self._reference_passes(suspect.name, assignment):
            return last
        return again if first else convicted(last, suspect, tries)

    async def _reference_passes(self, name: StepName, assignment: Assignment) -> bool:
        answer = await asyncio.to_thread(_reference_files, assignment)
        if dict(assignment.files) == answer:
            return False
        key = (assignment.eval.id, assignment.options, assignment.only)
        async with self._locks.setdefault(key, asyncio.Lock()):
            if key not in self._references:
                self._references[key] = await self._grade_reference(replace(assignment, files=answer))
        step = self._references[key].step(name)
        return step is not None and step.status == "passed"

    async def _grade_reference(self, assignment: Assignment) -> Grade:
        """On a worker of its own, which has never graded another answer."""
        folder = self.folder / f"reference-{new_id()}"
        grading = folder / "grading"
        await asyncio.to_thread(grading.mkdir, parents=True)
        try:
            async with self.workers.worker(folder / "worker") as worker:
                return await worker.grade(replace(assignment, folder=grading), ignore_step)
        finally:
            await asyncio.to_thread(remove_folder, folder)


def suspicious_step(grade: Grade) -> StepResult | None:
    """The first step that broke down in a way an answer may have caused, if that is why there is no verdict."""
    if grade.status != "infrastructure":
        return None
    return next((step for step in _accidents(grade) if _kind(step).fault == "either"), None)


def convicted(grade: Grade, suspect: StepResult, tries: Sequence[Grade]) -> Grade:
    """The grade with the verdict that the accident is the answer's."""
    found = [step for each in tries if (step := suspicious_step(each)) is not None]
    told = ", then ".join(f"{step.failure} at {step.name}" for step in found)
    sentence = f"Grading this answer breaks down each time ({told}); the reference answer passes {suspect.name} here."
    excerpt = f"{sentence}\n{suspect.excerpt}".rstrip()
    said = (stated(suspect.name, CONVICTED, excerpt),)
    failed = replace(suspect, status="failed", failure=CONVICTED, excerpt=excerpt, diagnostics=said)
    steps = tuple(failed if step is suspect else step for step in grade.steps)
    return replace(grade, status=status_of(steps), steps=steps, broken=None, notes=(*grade.notes, sentence))


def _passes_by_itself(grade: Grade) -> bool:
    """Whether trying again may help: as the table of failures has it."""
    accidents = _accidents(grade)
    return grade.status == "infrastructure" and all(_kind(step).retried for step in accidents)


def _accidents(grade: Grade) -> list[StepResult]:
    return [step for step in grade.steps if step.status == "infrastructure" and step.failure in FAILURES]


def _kind(step: StepResult) -> FailureKind:
    assert step.failure is not None
    return FAILURES[step.failure]


def _reference_files(assignment: Assignment) -> dict[str, str]:
    globs = assignment.options.answer_files
    return read_answer(assignment.eval, globs) if globs else read_answer(assignment.eval)


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
    """Is told of every try at grading one answer. This one ignores them; runs record them."""

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
