"""The same answers graded on this machine and through Ray on this machine, in turns."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.settings import Settings
from convex_evals.pipeline import Assignment, Grade, GradingOptions
from convex_evals.runner.cluster import Cluster, RemoteGrade
from convex_evals.runner.pool import GradingPool, Tries
from convex_evals.runner.worker import Workers
from convex_evals.suite import Eval, read_answer


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
