"""Carries runs out: generates, grades and records, each as soon as it can be.

    work items ──► ask the model (8 at once) ──► grading pool (a process per job) ──► scores

A few tasks take item after item, so memory does not grow with the suite.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.core.errors import ConvexEvalsError
from convex_evals.core.ids import prefix
from convex_evals.core.settings import Settings
from convex_evals.pipeline import Assignment
from convex_evals.runner.attempts import Attempts, RecordedAnswer
from convex_evals.runner.budget import Budget
from convex_evals.runner.pool import GradingPool
from convex_evals.runner.stop import Stop, signal_handlers
from convex_evals.runner.work import ActiveRun, Halt, Stopping, Watcher, WorkItem
from convex_evals.runner.worker import Workers
from convex_evals.scores import RunStatus

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

GENERATORS: Final = 8
WAITING_PER_JOB: Final = 3
"""Answers that are graded or wait for it, per grading worker."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """What runs are carried out with. `folder` is temporary and belongs to this command alone."""

    store: "ScoresStore"
    settings: Settings
    folder: Path
    jobs: int
    watcher: Watcher
    keep: bool = False
    budget: Budget | None = None
    workers: Workers | None = None


class Execution:
    """Runs that are carried out together: one begins while the last evals of the one before are still graded."""

    def __init__(self, runs: Sequence[ActiveRun], context: RunContext) -> None:
        self.runs = runs
        self._context = context
        self._stop = Stop(on_request=lambda: context.watcher(Stopping()))
        self._attempts = Attempts(context.store, context.watcher, self._stop, context.budget)
        self._work: Iterator[tuple[ActiveRun, WorkItem]] = ((run, item) for run in runs for item in run.work)
        self._asking = asyncio.Semaphore(GENERATORS)

    async def carry_out(self) -> bool:
        """Returns False when the user stopped it. What is not done of a run can be resumed, whoever ended it."""
        try:
            with signal_handlers(self._stop):
                for run in self.runs:
                    await self._close_if_done(run)
                await self._until_stopped()
        except BaseException as error:
            first = _first(error)
            # If it is the scores that failed, they cannot take this either; `status` then says that nobody works on it.
            with suppress(ConvexEvalsError):
                self._close_unfinished("failed", " ".join(str(first).split()) or type(first).__name__)
            raise first from None
        self._close_unfinished("stopped", "interrupted")
        return not any(run.unfinished and run.halted is None for run in self.runs)

    async def _until_stopped(self) -> None:
        """Works until all is done, or until the user wants it to end at once."""
        working = asyncio.create_task(self._work_through())
        stopped = asyncio.create_task(self._stop.now.wait())
        try:
            await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working

    async def _work_through(self) -> None:
        context = self._context
        opening = GradingPool.open(
            context.settings, context.folder, context.jobs, keep=context.keep, workers=context.workers
        )
        async with opening as pool, asyncio.TaskGroup() as group:
            for _ in range(GENERATORS + WAITING_PER_JOB * context.jobs):
                group.create_task(self._work_on(pool))

    async def _work_on(self, pool: GradingPool) -> None:
        while not self._stop.requested and (next_work := next(self._work, None)) is not None:
            run, item = next_work
            async with self._asking:
                if not await self._may_begin(run, item):
                    continue
                answer = await self._attempts.generate(run, item)
            if answer is None or await self._grade(run, answer, pool):
                await self._done(run)

    async def _may_begin(self, run: ActiveRun, item: WorkItem) -> bool:
        """What is answered already is graded whatever happens."""
        budget = self._context.budget
        if budget is not None and run.halted is None and not await budget.admit(run, item):
            self._attempts.halt(run, Halt("stopped", budget.exhausted))
        begins = not self._stop.requested and (run.halted is None or item.stored is not None)
        if budget is not None and not begins:
            budget.settle(item, None)  # others wait for what it was expected to cost
        return begins

    async def _grade(self, run: ActiveRun, answer: RecordedAnswer, pool: GradingPool) -> bool:
        """False when that is left to whoever resumes the run."""
        item = answer.item
        folder = self._context.folder / prefix(run.id) / item.eval.id / str(item.trial)
        async with pool.turn() as turn:
            if self._stop.requested:
                return False
            await turn.grade(Assignment(item.eval, answer.files, run.options, folder), answer)
        return True

    async def _done(self, run: ActiveRun) -> None:
        run.unfinished -= 1
        await self._close_if_done(run)

    async def _close_if_done(self, run: ActiveRun) -> None:
        if not run.unfinished:
            end = run.halted or Halt("completed", "")
            await asyncio.to_thread(self._context.store.finish_run, run.id, end.status, end.reason or None)

    def _close_unfinished(self, status: RunStatus, reason: str) -> None:
        for run in self.runs:
            if run.unfinished:
                end = run.halted or Halt(status, reason)
                self._context.store.finish_run(run.id, end.status, end.reason)


def _first(error: BaseException) -> BaseException:
    """Tasks fail in groups; one sentence can only be about one of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
