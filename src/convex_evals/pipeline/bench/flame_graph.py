"""Where the processor time of this process goes: sampled stacks, as folded text and as a flame graph."""

import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from types import FrameType
from typing import Final

INTERVAL_SECONDS: Final = 0.001
OUTSIDE: Final = "(Python)"
_WIDTH: Final = 1600
_ROW: Final = 17
_LEAST_WIDTH: Final = 1.0  # narrower boxes are left out
_CHARACTER: Final = 6.6
_COLOURS: Final = {"convex_evals": "#e8894a", "other": "#c9c9b8"}

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
