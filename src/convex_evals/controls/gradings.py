"""Grades many answers with the workers of the runner; nothing of it is stored."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from convex_evals.core.settings import Settings
from convex_evals.pipeline.messages import Assignment
from convex_evals.pipeline.types import Grade, GradingOptions
from convex_evals.runner.grading import grading_worker
from convex_evals.runner.referee import Referee
from convex_evals.suite import Eval

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
    referee = Referee(workshop.settings, workshop.folder)
    async with asyncio.TaskGroup() as group:
        for number in range(workshop.jobs):
            group.create_task(_work(number, waiting, workshop, referee, on_grade))


async def _work(
    number: int, waiting: Iterator[tuple[int, Case]], workshop: Workshop, referee: Referee, on_grade: OnGrade
) -> None:
    async with grading_worker(workshop.settings, workshop.folder / f"worker-{number}") as worker:
        for place, case in waiting:
            assignment = Assignment(case.eval, case.files, workshop.options, workshop.folder / f"case-{place}")
            on_grade(case, await referee.grade(worker, assignment))
