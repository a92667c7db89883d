"""Attempts at one eval and trial: the model is asked once, its answer is graded until there is a verdict."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.steps import StepResult
from convex_evals.models import ProviderError, StoredGeneration
from convex_evals.pipeline import Grade
from convex_evals.runner.budget import Budget
from convex_evals.runner.pool import Tries
from convex_evals.runner.stop import Stop
from convex_evals.runner.work import (
    ActiveRun,
    Finished,
    Generated,
    Generating,
    Grading,
    Halt,
    Halted,
    Retrying,
    StepFinished,
    Watcher,
    WorkItem,
)
from convex_evals.scores import Generation, OpenAttempt, Outcome

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore


@dataclass(frozen=True, slots=True)
class Attempts:
    """Asks models and records every attempt."""

    store: "ScoresStore"
    watcher: Watcher
    stop: Stop
    budget: Budget | None = None

    async def generate(self, run: ActiveRun, item: WorkItem) -> "RecordedAnswer | None":
        """An answer, recorded before anything else is done with it. None: there is none to be had."""
        self.watcher(Generating(item))
        attempt = await asyncio.to_thread(self.store.begin_attempt, run.id, item.eval.id, item.trial)
        try:
            generation = await run.model.generate(item.eval, item.trial) if item.stored is None else item.stored
        except InfrastructureError as error:
            if isinstance(error, ProviderError) and error.ends_run:
                self.halt(run, Halt("failed", str(error)))
            outcome = Outcome("infrastructure", failure=_failure(error), notes=(str(error),))
            await self.finish(item, attempt, outcome)
            self._settle(item, None)
            return None
        self._settle(item, generation)
        files = await asyncio.to_thread(self._keep, attempt, generation)
        self.watcher(Generated(item))
        return RecordedAnswer(self, item, attempt, files)

    def halt(self, run: ActiveRun, why: Halt) -> None:
        """Once is enough."""
        if run.halted is None:
            run.halted = why
            self.watcher(Halted(run.id, run.model.name, why.reason))

    async def finish(self, item: WorkItem, attempt: OpenAttempt, outcome: Outcome, pause: float | None = None) -> bool:
        """Records how an attempt ended, and says whether another one follows; the pause before it is over then."""
        await asyncio.to_thread(self.store.finish_attempt, attempt.id, outcome)
        if pause is not None and not self.stop.requested:
            self.watcher(Retrying(item, "; ".join(outcome.notes) or str(outcome.failure)))
            await asyncio.sleep(pause)
            if not self.stop.requested:
                return True
        self.watcher(Finished(item, outcome))
        return False

    def _settle(self, item: WorkItem, generation: Generation | StoredGeneration | None) -> None:
        if self.budget is not None:
            self.budget.settle(item, generation if isinstance(generation, Generation) else None)

    def _keep(self, attempt: OpenAttempt, generation: Generation | StoredGeneration) -> Mapping[str, str]:
        if isinstance(generation, Generation):
            self.store.record_generation(attempt.id, generation)
            return generation.files
        self.store.reuse_generation(attempt.id, generation.attempt)
        return self._stored_files(generation, attempt.eval)

    def _stored_files(self, stored: StoredGeneration, asked: str) -> Mapping[str, str]:
        (generation,) = (
            details.generation
            for details in self.store.details(stored.run, asked)
            if details.attempt.id == stored.attempt and details.generation is not None
        )
        return self.store.read_files(generation.files)


@dataclass(slots=True)
class RecordedAnswer(Tries):
    """An answer and the attempts at grading it: each try is one, and its steps go into the scores as they are done.

    Steps without a verdict wait for what the referee says.
    """

    attempts: Attempts
    item: WorkItem
    attempt: OpenAttempt
    files: Mapping[str, str]
    _recorded: set[str] = field(default_factory=set, init=False)

    async def begin(self) -> None:
        self._recorded.clear()
        self.attempts.watcher(Grading(self.item))

    async def step(self, step: StepResult) -> None:
        if step.status != "infrastructure":
            await self._record(step)

    async def end(self, grade: Grade) -> None:
        for step in grade.steps:
            if step.name not in self._recorded:
                await self._record(step)

    async def again(self, grade: Grade, pause: float | None) -> bool:
        goes_on = await self.attempts.finish(self.item, self.attempt, _outcome(grade), pause)
        if goes_on:
            self.attempt = await asyncio.to_thread(self._begin_again)
        return goes_on

    def _begin_again(self) -> OpenAttempt:
        store, before = self.attempts.store, self.attempt
        attempt = store.begin_attempt(before.run_id, before.eval, before.trial)
        store.reuse_generation(attempt.id, before.id)
        return attempt

    async def _record(self, step: StepResult) -> None:
        await asyncio.to_thread(self.attempts.store.record_step, self.attempt.id, step)
        self._recorded.add(step.name)
        self.attempts.watcher(StepFinished(self.item, step))


def _outcome(grade: Grade) -> Outcome:
    """A grading that broke down outside of its steps says so in the step that was under way."""
    decisive = next((step for step in grade.steps if step.status == grade.status and step.failure), None)
    accident = (decisive.excerpt,) if decisive is not None and grade.status == "infrastructure" else ()
    return Outcome(
        status=grade.status,
        failed_step=grade.failed_step,
        failure=decisive.failure if decisive else None,
        tests=grade.tests,
        duration_ms=grade.duration_ms,
        cpu_ms=grade.cpu_ms,
        broken=grade.broken,
        notes=(*grade.notes, *accident),
    )


def _failure(error: InfrastructureError) -> str:
    return error.failure if isinstance(error, ProviderError) else ProviderError.failure
