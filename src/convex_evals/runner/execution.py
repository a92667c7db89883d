"""Carries runs out: generates, grades and records, each as soon as it can be.

    work ──► generators (tasks) ──► a short queue ──► graders (a task and a process each) ──► scores

The queue is short and work is begun only when somebody is free for it, so memory does not grow with the suite.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.core.errors import ConvexEvalsError
from convex_evals.core.settings import Settings
from convex_evals.runner.attempts import Attempts, Ready
from convex_evals.runner.budget import Budget
from convex_evals.runner.events import Stopping, Watcher
from convex_evals.runner.grading import grading_worker
from convex_evals.runner.referee import Referee
from convex_evals.runner.stopping import Stop, heeding_signals
from convex_evals.runner.work import ActiveRun, Halt, Work
from convex_evals.scores import RunStatus

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

GENERATORS: Final = 8


@dataclass(frozen=True, slots=True)
class Equipment:
    """What runs are carried out with. `folder` is temporary and belongs to this command alone."""

    store: "ScoresStore"
    settings: Settings
    folder: Path
    jobs: int
    watcher: Watcher
    keep: bool = False
    budget: Budget | None = None


class Execution:
    """Runs that are carried out together: one begins while the last evals of the one before are still graded."""

    def __init__(self, runs: Sequence[ActiveRun], equipment: Equipment) -> None:
        self.runs = runs
        self._equipment = equipment
        self._stop = Stop(on_request=lambda: equipment.watcher(Stopping()))
        self._attempts = Attempts(
            equipment.store,
            equipment.watcher,
            self._stop,
            Referee(equipment.settings, equipment.folder),
            equipment.folder,
            equipment.keep,
            equipment.budget,
        )
        self._work: Iterator[tuple[ActiveRun, Work]] = ((run, each) for run in runs for each in run.work)
        self._ready: asyncio.Queue[Ready | None] = asyncio.Queue(maxsize=2 * equipment.jobs)

    async def carry_out(self) -> bool:
        """Returns False when the user stopped it. What is not done of a run can be resumed, whoever ended it."""
        try:
            with heeding_signals(self._stop):
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
        async with asyncio.TaskGroup() as group:
            for number in range(self._equipment.jobs):
                group.create_task(self._grade_all(self._equipment.folder / f"worker-{number}"))
            async with asyncio.TaskGroup() as generators:
                for _ in range(GENERATORS):
                    generators.create_task(self._generate_all())
            for _ in range(self._equipment.jobs):
                await self._ready.put(None)

    async def _generate_all(self) -> None:
        while not self._stop.requested and (next_work := next(self._work, None)) is not None:
            run, work = next_work
            if not await self._may_begin(run, work):
                continue
            ready = await self._attempts.generate(run, work)
            if ready is None:
                await self._done(run)
            else:
                await self._ready.put(ready)

    async def _may_begin(self, run: ActiveRun, work: Work) -> bool:
        """What is answered already is graded whatever happens."""
        budget = self._equipment.budget
        if budget is not None and run.halted is None and not await budget.admit(run, work):
            self._attempts.halt(run, Halt("stopped", budget.exhausted))
        return not self._stop.requested and (run.halted is None or work.stored is not None)

    async def _grade_all(self, folder: Path) -> None:
        async with grading_worker(self._equipment.settings, folder) as worker:
            while (ready := await self._ready.get()) is not None:
                if not self._stop.requested:  # what waits is graded when the run is resumed
                    await self._attempts.grade(ready, worker)
                    await self._done(ready.run)

    async def _done(self, run: ActiveRun) -> None:
        run.unfinished -= 1
        await self._close_if_done(run)

    async def _close_if_done(self, run: ActiveRun) -> None:
        if not run.unfinished:
            end = run.halted or Halt("completed", "")
            await asyncio.to_thread(self._equipment.store.finish_run, run.id, end.status, end.reason or None)

    def _close_unfinished(self, status: RunStatus, reason: str) -> None:
        for run in self.runs:
            if run.unfinished:
                end = run.halted or Halt(status, reason)
                self._equipment.store.finish_run(run.id, end.status, end.reason)


def _first(error: BaseException) -> BaseException:
    """Tasks fail in groups; one sentence can only be about one of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
