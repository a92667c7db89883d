"""The measurements of `convex-evals bench scale`: the real commands with a large suite of trivial evals."""

import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, Final

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.files import MEBIBYTE
from convex_evals.core.processes import base_environment, start
from convex_evals.core.settings import Settings
from convex_evals.scores import ScoresStore

Say = Callable[[str], None]

COMMAND: Final = (sys.executable, "-P", "-m", "convex_evals")
PER_CATEGORY: Final = 1000
GRADED: Final = 10  # every tenth has a grader
SAMPLE_SECONDS: Final = 0.25
QUERY_TIMES: Final = 5
GRADER: Final = "def test_nothing(files):\n    assert files\n"


@dataclass(frozen=True, slots=True)
class CommandFigures:
    """`halfway` and `memory` are the main process's resident memory in the middle and at its most, in MB."""

    name: str
    evals: int
    seconds: float
    cpu_seconds: float
    halfway: float
    memory: float

    @property
    def ms_per_eval(self) -> float:
        return self.seconds * 1000 / self.evals

    @property
    def cpu_ms_per_eval(self) -> float:
        return self.cpu_seconds * 1000 / self.evals

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "evals": self.evals,
            "seconds": round(self.seconds, 2),
            "cpuSeconds": round(self.cpu_seconds, 2),
            "msPerEval": round(self.ms_per_eval, 2),
            "cpuMsPerEval": round(self.cpu_ms_per_eval, 2),
            "halfwayMb": round(self.halfway, 1),
            "memoryMb": round(self.memory, 1),
        }


@dataclass(frozen=True, slots=True)
class QueryFigures:
    """The median of a few times, in milliseconds."""

    name: str
    ms: float

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "ms": round(self.ms, 2)}


@dataclass(frozen=True, slots=True)
class ScaleFigures:
    commands: Sequence[CommandFigures]
    queries: Sequence[QueryFigures]

    def to_json(self) -> dict[str, Any]:
        return {
            "commands": [each.to_json() for each in self.commands],
            "queries": [each.to_json() for each in self.queries],
        }


async def measure_scale(settings: Settings, evals: int, say: Say) -> ScaleFigures:
    """With a quarter of the evals and with all of them; then two runs at once on the same cache.

    Raises InfrastructureError when a command fails.
    """
    with TemporaryDirectory(prefix="bench-scale-") as name:
        folder = Path(name)
        commands = []
        for count in (max(evals // 4, 1), evals):
            suite = write_suite(folder / f"suite-{count}", count)
            for verb in ("validate", "run"):
                say(f"{verb} with {count:,} evals")
                commands.append(await _measure(settings, folder, verb, suite, count))
        say(f"two runs at once with {evals // 4:,} evals each")
        suite = folder / f"suite-{max(evals // 4, 1)}"
        pair = (_measure(settings, folder, "run", suite, max(evals // 4, 1), part) for part in ("first", "second"))
        commands += await asyncio.gather(*pair)
        return ScaleFigures(commands, _query(folder / "run.db"))


def write_suite(folder: Path, evals: int) -> Path:
    """Static evals: the files of an answer are all there is to grade."""
    for number in range(evals):
        category, place = divmod(number, PER_CATEGORY)
        eval = folder / "evals" / f"{category:03}-scale" / f"{place:03}-trivial_{number}"
        (eval / "answer/convex").mkdir(parents=True)
        (eval / "TASK.txt").write_text(f"Write convex/index.ts so that it exports the number {number}.\n")
        (eval / "answer/convex/index.ts").write_text(f"export const number = {number};\n")
        (eval / "eval.json").write_text(json.dumps({"pipeline": "static"}))
        if number % GRADED == 0:
            (eval / "grader.py").write_text(GRADER)
    return folder / "evals"


async def _measure(
    settings: Settings, folder: Path, verb: str, suite: Path, evals: int, part: str = ""
) -> CommandFigures:
    model = ["--model", "reference", "--scores", str(folder / f"{verb}{part}.db")] if verb == "run" else []
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environment = base_environment(home, {"CONVEX_EVALS_CACHE": str(settings.cache_folder)})
    with _streams(folder / f"{verb}{part}.log") as (nothing, log):
        began = time.perf_counter()
        process = await start(
            [*COMMAND, verb, "--evals", suite, *model],
            cwd=folder,
            stdin=nothing.fileno(),
            stdout=log.fileno(),
            stderr=log.fileno(),
            environment=environment,
        )
        async with process:
            samples = asyncio.create_task(_sample(process.pid))
            ended = await process.wait()
        seconds = time.perf_counter() - began
        log.seek(0)
        if ended.exit_code != 0:
            said = log.read().decode(errors="replace")[-1000:]
            raise InfrastructureError(f"`convex-evals {verb}` with {evals} evals ended with an error: {said}")
    memory = await samples
    name = f"{verb} ({part} of two at once)" if part else verb
    return CommandFigures(name, evals, seconds, ended.usage.cpu, memory[len(memory) // 2], max(memory))


@contextmanager
def _streams(log: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    with Path(os.devnull).open("rb") as nothing, log.open("w+b") as written:
        yield nothing, written


async def _sample(pid: int) -> list[float]:
    """Resident memory of one process until it ends, in MB."""
    found = [0.0]
    while (size := _resident(pid)) is not None:
        found.append(size)
        await asyncio.sleep(SAMPLE_SECONDS)
    return found


def _resident(pid: int) -> float | None:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    values = [line.split()[1] for line in lines if line.startswith("VmRSS:")]
    return int(values[0]) * 1024 / MEBIBYTE if values else None


def _query(scores: Path) -> list[QueryFigures]:
    """What commands and pages ask about a run, of the one with the most evals."""
    with ScoresStore.open(scores) as store:
        run = max(store.runs(), key=lambda run: len(store.planned(run.id)))
        one = store.planned(run.id)[-1].eval
        queries: list[tuple[str, Callable[[], object]]] = [
            ("all runs", store.runs),
            ("what a run plans", lambda: store.planned(run.id)),
            ("its results", lambda: store.results(run.id)),
            ("all details of its attempts", lambda: store.details(run.id)),
            ("details of one attempt", lambda: store.details(run.id, one)),
        ]
        return [QueryFigures(name, statistics.median(_times(ask))) for name, ask in queries]


def _times(ask: Callable[[], object]) -> Iterator[float]:
    for _ in range(QUERY_TIMES):
        began = time.perf_counter()
        ask()
        yield (time.perf_counter() - began) * 1000
