"""The measurements of `convex-evals bench cluster`.

Overhead: the same answers graded on this machine and through Ray on this machine, in turns. Throughput: whole runs on a
cluster whose workers sleep as long as grading takes, so that what is left is the work of the runner.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any, Final

import psutil

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.settings import Settings
from convex_evals.models import find_model
from convex_evals.pipeline import Assignment, Grade, GradingOptions, ignore_step
from convex_evals.runner.cluster import Cluster, RemoteGrade, RemoteWorker, start_cluster
from convex_evals.runner.execution import Execution, RunContext
from convex_evals.runner.plans import Request, plan_run
from convex_evals.runner.pool import GradingPool, Tries, open_workspace
from convex_evals.runner.worker import Worker, Workers
from convex_evals.scores import ScoresStore
from convex_evals.suite import Eval, Suite, SuiteParcel, read_answer

PER_WORKER: Final = 4
"""Answers that each worker grades, so that the beginning and the end of a run do not decide."""
PER_PROCESS: Final = 10
"""Sleeping workers that share a process: nothing of theirs is measured, and 200 processes would need a cluster."""
COUNTS: Final = (1, 10, 50, 100, 200)


@dataclass(frozen=True, slots=True)
class Cost:
    """Per answer."""

    cpu: float
    wall: float

    def to_json(self) -> dict[str, float]:
        return {"cpuMs": round(self.cpu * 1000, 1), "wallMs": round(self.wall * 1000, 1)}


@dataclass(frozen=True, slots=True)
class Overhead:
    """`local` and `ray` are rounds, each beside the one that had the same neighbours on the machine.

    `idle` is how much of a core Ray's own processes take while nothing is graded with them. A machine pays it for
    being in a cluster, not for an answer, so the processor time of `ray` does not include it.
    """

    answers: int
    local: Sequence[Cost]
    ray: Sequence[Cost]
    idle: float

    @property
    def cpu(self) -> float:
        """The share that Ray adds to an answer; the median of the rounds."""
        return median(ray.cpu / local.cpu for local, ray in zip(self.local, self.ray, strict=True)) - 1

    @property
    def wall(self) -> float:
        return median(ray.wall / local.wall for local, ray in zip(self.local, self.ray, strict=True)) - 1

    @property
    def seconds(self) -> float:
        """How long grading takes on this machine."""
        return median(each.wall for each in self.local)

    def to_json(self) -> dict[str, Any]:
        return {
            "answers": self.answers,
            "cpuOverhead": round(self.cpu, 4),
            "wallOverhead": round(self.wall, 4),
            "idleShare": round(self.idle, 4),
            "local": [each.to_json() for each in self.local],
            "ray": [each.to_json() for each in self.ray],
        }


@dataclass(frozen=True, slots=True)
class Meter:
    """Processor time of this command and everything that it started, Ray's processes apart."""

    ray: frozenset[int]

    @classmethod
    def of_cluster(cls) -> "Meter":
        """To be called when a cluster was started, and nothing else."""
        return cls(frozenset(each.pid for each in psutil.Process().children()))

    def here(self) -> float:
        roots = [each for each in psutil.Process().children() if each.pid not in self.ray]
        return _seconds([psutil.Process()]) + sum(_seconds([each, *_below(each)], reaped=True) for each in roots)

    def cluster(self) -> float:
        roots = [each for each in psutil.Process().children() if each.pid in self.ray]
        return sum(_seconds([each, *_below(each)], reaped=True) for each in roots)


