"""Checks evals: grades the reference answer, an empty project, the controls and mutants, and judges what comes out."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from convex_evals.controls.control import EvalControls, StatedTest, load_controls
from convex_evals.controls.findings import NO_VERDICT, Findings, Judged, judge_empty, judge_passing, judge_wrong
from convex_evals.controls.mutants import Mutant, generate_mutants, select_mutants
from convex_evals.controls.survival import FILE_NAME, Survival, judge_mutants, read_equivalents
from convex_evals.pipeline import Assignment, Grade, GradingOptions
from convex_evals.runner import GradingPool
from convex_evals.suite import Eval, Suite, read_answer, read_changes, read_given

REFERENCE = "reference answer"
EMPTY = "empty project"
CaseKind = Literal["reference", "empty", "wrong", "alternative", "mutant"]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One answer to be graded. The name says which of its kind it is."""

    eval: Eval
    kind: CaseKind
    name: str
    files: Mapping[str, str]
    test: StatedTest | None = None  # that must fail, of a wrong answer

    @property
    def until_failure(self) -> bool:
        """Of a mutant, only whether it is caught matters; of a wrong answer, whether the stated test catches it."""
        return self.kind == "mutant" or self.test is not None


OnGrade = Callable[[Case, Grade], None]


@dataclass(frozen=True, slots=True)
class Checkup:
    """What is to be graded for one eval. `mutants` are all that there are of its answer, if they are asked for."""

    eval: Eval
    folder: Path
    controls: EvalControls
    cases: tuple[Case, ...]
    mutants: tuple[Mutant, ...] | None = None


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told while evals are checked: of every answer, and of every eval."""

    graded: Callable[[Case, Grade], None]
    checked: Callable[[Findings], None]


def plan_checkup(suite: Suite, eval: Eval, folder: Path, most_mutants: int | None = None) -> Checkup:
    """Reads the answer and its controls, and makes mutants unless `most_mutants` is None.

    Raises BrokenError when they cannot be read at all.
    """
    answer = read_answer(eval, suite.settings.answer_files)
    controls = load_controls(folder, eval, answer)
    given = read_given(eval)
    empty = dict(given.files) or without_code(answer)
    cases = [Case(eval, "reference", REFERENCE, answer), Case(eval, "empty", EMPTY, empty)]
    cases += [Case(eval, control.kind, control.name, control.files, control.test) for control in controls.controls]
    changed = {path: answer[path] for path in read_changes(eval, suite.settings.answer_files) if path in answer}
    mutants = None if most_mutants is None else generate_mutants(changed)
    for mutant in select_mutants(mutants or (), most_mutants or 0):
        cases.append(Case(eval, "mutant", mutant.id, mutant.applied(answer)))
    return Checkup(eval, folder / eval.category / eval.name, controls, tuple(cases), mutants)


def without_code(answer: Mapping[str, str]) -> dict[str, str]:
    """A project that installs and says nothing: the manifest and the settings of the compiler.

    With no file at all it would fail before the grader sees it, and that would say nothing about the grader.
    """
    return {name: text for name, text in answer.items() if PurePosixPath(name).suffix == ".json"}


async def check(
    checkups: Sequence[Checkup], pool: GradingPool, options: GradingOptions, listener: Listener
) -> list[Findings]:
    """Grades everything; the findings are in the order of the checkups."""
    grades: dict[Eval, dict[str, Grade]] = {checkup.eval: {} for checkup in checkups}
    of = {checkup.eval: checkup for checkup in checkups}
    found: dict[Eval, Findings] = {}

    def on_grade(case: Case, grade: Grade) -> None:
        grade = judged_by_all(case, grade)
        grades[case.eval][case.name] = grade
        listener.graded(case, grade)
        if len(grades[case.eval]) == len(of[case.eval].cases):
            found[case.eval] = conclude(of[case.eval], grades.pop(case.eval))
            listener.checked(found[case.eval])

    await grade_cases((case for checkup in checkups for case in checkup.cases), pool, options, on_grade)
    return [found[checkup.eval] for checkup in checkups]


def judged_by_all(case: Case, grade: Grade) -> Grade:
    """One that is not caught, although its pages were not looked at, says nothing about the grader."""
    unseen = grade.unseen
    names = tuple(test.name for test in unseen)
    if not unseen or (grade.status != "passed" and not (case.test and case.test.is_among(names))):
        return grade
    note = f"tests that look at pages did not run; {unseen[0].message}"
    return replace(grade, status=NO_VERDICT, notes=(*grade.notes, note))


def conclude(checkup: Checkup, grades: Mapping[str, Grade]) -> Findings:
    """Judges the grades of an eval, by the names of their cases."""
    wrong: list[Judged] = []
    alternatives: list[Judged] = []
    for control in checkup.controls.controls:
        grade = grades[control.name]
        if control.kind == "wrong":
            wrong.append(judge_wrong(control, grade))
        else:
            alternatives.append(judge_passing(control.name, grade))
    return Findings(
        eval=checkup.eval,
        reference=judge_passing(REFERENCE, grades[REFERENCE]),
        empty=judge_empty(EMPTY, grades[EMPTY]),
        wrong=tuple(wrong),
        alternatives=tuple(alternatives),
        problems=checkup.controls.problems,
        mutants=_survival(checkup, grades),
    )


def _survival(checkup: Checkup, grades: Mapping[str, Grade]) -> Survival | None:
    if checkup.mutants is None:
        return None
    equivalents = read_equivalents(checkup.folder / FILE_NAME)
    graded = [mutant for mutant in checkup.mutants if mutant.id in grades]
    return judge_mutants(graded, grades, equivalents, {mutant.id for mutant in checkup.mutants})


async def grade_cases(cases: Iterable[Case], pool: GradingPool, options: GradingOptions, on_grade: OnGrade) -> None:
    """Grades all of them; `on_grade` is told of each as it is done."""
    waiting = iter(enumerate(cases))

    async def work() -> None:
        for place, case in waiting:
            folder = pool.folder / f"case-{place}"
            assignment = Assignment(
                case.eval,
                case.files,
                options,
                folder,
                until_failure=case.until_failure,
                first_test=case.test.name if case.test else None,
            )
            on_grade(case, await pool.grade(assignment))

    async with asyncio.TaskGroup() as group:
        for _ in range(pool.size):
            group.create_task(work())
