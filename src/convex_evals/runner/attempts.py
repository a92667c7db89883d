"""Attempts at one eval and trial: the model is asked once, its answer is graded until there is a verdict."""

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.ids import prefix
from convex_evals.models import ModelUnusableError, ProviderError, StoredGeneration
from convex_evals.pipeline.failures import FAILURES
from convex_evals.pipeline.messages import Assignment
from convex_evals.pipeline.types import Grade, StepResult
from convex_evals.runner.budget import Budget
from convex_evals.runner.events import (
    Finished,
    Generated,
    Generating,
    Grading,
    Halted,
    Item,
    Retrying,
    StepFinished,
    Watcher,
)
from convex_evals.runner.grading import GradingError, GradingWorker
from convex_evals.runner.stopping import Stop
from convex_evals.runner.work import ActiveRun, Halt, Work
from convex_evals.scores import Generation, OpenAttempt, Outcome, TestCounts

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

PAUSES: Final = (1.0, 5.0)
"""Seconds before the second and third attempt; there is no fourth."""


@dataclass(frozen=True, slots=True)
class Ready:
    """An answer that waits for grading."""

    run: ActiveRun
    work: Work
    attempt: OpenAttempt
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Attempts:
    store: "ScoresStore"
    watcher: Watcher
    stop: Stop
    folder: Path
    keep: bool
    budget: Budget | None = None

    async def generate(self, run: ActiveRun, work: Work) -> Ready | None:
        """An answer, recorded before anything else is done with it. None: there is none to be had."""
        item = run.item(work)
        for pause in (*PAUSES, None):
            self.watcher(Generating(item))
            attempt = await asyncio.to_thread(self.store.begin_attempt, run.id, work.eval.id, work.trial)
            try:
                generation = await run.model.generate(work.eval, work.trial) if work.stored is None else work.stored
            except InfrastructureError as error:
                outcome = Outcome("infrastructure", failure=_failure(error), notes=(str(error),))
                if isinstance(error, ModelUnusableError):
                    self.halt(run, Halt("failed", str(error)))
                if await self._finish(item, attempt, outcome, pause if run.halted is None else None):
                    continue
                self._settle(item, None)
                return None
            self._settle(item, generation)
            files = await asyncio.to_thread(self._keep, attempt, generation)
            self.watcher(Generated(item))
            return Ready(run, work, attempt, files)
        return None

    async def grade(self, ready: Ready, worker: GradingWorker) -> None:
        """Grades until there is a verdict, or until infrastructure trouble has come too often."""
        item, attempt = ready.run.item(ready.work), ready.attempt
        for pause in (*PAUSES, None):
            self.watcher(Grading(item))
            outcome = await self._grade_once(ready, attempt, worker)
            if not await self._finish(item, attempt, outcome, pause):
                return
            attempt = await asyncio.to_thread(self._begin_again, attempt)

    def halt(self, run: ActiveRun, why: Halt) -> None:
        """Once is enough."""
        if run.halted is None:
            run.halted = why
            self.watcher(Halted(run.id, run.model.name, why.reason))

    def _settle(self, item: Item, generation: Generation | StoredGeneration | None) -> None:
        if self.budget is not None:
            self.budget.settle(item, generation if isinstance(generation, Generation) else None)

    def _keep(self, attempt: OpenAttempt, generation: Generation | StoredGeneration) -> Mapping[str, str]:
        if isinstance(generation, Generation):
            self.store.record_generation(attempt.id, generation)
            return generation.files
        self.store.reuse_generation(attempt.id, generation.attempt)
        return self._stored_files(generation, attempt.eval)

    async def _finish(self, item: Item, attempt: OpenAttempt, outcome: Outcome, pause: float | None) -> bool:
        """Records how an attempt ended, and says whether another one follows; the pause before it is over then."""
        await asyncio.to_thread(self.store.finish_attempt, attempt.id, outcome)
        if pause is not None and _is_tried_again(outcome) and not self.stop.requested:
            self.watcher(Retrying(item, "; ".join(outcome.notes) or str(outcome.failure)))
            await asyncio.sleep(pause)
            if not self.stop.requested:
                return True
        self.watcher(Finished(item, outcome))
        return False

    def _stored_files(self, stored: StoredGeneration, asked: str) -> Mapping[str, str]:
        (generation,) = (
            details.generation
            for details in self.store.details(stored.run, asked)
            if details.attempt.id == stored.attempt and details.generation is not None
        )
        return self.store.read_files(generation.files)

    def _begin_again(self, before: OpenAttempt) -> OpenAttempt:
        attempt = self.store.begin_attempt(before.run_id, before.eval, before.trial)
        self.store.reuse_generation(attempt.id, before.id)
        return attempt

    async def _grade_once(self, ready: Ready, attempt: OpenAttempt, worker: GradingWorker) -> Outcome:
        item, recorded = ready.run.item(ready.work), set[str]()

        async def record(step: StepResult) -> None:
            await asyncio.to_thread(self.store.record_step, attempt.id, step)
            recorded.add(step.name)
            self.watcher(StepFinished(item, step))

        folder = self.folder / prefix(attempt.run_id) / attempt.eval / f"{attempt.trial}-{attempt.number}"
        folder.mkdir(parents=True)
        try:
            grade = await worker.grade(Assignment(ready.work.eval, ready.files, ready.run.options, folder), record)
            for step in grade.steps:
                if step.name not in recorded:
                    await record(step)
        except GradingError as error:
            return Outcome("infrastructure", failure=error.failure, notes=(str(error),))
        finally:
            if not self.keep:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        return _outcome(grade)


def _outcome(grade: Grade) -> Outcome:
    decisive = next((step for step in grade.steps if step.status == grade.status and step.failure), None)
    return Outcome(
        status=grade.status,
        failed_step=grade.failed_step,
        failure=decisive.failure if decisive else None,
        tests=TestCounts(grade.tests.passed, grade.tests.total) if grade.tests else None,
        duration_ms=grade.duration_ms,
        cpu_ms=grade.cpu_ms,
        broken=grade.broken,
        notes=grade.notes,
    )


def _failure(error: InfrastructureError) -> str:
    return error.failure if isinstance(error, ProviderError) else ProviderError.failure


def _is_tried_again(outcome: Outcome) -> bool:
    """As the table of failures has it."""
    return outcome.failure in FAILURES and FAILURES[outcome.failure].retried
