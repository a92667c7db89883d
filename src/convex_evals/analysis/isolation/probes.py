"""Trying a change: the real pipeline grades the changed files, and the answer is kept."""

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from convex_evals import __version__
from convex_evals.analysis import PROBE_SECONDS
from convex_evals.core.files import write_file
from convex_evals.core.ids import new_id
from convex_evals.core.plain import from_plain, to_plain
from convex_evals.core.settings import Settings
from convex_evals.core.verdicts import StepName
from convex_evals.pipeline import Assignment, GradingOptions
from convex_evals.runner import GradingPool, options_json
from convex_evals.suite import Eval

FORMAT: Final = 2  # of the kept answers
MOST_TRIES: Final = 24
OVERRUN_SECONDS: Final = 6.0
"""What is under way when the time is up may be finished: a worker that is stopped has to be started again."""


class BoundReached(Exception):
    """No more time, or no more tries."""


@dataclass(slots=True)
class Bound:
    """How long one failure may be probed, and how often. What the cache knows costs nothing."""

    seconds: float = PROBE_SECONDS
    most_tries: int = MOST_TRIES
    tries: int = 0
    spent: float = 0.0

    def check(self) -> None:
        """Raises BoundReached."""
        if self.tries >= self.most_tries or self.spent >= self.seconds:
            raise BoundReached


class Probe(Protocol):
    async def __call__(self, files: Mapping[str, str]) -> bool:
        """Whether the step passes with these files. Raises BoundReached."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the step said about the files: the fingerprints of its complaints."""

    passed: bool
    complaints: tuple[str, ...] = ()


@dataclass(frozen=True)
class GradingProbes:
    """The grading pool, and what was found out before."""

    settings: Settings
    pool: GradingPool
    toolchain: str  # its fingerprint

    def probe(self, asked: Eval, step: StepName, options: GradingOptions, bound: Bound) -> Probe:
        async def passes(files: Mapping[str, str]) -> bool:
            found = await self.try_files(asked, step, options, bound, files)
            return found is not None and found.passed

        return passes

    async def try_files(
        self, asked: Eval, step: StepName, options: GradingOptions, bound: Bound, files: Mapping[str, str]
    ) -> Outcome | None:
        """None when there is no verdict, which is nobody's answer. Raises BoundReached."""
        kept = self._kept(asked, step, options, files)
        known = _read(kept)
        if known is not None:
            return known
        bound.check()
        folder = self.pool.folder / f"probe-{new_id()}"
        found = await self._grade(Assignment(asked, files, options, folder, step), bound)
        if found is not None:
            _write(kept, found)
        return found

    async def _grade(self, assignment: Assignment, bound: Bound) -> Outcome | None:
        async with self.pool.turn() as turn:
            started = time.monotonic()
            try:
                async with asyncio.timeout(bound.seconds - bound.spent + OVERRUN_SECONDS):
                    grade = await turn.grade(assignment)
            except TimeoutError:
                raise BoundReached from None
            finally:
                bound.tries += 1
                bound.spent += time.monotonic() - started
        if grade.status == "infrastructure":
            return None
        graded = next(step for step in grade.steps if step.name == assignment.only)
        return Outcome(graded.status == "passed", tuple(each.fingerprint for each in graded.diagnostics))

    def _kept(self, asked: Eval, step: StepName, options: GradingOptions, files: Mapping[str, str]) -> Path:
        facts = {
            "format": FORMAT,
            "version": __version__,
            "toolchain": self.toolchain,
            "content": asked.fingerprints.content,
            "grader": asked.fingerprints.grader,
            "step": step,
            "options": options_json(options),
            "files": dict(files),
        }
        name = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
        return self.settings.cache_folder / "analysis" / "probes" / name[:2] / f"{name}.json"


@asynccontextmanager
async def open_probes(settings: Settings, folder: Path, toolchain: str, workers: int) -> AsyncIterator[GradingProbes]:
    """`folder` is temporary and belongs to this command alone. A worker starts with its first probe."""
    async with GradingPool.open(settings, folder, workers) as pool:
        yield GradingProbes(settings, pool, toolchain)


def _read(kept: Path) -> Outcome | None:
    try:
        return from_plain(Outcome, json.loads(kept.read_bytes()))
    except (OSError, ValueError):
        return None


def _write(kept: Path, found: Outcome) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_file(kept, json.dumps(to_plain(found)))