def _below(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return process.children(recursive=True)
    return []


def _seconds(processes: Sequence[psutil.Process], *, reaped: bool = False) -> float:
    """`reaped` includes the children that ended."""
    total = 0.0
    for each in processes:
        with suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            total += times.user + times.system
            total += times.children_user + times.children_system if reaped else 0.0
    return total


@dataclass
class Kept(Tries):
    """Keeps the grade with its logs, which are removed afterwards."""

    graded: RemoteGrade | None = None

    async def end(self, grade: Grade) -> None:
        self.graded = RemoteGrade.of(grade)


@dataclass
class Comparison:
    """`evals` are graded with one worker here and one in the cluster; both stay warm."""

    settings: Settings
    cluster: Cluster
    meter: Meter
    evals: Sequence[Eval]
    folder: Path
    grades: dict[str, RemoteGrade] = field(default_factory=dict)
    _rounds: int = 0

    async def measure(self, rounds: int) -> Overhead:
        """Raises InfrastructureError when a reference answer does not pass."""
        local, ray, shares = list[Cost](), list[Cost](), list[float]()
        async with self._pool("local", None) as here, self._pool("ray", self.cluster) as there:
            await self._round(here)
            await self._round(there)
            for _ in range(rounds):
                before, begun = self.meter.cluster(), time.monotonic()
                local.append(await self._round(here))
                shares.append((self.meter.cluster() - before) / (time.monotonic() - begun))
                ray.append(await self._round(there, ray=True))
        idle = median(shares)
        beyond = [replace(each, cpu=each.cpu - idle * each.wall) for each in ray]
        return Overhead(len(self.evals), local, beyond, idle)

    def _pool(self, name: str, workers: Workers | None) -> Any:
        return GradingPool.open(self.settings, self.folder / name, 1, workers=workers)

    async def _round(self, pool: GradingPool, *, ray: bool = False) -> Cost:
        self._rounds += 1
        cpu, begun = self._cpu(ray), time.monotonic()
        for each in self.evals:
            await self._grade(pool, each)
        count = len(self.evals)
        return Cost((self._cpu(ray) - cpu) / count, (time.monotonic() - begun) / count)

    def _cpu(self, ray: bool) -> float:
        return self.meter.here() + (self.meter.cluster() if ray else 0.0)

    async def _grade(self, pool: GradingPool, each: Eval) -> None:
        folder, kept = pool.folder / str(self._rounds) / each.name, Kept()
        async with pool.turn() as turn:
            grade = await turn.grade(Assignment(each, read_answer(each), GradingOptions(), folder), kept)
        if grade.status != "passed" or kept.graded is None:
            raise InfrastructureError(f"The reference answer of {each.id} does not pass; see `convex-evals validate`.")
        self.grades[each.id] = kept.graded


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


@dataclass(frozen=True, slots=True)
class ClusterFigures:
    overhead: Overhead
    throughput: Sequence[Throughput]

    def to_json(self) -> dict[str, Any]:
        return {
            "overhead": self.overhead.to_json(),
            "sleepMs": round(self.overhead.seconds * 1000, 1),
            "throughput": [each.to_json() for each in self.throughput],
        }


async def measure_cluster(
    settings: Settings, suite: Suite, say: Callable[[str], None], *, answers: int, rounds: int, workers: int
) -> ClusterFigures:
    """Starts a cluster on this machine. `workers` is how many sleep at most.

    Raises UsageError without Ray, InfrastructureError when a reference answer does not pass.
    """
    counts = [count for count in COUNTS if count < workers] + [workers]
    with open_workspace(settings.output_folder) as folder:
        say("Starting a Ray cluster on this machine")
        async with start_cluster(settings, workers) as cluster:
            meter = Meter.of_cluster()
            comparison = Comparison(settings, cluster, meter, _spread(suite, answers), _made(folder / "overhead"))
            say(f"{answers} answers, {rounds} times on this machine and through Ray in turns")
            overhead = await comparison.measure(rounds)
            sleeping = SleepingCluster(
                cluster, settings, suite, comparison.grades, overhead.seconds, _made(folder / "throughput")
            )
            return ClusterFigures(overhead, await sleeping.measure(counts, say))


def _spread(suite: Suite, count: int) -> list[Eval]:
    """From all of the suite, so that light and heavy ones are in it."""
    count = min(count, len(suite.evals))
    return [suite.evals[number * len(suite.evals) // count] for number in range(count)]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
