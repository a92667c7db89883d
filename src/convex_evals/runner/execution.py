"""Carries runs out: generates, grades and records, each as soon as it can be.

    work items ──► ask the model (8 at once) ──► grading pool (a process per job) ──► scores

A few tasks take item after item, so memory does not grow with the suite.
"""

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from convex_evals.core.errors import ConvexEvalsError, InfrastructureError
from convex_evals.core.ids import prefix
from convex_evals.core.settings import Settings
from convex_evals.core.steps import StepResult
from convex_evals.models import ProviderError, StoredGeneration, cut_off
from convex_evals.pipeline import Assignment, Grade
from convex_evals.runner.budget import Budget
from convex_evals.runner.pool import GradingPool, Tries
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
    Stopping,
    Watcher,
    WorkItem,
)
from convex_evals.runner.worker import Workers
from convex_evals.scores import Generation, GenerationRecord, OpenAttempt, Outcome, RunStatus, Usage

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

GRACEFUL: Final = (signal.SIGINT,)
IMMEDIATE: Final = (signal.SIGTERM, signal.SIGHUP)
GENERATORS: Final = 8
WAITING_PER_JOB: Final = 3
"""Answers that are graded or wait for it, per grading worker."""


class Stop:
    """Ctrl-C: once means finish what is in flight and start nothing more; twice means stop now.

    `requested` stops new work, `now` interrupts work in flight.
    """

    def __init__(self, on_request: Callable[[], None] = lambda: None) -> None:
        self.requested = False
        self.now = asyncio.Event()
        self._on_request = on_request

    def request(self) -> None:
        if self.requested:
            self.now.set()
        else:
            self.requested = True
            self._on_request()

    def stop_now(self) -> None:
        self.requested = True
        self.now.set()


@contextmanager
def signal_handlers(stop: Stop) -> Iterator[None]:
    """Until it ends, signals are requests to `stop` and do not end the process."""
    loop = asyncio.get_running_loop()
    for number in GRACEFUL:
        loop.add_signal_handler(number, stop.request)
    for number in IMMEDIATE:
        loop.add_signal_handler(number, stop.stop_now)
    try:
        yield
    finally:
        for number in (*GRACEFUL, *IMMEDIATE):
            loop.remove_signal_handler(number)


@dataclass(frozen=True, slots=True)
class Attempts:
    """Asks models and records every attempt: a model is asked once, its answer is graded until there is a verdict."""

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
            unusable = error.usages if isinstance(error, ProviderError) else ()
            if unusable:
                await asyncio.to_thread(self.store.record_unusable, attempt.id, unusable)
            outcome = Outcome("infrastructure", failure=_failure(error), notes=(str(error),))
            await self.finish(item, attempt, outcome)
            self._settle(item, None, unusable)
            return None
        self._settle(item, generation)
        kept = await asyncio.to_thread(self._keep, attempt, generation)
        self.watcher(Generated(item))
        return RecordedAnswer(self, item, attempt, kept.files, kept.cut_off)

    def halt(self, run: ActiveRun, why: Halt) -> None:
        """Only the first reason counts."""
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

    def _settle(
        self, item: WorkItem, generation: Generation | StoredGeneration | None, unusable: Sequence[Usage] = ()
    ) -> None:
        if self.budget is not None:
            self.budget.settle(item, generation if isinstance(generation, Generation) else None, unusable)

    def _keep(self, attempt: OpenAttempt, generation: Generation | StoredGeneration) -> "_Kept":
        if isinstance(generation, Generation):
            self.store.record_generation(attempt.id, generation)
            return _Kept(generation.files, _cut_off(generation))
        self.store.reuse_generation(attempt.id, generation.attempt)
        return self._stored(generation, attempt.eval)

    def _stored(self, stored: StoredGeneration, asked: str) -> "_Kept":
        (generation,) = (
            details.generation
            for details in self.store.details(stored.run, asked)
            if details.attempt.id == stored.attempt and details.generation is not None
        )
        return _Kept(self.store.read_files(generation.files), _cut_off(generation))


class _Kept(NamedTuple):
    files: Mapping[str, str]
    cut_off: str  # how it ended if it is not the whole answer


def _cut_off(generation: Generation | GenerationRecord) -> str:
    return cut_off(generation.usage.finish_reason if generation.usage else None) if generation.truncated else ""


@dataclass(slots=True)
class RecordedAnswer(Tries):
    """An answer and the attempts at grading it: each try is one, and its steps go into the scores as they are done.

    Steps without a verdict wait for what the referee says.
    """

    attempts: Attempts
    item: WorkItem
    attempt: OpenAttempt
    files: Mapping[str, str]
    cut_off: str
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
            budget.settle(item, None)  # frees what it was expected to cost for others that wait
        return begins

    async def _grade(self, run: ActiveRun, answer: RecordedAnswer, pool: GradingPool) -> bool:
        """False when that is left to whoever resumes the run."""
        item = answer.item
        folder = self._context.folder / prefix(run.id) / item.eval.id / str(item.trial)
        async with pool.turn() as turn:
            if self._stop.requested:
                return False
            assignment = Assignment(item.eval, answer.files, run.options, folder, cut_off=answer.cut_off)
            await turn.grade(assignment, answer)
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
