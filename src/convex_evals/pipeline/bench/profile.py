"""Where the processor time of a warm grading goes: by step and program, and by function of our own code.

What this process takes is sampled as stacks, which are written as folded text and as a flame graph.
"""

import os
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from types import FrameType
from typing import Any, Final

from convex_evals.core.processes import EndedProgram, endings_recorded
from convex_evals.core.supervisor import descendants
from convex_evals.pipeline.types import Grade

INTERVAL_SECONDS: Final = 0.001
OUTSIDE: Final = "(Python)"
_WIDTH: Final = 1600
_ROW: Final = 17
_LEAST_WIDTH: Final = 1.0  # narrower boxes are left out
_CHARACTER: Final = 6.6
_COLOURS: Final = {"convex_evals": "#e8894a", "other": "#c9c9b8"}

OWN: Final = "this process (Python)"
SUPERVISORS: Final = "supervisors"
_TICK: Final = 1000 / os.sysconf("SC_CLK_TCK")
_GENERIC: Final = frozenset({"main", "index", "cli", "bin"})  # names of scripts that say nothing
_INTERPRETERS: Final = frozenset({"node", "python", "python3"})
_STAYING: Final = {"convex_evals.pipeline.grading.python": "grader host", "supervisor.server": "spawn server"}

Stack = tuple[str, ...]  # outermost first


@dataclass(frozen=True, slots=True)
class Stacks:
    """How often each stack was seen: once per tick of the kernel's clock that this process used, at most 1 kHz."""

    counts: Counter[Stack] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.counts.total()

    def folded(self) -> str:
        """A line per stack, as tools for flame graphs read it."""
        return "".join(f"{';'.join(stack)} {count}\n" for stack, count in sorted(self.counts.items()))

    def own(self) -> Counter[str]:
        """Samples by the innermost function of ours."""
        found: Counter[str] = Counter()
        for stack, count in self.counts.items():
            found[next((name for name in reversed(stack) if name.startswith("convex_evals.")), OUTSIDE)] += count
        return found


@contextmanager
def stacks_sampled() -> Iterator[Stacks]:
    """Samples the main thread as this process uses up processor time; call it from there."""
    stacks = Stacks()

    def sample(number: int, frame: FrameType | None) -> None:
        stacks.counts[_stack(frame)] += 1

    before = signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL_SECONDS, INTERVAL_SECONDS)
    try:
        yield stacks
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _stack(frame: FrameType | None) -> Stack:
    names = []
    while frame is not None:
        module = frame.f_globals.get("__name__", "?")
        names.append(f"{module}.{frame.f_code.co_qualname}")
        frame = frame.f_back
    return tuple(reversed(names))


@dataclass(slots=True)
class _Box:
    count: int = 0
    inner: dict[str, "_Box"] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        return 1 + max((box.depth for box in self.inner.values()), default=0)


def draw(stacks: Stacks, title: str) -> str:
    """A flame graph as SVG: boxes are as wide as their share, callers below what they call. Shows a box's full name
    and share when the mouse is over it."""
    root = _tree(stacks.counts)
    height = (root.depth + 2) * _ROW
    boxes = "".join(_drawn(root, "all", 0, height - _ROW, _WIDTH / max(root.count, 1), root.count))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" font-family="monospace" '
        f'font-size="11"><rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="4" y="13">{escape(title)}</text>{boxes}</svg>\n'
    )


def write_flame_graph(stacks: Stacks, title: str, path: Path) -> Path:
    """Returns where the folded stacks are: beside the drawing."""
    path.write_text(draw(stacks, title), encoding="utf-8")
    folded = path.with_suffix(".folded")
    folded.write_text(stacks.folded(), encoding="utf-8")
    return folded


def _tree(counts: Mapping[Stack, int]) -> _Box:
    root = _Box()
    for stack, count in counts.items():
        box = root
        box.count += count
        for name in stack:
            box = box.inner.setdefault(name, _Box())
            box.count += count
    return root


def _drawn(box: _Box, name: str, x: float, y: float, scale: float, total: int) -> Iterator[str]:
    width = box.count * scale
    if width < _LEAST_WIDTH:
        return
    colour = _COLOURS["convex_evals" if name.startswith("convex_evals.") else "other"]
    shown = name[: int(width / _CHARACTER)] if width > 5 * _CHARACTER else ""
    yield (
        f"<g><title>{escape(name)}: {box.count / total:.1%}</title>"
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_ROW - 1}" fill="{colour}" stroke="#fff"/>'
        f'<text x="{x + 2:.1f}" y="{y + 12:.1f}">{escape(shown)}</text></g>'
    )
    for inner, each in sorted(box.inner.items()):
        yield from _drawn(each, inner, x, y - _ROW, scale, total)
        x += each.count * scale


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
