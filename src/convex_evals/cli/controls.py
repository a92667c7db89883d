"""Carries out `controls`: load, grade with progress, print the findings, exit code."""

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from convex_evals.cli.output import count, print_lines, remark, table, table_lines, visible, write_json
from convex_evals.cli.runs.executor import check_sandbox, cores
from convex_evals.cli.runs.options import ControlsOptions
from convex_evals.controls import (
    TARGET,
    Case,
    Checkup,
    Findings,
    Judged,
    JudgedMutant,
    Listener,
    Survival,
    catch_rate,
    check,
    controls_folder,
    findings_json,
    plan_checkup,
    share,
    strays,
)
from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.toolchain import prepare_toolchain
from convex_evals.pipeline import Grade
from convex_evals.runner import GradingPool, open_workspace
from convex_evals.statistics import Score
from convex_evals.suite import BrokenError, Problem, Selection, Suite, find_suite, load_suite, select

if TYPE_CHECKING:
    from convex_evals.cli.layout import Table

NOT_OK = 1
LONGEST_LINE = 600


@dataclass(frozen=True, slots=True)
class PreparedCheckups:
    """`problems` belong to no eval that is checked."""

    suite: Suite
    checkups: tuple[Checkup, ...]
    problems: tuple[Problem, ...]


def perform(asked: ControlsOptions) -> int:
    """Does what was asked for and returns the exit code."""
    settings = read_settings()
    prepared = prepare(asked)
    found: list[Findings] = []
    try:
        found = asyncio.run(_check(prepared, asked, settings, found.append))
    except KeyboardInterrupt:
        remark(f"Interrupted. {len(found)} of {count(len(prepared.checkups), 'eval')} had been checked.")
        _tell(found, prepared, asked)
        raise
    _tell(found, prepared, asked)
    return _exit_code(found, prepared.problems)


def _tell(found: Sequence[Findings], prepared: PreparedCheckups, asked: ControlsOptions) -> None:
    print_findings(found, prepared.problems, out=sys.stderr if asked.json == "-" else sys.stdout)
    if asked.json is not None:
        write_json(findings_json(found, prepared.problems), asked.json)


def prepare(asked: ControlsOptions) -> PreparedCheckups:
    """Reads the suite and its controls. Raises UsageError."""
    most_mutants = asked.most_mutants
    suite = load_suite(find_suite(asked.evals))
    evals = select(suite, asked.selection)
    if not evals:
        raise UsageError(f"No eval of {suite.root} can be loaded; `convex-evals list` says what is wrong with them.")
    folder = controls_folder(suite.root)
    if not folder.is_dir():
        remark(
            f"There are no controls: {folder} is not a folder. Only reference answers and empty projects are graded."
        )
    problems = [each for each in suite.problems if asked.selection.takes_problem(suite, each)]
    problems += strays(folder, suite) if asked.selection == Selection() else ()
    checkups: list[Checkup] = []
    for each in evals:
        try:
            checkups.append(plan_checkup(suite, each, folder, most_mutants))
        except BrokenError as error:
            problems.append(error.problem)
    return PreparedCheckups(suite, tuple(checkups), tuple(problems))


async def _check(
    prepared: PreparedCheckups, asked: ControlsOptions, settings: Settings, checked: Callable[[Findings], None]
) -> list[Findings]:
    """`checked` is told of every eval, in the order in which they are done."""
    options = asked.grading_options().completed(prepared.suite.settings)
    await check_sandbox(options.sandbox)
    await prepare_toolchain(settings, remark)
    with open_workspace(settings.output_folder) as folder, watching(prepared.checkups) as listener:
        async with GradingPool.open(settings, folder, asked.jobs or cores()) as pool:
            return await check(prepared.checkups, pool, options, _telling_also(listener, checked))


def _telling_also(listener: Listener, also: Callable[[Findings], None]) -> Listener:
    def checked(found: Findings) -> None:
        listener.checked(found)
        also(found)

    return replace(listener, checked=checked)


def _exit_code(found: Sequence[Findings], problems: Sequence[Problem]) -> int:
    """What is wrong for certain weighs more than what has no verdict."""
    caught = share([each.mutants for each in found if each.mutants])
    if problems or any(each.has_mistakes for each in found) or (caught is not None and caught < TARGET):
        return NOT_OK
    return InfrastructureError.exit_code if any(each.without_verdict for each in found) else 0


@contextmanager
def watching(checkups: Sequence[Checkup]) -> Iterator[Listener]:
    """On a terminal a bar that goes away; elsewhere a line for every eval that is done."""
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        yield _lines(len(checkups))
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        yield _bar(progress, sum(len(checkup.cases) for checkup in checkups))


def _lines(total: int) -> Listener:
    done = 0

    def checked(found: Findings) -> None:
        nonlocal done
        done += 1
        mutants = f"  {len(found.mutants.killed)} of {found.mutants.total} mutants caught" if found.mutants else ""
        remark(f"{done}/{total}  {'ok' if found.ok else 'not ok'}  {found.eval.id}{mutants}")

    return Listener(graded=_ignore, checked=checked)


