"""Whole runs on a cluster whose workers sleep as long as grading takes: what is left is the work of the runner."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any, Final

import psutil

from convex_evals.core.settings import Settings
from convex_evals.models import find_model
from convex_evals.pipeline import Assignment, GradingOptions, ignore_step
from convex_evals.runner.cluster import Cluster, RemoteGrade, RemoteWorker
from convex_evals.runner.execution import Execution, RunContext
from convex_evals.runner.plans import Request, plan_run
from convex_evals.runner.worker import Worker
from convex_evals.scores import ScoresStore
from convex_evals.suite import Eval, Suite, SuiteParcel, read_answer

PER_WORKER: Final = 4
"""Answers that each worker grades, so that the beginning and the end of a run do not decide."""
PER_PROCESS: Final = 10
"""Sleeping workers that share a process: nothing of theirs is measured, and 200 processes would need a cluster."""


class SleepingWorker:
    """The actor: gives the grade that the answer had before, after as long as grading took."""

    def __init__(self, grades: Mapping[str, RemoteGrade], seconds: float) -> None:
        self._grades, self._seconds = grades, seconds

    async def grade(self, assignment: Assignment, suite: SuiteParcel) -> RemoteGrade:
        await asyncio.sleep(self._seconds)
        return self._grades[assignment.eval.id]


@dataclass(frozen=True, slots=True)
class Throughput:
    """`runner` is the processor time that the run's own process took per answer."""

    workers: int
    answers: int
    wall: float
    runner: float
    sleep: float

    @property
    def per_second(self) -> float:
        return self.answers / self.wall

    @property
    def efficiency(self) -> float:
        """The share of the time in which workers slept, and so would have graded."""
        return self.per_second * self.sleep / self.workers

    def to_json(self) -> dict[str, Any]:
        return {
            "workers": self.workers,
            "answers": self.answers,
            "perSecond": round(self.per_second, 2),
            "efficiency": round(self.efficiency, 4),
            "runnerCpuMs": round(self.runner * 1000, 1),
        }


@dataclass
class BorrowedWorkers:
    """Workers that have started already, and go on when a run is over."""

    workers: Iterator[RemoteWorker]

    def worker(self, folder: Path) -> AbstractAsyncContextManager[Worker]:
        return self._lent()

    @asynccontextmanager
    async def _lent(self) -> AsyncIterator[Worker]:
        yield next(self.workers)


@dataclass
class SleepingCluster:
    """`grades` are what its workers answer with, `seconds` how long they take for each."""

    cluster: Cluster
    settings: Settings
    suite: Suite
    grades: Mapping[str, RemoteGrade]
    seconds: float
    folder: Path
    _workers: list[RemoteWorker] = field(default_factory=list)

    async def measure(self, counts: Sequence[int], say: Callable[[str], None]) -> list[Throughput]:
        ray = self.cluster.ray
        grades = await asyncio.to_thread(ray.put, dict(self.grades))
        sleeping = replace(self.cluster, actor=SleepingWorker, arguments=(grades, self.seconds))
        try:
            return [await self._counted(count, sleeping, say) for count in sorted(counts)]
        finally:
            for each in self._workers[::PER_PROCESS]:
                await each.discard()

    async def _counted(self, count: int, sleeping: Cluster, say: Callable[[str], None]) -> Throughput:
        say(f"{count} sleeping workers")
        await self._start(count - len(self._workers), sleeping)
        return await self._run(count)

    async def _start(self, count: int, sleeping: Cluster) -> None:
        """Each process has slept once, so its actor runs."""
        for _ in range(0, count, PER_PROCESS):
            first = RemoteWorker(sleeping)
            await first.grade(self._assignment(), ignore_step)
            self._workers += [first, *(RemoteWorker(sleeping, first.actor) for _ in range(PER_PROCESS - 1))]

    def _assignment(self) -> Assignment:
        folder = self.folder / "start"
        folder.mkdir(parents=True, exist_ok=True)
        return Assignment(self._evals[0], read_answer(self._evals[0]), GradingOptions(), folder)

    @property
    def _evals(self) -> list[Eval]:
        return [each for each in self.suite.evals if each.id in self.grades]

    async def _run(self, count: int) -> Throughput:
        """A run like any other: planned, asked, graded, recorded."""
        evals, folder = self._evals, self.folder / str(count)
        trials = ceil(PER_WORKER * count / len(evals))
        with ScoresStore.open(folder / "scores.db") as store:
            request = Request(self.suite, evals, GradingOptions(), trials=trials)
            run = plan_run(find_model("reference", store), request).begin(store)
            loan = BorrowedWorkers(iter(self._workers[:count]))
            context = RunContext(store, self.settings, folder / "run", count, lambda event: None, workers=loan)
            cpu, begun = _own_seconds(), time.monotonic()
            await Execution([run], context).carry_out()
            wall, used = time.monotonic() - begun, _own_seconds() - cpu
        answers = trials * len(evals)
        return Throughput(count, answers, wall, used / answers, self.seconds)


def _own_seconds() -> float:
    times = psutil.Process().cpu_times()
    return times.user + times.system
