"""Whose failure it is when grading breaks down.

One rule: what repeats on a fresh worker while the reference answer passes is the answer's failure. The reference answer
of an eval is graded once per command; how often an answer is, `core/retry.py` says.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from convex_evals.core.diagnostics import stated
from convex_evals.core.files import remove_folder
from convex_evals.core.ids import new_id
from convex_evals.core.retry import GRADING
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import StepName
from convex_evals.pipeline import FAILURES, Assignment, FailureKind, Grade, GradingOptions, ignore_step, status_of
from convex_evals.runner.worker import Workers
from convex_evals.suite import read_answer

CONVICTED: Final = "accident-repeats"

_Key = tuple[str, GradingOptions, StepName | None]


@dataclass(frozen=True, slots=True)
class Retry:
    """The answer is to be graded once more, after a pause (in seconds)."""

    pause: float


@dataclass
class Referee:
    """Decides after each try. `folder` is temporary and belongs to this command alone."""

    workers: Workers
    folder: Path
    _references: dict[_Key, Grade] = field(default_factory=dict)
    _locks: dict[_Key, asyncio.Lock] = field(default_factory=dict)

    async def decide(self, assignment: Assignment, tries: Sequence[Grade]) -> Retry | Grade:
        """Whether another try follows; otherwise the last one, with its verdict if the accident is the answer's."""
        last, allowed = tries[-1], GRADING.allows(len(tries))
        suspect = suspicious_step(last)
        if suspect is None:
            return Retry(GRADING.pause(len(tries))) if allowed and _passes_by_itself(last) else last
        first = sum(suspicious_step(each) is not None for each in tries) == 1
        again = Retry(GRADING.first_pause) if allowed else last
        if first and _kind(suspect).retried:
            return again
        if not await self._reference_passes(suspect.name, assignment):
            return last
        return again if first else convicted(last, suspect, tries)

    async def _reference_passes(self, name: StepName, assignment: Assignment) -> bool:
        answer = await asyncio.to_thread(_reference_files, assignment)
        if dict(assignment.files) == answer:
            return False
        key = (assignment.eval.id, assignment.options, assignment.only)
        async with self._locks.setdefault(key, asyncio.Lock()):
            if key not in self._references:
                self._references[key] = await self._grade_reference(replace(assignment, files=answer))
        step = self._references[key].step(name)
        return step is not None and step.status == "passed"

    async def _grade_reference(self, assignment: Assignment) -> Grade:
        """On a worker of its own, which nothing of an answer has met."""
        folder = self.folder / f"reference-{new_id()}"
        grading = folder / "grading"
        await asyncio.to_thread(grading.mkdir, parents=True)
        try:
            async with self.workers.worker(folder / "worker") as worker:
                return await worker.grade(replace(assignment, folder=grading), ignore_step)
        finally:
            await asyncio.to_thread(remove_folder, folder)


def suspicious_step(grade: Grade) -> StepResult | None:
    """The first step that broke down in a way an answer may have caused, if that is why there is no verdict."""
    if grade.status != "infrastructure":
        return None
    return next((step for step in _accidents(grade) if _kind(step).fault == "either"), None)


def convicted(grade: Grade, suspect: StepResult, tries: Sequence[Grade]) -> Grade:
    """The grade with the verdict that the accident is the answer's."""
    found = [step for each in tries if (step := suspicious_step(each)) is not None]
    told = ", then ".join(f"{step.failure} at {step.name}" for step in found)
    sentence = f"Grading this answer breaks down each time ({told}); the reference answer passes {suspect.name} here."
    excerpt = f"{sentence}\n{suspect.excerpt}".rstrip()
    said = (stated(suspect.name, CONVICTED, excerpt),)
    failed = replace(suspect, status="failed", failure=CONVICTED, excerpt=excerpt, diagnostics=said)
    steps = tuple(failed if step is suspect else step for step in grade.steps)
    return replace(grade, status=status_of(steps), steps=steps, broken=None, notes=(*grade.notes, sentence))


def _passes_by_itself(grade: Grade) -> bool:
    """Whether trying again may help: as the table of failures has it."""
    accidents = _accidents(grade)
    return grade.status == "infrastructure" and all(_kind(step).retried for step in accidents)


def _accidents(grade: Grade) -> list[StepResult]:
    return [step for step in grade.steps if step.status == "infrastructure" and step.failure in FAILURES]


def _kind(step: StepResult) -> FailureKind:
    assert step.failure is not None
    return FAILURES[step.failure]


def _reference_files(assignment: Assignment) -> dict[str, str]:
    globs = assignment.options.answer_files
    return read_answer(assignment.eval, globs) if globs else read_answer(assignment.eval)
