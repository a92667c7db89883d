"""The measurements of `convex-evals bench cluster`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.core.settings import Settings
from convex_evals.runner.bench.overhead import Comparison, Meter, Overhead
from convex_evals.runner.bench.throughput import SleepingCluster, Throughput
from convex_evals.runner.cluster import start_cluster
from convex_evals.runner.pool import open_workspace
from convex_evals.suite import Eval, Suite

COUNTS: Final = (1, 10, 50, 100, 200)


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
