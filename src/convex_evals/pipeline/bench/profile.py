"""Where the processor time of a warm grading goes: by step and program, and by function of our own code."""

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.core.processes import EndedProgram, endings_recorded
from convex_evals.core.supervisor import descendants
from convex_evals.pipeline.bench.flame_graph import Stacks, stacks_sampled
from convex_evals.pipeline.types import Grade

OWN: Final = "this process (Python)"
SUPERVISORS: Final = "supervisors"
_TICK: Final = 1000 / os.sysconf("SC_CLK_TCK")
_GENERIC: Final = frozenset({"main", "index", "cli", "bin"})  # names of scripts that say nothing
_INTERPRETERS: Final = frozenset({"node", "python", "python3"})
_STAYING: Final = {"convex_evals.pipeline.grading.python": "grader host", "supervisor.server": "spawn server"}


@dataclass(frozen=True, slots=True)
class Share:
    """What one kind of process took, of all gradings together. Without a step it served several."""

    step: str | None
    process: str
    times: int
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Profile:
    gradings: int
    shares: Sequence[Share]
    stacks: Stacks

    @property
    def cpu_ms(self) -> float:
        """Of one grading."""
        return sum(share.cpu_ms for share in self.shares) / self.gradings

    def to_json(self) -> dict[str, Any]:
        shares = [
            {
                "step": share.step,
                "process": share.process,
                "timesPerGrading": round(share.times / self.gradings, 2),
                "cpuMs": round(share.cpu_ms / self.gradings, 1),
            }
            for share in self.shares
        ]
        total = max(self.stacks.total, 1)
        own = [{"function": name, "share": round(n / total, 4)} for name, n in self.stacks.own().most_common(40)]
        return {"gradings": self.gradings, "cpuMs": round(self.cpu_ms, 1), "processes": shares, "functions": own}


class Profiler:
    """Collects while its context is open; give it every grade that was made meanwhile."""

    def __init__(self) -> None:
        self._grades: list[Grade] = []
        self._endings: list[EndedProgram] = []
        self._stacks = Stacks()
        self._own_ms = 0.0
        self._staying: dict[str, float] = {}

    @contextmanager
    def running(self) -> Iterator["Profiler"]:
        before, started = _staying_ms(), time.process_time()
        with endings_recorded() as self._endings, stacks_sampled() as self._stacks:
            yield self
        self._own_ms = (time.process_time() - started) * 1000
        for pid, (name, spent) in _staying_ms().items():
            self._staying[name] = self._staying.get(name, 0.0) + spent - before.get(pid, (name, 0.0))[1]

    def add(self, grade: Grade) -> None:
        self._grades.append(grade)

    def profile(self) -> Profile:
        spent: dict[tuple[str | None, str], list[float]] = defaultdict(list)
        known: set[tuple[str, ...]] = set()
        for step in (step for grade in self._grades for step in grade.steps):
            for command in step.commands:
                known.add(command.arguments)
                spent[step.name, program_of(command.arguments)].append(command.cpu_ms)
        for each in self._endings:
            if each.arguments not in known:
                spent[None, program_of(each.arguments)].append(each.ended.usage.cpu * 1000)
        spent[None, SUPERVISORS] = [each.ended.supervision * 1000 for each in self._endings]
        spent[None, OWN] = [self._own_ms]
        for name, milliseconds in self._staying.items():
            spent[None, name] = [milliseconds]
        shares = [Share(step, process, len(costs), sum(costs)) for (step, process), costs in spent.items()]
        return Profile(len(self._grades), sorted(shares, key=lambda share: -share.cpu_ms), self._stacks)


def program_of(arguments: Sequence[str]) -> str:
    """What runs: the program, or the script that an interpreter was given."""
    program = Path(arguments[0])
    script = next((Path(each) for each in arguments[1:] if "/" in each and not each.startswith("-")), None)
    if program.name.partition(".")[0] not in _INTERPRETERS or script is None:
        return program.name
    folders = [part for part in reversed(script.parts[:-1]) if part not in _GENERIC and part != "dist"]
    return folders[0] if script.stem in _GENERIC and folders else script.name


def _staying_ms() -> dict[int, tuple[str, float]]:
    """The processor time of processes that serve many gradings, without that of their children."""
    found = {}
    for relation in descendants(os.getpid()):
        try:
            words = Path(f"/proc/{relation.pid}/cmdline").read_bytes().decode(errors="replace")
            fields = Path(f"/proc/{relation.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        name = next((name for sign, name in _STAYING.items() if sign in words), None)
        if name is not None:
            found[relation.pid] = name, (int(fields[11]) + int(fields[12])) * _TICK
    return found