def _bar(progress: Progress, total: int) -> Listener:
    task = progress.add_task("grading", total=total)

    def graded(case: Case, grade: Grade) -> None:
        progress.update(task, advance=1, description=f"{case.eval.id}")

    return Listener(graded=graded, checked=lambda found: None)


def _ignore(case: Case, grade: Grade) -> None:
    pass


def print_findings(found: Sequence[Findings], problems: Sequence[Problem], out: TextIO) -> None:
    lines = [
        *table_lines(_table(found)),
        "",
        *_block(mutant_lines(found)),
        *_block(complaints(found, problems)),
    ]
    print_lines([*lines, *summary(found, problems)], out)


def mutant_lines(found: Sequence[Findings]) -> Iterator[str]:
    """Survivors as small diffs; those that are known to be equivalent with the reason."""
    for each in found:
        if each.mutants is None:
            continue
        for judged in each.mutants.survivors:
            yield from _mutant(each, judged, "survives")
        for judged in each.mutants.without_verdict:
            yield from _mutant(each, judged, "has no verdict")
        for judged in each.mutants.equivalent:
            yield from _mutant(each, judged, f"is equivalent: {judged.equivalent}")


def complaints(found: Sequence[Findings], problems: Sequence[Problem]) -> Iterator[str]:
    """One line each: which answer of which eval, what was expected, what happened."""
    for problem in (*problems, *(problem for each in found for problem in each.all_problems)):
        yield f"broken: {problem}"
    for each in found:
        # When the eval itself is broken, every answer fails the same way, and once is enough.
        judged = each.judged[:1] if each.reference.broken else each.judged
        for one in judged:
            if one.complaint:
                yield _shortened(visible(f"{each.eval.id}: {one.name} {one.complaint}"))


def summary(found: Sequence[Findings], problems: Sequence[Problem]) -> Iterator[str]:
    judged = [each for findings in found for each in findings.judged]
    right = sum(each.ok for each in judged)
    broken = len(problems) + sum(len(each.all_problems) for each in found)
    parts = [count(len(found), "eval"), f"{right} of {count(len(judged), 'answer')} judged as they must be"]
    yield " · ".join([*parts, *([f"{count(broken, 'file')} broken"] if broken else [])])
    yield from _mutants_summary({each.eval.id: each.mutants for each in found if each.mutants})


def _mutants_summary(by_eval: Mapping[str, Survival]) -> Iterator[str]:
    survivals = list(by_eval.values())
    caught, rate = share(survivals), catch_rate(by_eval)
    if caught is None or rate is None:
        return
    killed, total = sum(len(each.killed) for each in survivals), sum(each.total for each in survivals)
    equivalent = sum(len(each.equivalent) for each in survivals)
    parts = [f"{killed} of {count(total, 'mutant')} caught ({caught:.1%})", rate_text(rate)]
    parts += [f"{equivalent} known as equivalent"] if equivalent else []
    parts += [f"the target is {TARGET:.0%}"] if caught < TARGET else []
    yield " · ".join(parts)
    lost = [(name, len(each.survivors)) for name, each in by_eval.items() if each.survivors]
    if lost:
        yield f"survivors: {', '.join(f'{name} ({number})' for name, number in lost)}"


def rate_text(rate: Score) -> str:
    interval = f"{rate.interval.low:.1%} to {rate.interval.high:.1%}"
    if rate.evals == 1:
        return f"95% interval {interval}"
    return f"mean over {rate.evals} evals {rate.value:.1%} (95% interval {interval})"


def _table(found: Sequence[Findings]) -> "Table":
    with_mutants = any(each.mutants for each in found)
    headings = ["eval", "reference", "empty", "wrong", "alternatives", *(["mutants"] if with_mutants else [])]
    rows = table(headings, drop=("reference", "empty"))
    for each in found:
        mutants = [f"{len(each.mutants.killed)} of {each.mutants.total}"] if each.mutants else []
        rows.add_row(
            each.eval.id,
            each.reference.status,
            each.empty.status,
            _share(each.wrong),
            _share(each.alternatives),
            *mutants,
        )
    return rows


def _mutant(found: Findings, judged: JudgedMutant, fate: str) -> Iterator[str]:
    mutant = judged.mutant
    yield f"{found.eval.id}: {mutant.id} {mutant.operator} {mutant.path}:{mutant.difference.line} {fate}"
    for line in mutant.difference.lines:
        yield f"    {visible(line)}"


def _block(lines: Iterator[str]) -> list[str]:
    """With an empty line behind them, if there are any."""
    told = list(lines)
    return [*told, ""] if told else []


def _shortened(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"


def _share(judged: Sequence[Judged]) -> str:
    return f"{sum(each.ok for each in judged)} of {len(judged)}" if judged else "none"
