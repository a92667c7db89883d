"""Grades many answers in the grading pool; nothing of it is stored."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from convex_evals.pipeline.types import Assignment, Grade, GradingOptions
from convex_evals.runner import GradingPool
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


async def grade_cases(cases: Iterable[Case], pool: GradingPool, options: GradingOptions, on_grade: OnGrade) -> None:
    """Grades all of them; `on_grade` is told of each as it is done."""
    waiting = iter(enumerate(cases))

    async def work() -> None:
        for place, case in waiting:
            on_grade(case, await pool.grade(Assignment(case.eval, case.files, options, pool.folder / f"case-{place}")))

    async with asyncio.TaskGroup() as group:
        for _ in range(pool.size):
            group.create_task(work())
