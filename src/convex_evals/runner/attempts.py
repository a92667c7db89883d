"""Attempts at one eval and trial: the model is asked once, its answer is graded until there is a verdict."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.files import remove_folder
from convex_evals.core.ids import prefix
from convex_evals.models import ProviderError, StoredGeneration
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
from convex_evals.runner.grading import GradingWorker
from convex_evals.runner.referee import Again, Referee
from convex_evals.runner.stopping import Stop
from convex_evals.runner.work import ActiveRun, Halt, Work
from convex_evals.scores import Generation, OpenAttempt, Outcome, TestCounts

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore


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
    referee: Referee
    folder: Path
    keep: bool
    budget: Budget | None = None

    async def generate(self, run: ActiveRun, work: Work) -> Ready | None:
        """An answer, recorded before anything else is done with it. None: there is none to be had."""
        item = run.item(work)
        self.watcher(Generating(item))
        attempt = await asyncio.to_thread(self.store.begin_attempt, run.id, work.eval.id, work.trial)
        try:
            generation = await run.model.generate(work.eval, work.trial) if work.stored is None else work.stored
        except InfrastructureError as error:
            if isinstance(error, ProviderError) and error.ends_run:
                self.halt(run, Halt("failed", str(error)))
            outcome = Outcome("infrastructure", failure=_failure(error), notes=(str(error),))
            await self._finish(item, attempt, outcome, None)
            self._settle(item, None)
            return None
        self._settle(item, generation)
        files = await asyncio.to_thread(self._keep, attempt, generation)
        self.watcher(Generated(item))
        return Ready(run, work, attempt, files)

    async def grade(self, ready: Ready, worker: GradingWorker) -> None:
        """Grades until there is a verdict, or until the referee says that there is none to be had."""
        item, attempt, tries = ready.run.item(ready.work), ready.attempt, list[Grade]()
        while True:
            self.watcher(Grading(item))
            async with self._folder(attempt) as folder:
                assignment = Assignment(ready.work.eval, ready.files, ready.run.options, folder)
                recording = _Recording(self, item, attempt)
                tries.append(await worker.grade(assignment, recording.take))
                decision = await self.referee.decide(assignment, tries)
                grade = tries[-1] if isinstance(decision, Again) else decision
                await recording.take_rest(grade)
            pause = decision.pause if isinstance(decision, Again) else None
            if not await self._finish(item, attempt, _outcome(grade), pause):
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
        if pause is not None and not self.stop.requested:
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

    @asynccontextmanager
    async def _folder(self, attempt: OpenAttempt) -> AsyncIterator[Path]:
        folder = self.folder / prefix(attempt.run_id) / attempt.eval / f"{attempt.trial}-{attempt.number}"
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            if not self.keep:
                await asyncio.to_thread(remove_folder, folder)


@dataclass(slots=True)
class _Recording:
    """The steps of one attempt on their way into the scores. Those without a verdict wait for what the referee says."""

    attempts: Attempts
    item: Item
    attempt: OpenAttempt
    recorded: set[str] = field(default_factory=set)

    async def take(self, step: StepResult) -> None:
        if step.status != "infrastructure":
            await self._record(step)

    async def take_rest(self, grade: Grade) -> None:
        for step in grade.steps:
            if step.name not in self.recorded:
                await self._record(step)

    async def _record(self, step: StepResult) -> None:
        await asyncio.to_thread(self.attempts.store.record_step, self.attempt.id, step)
        self.recorded.add(step.name)
        self.attempts.watcher(StepFinished(self.item, step))


def _outcome(grade: Grade) -> Outcome:
    """A grading that broke down outside of its steps says so in the step that was under way."""
    decisive = next((step for step in grade.steps if step.status == grade.status and step.failure), None)
    accident = (decisive.excerpt,) if decisive is not None and grade.status == "infrastructure" else ()
    return Outcome(
        status=grade.status,
        failed_step=grade.failed_step,
        failure=decisive.failure if decisive else None,
        tests=TestCounts(grade.tests.passed, grade.tests.total) if grade.tests else None,
        duration_ms=grade.duration_ms,
        cpu_ms=grade.cpu_ms,
        broken=grade.broken,
        notes=(*grade.notes, *accident),
    )


def _failure(error: InfrastructureError) -> str:
    return error.failure if isinstance(error, ProviderError) else ProviderError.failure
