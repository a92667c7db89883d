"""Grades many answers with the workers of the runner; nothing of it is stored."""

import asyncio
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from convex_evals.core.settings import Settings
from convex_evals.pipeline.failures import FAILURES
from convex_evals.pipeline.messages import Assignment
from convex_evals.pipeline.types import Grade, GradingOptions, StepResult
from convex_evals.runner.grading import GradingError, GradingWorker, grading_worker
from convex_evals.suite import Eval

PAUSES: Final = (1.0, 5.0)
"""Seconds before an answer without a verdict is graded again."""

CaseKind = Literal["reference", "empty", "wrong", "alternative", "mutant"]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One answer to be graded. The name says which of its kind it is."""

    eval: Eval
    kind: CaseKind
    name: str
    files: Mapping[str, str]


OnGrade = Callable[[Case, Grade], None]


@dataclass(frozen=True, slots=True)
class Workshop:
    """What answers are graded with. `folder` is temporary and belongs to this command alone."""

    settings: Settings
    folder: Path
    jobs: int
    options: GradingOptions


async def grade_cases(cases: Iterable[Case], workshop: Workshop, on_grade: OnGrade) -> None:
    """Grades all of them, as many at once as there are jobs; `on_grade` is told of each as it is done."""
    waiting = iter(enumerate(cases))
    async with asyncio.TaskGroup() as group:
        for number in range(workshop.jobs):
            group.create_task(_work(number, waiting, workshop, on_grade))


async def _work(number: int, waiting: Iterator[tuple[int, Case]], workshop: Workshop, on_grade: OnGrade) -> None:
    async with grading_worker(workshop.settings, workshop.folder / f"worker-{number}") as worker:
        for place, case in waiting:
            on_grade(case, await _grade(case, worker, workshop, workshop.folder / f"case-{place}"))


async def _grade(case: Case, worker: GradingWorker, workshop: Workshop, folder: Path) -> Grade:
    """Until there is a verdict, or until infrastructure trouble has come too often."""
    for pause in PAUSES:
        grade = await _grade_once(case, worker, workshop, folder)
        if not _is_tried_again(grade):
            return grade
        await asyncio.sleep(pause)
    return await _grade_once(case, worker, workshop, folder)


async def _grade_once(case: Case, worker: GradingWorker, workshop: Workshop, folder: Path) -> Grade:
    await asyncio.to_thread(folder.mkdir)
    try:
        return await worker.grade(Assignment(case.eval, case.files, workshop.options, folder), _nobody)
    except GradingError as error:
        return Grade(case.eval.id, "infrastructure", (), notes=(str(error),))
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _is_tried_again(grade: Grade) -> bool:
    if grade.status != "infrastructure":
        return False
    kinds = [step.failure for step in grade.steps if step.status == "infrastructure" and step.failure]
    return all(FAILURES[kind].retried for kind in kinds)


async def _nobody(step: StepResult) -> None:
    pass
